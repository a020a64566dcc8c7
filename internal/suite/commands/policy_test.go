package commands_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/bulkhead"
	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/internal/suite"
)

func asCommandError(err error) *actions.CommandError {
	e, _ := errors.AsType[*actions.CommandError](err)
	return e
}

func asLimitError(err error) *actions.LimitError {
	e, _ := errors.AsType[*actions.LimitError](err)
	return e
}

// Commands that the host does not allow are problems of the pipeline: all are reported, before anything runs.
func TestDenied(t *testing.T) {
	t.Parallel()
	x, fsys := host(t), memory()
	x.Commands.Allow, x.Commands.Shell = []string{"echo *"}, false
	ran := 0
	x.Observe = func(e millrace.Event) { ran++ }
	p := millrace.New("p").
		Step("make", actions.Create{Path: "m", Content: "m"}).
		Step("ok", actions.Exec{Command: "echo", Args: []string{"{{make.files}}"}}).
		Step("x", actions.Exec{Command: "curl", Args: []string{"http://localhost"}}).
		Step("sh", script("true")).MustBuild()
	for name, do := range map[string]func() error{
		"run":  func() error { _, err := x.Run(t.Context(), fsys, p); return err },
		"plan": func() error { _, err := x.Plan(t.Context(), fsys, p); return err },
	} {
		err := do()
		invalid, ok := errors.AsType[*millrace.ValidationError](err)
		if !ok || len(invalid.Problems) != 2 || ran > 0 {
			t.Fatalf("%s: %v, %d events", name, err, ran)
		}
		got := []string{invalid.Problems[0].Pointer, invalid.Problems[0].Code, invalid.Problems[0].Message, invalid.Problems[1].Pointer, invalid.Problems[1].Code}
		want := []string{"/steps/2/params/command", "exec_denied", "step 'x': the host does not allow the command 'curl'", "/steps/3/params/shell", "exec_denied"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if _, err := (millrace.Executor{}).Run(t.Context(), fsys, suite.One(actions.Exec{Command: "true"})); !suite.Is[*millrace.ValidationError](err) {
		t.Errorf("a host that allows nothing: %v", err)
	}
	wantText(t, fsys, "m", "")
}

// Words from templates are checked against the policy when the command is about to run. A denied command is not
// retried.
func TestDeniedAtDispatch(t *testing.T) {
	t.Parallel()
	x, fsys := host(t), memory()
	x.Commands.Allow = []string{"echo *"}
	p := millrace.New("p").Step("name", actions.Exec{Command: "echo", Args: []string{"curl"}, Format: "text"}).
		Step("x", actions.Exec{Command: "cu{{name.exit_code}}rl"}).Step("y", actions.Create{Path: "y", Content: "y"}).MustBuild()
	res, err := x.Run(t.Context(), fsys, p)
	denied, ok := errors.AsType[*command.DeniedError](err)
	if !ok || denied.Command != "cu0rl" || res.Results[1].ErrorCode != "exec_denied" || res.Results[1].Attempts > 1 {
		t.Errorf("%v, %+v", err, res)
	}
	wantText(t, fsys, "y", "")
	// A script that the host does not allow is refused before a tree is made for it, even if its answer is recorded.
	p = millrace.New("p").Step("find", actions.List{}).Step("x", script("cat {{find.files}}")).MustBuild()
	x.Recorder = millrace.NewMemoryRecorder()
	run(t, x, fsys, p)
	x.Commands.Shell, x.Commands.Scratch = false, filepath.Join(t.TempDir(), "scratch")
	if _, err := x.Run(t.Context(), fsys, p); !suite.Is[*command.DeniedError](err) || millrace.ErrorCode(err) != "exec_denied" {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(x.Commands.Scratch); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// An invalid policy is the fault of the host.
func TestBadPolicy(t *testing.T) {
	t.Parallel()
	x, fsys := host(t), memory()
	x.Commands.MaxOutput = -1
	_, err := x.Run(t.Context(), fsys, suite.One(actions.Exec{Command: "true"}))
	if e, ok := errors.AsType[*millrace.ExecutorError](err); !ok || e.Field != "Commands" {
		t.Errorf("%v", err)
	}
	// Programs look in parent directories for the project of a tree.
	dir, root := suite.Rooted(t, "a.txt", "x\n")
	x = host(t)
	x.Commands.Scratch = filepath.Join(dir, "not", "there")
	if _, err := x.Run(t.Context(), root, suite.One(actions.Exec{Command: "true"})); err == nil || !strings.Contains(err.Error(), "Commands.Scratch") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(x.Commands.Scratch); !errors.Is(err, os.ErrNotExist) {
		t.Error("the directory was made")
	}
}

// A host that only reads runs commands whose changes are dropped, and all commands in dry runs.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	x, fsys := host(t), memory()
	x.ReadOnly = true
	res := run(t, x, fsys, suite.One(actions.Exec{Shell: "echo x > a.txt; cat a.txt", Discard: true}))
	if res.Results[0].Output != "x\n" {
		t.Errorf("%+v", res.Results[0])
	}
	if _, err := x.Run(t.Context(), fsys, suite.One(script("echo x > a.txt"))); !errors.Is(err, millrace.ErrReadOnly) {
		t.Errorf("%v", err)
	}
	x.DryRun = true
	if res = run(t, x, fsys, suite.One(script("echo x > a.txt"))); len(res.FilesChanged.Modified) != 1 {
		t.Errorf("%+v", res)
	}
	wantText(t, fsys, "a.txt", "one\n")
}

// A command that takes too long is ended by the timeout of its step, or by the host's timeout, which a step cannot
// extend.
func TestTimeout(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]func(x *millrace.Executor, b millrace.StepBuilder) millrace.StepBuilder{
		"of the step": func(_ *millrace.Executor, b millrace.StepBuilder) millrace.StepBuilder {
			return b.Timeout(400 * time.Millisecond)
		},
		"of the host": func(x *millrace.Executor, b millrace.StepBuilder) millrace.StepBuilder {
			x.Commands.MaxTimeout = 400 * time.Millisecond
			return b
		},
		"of both": func(x *millrace.Executor, b millrace.StepBuilder) millrace.StepBuilder {
			x.Commands.MaxTimeout = 400 * time.Millisecond
			return b.Timeout(time.Hour)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x, fsys := host(t), memory()
			b := limit(&x, millrace.New("p").Step("s", script("echo begun; echo x > a.txt; exec sleep 1000")))
			res, err := x.Run(t.Context(), fsys, b.MustBuild())
			late, ok := errors.AsType[*millrace.TimeoutError](err)
			if !ok || late.After != 400*time.Millisecond || res.Results[0].ErrorCode != "timeout" {
				t.Fatalf("%v", err)
			}
			wantText(t, fsys, "a.txt", "one\n")
			empty(t, x)
		})
	}
}

// A canceled run ends its command, and leaves nothing.
func TestCancel(t *testing.T) {
	t.Parallel()
	x, fsys := host(t), memory()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	x.Observe = func(e millrace.Event) {
		if e, ok := e.(millrace.StepOutput); ok && strings.Contains(e.Text, "begun") {
			cancel()
		}
	}
	_, err := x.Run(ctx, fsys, suite.One(script("echo x > a.txt; echo begun; sleep 1000 & wait")))
	if !errors.Is(err, context.Canceled) || millrace.ErrorCode(err) != "canceled" {
		t.Errorf("%v", err)
	}
	wantText(t, fsys, "a.txt", "one\n")
	empty(t, x)
}

// Secrets of the host are in no result, even if they are written in two pieces or as JSON.
func TestSecrets(t *testing.T) {
	t.Parallel()
	const secret = `s3cr"et-value`
	x, fsys := host(t), memory()
	x.Commands.Secrets = map[string]string{"TOKEN": secret}
	var log bytes.Buffer
	var events bytes.Buffer
	x.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	x.Observe = millrace.JSONEvents(&events)
	p := millrace.New("p").
		Step("out", script(`printf '%s' "$TOKEN" | cut -c1-5 | tr -d '\n'; sleep 0.1; printf '%s' "$TOKEN" | cut -c6-`)).
		Step("json", actions.Exec{Shell: `printf '{"%s": "%s"}' k "$(printf %s "$TOKEN" | sed 's/"/\\"/; s/^s/\\u0073/')"`, Format: "json"}).
		Step("told", actions.Create{Path: "told", Content: "{{out.output}}{{json.json.k}}"}).
		Step("err", script(`echo "no $TOKEN" >&2; exit 1`)).
		MustBuild()
	res, err := x.Run(t.Context(), fsys, p)
	if err == nil || !strings.HasSuffix(res.Results[3].Error, "exit status 1: no ***") {
		t.Fatalf("%v, %+v", err, res.Results)
	}
	if got := exit(t, res, 1)["json"]; cmp.Diff(map[string]any{"k": "***"}, got) != "" {
		t.Errorf("json is %v", got)
	}
	told, _ := json.Marshal(res)
	for what, text := range map[string]string{"result": string(told), "error": err.Error(), "log": log.String(), "events": events.String(), "output": res.Results[0].Output} {
		quoted, _ := json.Marshal(secret)
		if strings.Contains(text, secret) || strings.Contains(text, strings.Trim(string(quoted), `"`)) {
			t.Errorf("the secret is in the %s:\n%s", what, text)
		}
	}
	if !strings.Contains(res.Results[0].Output, "***") {
		t.Errorf("output is %q", res.Results[0].Output)
	}
}

// Output of a command is reported as it is printed, within the visit.
func TestOutputEvents(t *testing.T) {
	t.Parallel()
	x, fsys := host(t), memory()
	var seen printed
	x.Observe = seen.observe
	run(t, x, fsys, suite.One(script("echo one; echo two >&2; head -c 100000 /dev/zero | tr '\\0' x")))
	if out := seen.of("stdout"); out != "one\n"+strings.Repeat("x", 100000) || seen.of("stderr") != "two\n" {
		t.Errorf("%d bytes, %q", len(out), seen.of("stderr"))
	}
	for _, e := range seen.events {
		if e.Step != "s0" || e.Visit != 1 || len(e.Text) > 32<<10 || e.Kind() != "step_output" {
			t.Errorf("%+v", e)
		}
	}
}

// Commands of runs that share a bulkhead wait for each other, or fail if it is full.
func TestBulkhead(t *testing.T) {
	t.Parallel()
	x, fsys := host(t), memory()
	x.Bulkheads = map[string]*bulkhead.Bulkhead{"exec": bulkhead.New(0, 0)}
	_, err := x.Run(t.Context(), fsys, suite.One(script("echo x > a.txt")))
	if !suite.Is[*bulkhead.SaturatedError](err) || millrace.ErrorCode(err) != "bulkhead_saturated" {
		t.Errorf("%v", err)
	}
	wantText(t, fsys, "a.txt", "one\n")
}
