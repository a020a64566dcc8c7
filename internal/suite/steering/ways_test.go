package steering_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"context"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/suite"
)

func content(t *testing.T, fsys afero.Fs, name string) string {
	t.Helper()
	data, err := afero.ReadFile(fsys, name)
	if err != nil {
		return "(" + err.Error() + ")"
	}
	return strings.ReplaceAll(strings.TrimSpace(string(data)), "\n", " ")
}

// Staged changes of a failed attempt are dropped. The changes of other visits stay, except after a restart.
func TestWhatStaysStaged(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		restart bool
		want    string
	}{{false, "base add add"}, {true, "base add"}} {
		l := new(log)
		p := millrace.New("p").
			Step("base", scripted{words: []string{"ok"}, log: l, file: "f"}).
			Step("add", scripted{words: []string{"ok"}, log: l, file: "f"}).
			Step("check", scripted{words: []string{"fail", "ok"}, log: l, file: "f2"}).
			Retry(millrace.Retry{Step: "add", When: condition.StepFailed("check"), Restart: test.restart}).
			MustBuild()
		fsys := suite.Tree("x", "x")
		res, err := millrace.Run(t.Context(), fsys, p)
		if err != nil {
			t.Fatal(err)
		}
		if got := content(t, fsys, "f"); got != test.want {
			t.Errorf("restart %v: got %q, want %q", test.restart, got, test.want)
		}
		if got := content(t, fsys, "f2"); got != "check" {
			t.Errorf("a failed attempt has left a change: %q", got)
		}
		if got, want := shape(res), "base ok, add ok x2, check ok x2"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		discarded := 0
		for _, v := range res.History {
			if v.Discarded {
				discarded++
			}
		}
		if want := map[bool]int{true: 2}[test.restart]; discarded != want {
			t.Errorf("restart %v: %d visits are discarded, want %d", test.restart, discarded, want)
		}
	}
}

// A way back that is used up is a failure, even of a step that succeeds.
func TestExhaustedWayBack(t *testing.T) {
	t.Parallel()
	l := new(log)
	p := millrace.New("p").
		Step("fix", scripted{words: []string{"ok"}, log: l, file: "f"}).MaxVisits(2).
		Step("check", scripted{words: []string{"say again"}, log: l, file: "g"}).RetryIf("fix", "again").
		MustBuild()
	fsys := suite.Tree("x", "x")
	res, err := millrace.Run(t.Context(), fsys, p)
	exhausted, ok := errors.AsType[*millrace.RetriesError](err)
	if !ok || exhausted.Step != "fix" || exhausted.Visits != 2 || !strings.Contains(err.Error(), "retry_if: 'again' holds after 2 visits of 'fix'") {
		t.Errorf("got %v", err)
	}
	if got := millrace.ErrorCode(err); got != "retries_exhausted" {
		t.Errorf("got code %q", got)
	}
	if res.Success || !res.RollbackPerformed || content(t, fsys, "f") == "fix" {
		t.Errorf("success %v, rolled back %v, f is %q", res.Success, res.RollbackPerformed, content(t, fsys, "f"))
	}
}

// The attempts of all steps together are limited.
func TestMaxAttempts(t *testing.T) {
	t.Parallel()
	l := new(log)
	p := millrace.New("p").MaxAttempts(5).
		Step("a", scripted{words: []string{"ok"}, log: l, file: "f"}).MaxVisits(100).
		Step("b", scripted{words: []string{"say again"}, log: l}).RetryIf("a", "again").
		MustBuild()
	res, err := millrace.Run(t.Context(), suite.Tree("x", "x"), p)
	if err == nil || err.Error() != "the run has made all its 5 attempts before step 'b'" {
		t.Errorf("got %v", err)
	}
	if got := millrace.ErrorCode(err); got != "too_many_executions" || len(l.lines) != 5 || res.Success {
		t.Errorf("code %q, %d attempts, success %v", got, len(l.lines), res.Success)
	}
}

// slow takes a minute, unless its context ends before.
type slow struct{ deaf bool }

func (slow) Spec() actions.Spec { return actions.Spec{Name: "slow", Summary: "A test", ReadOnly: true} }

func (s slow) Run(ctx context.Context, c *actions.Call) (actions.Outcome, error) {
	if s.deaf {
		ctx = context.Background()
	}
	select {
	case <-time.After(time.Minute):
		return actions.Outcome{}, nil
	case <-ctx.Done():
		return actions.Outcome{}, ctx.Err()
	}
}

// An attempt that takes longer than its timeout has failed, even if it succeeds later. It is retried after the backoff,
// which doubles.
func TestTimeoutAndBackoff(t *testing.T) {
	t.Parallel()
	for _, deaf := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var waits []time.Duration
			x := millrace.Executor{Observe: func(e millrace.Event) {
				if e, ok := e.(millrace.StepRetrying); ok {
					waits = append(waits, e.Wait)
				}
			}}
			p := millrace.New("p").Step("slow", slow{deaf}).Timeout(10 * time.Second).MaxRetries(3).Backoff(20 * time.Second).MustBuild()
			start := time.Now()
			res, err := x.Run(t.Context(), suite.Tree("x", "x"), p)
			late, ok := errors.AsType[*millrace.TimeoutError](err)
			if !ok || late.After != 10*time.Second || millrace.ErrorCode(err) != "timeout" {
				t.Errorf("got %v, code %q", err, millrace.ErrorCode(err))
			}
			if d := cmp.Diff([]time.Duration{20 * time.Second, 30 * time.Second, 30 * time.Second}, waits); d != "" {
				t.Errorf("waits (-want +got):\n%s", d)
			}
			each := 10 * time.Second
			if deaf {
				each = time.Minute
			}
			if took, want := time.Since(start), 4*each+80*time.Second; took != want {
				t.Errorf("took %v, want %v", took, want)
			}
			if got, want := shape(res), "slow failed (4)"; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// A run that ends in fail commits nothing, even if the earlier failure was handled.
func TestFailCommitsNothing(t *testing.T) {
	t.Parallel()
	l := new(log)
	p := millrace.New("p").
		Step("edit", scripted{words: []string{"ok"}, log: l, file: "f"}).
		Step("check", scripted{words: []string{"fail"}, log: l}).OnFail("give-up").
		Step("never", scripted{words: []string{"ok"}, log: l}).
		Step("give-up", actions.Fail{Message: "tests still fail"}).MaxRetries(3).
		MustBuild()
	fsys := suite.Tree("x", "x")
	res, err := millrace.Run(t.Context(), fsys, p)
	if err == nil || !strings.Contains(err.Error(), "tests still fail") || res.Success || content(t, fsys, "f") == "edit" {
		t.Errorf("got %v, success %v", err, res.Success)
	}
	if got, want := shape(res), "edit ok, check handled, never bypassed, give-up failed"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The previous step is the last executed step, and its files are the input.
func TestInputPrevious(t *testing.T) {
	t.Parallel()
	p := millrace.New("p").
		Step("first", actions.Edit{OldText: "q", NewText: "b"}).FromPrevious().
		Step("find", actions.Search{Pattern: "x", Path: "a"}).
		Step("skipped", actions.Search{Pattern: "y"}).When(condition.FileExists("none")).
		Step("edit", actions.Edit{OldText: "x", NewText: "z"}).FromPrevious().
		MustBuild()
	fsys := suite.Tree("a", "x", "b", "x")
	res, err := millrace.Run(t.Context(), fsys, p)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := shape(res), "first skipped, find ok, skipped skipped, edit ok"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := content(t, fsys, "a") + content(t, fsys, "b"); got != "zx" {
		t.Errorf("got %q", got)
	}
}
