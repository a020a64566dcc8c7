package commands_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/internal/suite"
)

// elsewhere is a Runner of a host: it calls a function of the test instead of a command.
type elsewhere func(c command.Command) (command.Exit, error)

func (f elsewhere) Run(_ context.Context, c command.Command) (command.Exit, error) { return f(c) }

// A host can run commands on its own: it receives the path of the tree, and its changes there are staged.
func TestRunner(t *testing.T) {
	t.Parallel()
	x, fsys := host(t), memory()
	x.Commands.Sandbox, x.Commands.Secrets = command.Required, map[string]string{"TOKEN": "s3cret"}
	x.Commands.Runner = elsewhere(func(c command.Command) (command.Exit, error) {
		if c.Step != "s0" || c.Dir != filepath.Join(c.Root, "d") || c.Stdin != "in" || c.Words[0] != "prog" || c.Env["TOKEN"] != "s3cret" || c.Env["HOME"] == "" {
			t.Errorf("the runner received %+v", c)
		}
		if c.OnOutput != nil {
			c.OnOutput("stdout", "told s3cret")
		}
		err := os.WriteFile(filepath.Join(c.Dir, "new"), []byte("new\n"), 0o644)
		return command.Exit{Code: 3, Stdout: command.Output{Text: "told s3cret"}}, err
	})
	var seen printed
	x.Observe = seen.observe
	res := run(t, x, fsys, suite.One(actions.Exec{Command: "prog", Dir: "d", Stdin: "in", OKCodes: []int{3}}))
	wantText(t, fsys, "d/new", "new\n")
	if res.Results[0].Output != "told ***" || seen.of("stdout") != "told ***" || exit(t, res, 0)["exit_code"] != int64(3) {
		t.Errorf("%+v, %q", res.Results[0], seen.of("stdout"))
	}
	for name, do := range map[string]elsewhere{
		"error": func(command.Command) (command.Exit, error) { return command.Exit{}, errors.New("no container") },
		"panic": func(command.Command) (command.Exit, error) { panic("no container") },
	} {
		x.Commands.Runner = do
		res, err := x.Run(t.Context(), fsys, suite.One(actions.Exec{Command: "prog"}))
		if err == nil || !strings.Contains(err.Error(), "no container") || res.Results[0].ErrorCode != "exec_failed" {
			t.Errorf("%s: %v, %+v", name, err, res)
		}
	}
}

// The context of a visit reaches the function that makes the environment of its command.
func TestEnvFor(t *testing.T) {
	t.Parallel()
	type key struct{}
	x, fsys := host(t), memory()
	x.StepContext = func(ctx context.Context, s millrace.StepStarted) context.Context {
		return context.WithValue(ctx, key{}, s.Step)
	}
	x.Commands.EnvFor = func(ctx context.Context) map[string]string {
		return map[string]string{"TRACEPARENT": fmt.Sprint(ctx.Value(key{}))}
	}
	res := run(t, x, fsys, suite.One(script(`printf %s "$TRACEPARENT"`)))
	if got := res.Results[0].Output; got != "s0" {
		t.Errorf("%q", got)
	}
}

// Output is cut if it exceeds the step's share of MaxShownBytes. That is not a failure.
func TestShown(t *testing.T) {
	t.Parallel()
	x, fsys := host(t), memory()
	x.Limits.MaxShownBytes = 64 << 10
	b := millrace.New("p").Step("long", script("head -c 1000000 /dev/zero | tr '\\0' x; head -c 1000000 /dev/zero | tr '\\0' y >&2"))
	for i := range millrace.MaxSteps - 1 {
		b = b.Step(fmt.Sprintf("s%d", i), actions.List{Path: "d"})
	}
	res := run(t, x, fsys, b.MustBuild())
	if got := res.Results[0].Output; exit(t, res, 0)["truncated"] != true || len(got) > 64<<10/millrace.MaxSteps || !strings.HasSuffix(got, "y") {
		t.Errorf("%d bytes are shown", len(got))
	}
}

// A result as a list of calls has the data of commands, and the reasons of failures.
func TestEnvelope(t *testing.T) {
	t.Parallel()
	x, fsys := host(t), memory()
	p := millrace.New("p").Step("one", script("echo x > a.txt")).Step("two", script("echo why >&2; exit 2")).MustBuild()
	res, err := x.Run(t.Context(), fsys, p)
	if err == nil {
		t.Fatal("it has succeeded")
	}
	var got struct {
		Results []struct {
			Step  int
			Tool  string
			OK    bool
			Data  map[string]any
			Error map[string]string
		}
	}
	if err := json.Unmarshal([]byte(suite.JSON(t, res.Envelope())), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Results) != 2 || got.Results[0].Tool != "exec" || cmp.Diff([]any{"a.txt"}, got.Results[0].Data["changed"]) != "" {
		t.Fatalf("%+v", got)
	}
	if diff := cmp.Diff(map[string]string{"code": "exec_failed", "message": "exit status 2: why"}, got.Results[1].Error); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// With a Recorder, a run after a dry run runs no command again, and stages the same bytes.
func TestNeverTwice(t *testing.T) {
	t.Parallel()
	x := host(t)
	_, fsys := suite.Rooted(t, "a.txt", "one\n", "old", "a text that goes elsewhere\n", "b.txt", "b\n")
	count := filepath.Join(t.TempDir(), "count")
	x.Commands.Write = []string{filepath.Dir(count)}
	x.Commands.Env = map[string]string{"COUNT": count}
	x.Recorder = millrace.NewMemoryRecorder()
	p := millrace.New("p").
		Step("change", script(`echo x >> $COUNT; echo two > a.txt; mv old new; rm b.txt; mkdir e; echo data`)).
		Step("fails", script(`echo y >> $COUNT; echo lost > a.txt; exit 3`)).OnFail("told").
		Step("told", actions.Create{Path: "told", Content: "{{change.output}}{{change.changed}}{{change.deleted}} {{fails.exit_code}} {{fails.error_code}}"}).
		MustBuild()
	dry := x
	dry.DryRun = true
	first := run(t, dry, fsys, p)
	second := run(t, x, fsys, p)
	data, err := os.ReadFile(count)
	if err != nil || string(data) != "x\ny\n" {
		t.Errorf("commands have run: %q, %v", data, err)
	}
	wantText(t, fsys, "a.txt", "two\n")
	wantText(t, fsys, "new", "a text that goes elsewhere\n")
	wantText(t, fsys, "old", "")
	wantText(t, fsys, "told", "data\n[\"a.txt\",\"new\"][\"b.txt\"] 3 exec_failed")
	if diff := cmp.Diff(first.FilesChanged, second.FilesChanged); diff != "" {
		t.Errorf("(-dry run +run):\n%s", diff)
	}
	for i := range first.Results {
		a, b := first.Results[i], second.Results[i]
		a.Duration, b.Duration = 0, 0
		if diff := cmp.Diff(a, b); diff != "" {
			t.Errorf("step %d (-dry run +run):\n%s", i, diff)
		}
	}
}

// Runs a formatter from npm, if npm can provide it.
func TestPrettier(t *testing.T) {
	t.Parallel()
	tool(t, "npm")
	if testing.Short() {
		t.Skip("-short: it may load a program from the network")
	}
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	install := exec.CommandContext(ctx, "npm", "install", "--prefix", dir, "--prefer-offline", "--no-audit", "--no-fund", "--silent", "prettier@3.3.3")
	if out, err := install.CombinedOutput(); err != nil {
		t.Skipf("npm has no prettier: %v: %.200s", err, out)
	}
	x := host(t)
	installed(t, &x, "node")
	x.Commands.Read = append(x.Commands.Read, dir)
	_, fsys := suite.Rooted(t, "a.js", "const a = {b:1,\n  c : 'x'}\n", "b.css", "a{color:red}\n", ".prettierrc", "{\"semi\": false}\n")
	program := filepath.Join(dir, "node_modules", "prettier", "bin", "prettier.cjs")
	p := millrace.New("p").
		Step("edit", actions.Edit{Files: []string{"a.js"}, OldText: "'x'", NewText: "'y'"}).
		Step("format", actions.Exec{Command: "node", Args: []string{program, "--write", "."}}).
		Step("check", actions.Exec{Command: "node", Args: []string{program, "--check", "."}, Discard: true}).
		MustBuild()
	run(t, x, fsys, p)
	wantText(t, fsys, "a.js", "const a = { b: 1, c: \"y\" }\n")
	wantText(t, fsys, "b.css", "a {\n  color: red;\n}\n")
}
