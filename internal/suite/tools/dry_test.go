package tools_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/suite"
)

// dependent returns a pipeline in which some steps refer to a step that acts outside, in every possible way, and others
// do not.
func dependent() millrace.Pipeline {
	return millrace.New("p").
		Step("who", look("me")).
		Step("post", send("hello")).
		Step("e", edit).
		Step("input", actions.Edit{OldText: "y", NewText: "z"}).From("post").
		Step("when", actions.Create{Path: "c", Content: "c"}).When(condition.StepSucceeded("post")).
		Step("path", actions.Create{Path: "d", Content: "d"}).When(condition.FileExists("{{post.risk}}")).
		Step("text", actions.Create{Path: "f", Content: "{{post.count}}"}).
		Step("further", actions.Create{Path: "g", Content: "{{text.count}}"}).
		Step("not", actions.Create{Path: "h", Content: "h"}).When(condition.StepFailed("who")).
		Step("zagain", send("{{who.count}}")).
		Step("two", actions.Create{Path: "i", Content: "{{further.count}} {{zagain.count}}"}).
		MustBuild()
}

// A dry run does not call a tool that acts outside, and does not run the steps that depend on it.
func TestDryRunsCallPureToolsOnly(t *testing.T) {
	t.Parallel()
	want := []string{
		"who: ok",
		"post: tool 'messages_send' acts outside of the tree and is not called in a dry run",
		"e: ok", "input: 'post' was not called", "when: 'post' was not called", "path: 'post' was not called",
		"text: 'post' was not called", "further: 'post' was not called", "not: condition not met: step 'who' has not failed",
		"zagain: tool 'messages_send' acts outside of the tree and is not called in a dry run",
		"two: 'post' was not called",
	}
	warnings := []string{
		"the plan is incomplete, for step 'post' acts outside of the tree and was not run: run the pipeline instead",
		"the plan is incomplete, for step 'zagain' acts outside of the tree and was not run: run the pipeline instead",
	}
	check := func(what string, h *host, res *millrace.Result, err error) {
		t.Helper()
		if err != nil || !res.Success || !res.Incomplete || h.count() != 1 {
			t.Errorf("%s: %v, success %t, incomplete %t, %d calls", what, err, res.Success, res.Incomplete, h.count())
		}
		got := reasons(res)
		got[8] = want[8] // the words of a condition are tested elsewhere
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
		if diff := cmp.Diff(warnings, res.Warnings); diff != "" {
			t.Errorf("%s: warnings (-want +got):\n%s", what, diff)
		}
	}
	for _, parallel := range []bool{false, true} {
		p := dependent().WithOptions(millrace.Options{Parallel: parallel})
		h := &host{}
		fsys := suite.Tree("a.txt", "x")
		plan, err := millrace.Executor{Tools: h.tools()}.Plan(t.Context(), fsys, p)
		check("Plan", h, plan.Result(), err)

		h = &host{}
		res, err := millrace.Executor{Tools: h.tools(), DryRun: true}.Run(t.Context(), fsys, p)
		check("DryRun", h, res, err)

		h = &host{}
		res, err = millrace.Executor{Tools: h.tools()}.Run(t.Context(), fsys, p.WithOptions(millrace.Options{DryRun: true, Parallel: parallel}))
		check("dry_run", h, res, err)
	}
}

// An incomplete plan cannot be committed, neither here nor after it is opened from its JSON. Force does not help.
func TestIncompletePlan(t *testing.T) {
	t.Parallel()
	h := &host{}
	x := millrace.Executor{Tools: h.tools()}
	fsys := suite.Tree("a.txt", "x")
	plan, err := x.Plan(t.Context(), fsys, dependent())
	if err != nil {
		t.Fatal(err)
	}
	refused := func(what string, plan *millrace.Plan) {
		t.Helper()
		res, err := plan.Commit(t.Context())
		if !errors.Is(err, millrace.ErrIncomplete) || millrace.ErrorCode(err) != "incomplete_plan" || res.Success || res.Commit.State != millrace.CommitNone {
			t.Errorf("%s: got %v", what, err)
		}
		if data := suite.Stored(t, plan); !bytes.Contains(data, []byte(`"incomplete":true`)) {
			t.Errorf("%s: its JSON does not mark it", what)
		}
	}
	refused("Plan", plan)
	refused("again", plan)
	refused("forced", plan.WithForce(true))
	opened, err := millrace.Executor{}.OpenPlan(t.Context(), fsys, suite.Stored(t, plan))
	if err != nil {
		t.Fatal(err)
	}
	refused("OpenPlan", opened)
	if h.count() != 1 {
		t.Errorf("%d calls", h.count())
	}

	// A plan without such a step has no such field.
	plan, err = x.Plan(t.Context(), fsys, millrace.New("p").Step("who", look("me")).Step("e", edit).MustBuild())
	if err != nil {
		t.Fatal(err)
	}
	if data := suite.Stored(t, plan); bytes.Contains(data, []byte(`incomplete`)) || !bytes.Contains(data, []byte(`{"version":1,`)) {
		t.Errorf("%s", data)
	}
	if res, err := plan.Commit(t.Context()); err != nil || res.Commit.State != millrace.CommitApplied {
		t.Errorf("got %v", err)
	}
}

// A step that its own condition skips does not count as a step that was not called.
func TestSkippedToolIsComplete(t *testing.T) {
	t.Parallel()
	h := &host{}
	p := millrace.New("p").Step("e", edit).Step("post", send("x")).When(condition.StepFailed("e")).
		Step("c", actions.Create{Path: "c", Content: "c{{post.count}}"}).MustBuild()
	fsys := suite.Tree("a.txt", "x")
	plan, err := millrace.Executor{Tools: h.tools()}.Plan(t.Context(), fsys, p)
	if err != nil || plan.Result().Incomplete {
		t.Fatalf("%v, %v", err, reasons(plan.Result()))
	}
	if res, err := plan.Commit(t.Context()); err != nil || res.FilesChanged.Count() != 2 || h.count() != 0 {
		t.Errorf("%v, %+v", err, res)
	}
}

// After a tool was not called, the previous step is unknown, even after later steps have run.
func TestPreviousIsNotKnown(t *testing.T) {
	t.Parallel()
	h := &host{}
	p := millrace.New("p").
		Step("e", edit).
		Step("post", send("x")).
		Step("prev", actions.Edit{OldText: "y", NewText: "z"}).FromPrevious().
		Step("error", actions.Create{Path: "c", Content: "c"}).When(condition.PrevError()).
		Step("f", actions.Edit{Files: []string{"a.txt"}, OldText: "y", NewText: "z"}).
		Step("prev2", actions.Edit{OldText: "z", NewText: "w"}).FromPrevious().
		MustBuild()
	plan, err := millrace.Executor{Tools: h.tools()}.Plan(t.Context(), suite.Tree("a.txt", "x"), p)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"e: ok", "post: tool 'messages_send' acts outside of the tree and is not called in a dry run",
		"prev: 'post' was not called", "error: 'post' was not called", "f: ok", "prev2: ok"}
	if diff := cmp.Diff(want, reasons(plan.Result())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// An action of the host that declares outside effects follows the same rules.
func TestOutsideActionInDryRun(t *testing.T) {
	t.Parallel()
	ran := 0
	p := millrace.New("p").Step("s", outsider{&ran}).Step("e", edit).MustBuild()
	x := millrace.Executor{}
	plan, err := x.Plan(t.Context(), suite.Tree("a.txt", "x"), p)
	if err != nil || !plan.Result().Incomplete || ran != 0 {
		t.Errorf("%v, ran %d", err, ran)
	}
	if got := reasons(plan.Result())[0]; got != "s: outsider acts outside of the tree and is not run in a dry run" {
		t.Errorf("got %q", got)
	}
	if _, err := x.Run(t.Context(), suite.Tree("a.txt", "x"), p); err != nil || ran != 1 {
		t.Errorf("%v, ran %d", err, ran)
	}
	var stored map[string]any
	if err := json.Unmarshal(suite.Stored(t, plan), &stored); err != nil {
		t.Fatal(err)
	}
}
