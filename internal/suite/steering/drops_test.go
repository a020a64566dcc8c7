package steering_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/suite"
)

// dropped is an action that writes to two files, and then does something that drops its changes.
type dropped struct {
	then func(ctx context.Context) error
}

func (dropped) Spec() actions.Spec {
	return actions.Spec{Name: "dropped", Summary: "Write in vain"}
}

func (d dropped) Run(ctx context.Context, c *actions.Call) (actions.Outcome, error) {
	for _, name := range []string{"kept", "made"} {
		if err := afero.WriteFile(c.FS, name, []byte("in vain"), 0o644); err != nil {
			return actions.Outcome{}, err
		}
	}
	return actions.Outcome{Output: "again", Edits: 5}, d.then(ctx)
}

// Whatever the reason for a drop, the files of the step are gone. If the failure is handled, the files of earlier steps
// stay; if not, nothing is written.
func TestDrops(t *testing.T) {
	t.Parallel()
	none, one := 0, 1
	well := func(context.Context) error { return nil }
	for _, test := range []struct {
		name   string
		then   func(ctx context.Context) error
		change func(s millrace.StepBuilder) millrace.StepBuilder
		code   string
	}{
		{"an error", func(context.Context) error { return errors.New("no") }, nil, "step_failed"},
		{"an error at each attempt", func(context.Context) error { return errors.New("no") },
			func(s millrace.StepBuilder) millrace.StepBuilder { return s.MaxRetries(2) }, "step_failed"},
		{"a panic", func(context.Context) error { panic("no") }, nil, "step_failed"},
		{"the end of its goroutine", func(context.Context) error { runtime.Goexit(); return nil }, nil, "step_failed"},
		{"its timeout", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
			func(s millrace.StepBuilder) millrace.StepBuilder { return s.Timeout(time.Second) }, "timeout"},
		{"its timeout, which it does not notice", func(context.Context) error { time.Sleep(2 * time.Second); return nil },
			func(s millrace.StepBuilder) millrace.StepBuilder { return s.Timeout(time.Second) }, "timeout"},
		{"too much", well, func(s millrace.StepBuilder) millrace.StepBuilder {
			return s.Expect(millrace.Expect{MaxEdits: &one, MaxFiles: &none})
		}, "expect_failed"},
		{"a restart that has been gone too often", well, func(s millrace.StepBuilder) millrace.StepBuilder {
			return s.MaxVisits(2).Retry(millrace.Retry{Step: "bad", Keyword: "again", Restart: true})
		}, "retries_exhausted"},
	} {
		for _, handled := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				s := millrace.New("p").Step("first", actions.Edit{Files: []string{"kept"}, OldText: "old", NewText: "new"}).
					Step("bad", dropped{test.then})
				if test.change != nil {
					s = test.change(s)
				}
				if handled {
					s = s.OnFail("last")
				}
				p := s.Step("last", actions.Search{Pattern: "in vain"}).MustBuild()
				fsys := suite.Tree("kept", "old")
				res, err := millrace.Run(t.Context(), fsys, p)
				want, code := "new", ""
				if !handled {
					want, code = "old", test.code
				}
				if got := millrace.ErrorCode(err); got != code || res.RollbackPerformed == handled || res.Success != handled {
					t.Errorf("%s, handled %v: %v (%s), rolled back %v", test.name, handled, err, got, res.RollbackPerformed)
				}
				if got := suite.Read(t, fsys, "kept"); got != want {
					t.Errorf("%s, handled %v: the file is %q, want %q", test.name, handled, got, want)
				}
				if _, err := fsys.Stat("made"); err == nil {
					t.Errorf("%s, handled %v: a created file is left", test.name, handled)
				}
				if handled && len(res.Results[2].FilesMatched) > 0 {
					t.Errorf("%s: the next step has seen dropped changes", test.name)
				}
			})
		}
	}
}

// A run that is canceled in a visit writes nothing, even if a step handles failures.
func TestDropOfCanceledRun(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	p := millrace.New("p").Options(millrace.Options{ContinueOnError: true}).
		Step("first", actions.Edit{Files: []string{"kept"}, OldText: "old", NewText: "new"}).
		Step("bad", dropped{func(context.Context) error { cancel(); return nil }}).MaxRetries(5).OnFail("last").RetryIf("bad", "again").
		Step("last", actions.Search{Pattern: "in vain"}).MustBuild()
	fsys := suite.Tree("kept", "old")
	res, err := millrace.Run(ctx, fsys, p)
	if !errors.Is(err, context.Canceled) || !res.RollbackPerformed || suite.Read(t, fsys, "kept") != "old" || len(res.Results) != 2 {
		t.Errorf("got %v, %+v", err, res)
	}
}
