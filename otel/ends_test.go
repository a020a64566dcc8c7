package millraceotel_test

import (
	"context"
	"encoding/json"
	"errors"
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
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/condition"
	millraceotel "github.com/millrace-go/millrace/otel"
	"github.com/millrace-go/millrace/tool"
)

const phases = "| verify | stage | backup | journal | apply | sync | commit | clean"

// acting is an action that calls its field.
type acting struct {
	do func(context.Context, *actions.Call) (actions.Outcome, error)
}

func (acting) Spec() actions.Spec {
	return actions.Spec{Name: "acting", Summary: "does some work"}
}

func (a acting) Run(ctx context.Context, c *actions.Call) (actions.Outcome, error) {
	return a.do(ctx, c)
}

// edit returns a pipeline of one step, which replaces x by y in a file.
func edit(file string) millrace.StepBuilder {
	return millrace.New("p").Step("edit", actions.Edit{Files: []string{file}, OldText: "x", NewText: "y"})
}

// doing returns a pipeline of one step that calls do.
func doing(do func(context.Context) error) millrace.StepBuilder {
	return millrace.New("p").Step("act", acting{func(ctx context.Context, _ *actions.Call) (actions.Outcome, error) {
		return actions.Outcome{}, do(ctx)
	}})
}

// stuck is a file system that cannot rename to a file named a.
type stuck struct{ afero.Fs }

func (s stuck) Rename(from, to string) error {
	if filepath.Base(to) == "a" {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: errors.New("stuck")}
	}
	return s.Fs.Rename(from, to)
}

// oneTool returns a set with a tool that costs a dollar for each call.
func oneTool(t *testing.T) tool.Set {
	t.Helper()
	set, err := tool.New(spender{})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

type spender struct{}

func (spender) Spec() tool.Spec { return tool.Spec{Name: "spend", Costs: true} }

func (spender) Call(_ context.Context, c *tool.Call) (tool.Result, error) {
	c.Spend(budget.Dollar)
	return tool.Result{}, nil
}

// For every end of a run, its span and the spans of its steps have the outcome.
func TestSpansSayHowItEnded(t *testing.T) {
	t.Parallel()
	type builder interface{ MustBuild() millrace.Pipeline }
	type situation struct {
		ctx   context.Context
		x     millrace.Executor
		fsys  afero.Fs
		opts  []millraceotel.Option
		tools tool.Set
	}
	run := func(b builder) func(*testing.T, situation) {
		return func(t *testing.T, s situation) {
			_, _ = millraceotel.Instrument(s.x, s.opts...).Run(s.ctx, s.fsys, b.MustBuild())
		}
	}
	with := func(x millrace.Executor, do func(*testing.T, situation)) func(*testing.T, situation) {
		return func(t *testing.T, s situation) { s.x = x; do(t, s) }
	}
	withTool := func(x millrace.Executor, do func(*testing.T, situation)) func(*testing.T, situation) {
		return func(t *testing.T, s situation) { s.x = x; s.x.Tools = s.tools; do(t, s) }
	}
	within := func(d time.Duration, do func(*testing.T, situation)) func(*testing.T, situation) {
		return func(t *testing.T, s situation) {
			var cancel context.CancelFunc
			s.ctx, cancel = context.WithTimeout(s.ctx, d)
			defer cancel()
			do(t, s)
		}
	}
	planned := func(b builder, then func(*testing.T, situation, *millrace.Plan)) func(*testing.T, situation) {
		return func(t *testing.T, s situation) {
			plan, err := millraceotel.Instrument(s.x, s.opts...).Plan(s.ctx, s.fsys, b.MustBuild())
			if err != nil {
				t.Fatal(err)
			}
			then(t, s, plan)
		}
	}
	commit := func(t *testing.T, s situation, p *millrace.Plan) { _, _ = p.Commit(s.ctx) }
	sleep := func(ctx context.Context) error {
		select {
		case <-ctx.Done():
		case <-time.After(time.Hour):
		}
		return ctx.Err()
	}
	goOn := millrace.Options{ContinueOnError: true}
	spend := actions.Tool{Tool: "spend"}
	for name, test := range map[string]struct {
		do   func(*testing.T, situation)
		want string
	}{
		"success": {run(edit("a")), `
RUN p success ` + phases + `
  edit success
`},
		"many files": {func(t *testing.T, s situation) {
			files := make(map[string]string)
			for i := range 300 {
				files[fmt.Sprintf("new/%d", i)] = "x"
			}
			s.x.MaxFiles = -1
			run(millrace.New("p").Options(millrace.Options{Force: true}).Step("write", actions.WriteFiles(files)))(t, s)
		}, `
RUN p success ` + phases + `
  write success
`},
		"nothing to write": {run(edit("none")), `
RUN p failure step_failed
  edit failure step_failed
`},
		"step fails": {run(edit("missing")), `
RUN p failure step_failed
  edit failure step_failed
`},
		"panic": {run(doing(func(context.Context) error { panic("no") })), `
RUN p failure step_failed
  act failure step_failed
`},
		"expect": {run(edit("a").Expect(millrace.Expect{MinEdits: new(5)})), `
RUN p failure expect_failed
  edit failure expect_failed
`},
		"skipped": {run(edit("a").When(condition.FileExists("none"))), `
RUN p success
  edit skip
`},
		"handled": {run(edit("missing").OnFail("b").Step("b", actions.Search{Pattern: "*"})), `
RUN p success | jump edit-on_fail-b
  edit failure step_failed
  b success
`},
		"stops": {run(edit("missing").Step("b", actions.Search{Pattern: "*"})), `
RUN p failure step_failed
  edit failure step_failed
`},
		"goes on": {run(edit("missing").Step("b", actions.Edit{Files: []string{"a"}, OldText: "x", NewText: "y"}).Builder.Options(goOn)), `
RUN p failure step_failed ` + phases + `
  edit failure step_failed
  b success
`},
		"timeout": {run(doing(sleep).Timeout(time.Second)), `
RUN p timeout timeout
  act timeout timeout
`},
		"timeout, again": {run(doing(sleep).Timeout(time.Second).MaxRetries(1)), `
RUN p timeout timeout
  act timeout timeout | retry 2 timeout
`},
		"deadline": {run(doing(sleep).Builder.Deadline(time.Second).Step("b", actions.Search{Pattern: "*"})), `
RUN p timeout deadline_exceeded
  act timeout deadline_exceeded
`},
		"canceled": {within(time.Second, run(doing(sleep).Step("b", actions.Search{Pattern: "*"}))), `
RUN p cancellation canceled
  act cancellation canceled
`},
		"canceled before": {within(0, run(edit("a"))), `
RUN p cancellation canceled
`},
		"canceled while it waits": {within(time.Second, run(doing(func(context.Context) error { return errors.New("no") }).MaxRetries(2).Backoff(time.Minute))), `
RUN p cancellation canceled
  act failure step_failed | retry 2 step_failed
`},
		"budget": {withTool(millrace.Executor{}, run(millrace.New("p").Budget(budget.Limit{USD: budget.Dollar}).Step("a", spend).Step("b", spend))), `
RUN p failure budget_exceeded
  a success
  b failure budget_exceeded
`},
		"budget of edits": {with(millrace.Executor{Budget: budget.Limit{Edits: 1}}, run(edit("b"))), `
RUN p failure budget_exceeded
  edit success
`},
		"blocked": {with(millrace.Executor{MaxFiles: 1}, run(edit("a").Step("b", actions.Edit{Files: []string{"b"}, OldText: "x", NewText: "y"}))), `
RUN p failure blocked
  edit success
  b success
`},
		"would block": {with(millrace.Executor{MaxFiles: 1, DryRun: true}, run(edit("a").Step("b", actions.Edit{Files: []string{"b"}, OldText: "x", NewText: "y"}))), `
RUN p success
  edit success
  b success
`},
		"dry run":   {with(millrace.Executor{DryRun: true}, run(edit("a"))), "RUN p success\n  edit success\n"},
		"read only": {with(millrace.Executor{ReadOnly: true}, run(edit("a"))), "RUN p failure read_only\n"},
		"not called": {withTool(millrace.Executor{DryRun: true}, run(millrace.New("p").Step("a", spend))), `
RUN p success
  a skip
`},
		"unknown tool": {run(millrace.New("p").Step("a", spend)), "RUN p failure invalid_pipeline\n"},
		"no pipeline": {func(t *testing.T, s situation) {
			_, _ = millraceotel.Instrument(s.x, s.opts...).Run(s.ctx, s.fsys, millrace.Pipeline{})
		}, "RUN failure invalid_pipeline\n"},
		"wrong executor": {with(millrace.Executor{State: millrace.State{Dir: "../x"}}, run(edit("a"))), "RUN p error internal\n"},
		"wrong plan": {func(t *testing.T, s situation) {
			_, _ = millraceotel.Instrument(s.x, s.opts...).Plan(s.ctx, s.fsys, millrace.Pipeline{})
		}, "RUN failure invalid_pipeline\n"},
		"nested": {func(t *testing.T, s situation) {
			runner := millraceotel.Instrument(s.x, s.opts...)
			run(doing(func(ctx context.Context) error {
				_, err := runner.Run(ctx, s.fsys, edit("a").MustBuild())
				if !errors.Is(err, millrace.ErrNested) {
					t.Errorf("%v, want ErrNested", err)
				}
				return nil
			}))(t, s)
		}, `
RUN p success
  act success
    RUN p failure nested_pipeline
`},
		"the tree cannot be written": {func(t *testing.T, s situation) { s.fsys = stuck{s.fsys}; run(edit("a"))(t, s) }, `
RUN p error commit_failed | verify | stage | backup | journal | apply | rollback
  edit success
`},
		"plan": {planned(edit("a"), func(*testing.T, situation, *millrace.Plan) {}), "RUN p success\n  edit success\n"},
		"plan fails": {func(t *testing.T, s situation) {
			_, _ = millraceotel.Instrument(s.x, s.opts...).Plan(s.ctx, s.fsys, edit("missing").MustBuild())
		}, "RUN p failure step_failed\n  edit failure step_failed\n"},
		"plan goes on": {planned(edit("missing").Builder.Options(goOn), func(*testing.T, situation, *millrace.Plan) {}), `
RUN p failure step_failed
  edit failure step_failed
`},
		"commit": {planned(edit("a"), commit), `
RUN p success
  edit success
RUN p success ` + phases + "\n"},
		"commit twice": {planned(edit("a"), func(t *testing.T, s situation, p *millrace.Plan) { commit(t, s, p); commit(t, s, p) }), `
RUN p success
  edit success
RUN p success ` + phases + `
RUN p error internal
`},
		"dry commit": {with(millrace.Executor{DryRun: true}, planned(edit("a"), commit)), `
RUN p success
  edit success
RUN p success
`},
		"conflict": {planned(edit("a"), func(t *testing.T, s situation, p *millrace.Plan) {
			if err := afero.WriteFile(s.fsys, "a", []byte("other"), 0o644); err != nil {
				t.Fatal(err)
			}
			commit(t, s, p)
		}), `
RUN p success
  edit success
RUN p failure conflict | verify
`},
		"stored": {planned(edit("a"), func(t *testing.T, s situation, p *millrace.Plan) {
			data, err := json.Marshal(p)
			if err != nil {
				t.Fatal(err)
			}
			opened, err := millraceotel.Instrument(s.x, s.opts...).OpenPlan(s.ctx, s.fsys, data)
			if err != nil {
				t.Fatal(err)
			}
			commit(t, s, opened)
		}), `
RUN p success
  edit success
RUN p success ` + phases + "\n"},
		"again": {with(millrace.Executor{RunID: "one"}, func(t *testing.T, s situation) { run(edit("a"))(t, s); run(edit("a"))(t, s) }), `
RUN p success ` + phases + `
  edit success
RUN p success
`},
		"restore": {func(t *testing.T, s situation) {
			runner := millraceotel.Instrument(s.x, s.opts...)
			res, err := runner.Run(s.ctx, s.fsys, edit("a").MustBuild())
			if err != nil {
				t.Fatal(err)
			}
			plan, err := runner.PlanRestore(s.ctx, s.fsys, res.BackupID)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := runner.Restore(s.ctx, s.fsys, res.BackupID); err != nil {
				t.Fatal(err)
			}
			commit(t, s, plan)
		}, `
RUN p success ` + phases + `
  edit success
RUN restore success ` + phases + `
RUN restore failure conflict | verify
`},
		"restore refused": {func(t *testing.T, s situation) {
			_, _ = millraceotel.Instrument(millrace.Executor{State: millrace.State{Dir: "."}}, s.opts...).Restore(s.ctx, s.fsys, "x")
			_, _ = millraceotel.Instrument(s.x, s.opts...).Restore(s.ctx, s.fsys, "x")
		}, "RUN restore error internal\nRUN restore error internal\n"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := record()
				s := situation{ctx: t.Context(), fsys: tree("a", "x\n", "b", "x x x\n"), opts: []millraceotel.Option{r.option()}, tools: oneTool(t)}
				test.do(t, s)
				if d := cmp.Diff(strings.TrimPrefix(test.want, "\n"), r.story(t)); d != "" {
					t.Errorf("(-want +got):\n%s", d)
				}
			})
		})
	}
}
