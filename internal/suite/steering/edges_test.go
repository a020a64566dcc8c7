package steering_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/suite"
)

// If the condition of a way back cannot be evaluated, the step fails, and its changes are dropped.
func TestWayBackThatCannotBeJudged(t *testing.T) {
	t.Parallel()
	p := millrace.New("p").Options(millrace.Options{ContinueOnError: true}).
		Step("edit", actions.Edit{Files: []string{"f"}, OldText: "x", NewText: "y"}).RetryWhen("edit", condition.FileExists("../out")).
		Step("note", actions.Create{Path: "note", Content: "{{edit.edits}} edits in '{{edit.files}}'"}).
		MustBuild()
	fsys := suite.Tree("f", "x")
	res, err := millrace.Run(t.Context(), fsys, p)
	if err == nil || !strings.Contains(err.Error(), "retry_if") {
		t.Fatalf("got %v", err)
	}
	if s := res.Results[0]; s.Success || s.EditsApplied != 0 || len(s.FilesMatched) != 0 || !strings.Contains(s.Error, "retry_if") {
		t.Errorf("got %+v", s)
	}
	if got := content(t, fsys, "f") + ", " + content(t, fsys, "note"); got != "x, 0 edits in ''" {
		t.Errorf("got %q", got)
	}
}

// panickyFs panics at a request for a file of that name.
type panickyFs struct{ afero.Fs }

func (f panickyFs) Stat(name string) (os.FileInfo, error) {
	if strings.HasSuffix(name, "panic") {
		panic("no")
	}
	return f.Fs.Stat(name)
}

// A file system that panics while the condition of a way back is evaluated fails the step, and the program goes on.
func TestWayBackThatPanics(t *testing.T) {
	t.Parallel()
	p := millrace.New("p").Step("find", actions.Search{Pattern: "x"}).RetryWhen("find", condition.FileExists("panic")).MustBuild()
	_, err := millrace.Run(t.Context(), panickyFs{suite.Tree("f", "x")}, p)
	if _, ok := errors.AsType[*millrace.StepError](err); !ok || !strings.Contains(err.Error(), "panic") {
		t.Errorf("got %v", err)
	}
}

// An attempt for which the run has no room left does not count.
func TestAttemptsThatAreSpent(t *testing.T) {
	t.Parallel()
	l := new(log)
	p := millrace.New("p").MaxAttempts(2).Step("a", scripted{words: []string{"fail"}, log: l}).MaxRetries(5).MustBuild()
	res, err := millrace.Run(t.Context(), suite.Tree("f", "x"), p)
	if millrace.ErrorCode(err) != "too_many_executions" || len(l.lines) != 2 {
		t.Errorf("got %v, %d attempts", err, len(l.lines))
	}
	if s := res.Results[0]; s.Attempts != 2 || !strings.Contains(s.Error, "it does not work") {
		t.Errorf("got %+v", s)
	}
	if len(res.History) != 1 || len(res.History[0].Attempts) != 2 {
		t.Errorf("got %+v", res.History)
	}
}

// canceling returns context.Canceled at its timeout, as programs of several goroutines do.
type canceling struct{ calls *int }

func (canceling) Spec() actions.Spec {
	return actions.Spec{Name: "canceling", Summary: "A test", ReadOnly: true}
}

func (c canceling) Run(ctx context.Context, _ *actions.Call) (actions.Outcome, error) {
	*c.calls++
	<-ctx.Done()
	return actions.Outcome{}, context.Canceled
}

// A timeout has the code "timeout", whatever error the action returns.
func TestTimeoutOfCanceled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		p := millrace.New("p").Step("s", canceling{&calls}).Timeout(time.Second).MaxRetries(2).MustBuild()
		_, err := millrace.Run(t.Context(), suite.Tree("f", "x"), p)
		if millrace.ErrorCode(err) != "timeout" || calls != 3 {
			t.Errorf("got %v, %d attempts", err, calls)
		}
	})
}

// An action of the host may have another effect at the next attempt, which may be the expected effect. An action on
// files has the same effect again.
func TestExpectIsTriedAgain(t *testing.T) {
	t.Parallel()
	one, calls := 1, 0
	grows := suite.Action{Do: func(context.Context, *actions.Call) (actions.Outcome, error) {
		calls++
		return actions.Outcome{Files: []string{"f", "g"}[:calls-1]}, nil
	}}
	p := millrace.New("p").Step("s", grows).Expect(millrace.Expect{MinFiles: &one}).MaxRetries(3).MustBuild()
	if _, err := millrace.Run(t.Context(), suite.Tree("f", "x"), p); err != nil || calls != 2 {
		t.Errorf("got %v after %d attempts", err, calls)
	}
	p = millrace.New("p").Step("s", actions.Search{Pattern: "none"}).Expect(millrace.Expect{MinFiles: &one}).MaxRetries(3).MustBuild()
	res, err := millrace.Run(t.Context(), suite.Tree("f", "x"), p)
	if millrace.ErrorCode(err) != "expect_failed" || res.Results[0].Attempts != 0 {
		t.Errorf("got %v after %d attempts", err, res.Results[0].Attempts)
	}
}

// Without files another attempt could not find anything either.
func TestNoInputIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	one, retried := 1, 0
	x := millrace.Executor{Observe: func(e millrace.Event) {
		if _, ok := e.(millrace.StepRetrying); ok {
			retried++
		}
	}}
	p := millrace.New("p").Step("find", actions.Search{Pattern: "none"}).
		Step("s", inputs{new([]actions.Result)}).From("find").Expect(millrace.Expect{MinFiles: &one}).MaxRetries(3).MustBuild()
	_, err := x.Run(t.Context(), suite.Tree("f", "x"), p)
	want := "pipeline failed at step 2: inputs failed: expected at least 1 files, got 0 (step 's', /steps/1)"
	if millrace.ErrorCode(err) != "expect_failed" || retried != 0 || err.Error() != want {
		t.Errorf("got %v after %d retries", err, retried)
	}
}

// A template in the condition of a way back would never be expanded.
func TestWayBackWithTemplate(t *testing.T) {
	t.Parallel()
	build := func(path string, raw bool) error {
		b := millrace.New("p").Step("a", actions.Search{Pattern: "x"}).Step("b", actions.Search{Pattern: "y"}).RetryWhen("a", condition.FileExists(path))
		if raw {
			b = b.Raw()
		}
		_, err := b.Build()
		return err
	}
	wrong, ok := errors.AsType[*millrace.ValidationError](build("{{a.files[0]}}", false))
	if !ok || len(wrong.Problems) != 1 || wrong.Problems[0].Code != "invalid_template" || wrong.Problems[0].Pointer != "/steps/1/retry_if/0/when/path" {
		t.Errorf("got %v", wrong)
	}
	for path, raw := range map[string]bool{"{{c.files}}": false, "{{a.files[0]}} ": true} {
		if err := build(path, raw); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// inputs returns its inputs.
type inputs struct{ told *[]actions.Result }

func (inputs) Spec() actions.Spec {
	return actions.Spec{Name: "inputs", Summary: "A test", ReadOnly: true, Input: actions.InputFiles}
}

func (i inputs) Run(_ context.Context, c *actions.Call) (actions.Outcome, error) {
	*i.told = append(*i.told, c.Inputs...)
	return actions.Outcome{Files: c.Files}, nil
}

// The previous step is an input like any other.
func TestPreviousIsAnInput(t *testing.T) {
	t.Parallel()
	var named, previous []actions.Result
	p := millrace.New("p").
		Step("find", actions.CountOccurrences{Pattern: "x", Files: []string{"f"}}).
		Step("by-name", inputs{&named}).From("find").
		Step("count", actions.CountOccurrences{Pattern: "x", Files: []string{"f"}}).
		Step("previous", inputs{&previous}).FromPrevious().
		MustBuild()
	if _, err := millrace.Run(t.Context(), suite.Tree("f", "x"), p); err != nil {
		t.Fatal(err)
	}
	if len(previous) == 1 {
		previous[0].Step = "find"
	}
	if d := cmp.Diff(named, previous); d != "" || len(named) != 1 {
		t.Errorf("(-by name +previous):\n%s", d)
	}
}

// A history has a limited number of visits, however often steps were skipped.
func TestHistoryIsBounded(t *testing.T) {
	t.Parallel()
	l := new(log)
	b := millrace.New("p").Step("first", scripted{words: []string{"ok"}, log: l}).MaxVisits(100).Builder
	for i := range 17 {
		b = b.Step("skipped-"+string(rune('a'+i)), scripted{words: []string{"ok"}, log: l}).When(condition.FileExists("none")).Builder
	}
	p := b.Step("last", scripted{words: []string{"say again"}, log: l}).RetryIf("first", "again").
		Step("end", actions.Search{Pattern: "x"}).MustBuild()
	res, err := millrace.Run(t.Context(), suite.Tree("f", "x"), p)
	if millrace.ErrorCode(err) != "too_many_executions" && millrace.ErrorCode(err) != "retries_exhausted" {
		t.Errorf("got %v", err)
	}
	if n := len(res.History); n == 0 || n > 200 {
		t.Errorf("the history has %d visits", n)
	}
}

// Errors in a history are cut at the end of a character.
func TestHistoryIsText(t *testing.T) {
	t.Parallel()
	long := suite.Action{Do: func(context.Context, *actions.Call) (actions.Outcome, error) {
		return actions.Outcome{}, errors.New("a" + strings.Repeat("é", 4<<10))
	}}
	p := millrace.New("p").Step("a", long).OnFail("b").Step("b", actions.Search{Pattern: "x"}).MustBuild()
	res, err := millrace.Run(t.Context(), suite.Tree("f", "x"), p)
	if err != nil || len(res.History) != 2 {
		t.Fatalf("got %v, %d visits", err, len(res.History))
	}
	if text := res.History[0].Attempts[0].Error; !utf8.ValidString(text) || len(text) > 4<<10 || len(text) < 4<<10-4 {
		t.Errorf("%d bytes, valid %v", len(text), utf8.ValidString(text))
	}
}
