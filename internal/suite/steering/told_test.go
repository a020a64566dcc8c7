package steering_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/internal/suite/drawn"
)

// A bypassed step names the last jump that bypassed it. A step that was visited before the jump shows its last visit.
func TestBypassed(t *testing.T) {
	t.Parallel()
	l := new(log)
	p := millrace.New("p").
		Step("a", scripted{words: []string{"ok", "fail"}, log: l}).Next("c").OnFail("d").
		Step("b", scripted{words: []string{"ok"}, log: l}).
		Step("c", scripted{words: []string{"say again"}, log: l}).RetryIf("a", "again").
		Step("d", scripted{words: []string{"ok"}, log: l}).
		MustBuild()
	res, err := millrace.Run(t.Context(), suite.Tree("x", "x"), p)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := shape(res), "a handled x2, b bypassed, c ok, d ok"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := res.Results[1].SkipReason, "bypassed by on_fail of 'a'"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The report shows steps that ran several times, and their jumps.
func TestReport(t *testing.T) {
	t.Parallel()
	l := new(log)
	p := millrace.New("p").
		Step("try", scripted{words: []string{"fail"}, log: l}).MaxRetries(1).OnFail("tell").
		Step("between", scripted{words: []string{"ok"}, log: l}).
		Step("tell", scripted{words: []string{"say again", "ok"}, log: l}).RetryIf("tell", "again").
		MustBuild()
	res, err := millrace.Run(t.Context(), suite.Tree("x", "x"), p)
	if err != nil {
		t.Fatal(err)
	}
	for i := range res.Results {
		res.Results[i].Duration = 0
	}
	var b strings.Builder
	if err := res.WriteReport(&b); err != nil {
		t.Fatal(err)
	}
	const want = `
1. try [scripted] ❌
   Duration: 0s
   Attempts: 2
   Next: tell (on_fail)
   Error: scripted failed: it does not work

2. between [scripted] ⏭️
   Duration: 0s
   Skipped: bypassed by on_fail of 'try'

3. tell [scripted] ✅
   Duration: 0s
   Visits: 2
   Files: 0 matched
`
	if !strings.Contains(b.String(), want) {
		t.Errorf("got %s", &b)
	}
}

// A run that is stopped between two steps reports nothing about the second step.
func TestCanceledBetweenSteps(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	var seen []string
	l := new(log)
	x := millrace.Executor{Observe: func(e millrace.Event) {
		switch e := e.(type) {
		case millrace.StepStarted:
			seen = append(seen, "start "+e.Step)
		case millrace.StepFinished:
			seen = append(seen, "finish "+e.Step)
			cancel()
		}
	}}
	p := millrace.New("p").
		Step("a", scripted{words: []string{"ok"}, log: l, file: "f"}).
		Step("b", scripted{words: []string{"ok"}, log: l, file: "f"}).MustBuild()
	res, err := x.Run(ctx, suite.Tree("x", "x"), p)
	if !errors.Is(err, context.Canceled) || len(l.lines) != 1 || !res.RollbackPerformed || res.History != nil {
		t.Errorf("got %v, ran %v, rolled back %v, history %v", err, l.lines, res.RollbackPerformed, res.History)
	}
	if d := cmp.Diff([]string{"start a", "finish a"}, seen); d != "" {
		t.Errorf("events (-want +got):\n%s", d)
	}
	if got, want := shape(res), "a ok"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The wait between two attempts counts as time of the visit, and ends with the run.
func TestWaitIsTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 25*time.Second)
		defer cancel()
		l := new(log)
		p := millrace.New("p").Step("a", scripted{words: []string{"fail"}, log: l}).MaxRetries(5).Backoff(10 * time.Second).MustBuild()
		start := time.Now()
		res, err := millrace.Run(ctx, suite.Tree("x", "x"), p)
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 25*time.Second || len(l.lines) != 2 {
			t.Errorf("got %v after %v and %d attempts", err, time.Since(start), len(l.lines))
		}
		if got := res.Results[0]; got.Duration != 25*time.Second || got.Attempts != 2 || !strings.Contains(got.Error, "it does not work") {
			t.Errorf("got %+v", got)
		}
		if len(res.History) != 1 || res.History[0].Duration != 25*time.Second || len(res.History[0].Attempts) != 2 {
			t.Errorf("history %+v", res.History)
		}
	})
}

// The deadline ends the waits of a run in parallel too, at the same point as in sequence.
func TestDeadlineOfAttempts(t *testing.T) {
	t.Parallel()
	for _, goOn := range []bool{false, true} {
		var stories []string
		for _, parallel := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				ctx, _ := drawn.Taped(t.Context())
				p := millrace.New("p").Options(millrace.Options{Parallel: parallel, ContinueOnError: goOn}).Deadline(25*time.Second).
					Step("good", drawn.Watcher{Play: drawn.Play{Words: []string{"ok"}}}).
					Step("bad", drawn.Watcher{Play: drawn.Play{Words: []string{"fail"}}}).MaxRetries(5).Backoff(10*time.Second).
					Step("other", drawn.Watcher{Play: drawn.Play{Words: []string{"fail", "ok"}}}).MaxRetries(5).
					MustBuild()
				res, err := millrace.Run(ctx, suite.Tree("x", "x"), p)
				stories = append(stories, told(res, err))
				if late, ok := errors.AsType[*millrace.DeadlineError](err); !ok || late.Step != "bad" || len(res.History) != 2 {
					t.Errorf("go on %v, parallel %v: %v, history %v", goOn, parallel, err, res.History)
				}
			})
		}
		if d := cmp.Diff(stories[0], stories[1]); d != "" {
			t.Errorf("parallel differs (-sequence +parallel):\n%s", d)
		}
	}
}

// The rest of the money, of attempts and of files depends on the earlier attempts: such runs are in sequence.
func TestCountedInSequence(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		atOnce bool
		change func(millrace.Builder) millrace.Builder
	}{
		{"attempts", true, func(b millrace.Builder) millrace.Builder { return b }},
		{"a budget of edits", false, func(b millrace.Builder) millrace.Builder { return b.Budget(budget.Limit{Edits: 100}) }},
		{"few attempts in all", false, func(b millrace.Builder) millrace.Builder { return b.MaxAttempts(100) }},
		{"too many attempts", false, func(b millrace.Builder) millrace.Builder {
			return b.Step("more", drawn.Watcher{Play: drawn.Play{Words: []string{"ok"}}}).MaxRetries(100).
				Step("most", drawn.Watcher{Play: drawn.Play{Words: []string{"ok"}}}).MaxRetries(100).Builder
		}},
	} {
		b := test.change(millrace.New("p").Options(millrace.Options{Parallel: true}))
		for i := range 8 {
			b = b.Step(fmt.Sprintf("s%d", i), drawn.Watcher{Play: drawn.Play{Words: []string{"fail", "ok"}}}).MaxRetries(1).Builder
		}
		most := 0
		for range 20 { // steps may run in parallel, but need not
			ctx, tape := drawn.Taped(t.Context())
			res, err := millrace.Executor{Workers: 4}.Run(ctx, suite.Tree("x", "x"), b.MustBuild())
			if err != nil || res.Results[res.TotalSteps-1].Attempts != 2 {
				t.Fatalf("%s: %v", test.name, err)
			}
			most = max(most, tape.Most)
		}
		if (most > 1) != test.atOnce {
			t.Errorf("%s: %d steps at the same time", test.name, most)
		}
	}
}

// grumpy fails with its text, or does too little.
type grumpy struct {
	err  error
	left *int // the number of calls that still do nothing
}

func (grumpy) Spec() actions.Spec { return actions.Spec{Name: "grumpy", Summary: "fail"} }

func (g grumpy) Run(context.Context, *actions.Call) (actions.Outcome, error) {
	if g.left != nil && *g.left == 0 {
		return actions.Outcome{Edits: 1}, nil
	}
	if g.left != nil {
		*g.left--
	}
	return actions.Outcome{}, g.err
}

// Only errors that may pass are retried.
func TestWhatIsTriedAgain(t *testing.T) {
	t.Parallel()
	one := 1
	for _, test := range []struct {
		name     string
		action   actions.Action
		expect   millrace.Expect
		attempts int
	}{
		{"any error of an action of the host", grumpy{err: errors.New("no")}, millrace.Expect{}, 3},
		{"a permanent error", grumpy{err: actions.Permanent(errors.New("no"))}, millrace.Expect{}, 1},
		{"a permanent error, wrapped", grumpy{err: fmt.Errorf("it: %w", actions.Permanent(errors.New("no")))}, millrace.Expect{}, 1},
		{"a limit", grumpy{err: &actions.LimitError{}}, millrace.Expect{}, 1},
		{"too little", grumpy{}, millrace.Expect{MinEdits: &one}, 3},
		{"an edit without a match", actions.Edit{Files: []string{"x"}, OldText: "none", NewText: "y", OnError: "stop"}, millrace.Expect{MinEdits: &one}, 1},
		{"a file that is not there", actions.Edit{Files: []string{"none"}, OldText: "x", NewText: "y"}, millrace.Expect{}, 1},
		{"fail", actions.Fail{Message: "no"}, millrace.Expect{}, 1},
		{"a template that cannot be filled in", actions.Edit{Files: []string{"{{none.files[0]}}"}, OldText: "x", NewText: "y"}, millrace.Expect{}, 1},
	} {
		p := millrace.New("p").Step("none", actions.Search{Pattern: "none"}).
			Step("a", test.action).Expect(test.expect).MaxRetries(2).MustBuild()
		res, err := millrace.Run(t.Context(), suite.Tree("x", "x"), p)
		if err == nil {
			t.Fatalf("%s: no error", test.name)
		}
		if got := max(res.Results[1].Attempts, 1); got != test.attempts {
			t.Errorf("%s: %d attempts, want %d (%v)", test.name, got, test.attempts, err)
		}
	}
	left := 1
	p := millrace.New("p").Step("a", grumpy{left: &left}).Expect(millrace.Expect{MinEdits: &one}).MaxRetries(2).MustBuild()
	if res, err := millrace.Run(t.Context(), suite.Tree("x", "x"), p); err != nil || res.Results[0].Attempts != 2 {
		t.Errorf("too little at first: %v", err)
	}
}

// A history keeps 4 KiB of each error, and whole characters.
func TestLongErrors(t *testing.T) {
	t.Parallel()
	p := millrace.New("p").Step("a", grumpy{err: errors.New("e" + strings.Repeat("é", 4000))}).MaxRetries(1).MustBuild()
	res, _ := millrace.Run(t.Context(), suite.Tree("x", "x"), p)
	for _, a := range res.History[0].Attempts {
		if len(a.Error) != 4095 || !utf8.ValidString(a.Error) || a.ErrorCode == "" {
			t.Errorf("%d bytes, valid %v, code %q", len(a.Error), utf8.ValidString(a.Error), a.ErrorCode)
		}
	}
}
