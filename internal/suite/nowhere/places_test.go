package nowhere_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/agent"
	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/tool"
)

// secret is a value of the host, with characters that JSON and messages escape.
const secret = `s3cr"et\quiet-0123`

// host returns an executor that runs every command, confined as far as this system can, with a secret in TOKEN.
func host(t *testing.T) millrace.Executor {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("these tests run scripts for /bin/sh")
	}
	return millrace.Executor{State: millrace.State{NoSync: true}, Commands: command.Policy{
		Allow: []string{"*", "./*"}, Shell: true, Sandbox: command.BestEffort, Scratch: t.TempDir(), Secrets: map[string]string{"TOKEN": secret},
	}}
}

// places are all texts that a run leaves and reports, by name.
type places map[string]string

// recorder stores its input as JSON.
type recorder struct {
	mu   sync.Mutex
	text string
}

func (*recorder) Find(string) (millrace.Recorded, bool, error) {
	return millrace.Recorded{}, false, nil
}

func (r *recorder) Keep(key string, kept millrace.Recorded) error {
	data, err := json.Marshal(kept)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.text += key + string(data) + "\n"
	for _, c := range kept.Changes {
		r.text += c.Path + ":" + string(c.Bytes) + "\n" // base64 in the JSON
	}
	return err
}

// watched returns the executor with all its listeners, and a function that adds the texts they have received so far.
func watched(x millrace.Executor) (millrace.Executor, func(places)) {
	var events, audit, log, logJSON bytes.Buffer
	kept := new(recorder)
	x.Observe = millrace.Observers(x.Observe, millrace.JSONEvents(&events), millrace.Audit(&audit))
	x.Logger = slog.New(handlers{
		slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug - 4}),
		slog.NewJSONHandler(&logJSON, &slog.HandlerOptions{Level: slog.LevelDebug - 4}),
	})
	x.Recorder = kept
	return x, func(p places) {
		p["events"] += events.String()
		p["audit"] += audit.String()
		p["log"] += log.String()
		p["log as JSON"] += logJSON.String()
		p["recorder"] += kept.text
	}
}

// gather plans and runs a pipeline on the tree, and returns all places. The run may fail.
func gather(t *testing.T, x millrace.Executor, tree func() afero.Fs, p millrace.Pipeline) (places, *millrace.Result) {
	t.Helper()
	found := make(places)
	x.RunID = "r1"
	y, tell := watched(x)
	fsys := tree()
	plan, err := y.Plan(t.Context(), fsys, p)
	if plan != nil {
		found.result("plan's ", plan.Result())
		if data, err := json.Marshal(plan); err == nil {
			found["stored plan"] = string(data)
		}
		var diff strings.Builder
		if err := plan.WriteDiff(&diff); err == nil {
			found["diff"] = diff.String()
		}
		_ = plan.Close()
	}
	found["plan's error"] = fmt.Sprintf("%v %+v", err, err)
	tell(found)

	y, tell = watched(x)
	res, err := y.Run(t.Context(), fsys, p)
	found["error"] = fmt.Sprintf("%v %+v %#v", err, err, err)
	if res == nil {
		t.Fatal(err)
	}
	found.result("", res)
	tell(found)
	found.files("state directory", fsys, millrace.DefaultStateDir)
	found.files("directory for commands", afero.NewOsFs(), x.Commands.Scratch)
	if history, err := json.Marshal(res.History); err == nil {
		found["history"] = string(history)
	}
	return found, res
}

func (p places) result(whose string, res *millrace.Result) {
	add := func(what string, v any) {
		data, err := json.Marshal(v)
		p[whose+what] = string(data) + fmt.Sprint(err)
	}
	add("result", res)
	add("summary", res.Summary())
	add("envelope", res.Envelope())
	var report strings.Builder
	verbose := *res
	verbose.Verbose = true
	_ = verbose.WriteReport(&report)
	p[whose+"report"] = report.String() + res.String() + strings.Join(res.AllWarnings(), "\n") + res.Error
}

// files adds the names and texts of all files below a directory.
func (p places) files(what string, fsys afero.Fs, root string) {
	_ = afero.Walk(fsys, root, func(name string, info fs.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			data, _ := afero.ReadFile(fsys, name)
			p[what] += filepath.ToSlash(name) + "\n" + string(data) + "\n"
		}
		return nil
	})
}

// with returns the names of the places that have a text, plain or as JSON or Go spells it, except the named places.
func (p places) with(text string, but ...string) []string {
	escaped, _ := json.Marshal(text)
	twice, _ := json.Marshal(string(escaped))
	spellings := []string{text, strings.Trim(string(escaped), `"`), strings.Trim(strconv.Quote(text), `"`), strings.Trim(string(twice), `"\`)}
	var found []string
	for _, name := range slices.Sorted(maps.Keys(p)) {
		if slices.ContainsFunc(spellings, func(s string) bool { return strings.Contains(p[name], s) }) && !slices.Contains(but, name) {
			found = append(found, name)
		}
	}
	return found
}

// handlers passes each record to all of them.
type handlers []slog.Handler

func (h handlers) Enabled(context.Context, slog.Level) bool { return true }

func (h handlers) Handle(ctx context.Context, r slog.Record) error {
	for _, one := range h {
		if err := one.Handle(ctx, r.Clone()); err != nil {
			return err
		}
	}
	return nil
}

func (h handlers) WithAttrs(attrs []slog.Attr) slog.Handler {
	return h.each(func(one slog.Handler) slog.Handler { return one.WithAttrs(attrs) })
}

func (h handlers) WithGroup(name string) slog.Handler {
	return h.each(func(one slog.Handler) slog.Handler { return one.WithGroup(name) })
}

func (h handlers) each(f func(slog.Handler) slog.Handler) handlers {
	var all handlers
	for _, one := range h {
		all = append(all, f(one))
	}
	return all
}

// outside is an agent and a tool outside of the library that records its input.
type outside struct {
	mu   sync.Mutex
	text string
}

func (o *outside) heard(text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text += text + "\n"
}

// Ask implements agent.Agent: it repeats its prompt.
func (o *outside) Ask(_ context.Context, r *agent.Request) (agent.Reply, error) {
	o.heard(fmt.Sprintf("%s %+v %+v", r.Text(), r.Sandbox, r.Previous))
	return agent.Reply{Output: r.Text(), Model: "m"}, nil
}

// Spec implements tool.Tool.
func (o *outside) Spec() tool.Spec { return tool.Spec{Name: "say", Pure: true} }

// Call implements tool.Tool: it repeats its arguments.
func (o *outside) Call(_ context.Context, c *tool.Call) (tool.Result, error) {
	o.heard(fmt.Sprint(c.Args))
	return tool.Result{Data: c.Args, Output: fmt.Sprint(c.Args)}, nil
}

// memory returns a tree in memory: name, text, name, text.
func memory(files ...string) func() afero.Fs {
	return func() afero.Fs {
		fsys := afero.NewMemMapFs()
		for i := 0; i < len(files); i += 2 {
			if err := afero.WriteFile(fsys, files[i], []byte(files[i+1]), 0o644); err != nil {
				panic(err)
			}
		}
		return fsys
	}
}

// disk returns a tree on the disk.
func disk(t *testing.T) func() afero.Fs {
	return func() afero.Fs {
		root, err := fsutil.OpenRoot(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = root.Close() })
		return root
	}
}
