package told_test

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/bulkhead"
	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/errorform"
	"github.com/millrace-go/millrace/internal/template"
	"github.com/millrace-go/millrace/lsp"
	"github.com/millrace-go/millrace/runs"
)

// coded are errors of each exported type with their codes: alone, and as the cause of a failed step. A single word is
// the code of both.
var coded = []struct {
	err   error
	codes string
}{
	{&millrace.ValidationError{}, "invalid_pipeline"},
	{&millrace.PlanError{Err: errors.ErrUnsupported}, "invalid_plan"},
	{&millrace.StepError{}, "step_failed"},
	{&millrace.ExpectError{}, "expect_failed"},
	{&millrace.InterpolationError{}, "INTERPOLATION_FAILED"},
	{&millrace.RetriesError{}, "retries_exhausted"},
	{&millrace.TimeoutError{Err: context.DeadlineExceeded}, "timeout"},
	{&millrace.DeadlineError{Err: context.DeadlineExceeded}, "deadline_exceeded"},
	{&millrace.BudgetError{}, "budget_exceeded"},
	{&millrace.BlockedError{}, "blocked"},
	{&millrace.ConflictError{}, "conflict"},
	{&millrace.DriftError{}, "drift"},
	{&millrace.HeldError{}, "held"},
	{&millrace.FileSystemError{Err: fs.ErrPermission}, "file_system"},
	{&millrace.CommitError{}, "commit_failed"},
	{&millrace.ExecutorError{Err: errors.ErrUnsupported}, "internal step_failed"},
	{&actions.LimitError{}, "limit"},
	{&actions.FileError{Err: errors.ErrUnsupported}, "internal step_failed"},
	{&actions.CommandError{}, "exec_failed"},
	{&command.DeniedError{}, "exec_denied"},
	{&bulkhead.SaturatedError{}, "bulkhead_saturated"},
	{&template.Error{}, "INTERPOLATION_FAILED"},
	{&fleet.TargetError{}, fleet.CodeInvalidTarget},
	{&lsp.UnsupportedError{}, "internal step_failed"},
	{&runs.ArgsError{}, "invalid_pipeline"},
	{&runs.StateError{}, "internal step_failed"},
}

// alone are errors that are not a type of their own, or that have a certain state, by their codes.
var alone = map[string]error{
	"":                   nil,
	"recovery_needed":    &millrace.CommitError{State: millrace.CommitPending},
	"read_only":          millrace.ErrReadOnly,
	"nested_pipeline":    millrace.ErrNested,
	"incomplete_plan":    millrace.ErrIncomplete,
	"locked":             fmt.Errorf("%w: %w", capability.ErrLocked, context.DeadlineExceeded),
	"canceled":           fmt.Errorf("%w: %w", fsutil.ErrDenied, context.Canceled),
	"internal":           errors.New("anything else"),
	"precondition":       &errorform.OutsideError{Kind: "tool", Name: "t", Err: ownCode("precondition")},
	"own":                &millrace.StepError{Err: fmt.Errorf("of an action: %w", ownCode("own"))},
	"tool_failed":        &errorform.OutsideError{Kind: "tool", Name: "t", Err: context.Canceled},
	"bulkhead_saturated": fmt.Errorf("else: %w", &bulkhead.SaturatedError{}),
}

// An error that wraps several errors, or an error with a code, has the code that helps most to choose the next action.
func TestCodeOfWrappedErrors(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err  error
		want string
	}{
		{errors.Join(context.Canceled, capability.ErrLocked), "locked"},
		{&millrace.StepError{Err: &actions.CommandError{Err: context.Canceled}}, "canceled"},
		{&millrace.StepError{Err: &millrace.InterpolationError{Err: context.Canceled}}, "canceled"},
		{&millrace.StepError{Err: &millrace.InterpolationError{Err: &actions.LimitError{}}}, "INTERPOLATION_FAILED"},
		{&millrace.StepError{Err: &millrace.RetriesError{Err: &errorform.OutsideError{Kind: "tool", Err: ownCode("own")}}}, "retries_exhausted"},
		{&millrace.DeadlineError{Err: &errorform.OutsideError{Kind: "tool", Err: ownCode("own")}}, "deadline_exceeded"},
		{&millrace.StepError{Err: &millrace.TimeoutError{Err: context.DeadlineExceeded}}, "timeout"},
		{&millrace.StepError{Err: &errorform.OutsideError{Kind: "agent", Err: context.Canceled}}, "agent_failed"},
		{&millrace.StepError{Err: &errorform.OutsideError{Kind: "tool", Err: millrace.ErrNested}}, "nested_pipeline"},
		{&millrace.CommitError{State: millrace.CommitRolledBack, Err: &millrace.FileSystemError{Err: fs.ErrPermission}}, "file_system"},
		{&millrace.CommitError{State: millrace.CommitPending, Err: capability.ErrLocked}, "recovery_needed"},
		{&millrace.BlockedError{Budget: &millrace.BudgetError{}}, "budget_exceeded"},
	} {
		if got := millrace.ErrorCode(fmt.Errorf("host: %w", test.err)); got != test.want {
			t.Errorf("%#v has the code %q, want %q", test.err, got, test.want)
		}
	}
}

// ownCode is an error of a tool that has a code of its own.
type ownCode string

func (e ownCode) Error() string { return "no" }
func (e ownCode) Code() string  { return string(e) }

// Each exported type of error has the code in the tables, and the tables have all types.
func TestCodeOfEachError(t *testing.T) {
	t.Parallel()
	var listed []string
	for _, test := range coded {
		listed = append(listed, strings.TrimPrefix(reflect.TypeOf(test.err).String(), "*"))
		words := strings.Fields(test.codes)
		if got := millrace.ErrorCode(fmt.Errorf("host: %w", test.err)); got != words[0] {
			t.Errorf("%T has the code %q, want %q", test.err, got, words[0])
		}
		if got, want := millrace.ErrorCode(&millrace.StepError{Err: test.err}), words[len(words)-1]; got != want {
			t.Errorf("%T in a step has the code %q, want %q", test.err, got, want)
		}
	}
	for want, err := range alone {
		if got := millrace.ErrorCode(err); got != want {
			t.Errorf("%v has the code %q, want %q", err, got, want)
		}
	}
	slices.Sort(listed)
	if there := errorTypes(t); !slices.Equal(there, listed) {
		t.Errorf("the exported types of errors are\n%v\nbut the table has\n%v", there, listed)
	}
}

// errorTypes returns the exported types with a method Error in all packages that programs can import, as
// "package.Type".
func errorTypes(t *testing.T) []string {
	t.Helper()
	var found []string
	const root = "../../.."
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if _, err := os.Stat(filepath.Join(name, "go.mod")); err == nil && name != root {
				return fs.SkipDir
			}
			if base := d.Name(); slices.Contains([]string{"internal", "examples", "testdata"}, base) || base[0] == '.' && name != root {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			if gen, ok := decl.(*ast.GenDecl); ok {
				for _, spec := range gen.Specs {
					if typ, ok := spec.(*ast.TypeSpec); ok && typ.Assign.IsValid() && typ.Name.Name == "Error" {
						found = append(found, file.Name.Name+".Error") // the error of the package, which is an alias
					}
				}
			}
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Recv == nil || fn.Name.Name != "Error" || fn.Type.Params.NumFields() > 0 {
				continue
			}
			typ := fn.Recv.List[0].Type
			if star, ok := typ.(*ast.StarExpr); ok {
				typ = star.X
			}
			if id, ok := typ.(*ast.Ident); ok && id.IsExported() {
				found = append(found, file.Name.Name+"."+id.Name)
			}
		}
		return nil
	})
	if err != nil || len(found) < 20 {
		t.Fatalf("%v, found %v", err, found)
	}
	slices.Sort(found)
	return found
}
