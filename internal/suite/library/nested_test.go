package library_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/backup"
	"github.com/millrace-go/millrace/internal/suite"
)

// A step that runs a pipeline, or does anything else that would wait for the lock of its own run, fails at once with
// the reason. A step that only reads goes on.
func TestNested(t *testing.T) {
	t.Parallel()
	x := millrace.Executor{}
	plan, err := x.Plan(t.Context(), suite.Tree("f", "x"), suite.Edit("f"))
	if err != nil {
		t.Fatal(err)
	}
	defer plan.Close()
	other := suite.Tree("f", "x")
	res, err := x.Run(t.Context(), other, suite.Edit("f"))
	if err != nil {
		t.Fatal(err)
	}
	id := res.BackupID
	for what, verb := range map[string]func(ctx context.Context, fsys afero.Fs) error{
		"Run": func(ctx context.Context, fsys afero.Fs) error {
			_, err := millrace.Run(ctx, fsys, suite.Edit("f"))
			return err
		},
		"Run of a search": func(ctx context.Context, fsys afero.Fs) error {
			_, err := x.Run(ctx, fsys, suite.One(actions.Search{Pattern: "x"}))
			return err
		},
		"dry run": func(ctx context.Context, fsys afero.Fs) error {
			_, err := millrace.Executor{DryRun: true}.Run(ctx, fsys, suite.Edit("f"))
			return err
		},
		"other tree": func(ctx context.Context, _ afero.Fs) error {
			_, err := x.Run(ctx, afero.NewMemMapFs(), suite.Edit("f"))
			return err
		},
		"Plan": func(ctx context.Context, fsys afero.Fs) error {
			_, err := x.Plan(ctx, fsys, suite.Edit("f"))
			return err
		},
		"Commit":      func(ctx context.Context, _ afero.Fs) error { _, err := plan.Commit(ctx); return err },
		"Restore":     func(ctx context.Context, _ afero.Fs) error { _, err := x.Restore(ctx, other, id); return err },
		"PlanRestore": func(ctx context.Context, _ afero.Fs) error { _, err := x.PlanRestore(ctx, other, id); return err },
		"Recover":     func(ctx context.Context, _ afero.Fs) error { _, err := x.Recover(ctx, other); return err },
		"PruneBackups": func(ctx context.Context, _ afero.Fs) error {
			_, err := x.PruneBackups(ctx, other, backup.Retention{})
			return err
		},
		"RemoveBackup":    func(ctx context.Context, _ afero.Fs) error { return x.RemoveBackup(ctx, other, id) },
		"TrustLeftover":   func(ctx context.Context, _ afero.Fs) error { _, err := x.TrustLeftover(ctx, other, "a"); return err },
		"DiscardLeftover": func(ctx context.Context, _ afero.Fs) error { return x.DiscardLeftover(ctx, other, "a") },
		"child context": func(ctx context.Context, fsys afero.Fs) error {
			ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
			defer cancel()
			_, err := x.Run(ctx, fsys, suite.Edit("f"))
			return err
		},
	} {
		t.Run(what, func(t *testing.T) {
			fsys := suite.Tree("f", "x")
			calls := 0
			inside := suite.Action{Do: func(ctx context.Context, _ *actions.Call) (actions.Outcome, error) {
				calls++
				return actions.Outcome{}, verb(ctx, fsys)
			}}
			_, err := x.Run(t.Context(), fsys, millrace.New("p").Step("s", inside).MaxRetries(5).MustBuild())
			if !errors.Is(err, millrace.ErrNested) || millrace.ErrorCode(err) != "nested_pipeline" || calls != 1 {
				t.Errorf("got %v, code %q, %d attempts", err, millrace.ErrorCode(err), calls)
			}
		})
	}
	if _, err := plan.Commit(t.Context()); err != nil {
		t.Errorf("the plan cannot be committed afterwards: %v", err)
	}
	looks := suite.Action{Do: func(ctx context.Context, _ *actions.Call) (actions.Outcome, error) {
		_, listed := x.ListBackups(ctx, other)
		_, inspected := x.Inspect(ctx, other)
		return actions.Outcome{}, errors.Join(listed, inspected, x.VerifyBackup(ctx, other, id))
	}}
	if _, err := x.Run(t.Context(), suite.Tree("f", "x"), suite.One(looks)); err != nil {
		t.Errorf("a call that only reads is refused: %v", err)
	}
}

// The mark is in the context of each step, in a parallel run too, but never in the context of the caller.
func TestNestedIsOfSteps(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fsys := suite.Tree("f", "x", "g", "x")
		runs := suite.Action{Do: func(ctx context.Context, _ *actions.Call) (actions.Outcome, error) {
			_, err := millrace.Run(ctx, fsys, suite.Edit("f"))
			return actions.Outcome{}, err
		}}
		p := millrace.New("p").Options(millrace.Options{Parallel: true}).Step("a", runs).Step("b", runs).MustBuild()
		if _, err := millrace.Run(t.Context(), fsys, p); !errors.Is(err, millrace.ErrNested) {
			t.Errorf("parallel: %v", err)
		}
		for range 2 {
			if _, err := millrace.Run(t.Context(), fsys, suite.Edit("g")); err != nil {
				t.Errorf("after the run: %v", err)
			}
			if err := afero.WriteFile(fsys, "g", []byte("x"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// pipelineAction is an action of the host with a name that would be refused.
type pipelineAction struct{ actions.Fail }

func (pipelineAction) Spec() actions.Spec {
	return actions.Spec{Name: "pipeline", Summary: "is the host's own", ReadOnly: true}
}

// Actions that run pipelines elsewhere have other messages than unknown actions, unless the host has such an action.
func TestNestedInJSON(t *testing.T) {
	t.Parallel()
	const format = `{"name": "p", "steps": [{"id": "x", "action": "ACTION", "params": {"message": "m", "operations": []}}]}`
	for _, lenient := range []bool{false, true} {
		for _, name := range []string{"pipeline", "mcp_pipeline", "batch_operations"} {
			_, err := millrace.Decoder{Lenient: lenient}.Decode([]byte(strings.ReplaceAll(format, "ACTION", name)))
			wrong, ok := errors.AsType[*millrace.ValidationError](err)
			if !ok || len(wrong.Problems) != 1 {
				t.Errorf("%s: %v", name, err)
				continue
			}
			want := millrace.Problem{
				Pointer: "/steps/0/action", Code: "nested_pipeline", Message: "step 'x': a pipeline cannot run another one",
				Hint: "write its steps in place, or use Include", Step: "x", Line: 1, Column: 47,
			}
			if d := cmp.Diff(want, wrong.Problems[0]); d != "" {
				t.Errorf("%s (-want +got):\n%s", name, d)
			}
		}
	}
	own := millrace.Decoder{Actions: actions.Builtin().With(pipelineAction{})}
	text := `{"name": "p", "steps": [{"id": "x", "action": "pipeline", "params": {"message": "m"}}]}`
	if _, err := own.Decode([]byte(text)); err != nil {
		t.Errorf("an action of the host: %v", err)
	}
}
