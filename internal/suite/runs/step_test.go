package runs_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/suite"
)

// TestGoexitLeavesNothing: changes that an action has staged before it ends its goroutine are taken back when the run
// goes on.
func TestGoexitLeavesNothing(t *testing.T) {
	t.Parallel()
	fsys := suite.Tree("a.txt", "x\n")
	exit := suite.Action{Do: func(_ context.Context, c *actions.Call) (actions.Outcome, error) {
		if err := afero.WriteFile(c.FS, "half.txt", []byte("half"), 0o600); err != nil {
			return actions.Outcome{}, err
		}
		runtime.Goexit()
		panic("unreachable")
	}}
	p := millrace.New("exits").Options(millrace.Options{ContinueOnError: true}).
		Step("exit", exit).
		Step("edit", actions.Edit{Files: []string{"a.txt"}, OldText: "x", NewText: "y"}).
		MustBuild()
	if _, err := millrace.Run(t.Context(), fsys, p); err == nil {
		t.Error("no error")
	}
	if there, err := afero.Exists(fsys, "half.txt"); err != nil || there {
		t.Errorf("half.txt exists: %v, %v", there, err)
	}
	if got := suite.Read(t, fsys, "a.txt"); got != "y\n" {
		t.Errorf("a.txt is %q", got)
	}
}

// panicking panics when it is checked with the value of its template.
type panicking struct {
	Text string `json:"text,omitempty"`
}

func (panicking) Spec() actions.Spec {
	return actions.Spec{Name: "panicking", Summary: "A test", Input: actions.InputNone, ReadOnly: true}
}

func (p panicking) Validate(c *actions.Check) {
	if !c.Templated(p.Text) {
		panic("checked")
	}
}

func (panicking) Run(context.Context, *actions.Call) (actions.Outcome, error) {
	return actions.Outcome{}, nil
}

// TestPanicInValidateFinishesOnce: a step that panics before its action runs finishes once, and reports the reason.
func TestPanicInValidateFinishesOnce(t *testing.T) {
	t.Parallel()
	p := millrace.New("panics").
		Step("find", actions.Search{Pattern: "x"}).
		Step("check", panicking{Text: "{{find.count}}"}).
		MustBuild()
	var ends []string
	x := millrace.Executor{Observe: func(e millrace.Event) {
		if e, ok := e.(millrace.StepFinished); ok && e.Step == "check" {
			ends = append(ends, e.Result.Error)
		}
	}}
	if _, err := x.Run(t.Context(), suite.Tree("a.txt", "x\n"), p); err == nil {
		t.Error("no error")
	}
	if len(ends) != 1 || ends[0] != "panicking failed: panic: checked" {
		t.Errorf("the step finished with %q", ends)
	}
}

// untouchable panics in Touches.
type untouchable struct{ suite.Action }

func (untouchable) Touches() (reads, writes []string, known bool) { panic("touched") }

// TestPanicInTouches: an action whose Touches panics may touch any file.
func TestPanicInTouches(t *testing.T) {
	t.Parallel()
	fsys := suite.Tree("a.txt", "x\n")
	own := untouchable{suite.Action{Do: func(_ context.Context, c *actions.Call) (actions.Outcome, error) {
		return actions.Outcome{}, afero.WriteFile(c.FS, "own.txt", []byte("own"), 0o600)
	}}}
	p := millrace.New("parallel").Options(millrace.Options{Parallel: true}).
		Step("own", own).
		Step("edit", actions.Edit{Files: []string{"a.txt", "own.txt"}, OldText: "x", NewText: "y", OnError: "continue"}).
		MustBuild()
	if _, err := millrace.Run(t.Context(), fsys, p); err != nil {
		t.Fatal(err)
	}
	if got := suite.Read(t, fsys, "a.txt") + suite.Read(t, fsys, "own.txt"); got != "y\nown" {
		t.Errorf("the files are %q", got)
	}
}
