package runs_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/internal/txtarfs"
	"github.com/millrace-go/millrace/risk"
)

// TestErrorCode produces each code by a real run, and checks that nothing was written.
func TestErrorCode(t *testing.T) {
	const text = `{"name": "p", "steps": [{"id": "e", "action": "edit", "params": {"files": ["a"], "old_text": "x", "new_text": "y"}%s}]}`
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, test := range []struct {
		code string
		x    millrace.Executor
		ctx  context.Context
		text string
	}{
		{"", millrace.Executor{Ceiling: risk.Critical}, nil, strings.Replace(text, `"name"`, `"force": true, "name"`, 1)},
		{"invalid_pipeline", millrace.Executor{}, nil, `{"name": 1}`},
		{"step_failed", millrace.Executor{}, nil, strings.Replace(text, `"a"`, `"missing"`, 1)},
		{"expect_failed", millrace.Executor{}, nil, strings.Replace(text, "%s", `, "expect": {"max_edits": 1}%s`, 1)},
		{"INTERPOLATION_FAILED", millrace.Executor{}, nil, `{"name": "p", "steps": [{"id": "f", "action": "search", "params": {"pattern": "none"}},
			{"id": "e", "action": "search", "params": {"pattern": "{{f.files[3]}}"}}]}`},
		{"limit", millrace.Executor{Limits: actions.Limits{MaxMatches: 5}}, nil, text},
		{"blocked", millrace.Executor{}, nil, text},
		{"read_only", millrace.Executor{ReadOnly: true}, nil, text},
		{"canceled", millrace.Executor{}, canceled, text},
		{"internal", millrace.Executor{RunID: "../x"}, nil, text},
	} {
		t.Run(test.code, func(t *testing.T) {
			fsys := suite.Memory(t, []txtarfs.File{{Name: "a", Data: []byte(strings.Repeat("x", 600))}})
			ctx := t.Context()
			if test.ctx != nil {
				ctx = test.ctx
			}
			p, err := millrace.Decode([]byte(strings.ReplaceAll(test.text, "%s", "")))
			if err == nil {
				_, err = test.x.Run(ctx, fsys, p)
			}
			if got := millrace.ErrorCode(err); got != test.code {
				t.Errorf("code %q, want %q, of %v", got, test.code, err)
			}
			if millrace.Written(err) {
				t.Errorf("%v counts as written", err)
			}
		})
	}
}

// editX is an action that replaces "x" by "y" in a file.
func editX(file string) actions.Action {
	return actions.Edit{Files: []string{file}, OldText: "x", NewText: "y"}
}

// TestErrorCodeOfCommit has the codes of failures after the steps.
func TestErrorCodeOfCommit(t *testing.T) {
	fsys := suite.Memory(t, []txtarfs.File{{Name: "a", Data: []byte("x")}})
	p := millrace.New("p").Step("e", editX("a")).MustBuild()
	plan, err := millrace.Executor{}.Plan(t.Context(), fsys, p)
	if err != nil {
		t.Fatal(err)
	}
	if err := afero.WriteFile(fsys, "a", []byte("xx"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := plan.Commit(t.Context()); millrace.ErrorCode(err) != "conflict" || millrace.Written(err) {
		t.Errorf("a changed file is %q, %v", millrace.ErrorCode(err), err)
	}
	if _, err := (millrace.Executor{}).OpenPlan(t.Context(), fsys, []byte("{}")); millrace.ErrorCode(err) != "invalid_plan" {
		t.Errorf("an empty plan is %q, %v", millrace.ErrorCode(err), err)
	}
	for _, test := range []struct {
		code    string
		written bool
		err     error
	}{
		{"recovery_needed", true, &millrace.CommitError{State: millrace.CommitPending, Err: context.Canceled}},
		{"commit_failed", false, &millrace.CommitError{State: millrace.CommitRolledBack, Err: errors.New("disk full")}},
		{"locked", false, fmt.Errorf("%w: %w", capability.ErrLocked, context.DeadlineExceeded)},
		{"internal", false, errors.New("else")},
	} {
		wrapped := fmt.Errorf("host: %w", test.err)
		if got := millrace.ErrorCode(wrapped); got != test.code || millrace.Written(wrapped) != test.written {
			t.Errorf("%v has code %q, written %v; want %q, %v", wrapped, got, millrace.Written(wrapped), test.code, test.written)
		}
	}
}

// TestPlanOfFailedStepCommits: a plan that can be committed has no error, even if a step has failed. The commit reports
// the failed step, and that the changes of the other steps are in the tree.
func TestPlanOfFailedStepCommits(t *testing.T) {
	fsys := suite.Memory(t, []txtarfs.File{{Name: "a", Data: []byte("x")}})
	p := millrace.New("p").Options(millrace.Options{ContinueOnError: true}).
		Step("fails", editX("missing")).
		Step("works", editX("a")).MustBuild()
	plan, err := millrace.Executor{}.Plan(t.Context(), fsys, p)
	if err != nil || plan.Result().Success {
		t.Fatalf("plan: %v, result %v", err, plan.Result())
	}
	res, err := plan.Commit(t.Context())
	step, ok := errors.AsType[*millrace.StepError](err)
	if !ok || step.Step != "fails" || !step.Committed || !millrace.Written(err) || res.Success {
		t.Errorf("commit: %v (%+v), result %v", err, step, res)
	}
	if data, _ := afero.ReadFile(fsys, "a"); string(data) != "y" {
		t.Errorf("the other step's file has %q", data)
	}
}

// A stored plan and a replayed run have the code of their failed step.
func TestErrorCode_stored(t *testing.T) {
	t.Parallel()
	fsys, one := suite.Tree("a", "x"), 1
	x := millrace.Executor{State: millrace.State{Key: []byte(strings.Repeat("k", 32)), NoSync: true}}
	p := millrace.New("part").Options(millrace.Options{ContinueOnError: true}).
		Step("b", actions.Create{Path: "b", Content: "b"}).
		Step("e", actions.Edit{Files: []string{"a"}, OldText: "none", NewText: "y"}).
		Expect(millrace.Expect{MinEdits: &one}).MustBuild()
	plan, err := x.Plan(t.Context(), fsys, p)
	if err != nil {
		t.Fatal(err)
	}
	text, err := plan.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	_ = plan.Close()
	stored, err := x.OpenPlan(t.Context(), suite.Tree("a", "x"), text)
	if err != nil {
		t.Fatal(err)
	}
	_, committed := stored.Commit(t.Context())
	x.RunID = "one"
	_, first := x.Run(t.Context(), fsys, p)
	res, again := x.Run(t.Context(), fsys, p)
	if res == nil || !res.Replayed {
		t.Errorf("it is not replayed: %+v", res)
	}
	for what, err := range map[string]error{"stored plan": committed, "run": first, "replayed run": again} {
		if got := millrace.ErrorCode(err); got != "expect_failed" || !millrace.Written(err) {
			t.Errorf("%s: code %q, written %v, of %v", what, got, millrace.Written(err), err)
		}
	}
}
