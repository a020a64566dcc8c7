package agents_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/agent"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/millracetest"
)

// mixed is the work of an agent that makes every kind of change to a tree.
func mixed(ctx context.Context, r *agent.Request) error {
	if r.Workspace == nil {
		return nil
	}
	dir, err := r.Workspace(ctx)
	if err != nil {
		return err
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	data, err := os.ReadFile(at("a.txt"))
	if err != nil {
		return err
	}
	for _, err := range []error{
		os.WriteFile(at("a.txt"), fmt.Append(data, r.Step, r.Visit, "\n"), 0o644),
		os.WriteFile(at("binary-"+r.Step), []byte{0, 0xff, byte(r.Visit)}, 0o600),
		os.WriteFile(at("empty-"+r.Step), nil, 0o644),
	} {
		if err != nil {
			return err
		}
	}
	if r.Step == "a" && r.Visit == 1 {
		for _, err := range []error{os.Remove(at("gone.txt")), os.Rename(at("old.txt"), at("renamed.txt"))} {
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func mixedTree() afero.Fs {
	return suite.Tree("a.txt", "x\n", "gone.txt", "x", "old.txt", "long enough to be known again\n")
}

// all returns the tree without the state of millrace.
func all(t *testing.T, fsys afero.Fs) map[string]string {
	t.Helper()
	found := make(map[string]string)
	err := afero.Walk(fsys, ".", func(name string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		if !strings.HasPrefix(name, ".millrace") {
			data, err := afero.ReadFile(fsys, name)
			found[name] = fmt.Sprintf("%v %q", info.Mode().Perm(), data)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// With a Recorder, a run after a dry run asks nothing twice. That includes failed prompts and repeated visits. The tree
// is the same as without a Recorder.
func TestNeverTwice(t *testing.T) {
	t.Parallel()
	p := millrace.New("p").
		Step("a", actions.Prompt{Prompt: "p"}).Backoff(time.Millisecond).
		Step("b", actions.Prompt{Prompt: "p", Format: "json"}).RetryIf("a", "again").
		Step("c", actions.Create{Path: "c.txt", Content: "{{b.n}} {{a.files}}"}).MustBuild()
	script := map[string][]string{"a": {"fail", "first", "second"}, "b": {`{"n": 1, "say": "again"}`, `{"n": 9007199254740993}`}}
	run := func(x millrace.Executor) (map[string]string, *millrace.Result) {
		t.Helper()
		fsys := mixedTree()
		res, err := x.Run(t.Context(), fsys, p)
		if err != nil {
			t.Fatal(err)
		}
		return all(t, fsys), res
	}
	plain := &host{script: script, work: mixed}
	want, _ := run(executor(t, plain))

	h := &host{script: script, work: mixed, reply: agent.Reply{Cost: budget.Dollar}}
	x := executor(t, h)
	x.Recorder = millrace.NewMemoryRecorder()
	var replayed []string
	x.Observe = func(e millrace.Event) {
		if e, ok := e.(millrace.StepReplayed); ok {
			replayed = append(replayed, fmt.Sprintf("%s/%d", e.Step, e.Visit))
		}
	}
	plan, err := x.Plan(t.Context(), mixedTree(), p)
	if err != nil || h.steps() != "a a b a b" || h.steps() != plain.steps() || replayed != nil || plan.Result().Cost != 5*budget.Dollar {
		t.Fatalf("%v, asked %s, replayed %q, cost %v", err, h.steps(), replayed, plan.Result().Cost)
	}
	got, res := run(x)
	if h.steps() != "a a b a b" || strings.Join(replayed, " ") != "a/1 a/1 b/1 a/2 b/2" || res.Cost != 0 {
		t.Errorf("asked %s, replayed %q, cost %v", h.steps(), replayed, res.Cost)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the tree (-want +got):\n%s", diff)
	}
	for i, s := range plan.Result().Results {
		r := res.Results[i]
		for what, pair := range map[string][2]any{
			"data": {s.Data, r.Data}, "output": {s.Output, r.Output}, "files": {s.FilesMatched, r.FilesMatched}, "renames": {s.Renames, r.Renames},
			"counts": {s.Counts, r.Counts}, "edits": {s.EditsApplied, r.EditsApplied}, "risk": {s.RiskLevel, r.RiskLevel}, "attempts": {s.Attempts, r.Attempts},
		} {
			if diff := cmp.Diff(pair[0], pair[1]); diff != "" {
				t.Errorf("%s of %s (-plan +run):\n%s", what, s.StepID, diff)
			}
		}
	}
	if replay, err := x.Plan(t.Context(), mixedTree(), p); err != nil || len(h.asked) != 5 || replay.Result().TotalEdits != res.TotalEdits {
		t.Errorf("%v, asked %s", err, h.steps())
	}
}

// Another question, another previous answer, or another tree gives another key.
func TestOtherQuestions(t *testing.T) {
	t.Parallel()
	h := &host{work: mixed}
	x := executor(t, h)
	x.Recorder = millrace.NewMemoryRecorder()
	base := func(first actions.Action, second actions.Prompt, s agent.Sandbox) millrace.Pipeline {
		return millrace.New("p").Sandbox(s).Step("first", first).Step("ask", second).MustBuild()
	}
	edit := actions.Create{Path: "n.txt", Content: "x"}
	asked := 0
	for name, p := range map[string]millrace.Pipeline{
		"the prompt":              base(edit, actions.Prompt{Prompt: "q"}, agent.Sandbox{}),
		"the model":               base(edit, actions.Prompt{Prompt: "p", Model: "m"}, agent.Sandbox{}),
		"the sandbox":             base(edit, actions.Prompt{Prompt: "p"}, agent.Sandbox{Tools: []string{"Read"}}),
		"its options":             base(edit, actions.Prompt{Prompt: "p", Options: map[string]any{"n": 1}}, agent.Sandbox{}),
		"another staged file":     base(actions.Create{Path: "n.txt", Content: "y"}, actions.Prompt{Prompt: "p"}, agent.Sandbox{}),
		"all":                     base(edit, actions.Prompt{Prompt: "p"}, agent.Sandbox{}),
		"another previous answer": base(actions.Prompt{Prompt: "p", Workspace: "none"}, actions.Prompt{Prompt: "p"}, agent.Sandbox{}),
		"the context none":        base(edit, actions.Prompt{Prompt: "p", Context: "none"}, agent.Sandbox{}),
	} {
		if _, err := x.Plan(t.Context(), mixedTree(), p); err != nil {
			t.Fatal(err)
		}
		if now := len(h.asked); now == asked || name == "another previous answer" && now != asked+2 {
			t.Errorf("%s: asked %d times, then %d", name, asked, now)
		}
		asked = len(h.asked)
	}
	// The model of the sandbox counts like the model of a step.
	if _, err := x.Plan(t.Context(), mixedTree(), base(edit, actions.Prompt{Prompt: "p"}, agent.Sandbox{Model: "m"})); err != nil || len(h.asked) != asked {
		t.Errorf("%v, asked %d times, then %d", err, asked, len(h.asked))
	}
}

// The same holds in parallel, where a step that receives the output of the previous step waits for it.
func TestOtherQuestionsInParallel(t *testing.T) {
	t.Parallel()
	h := &host{script: map[string][]string{"a": {"one", "two"}}}
	x := executor(t, h)
	x.Recorder = millrace.NewMemoryRecorder()
	for _, question := range []string{"p", "q"} {
		p := millrace.New("p").Step("a", quiet(question)).Step("b", actions.Prompt{Prompt: "p", Workspace: "none"}).
			MustBuild().WithOptions(millrace.Options{Parallel: true})
		if _, err := x.Plan(t.Context(), suite.Tree(), p); err != nil {
			t.Fatal(err)
		}
	}
	if h.steps() != "a b a b" {
		t.Errorf("asked %s", h.steps())
	}
}

// A commit asks nothing. That includes the commit of a stored plan by an executor that has no agents.
func TestCommitNeverAsks(t *testing.T) {
	t.Parallel()
	p := millrace.New("p").Step("a", actions.Prompt{Prompt: "p"}).MustBuild()
	for _, stored := range []bool{false, true} {
		h := &host{work: mixed}
		fsys := mixedTree()
		x := executor(t, h)
		x.State.Key = bytes.Repeat([]byte("k"), 32)
		plan, err := x.Plan(t.Context(), fsys, p)
		if err != nil {
			t.Fatal(err)
		}
		if stored {
			other := millrace.Executor{State: millrace.State{Key: x.State.Key}}
			if plan, err = other.OpenPlan(t.Context(), fsys, suite.Stored(t, plan)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := plan.Commit(t.Context()); err != nil || h.steps() != "a" {
			t.Errorf("stored %t: %v, asked %s", stored, err, h.steps())
		}
		if got := all(t, fsys); got["a.txt"] != `-rw-r--r-- "x\na1\n"` || got["gone.txt"] != "" || got["renamed.txt"] == "" {
			t.Errorf("stored %t: %v", stored, got)
		}
	}
}

// file is a Recorder that keeps JSON in a map, as a Recorder on disk does, and lets tests look into it.
type file map[string][]byte

func (f file) Find(key string) (r millrace.Recorded, ok bool, err error) {
	data, ok := f[key]
	if ok {
		err = json.Unmarshal(data, &r)
	}
	return r, ok, err
}

func (f file) Keep(key string, r millrace.Recorded) (err error) {
	f[key], err = json.Marshal(r)
	return err
}

// Recorded answers are encoded as JSON and decoded again, with all bytes.
func TestRecordedJSON(t *testing.T) {
	t.Parallel()
	rec := make(file)
	x := executor(t, &host{work: mixed})
	x.Recorder = rec
	if _, err := x.Plan(t.Context(), mixedTree(), suite.One(actions.Prompt{Prompt: "p"})); err != nil || len(rec) != 1 {
		t.Fatalf("%v, %d records", err, len(rec))
	}
	for _, data := range rec {
		var r millrace.Recorded
		if err := json.Unmarshal(data, &r); err != nil {
			t.Fatal(err)
		}
		if again := suite.JSON(t, r); again != string(data) {
			t.Errorf("before\n%s\nafter\n%s", data, again)
		}
		kinds := make(map[string]change.Kind)
		for _, c := range r.Changes {
			kinds[c.Path] = c.Kind
			if c.Path == "binary-s0" && !bytes.Equal(c.Bytes, []byte{0, 0xff, 1}) || c.Path == "empty-s0" && (c.Bytes == nil || len(c.Bytes) > 0) {
				t.Errorf("%s has the bytes %v", c.Path, c.Bytes)
			}
		}
		want := map[string]change.Kind{"a.txt": change.File, "binary-s0": change.File, "empty-s0": change.File}
		for name, kind := range want {
			if kinds[name] != kind {
				t.Errorf("%s is %v", name, kinds[name])
			}
		}
	}
}

// A record that was tampered with has to keep all rules for an agent.
func TestForgedRecord(t *testing.T) {
	t.Parallel()
	for _, c := range []millrace.RecordedChange{
		{Path: "../out.txt", Kind: change.File, Mode: 0o644, Bytes: []byte("x")},
		{Path: "key.pem", Kind: change.File, Mode: 0o644, Bytes: []byte("x")},
		{Path: ".millrace/journal", Kind: change.File, Mode: 0o644, Bytes: []byte("x")},
		{Path: "link", Kind: change.Symlink, Target: "/etc/passwd"},
		{Path: "link", Kind: change.Symlink, Target: "../out.txt"},
		{Path: "nothing", Kind: change.File, Mode: 0o644},
		{Path: "b.txt", From: "not there", Kind: change.File, Mode: 0o644},
		{Path: "not there", Kind: change.Absent},
		{Path: "odd", Kind: change.Other},
	} {
		x := executor(t, new(host))
		x.DeniedPaths = []string{"*.pem"}
		x.Recorder = forged{c}
		_, rooted := suite.Rooted(t, "a.txt", "one\n") // a tree with symbolic links
		for _, fsys := range []afero.Fs{mixedTree(), rooted} {
			before := all(t, fsys)
			_, err := x.Run(t.Context(), fsys, millrace.New("p").Step("a", actions.Prompt{Prompt: "p"}).MaxRetries(0).MustBuild())
			if err == nil {
				t.Errorf("%+v: it was staged", c)
			}
			if diff := cmp.Diff(before, all(t, fsys)); diff != "" {
				t.Errorf("%+v:\n%s", c, diff)
			}
		}
	}
}

type forged struct{ c millrace.RecordedChange }

func (f forged) Find(string) (millrace.Recorded, bool, error) {
	return millrace.Recorded{Changes: []millrace.RecordedChange{f.c}}, true, nil
}
func (forged) Keep(string, millrace.Recorded) error { return nil }

// Only answers of the agent are recorded: not a canceled attempt, a panic, a full bulkhead, or a tree that cannot be
// made.
func TestNoAnswer(t *testing.T) {
	t.Parallel()
	for name, work := range map[string]func(context.Context, *agent.Request) error{
		"a panic":   func(context.Context, *agent.Request) error { panic("boom") },
		"a timeout": func(ctx context.Context, _ *agent.Request) error { <-ctx.Done(); return ctx.Err() },
	} {
		synctest.Test(t, func(t *testing.T) {
			rec := make(file)
			x := millrace.Executor{Agents: map[string]agent.Agent{"": &host{work: work}}, Recorder: rec}
			p := millrace.New("p").Step("a", quiet("p")).MaxRetries(0).Timeout(time.Second).MustBuild()
			if _, err := x.Run(t.Context(), suite.Tree(), p); err == nil || len(rec) > 0 {
				t.Errorf("%s: %v, %d records", name, err, len(rec))
			}
		})
	}
}

// A command is not run twice either: its output, its status and its changes are recorded.
func TestCommandNeverTwice(t *testing.T) {
	t.Parallel()
	work := millracetest.Work{Files: "-- made.txt\\n --\nx\n"}
	x := millrace.Executor{Recorder: millrace.NewMemoryRecorder(), Commands: millracetest.Command(t,
		millracetest.Program{Line: "sh x", Work: work, Code: 1},
		millracetest.Program{Line: "sh", Work: work, Stdout: `{"n": 1}`})}
	p := millrace.New("p").
		Step("bad", actions.Exec{Command: "sh", Args: []string{"x"}}).OnFail("good").
		Step("good", actions.Exec{Command: "sh", Format: "json"}).
		Step("c", actions.Create{Path: "c.txt", Content: "{{good.json.n}} {{good.files}} {{good.changed}} {{bad.exit_code}} {{bad.error_code}}"}).MustBuild()
	plan, err := x.Plan(t.Context(), mixedTree(), p)
	if err != nil {
		t.Fatal(err)
	}
	fsys := mixedTree()
	res, err := x.Run(t.Context(), fsys, p)
	if err != nil {
		t.Fatal(err)
	}
	if got := suite.Read(t, fsys, "c.txt"); got != `1 made.txt ["made.txt"] 1 exec_failed` {
		t.Errorf("got %q", got)
	}
	if diff := cmp.Diff(plan.Result().Results[1].Data, res.Results[1].Data); diff != "" || suite.Read(t, fsys, "made.txt") != "x" {
		t.Errorf("(-plan +run):\n%s", diff)
	}
}

// A prompt that had failed when it was asked fails at once when it is replayed, without a wait.
func TestReplayDoesNotWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		x := millrace.Executor{
			Agents:   map[string]agent.Agent{"": &host{script: map[string][]string{"a": {"fail", "fail", "ok"}}}},
			Recorder: millrace.NewMemoryRecorder(),
		}
		p := millrace.New("p").Step("a", quiet("p")).MustBuild()
		for _, want := range []time.Duration{3 * time.Second, 0} {
			began := time.Now()
			if _, err := x.Plan(t.Context(), suite.Tree(), p); err != nil || time.Since(began) != want {
				t.Errorf("%v after %v, want %v", err, time.Since(began), want)
			}
		}
	})
}
