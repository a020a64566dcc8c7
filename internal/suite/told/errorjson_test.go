package told_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/bulkhead"
	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/internal/backups"
	"github.com/millrace-go/millrace/internal/errorform"
	"github.com/millrace-go/millrace/internal/panics"
	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/millrace-go/millrace/internal/template"
	"github.com/millrace-go/millrace/lsp"
	"github.com/millrace-go/millrace/runs"
)

var errPlain = errors.New("it <broke>")

// json.Marshal of each error type returns its code, its whole message, and its problems and paths.
func TestErrorJSON(t *testing.T) {
	t.Parallel()
	one := 1
	file := &actions.FileError{Path: "a/b.txt", Err: fs.ErrNotExist}
	failures := errors.Join(&actions.FileError{Path: "c.txt", Err: errPlain}, &actions.FileError{Path: "c.txt", Err: errPlain})
	conflict := &millrace.ConflictError{Conflicts: []millrace.Conflict{
		{Path: "x", Reason: "r"}, {Path: "y"}, {Path: "x", Reason: "s"},
	}}
	invalid := &millrace.ValidationError{Problems: []millrace.Problem{
		{Pointer: "/steps/0", Code: "missing_action", Message: "no action", Hint: "name one"},
	}}
	const problems = `[{"pointer":"/steps/0","code":"missing_action","message":"no action","hint":"name one"}]`
	for _, test := range []struct {
		err      error
		code     string
		paths    string // separated by blanks
		problems string // JSON, "" for none
	}{
		{&millrace.StepError{Step: "s", Action: "edit", Err: file}, "step_failed", "a/b.txt", ""},
		{&millrace.StepError{Step: "s", Action: "edit", Err: failures},
			"step_failed", "c.txt", ""},
		{&millrace.StepError{Step: "s", Action: "edit", Err: errPlain}, "step_failed", "", ""},
		{&millrace.StepError{Step: "s", Action: "tool", Err: &errorform.OutsideError{Kind: "tool", Name: "t", Err: errPlain}},
			"tool_failed", "", ""},
		{&millrace.CommitError{Step: 1, State: millrace.CommitPending, Err: &fs.PathError{Path: "p", Err: fs.ErrPermission}},
			"recovery_needed", "p", ""},
		{&millrace.CommitError{Step: 1, Err: errPlain}, "commit_failed", "", ""},
		{conflict, "conflict", "x y", ""},
		{invalid, "invalid_pipeline", "", problems},
		{&millrace.BlockedError{Reason: "too many"}, "blocked", "", ""},
		{&millrace.BudgetError{What: "files", Limit: 1, Spent: 2}, "budget_exceeded", "", ""},
		{&millrace.DeadlineError{After: time.Second, Err: errPlain}, "deadline_exceeded", "", ""},
		{&millrace.DriftError{Drifts: []millrace.Drift{{Path: "d"}}, From: "s"}, "drift", "d", ""},
		{&millrace.ExecutorError{Field: "Risk", Err: errPlain}, "internal", "", ""},
		{&millrace.ExpectError{What: "files", Got: 2, Max: &one}, "expect_failed", "", ""},
		{&millrace.FileSystemError{Name: "n", Limit: "l", Err: file}, "file_system", "a/b.txt", ""},
		{&millrace.HeldError{Reason: "manual"}, "held", "", ""},
		{&millrace.InterpolationError{Pointer: "/p", Err: errPlain}, "INTERPOLATION_FAILED", "", ""},
		{libraryError(t), "invalid_pipeline", "", ""},
		{&millrace.PlanError{Path: "q", Err: errPlain}, "invalid_plan", "q", ""},
		{&millrace.PlanError{Err: errPlain}, "invalid_plan", "", ""},
		{&millrace.RetriesError{Step: "s", Err: file}, "retries_exhausted", "a/b.txt", ""},
		{&millrace.ExecutorError{Field: "RunID", Value: "r", Err: errPlain}, "internal", "", ""},
		{&millrace.TimeoutError{After: time.Second}, "timeout", "", ""},
		{file, "step_failed", "a/b.txt", ""},
		{&actions.LimitError{What: "bytes", Limit: 3}, "limit", "", ""},
		{collisionOf(t), "step_failed", "t s1 s2", ""},
		{&actions.CommandError{Status: 2, Line: "l"}, "exec_failed", "", ""},
		{&actions.AmbiguousHunkError{Count: 2, Lines: []int{1, 2}}, "step_failed", "", ""},
		{&actions.MissingHunkError{At: 1, Line: 1, Want: "w"}, "step_failed", "", ""},
		{&panics.Error{Value: "v"}, "internal", "", ""},
		{&errorform.OutsideError{Kind: "agent", Name: "a", Err: errPlain}, "agent_failed", "", ""},
		{&errorform.OutsideError{Kind: "agent", Name: "a", Err: &errorform.OutsideError{Kind: "tool", Name: "t", Err: errPlain}}, "tool_failed", "", ""},
		{&backups.DamagedError{ID: "1", Files: []backups.Damage{{Path: "f", Reason: "gone"}}}, "conflict", "f", ""},
		{invalidBudget(t), "invalid_budget", "", ""},
		{&bulkhead.SaturatedError{Limit: 1}, "bulkhead_saturated", "", ""},
		{&rootfs.LostFlags{Letters: "cC"}, "lost_flags", "", ""},
		{&command.DeniedError{Command: "curl"}, "exec_denied", "", ""},
		{new(condition.Condition).UnmarshalJSON([]byte(`{"type":"file_exists"}`)), "invalid_condition", "",
			`[{"pointer":"/path","code":"missing_field","message":"condition type 'file_exists' requires path"}]`},
		{&errorform.FieldError{Field: "f", Value: "v", Reason: "r"}, "internal", "", ""},
		{&fleet.TargetError{ID: "t", Reason: "r"}, "invalid_target", "", ""},
		{&lsp.UnsupportedError{Changes: []lsp.Unsupported{{Path: "l", Reason: "r"}}}, "internal", "l", ""},
		{&runs.ArgsError{Problems: invalid.Problems},
			"invalid_pipeline", "", problems},
		{runs.RunNotFound(runs.RunRef{ID: "1"}), "not_found", "", ""},
		{&runs.StateError{Verb: runs.VerbRetry, What: runs.ThingRun, ID: "1", Status: runs.Success},
			"wrong_state", "", ""},
		{&template.Error{Source: "{{x}}", Reason: "r"}, "INTERPOLATION_FAILED", "", ""},
		{&errorform.OutsideError{Kind: "tool", Name: "t", Err: errPlain}, "tool_failed", "", ""},
	} {
		name := fmt.Sprintf("%T", test.err)
		data, err := json.Marshal(test.err)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got struct {
			Code, Message string
			Problems      json.RawMessage
			Paths         []string
		}
		dec := json.NewDecoder(strings.NewReader(string(data)))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&got); err != nil {
			t.Errorf("%s: %s: %v", name, data, err)
		}
		if got.Code != test.code || got.Message != test.err.Error() || string(got.Problems) != test.problems ||
			!reflect.DeepEqual(strings.Join(got.Paths, " "), test.paths) {
			t.Errorf("%s: %s, want code %s, paths %s, problems %s and the message %q",
				name, data, test.code, test.paths, test.problems, test.err)
		}
		// The code is the result of ErrorCode for the error, or else for the step that it ends.
		bare, step := millrace.ErrorCode(test.err), millrace.ErrorCode(&millrace.StepError{Err: test.err})
		if bare != "internal" &&
			bare != got.Code || bare == "internal" && got.Code == "internal" && step != "step_failed" {
			t.Errorf("%s: code %s, and ErrorCode returns %s, of its step %s", name, got.Code, bare, step)
		}
		// A wrapped error has the fields of the inner error.
		wrapped := millrace.DescribeError(fmt.Errorf("around: %w", test.err))
		if wrapped.Message != "around: "+test.err.Error() || strings.Join(wrapped.Paths, " ") != test.paths ||
			wrapped.Code != millrace.ErrorCode(test.err) {
			t.Errorf("%s wrapped: %+v", name, wrapped)
		}
	}
	if none := millrace.DescribeError(nil); !reflect.DeepEqual(none, millrace.EnvelopeError{}) {
		t.Errorf("of nil: %+v", none)
	}
	only := millrace.DescribeError(millrace.ErrReadOnly)
	if only.Code != "read_only" || only.Message != millrace.ErrReadOnly.Error() {
		t.Errorf("of ErrReadOnly: %+v", only)
	}
}

// libraryError returns the error of a pipeline that a library lacks.
func libraryError(t *testing.T) error {
	t.Helper()
	_, err := millrace.Library{}.Load(t.Context(), "n")
	return err
}

// invalidBudget returns the error of a budget of nothing.
func invalidBudget(t *testing.T) error {
	t.Helper()
	listed, ok := new(budget.Limit).UnmarshalJSON([]byte("0")).(interface{ Unwrap() []error })
	if !ok {
		t.Fatal("the error of a budget of nothing does not list errors")
	}
	return listed.Unwrap()[0]
}

// collisionOf returns the error of two files that would get the same name.
func collisionOf(t *testing.T) error {
	t.Helper()
	fsys := afero.NewMemMapFs()
	for _, name := range []string{"s1", "s2", "t"} {
		if err := afero.WriteFile(fsys, name, []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p := millrace.New("p").Step("s", actions.Copy{Files: []string{"s1", "s2"}, To: "t{{ext}}"}).MustBuild()
	_, err := millrace.Executor{}.Run(t.Context(), fsys, p)
	step, ok := errors.AsType[*millrace.StepError](err)
	if !ok {
		t.Fatalf("the error is %v, want a *StepError", err)
	}
	return step.Err
}
