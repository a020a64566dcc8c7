package told_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/panics"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/risk"
)

// ends records the first and last events of runs and phases: "run" begins a phase, "/run CODE" ends it.
type ends struct {
	told   []string
	events []millrace.Event
}

func (l *ends) observe(e millrace.Event) {
	l.events = append(l.events, e)
	switch e := e.(type) {
	case millrace.RunStarted:
		l.told = append(l.told, e.Phase)
	case millrace.RunFinished:
		word := strings.TrimSpace("/" + e.Phase + " " + millrace.ErrorCode(e.Err))
		if e.Result == nil {
			word += ", no result"
		}
		l.told = append(l.told, word)
	}
}

func doing(do func(context.Context, *actions.Call) (actions.Outcome, error)) millrace.Pipeline {
	return suite.One(suite.Action{Do: do})
}

// However a run ends, it has a first and a last event, with no event outside of them.
func TestEveryRunBeginsAndEnds(t *testing.T) {
	t.Parallel()
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	run := func(x millrace.Executor, p millrace.Pipeline) func(context.Context, *ends) {
		return func(ctx context.Context, l *ends) {
			x.Observe = l.observe
			_, _ = x.Run(ctx, suite.Tree("a", strings.Repeat("x\n", 600), "b", "x\n"), p)
		}
	}
	planned := func(x millrace.Executor, then func(context.Context, *millrace.Plan)) func(context.Context, *ends) {
		return func(ctx context.Context, l *ends) {
			x.Observe = l.observe
			plan, err := x.Plan(ctx, suite.Tree("a", "x\n"), suite.Edit("a"))
			if err == nil {
				then(ctx, plan)
			}
		}
	}
	restored := func(x millrace.Executor) func(context.Context, *ends) {
		return func(ctx context.Context, l *ends) {
			fsys := suite.Tree("a", "x")
			res, err := millrace.Executor{Observe: l.observe}.Run(ctx, fsys, suite.Edit("a"))
			if err != nil {
				t.Error(err)
				return
			}
			x.Observe = l.observe
			_, _ = x.Restore(ctx, fsys, res.BackupID)
		}
	}
	commit := func(ctx context.Context, p *millrace.Plan) { _, _ = p.Commit(ctx) }
	for name, test := range map[string]struct {
		want string
		ctx  context.Context
		do   func(context.Context, *ends)
	}{
		"success":       {"run | /run", nil, run(millrace.Executor{}, suite.Edit("b"))},
		"read only":     {"run | /run", nil, run(millrace.Executor{ReadOnly: true}, suite.One(actions.Search{Pattern: "x"}))},
		"dry run":       {"run | /run", nil, run(millrace.Executor{DryRun: true}, suite.Edit("b"))},
		"step fails":    {"run | /run step_failed", nil, run(millrace.Executor{}, suite.Edit("missing"))},
		"blocked":       {"run | /run blocked", nil, run(millrace.Executor{}, suite.Edit("a"))},
		"refused":       {"run | /run read_only, no result", nil, run(millrace.Executor{ReadOnly: true}, suite.Edit("b"))},
		"canceled":      {"run | /run canceled", canceled, run(millrace.Executor{}, suite.Edit("b"))},
		"canceled, dry": {"run | /run canceled", canceled, run(millrace.Executor{DryRun: true}, suite.Edit("b"))},
		"panic":         {"run | /run step_failed", nil, run(millrace.Executor{}, doing(func(context.Context, *actions.Call) (actions.Outcome, error) { panic("no") }))},
		"goexit": {"run | /run step_failed", nil, run(millrace.Executor{}, doing(func(context.Context, *actions.Call) (actions.Outcome, error) {
			runtime.Goexit()
			return actions.Outcome{}, nil
		}))},
		"never began":    {"", nil, run(millrace.Executor{State: millrace.State{Dir: "../x"}}, suite.Edit("b"))},
		"plan":           {"plan | /plan", nil, planned(millrace.Executor{}, func(context.Context, *millrace.Plan) {})},
		"commit":         {"plan | /plan | commit | /commit", nil, planned(millrace.Executor{}, commit)},
		"dry commit":     {"plan | /plan | commit | /commit", nil, planned(millrace.Executor{DryRun: true}, commit)},
		"commit refused": {"plan | /plan | commit | /commit read_only", nil, planned(millrace.Executor{ReadOnly: true}, commit)},
		"commit blocked": {"plan | /plan | commit | /commit blocked", nil, planned(millrace.Executor{MaxFiles: 1, Risk: risk.Policy{High: risk.Threshold{Edits: 1}}}, commit)},
		"commit twice": {"plan | /plan | commit | /commit | commit | /commit internal, no result", nil, planned(millrace.Executor{}, func(ctx context.Context, p *millrace.Plan) {
			commit(ctx, p)
			commit(ctx, p)
		})},
		"closed": {"plan | /plan | commit | /commit internal", nil, planned(millrace.Executor{}, func(ctx context.Context, p *millrace.Plan) {
			_ = p.Close()
			commit(ctx, p)
		})},
		"again": {"run | /run | run | /run", nil, func(ctx context.Context, l *ends) {
			fsys, x := suite.Tree("n.txt", "end"), millrace.Executor{RunID: "one", Observe: l.observe}
			for range 2 {
				if _, err := x.Run(ctx, fsys, suite.Count()); err != nil {
					t.Error(err)
				}
			}
		}},
		"restore":         {"run | /run | commit | /commit", nil, restored(millrace.Executor{})},
		"dry restore":     {"run | /run | commit | /commit", nil, restored(millrace.Executor{DryRun: true})},
		"restore refused": {"run | /run | commit | /commit read_only, no result", nil, restored(millrace.Executor{ReadOnly: true})},
		"no such backup": {"commit | /commit internal, no result", nil, func(ctx context.Context, l *ends) {
			_, _ = millrace.Executor{Observe: l.observe}.Restore(ctx, suite.Tree("a", "x"), "20250213_120530_abc123def4567890")
		}},
		"file system panics": {"run | /run internal, no result", nil, func(ctx context.Context, l *ends) {
			fsys := errorfs.Wrap(afero.NewMemMapFs(), nil)
			suite.ThreeFiles(t, fsys)
			broken := errorfs.Wrap(fsys, func(op *errorfs.Op, do func() error) error {
				if op.Kind == "rename" || op.Kind == "write" {
					panic("the file system is broken")
				}
				return do()
			})
			err := panics.Protect(func() error {
				_, err := millrace.Executor{Observe: l.observe}.Run(ctx, broken, suite.Edit("a.txt"))
				return err
			})
			if !suite.Is[*panics.Error](err) {
				t.Errorf("the panic did not reach the caller: %v", err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			if test.ctx != nil {
				ctx = test.ctx
			}
			var l ends
			test.do(ctx, &l)
			if got := strings.Join(l.told, " | "); got != test.want {
				t.Errorf("got %s\nwant %s", got, test.want)
			}
			open := false
			for _, e := range l.events {
				switch e.(type) {
				case millrace.RunStarted:
					if open {
						t.Errorf("a run begins within another run")
					}
					open = true
				case millrace.RunFinished:
					open = false
				default:
					if !open {
						t.Errorf("%T is outside of all runs", e)
					}
				}
			}
		})
	}
}

// The fields of the first and the last event, in Go and as JSON.
func TestRunEvents(t *testing.T) {
	t.Parallel()
	var l ends
	var lines strings.Builder
	x := millrace.Executor{RunID: "one", Observe: millrace.Observers(l.observe, millrace.JSONEvents(&lines))}
	p := millrace.New("two").Step("fix", actions.Edit{Files: []string{"a"}, OldText: "x", NewText: "y"}).
		Step("fail", actions.Fail{Message: "no more"}).MustBuild()
	res, err := x.Run(t.Context(), suite.Tree("a", "x"), p)
	if err == nil {
		t.Fatal("no error")
	}
	started := millrace.RunStarted{Pipeline: "two", RunID: "one", Phase: millrace.PhaseRun, Steps: 2}
	if d := cmp.Diff(millrace.Event(started), l.events[0]); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	last, ok := l.events[len(l.events)-1].(millrace.RunFinished)
	if !ok || last.Phase != "run" || !errors.Is(last.Err, err) {
		t.Fatalf("the last event is %+v", l.events[len(l.events)-1])
	}
	if d := cmp.Diff(res, last.Result); d != "" {
		t.Errorf("(-returned +told):\n%s", d)
	}
	last.Result.Results[0].FilesMatched[0] = "changed"
	if res.Results[0].FilesMatched[0] != "a" {
		t.Error("the result is not a copy")
	}
	all := strings.Split(strings.TrimSpace(lines.String()), "\n")
	var first, end map[string]any
	for text, v := range map[string]*map[string]any{all[0]: &first, all[len(all)-1]: &end} {
		if err := json.Unmarshal([]byte(text), v); err != nil {
			t.Fatal(err)
		}
		delete(*v, "time")
	}
	if d := cmp.Diff(map[string]any{
		"v": 1.0, "event": "run_started", "pipeline": "two", "run_id": "one", "phase": "run", "steps": 2.0, "dry_run": false,
	}, first); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if end["event"] != "run_finished" || end["error"] != err.Error() || end["error_code"] != "step_failed" || end["result"] == nil {
		t.Errorf("the last line is %v", end)
	}
}

// An observer that fails at the first or the last event changes nothing, and the returned result has a warning.
func TestObserverFailsAtTheEnds(t *testing.T) {
	t.Parallel()
	for _, verb := range []string{"run", "plan", "commit"} {
		for _, kind := range []string{"run_started", "run_finished"} {
			var others int
			x := millrace.Executor{Observe: millrace.Observers(
				func(e millrace.Event) {
					if e.Kind() == kind {
						panic("no " + kind)
					}
				},
				nil,
				func(millrace.Event) { others++ },
			)}
			fsys := suite.Tree("a", "x")
			var res *millrace.Result
			var err error
			if verb == "run" {
				res, err = x.Run(t.Context(), fsys, suite.Edit("a"))
			} else {
				var plan *millrace.Plan
				if plan, err = x.Plan(t.Context(), fsys, suite.Edit("a")); err != nil {
					t.Fatal(err)
				}
				res = plan.Result()
				if verb == "commit" {
					res, err = plan.Commit(t.Context())
				}
			}
			if err != nil || !res.Success {
				t.Fatalf("%s, %s: %v", verb, kind, err)
			}
			if got := fmt.Sprint(res.Warnings); len(res.Warnings) != 1 || !strings.Contains(got, "observer failed") || !strings.Contains(got, "no "+kind) {
				t.Errorf("%s, %s: warnings %s", verb, kind, got)
			}
			if others < 5 {
				t.Errorf("the other observer saw %d events", others)
			}
		}
	}
}

// Observers are called in order, each for every event, whatever earlier observers do.
func TestObservers(t *testing.T) {
	t.Parallel()
	if millrace.Observers() != nil || millrace.Observers(nil, nil) != nil {
		t.Error("no observers joined are not nil")
	}
	var seen []string
	note := func(word string, fail func()) func(millrace.Event) {
		return func(millrace.Event) { seen = append(seen, word); fail() }
	}
	nothing := func() {}
	joined := millrace.Observers(nil, note("a", nothing), note("b", func() { panic("b") }), nil, note("c", runtime.Goexit), note("d", nothing))
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { _ = recover() }()
		joined(millrace.StepFinished{})
	}()
	<-done
	if got := strings.Join(seen, ""); got != "abcd" {
		t.Errorf("called %q", got)
	}
}

// An audit has a line for each visit, and no text of files.
func TestAudit(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	x := millrace.Executor{RunID: "a3f9c2d1", Observe: millrace.Audit(&out)}
	words := loops["second-fix"]
	if _, err := x.Run(t.Context(), suite.Tree("other", "x"), loop(words[0], words[1], words[2])); err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		if v["run"] != "a3f9c2d1" || v["action"] != "scripted" || v["time"] == "" || v["cost"] != 0.0 || v["edits"] != 0.0 {
			t.Errorf("%s", line)
		}
		if _, ok := v["duration"].(float64); !ok {
			t.Errorf("%s", line)
		}
		got = append(got, fmt.Sprintf("%v %v %v %v %v %v %v", v["step"], v["visit"], v["ok"], v["skipped"], v["handled"], v["code"], v["files"]))
	}
	want := []string{
		"run-tests 1 false <nil> true step_failed 0", "auto-fix 1 true <nil> <nil>  1", "verify-fix 1 true <nil> <nil>  0",
		"auto-fix 2 true <nil> <nil>  1", "verify-fix 2 true <nil> <nil>  0", "coverage 1 true <nil> <nil>  0",
		"report-failure 1 true true <nil>  0",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	broken := &failingWriter{}
	x.Observe = millrace.Audit(broken)
	if _, err := x.Run(t.Context(), suite.Tree("other", "x"), loop(words[0], words[1], words[2])); err != nil || broken.calls != 1 {
		t.Errorf("%v, %d calls of a writer that fails", err, broken.calls)
	}
}

type failingWriter struct{ calls int }

func (w *failingWriter) Write([]byte) (int, error) { w.calls++; return 0, errors.New("closed") }
