package millrace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/definition"
	"github.com/millrace-go/millrace/internal/errorform"
	"github.com/millrace-go/millrace/internal/interpolate"
	"github.com/millrace-go/millrace/internal/params"
	"github.com/millrace-go/millrace/internal/template"
	"github.com/millrace-go/millrace/risk"
)

// seen returns the visit of a step that other steps may use, nil if the step has not run in this sweep. A step is
// always recorded before a step that refers to it starts, so the visit no longer changes.
func (r *run) seen(id string) *visit {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now[r.p.Index[id]]
}

// result returns the result of the visit that seen returns.
func (r *run) result(id string) *StepResult {
	if v := r.seen(id); v != nil {
		return &v.result
	}
	return nil
}

// expand returns a copy of the action of a step with all templates expanded, and the value that its Validate has kept.
func (r *run) expand(ctx context.Context, i int) (actions.Action, any, error) {
	c := &r.p.Compiled[i]
	v, err := c.Texts.Expand(r.values(ctx, i), r.x.stepLimits(r.p).ShownBytes())
	if err != nil {
		return nil, nil, interpolationError(err)
	}
	action := v.(actions.Action)
	if !c.Texts.Any() && !c.Unchecked {
		return action, c.Kept, nil
	}
	kept, err := recheck(r.p.Steps[i], action)
	return action, kept, err
}

func interpolationError(err error) error {
	if e, ok := err.(*interpolate.Error); ok {
		return &InterpolationError{Pointer: e.Pointer, Text: e.Text, Err: e.Err}
	}
	if e, ok := err.(*params.ValueError); ok {
		return &InterpolationError{Pointer: e.Pointer, Err: misfit{e}}
	}
	return err
}

// misfit means that a value does not fit. It leaves out the pointer.
type misfit struct{ of *params.ValueError }

func (m misfit) Error() string { return m.of.Msg }
func (m misfit) Unwrap() error { return m.of.Err }

// expandCondition returns the condition of a step with the templates in its path expanded.
func (r *run) expandCondition(ctx context.Context, i int) (condition.Condition, error) {
	when := r.p.Steps[i].When
	path, ok, err := r.p.Compiled[i].Texts.Path(r.values(ctx, i))
	if err != nil || !ok {
		return when, interpolationError(err)
	}
	return when.WithPath(path), nil
}

// recheck checks the final values against the rules that could not be checked for templates before the run: a template
// may have returned an empty pattern, or an invalid regular expression. It returns the value that Validate has kept.
func recheck(s definition.Step, action actions.Action) (kept any, err error) {
	for _, p := range params.Check(action.Spec().Name, action, nil, nil) {
		return nil, &InterpolationError{Pointer: p.Pointer, Err: errors.New(p.Message)}
	}
	c := &actions.Check{HasInput: s.TakesFiles()}
	if v, ok := action.(actions.Validator); ok {
		v.Validate(c)
	}
	for _, p := range c.Problems {
		return nil, &InterpolationError{Pointer: p.Param, Err: errors.New(p.Message)}
	}
	return c.Keep, nil
}

// values returns a function with the values of the references of step i. A step that was skipped or has failed has no
// files and no edits.
func (r *run) values(ctx context.Context, i int) template.Values {
	return func(ref template.Ref) (any, error) {
		of, isStep := r.p.Index[ref.Root]
		if !isStep {
			return r.otherValue(ctx, i, ref)
		}
		v := r.seen(ref.Root)
		if v == nil {
			return nil, fmt.Errorf("step '%s' has not run", ref.Root)
		}
		if !r.p.Steps[of].Action.Spec().Data {
			value, _ := v.field(ref.Field) // Build has checked the field
			return value, nil
		}
		return v.member(ref)
	}
}

// member returns the value of a reference to a step with data: all of the data, a member of it, or a field of the step.
// A member wins over a field of the same name.
func (v *visit) member(ref template.Ref) (any, error) {
	res := &v.result
	if ref.Field == "" {
		return res.Data, nil
	}
	value, err := template.Member(res.Data, ref.Root, ref.Field)
	if err == nil && ref.Field != template.FieldData {
		return value, nil
	}
	if value, ok := v.field(ref.Field); ok {
		return value, nil
	}
	if res.Skipped {
		return nil, fmt.Errorf("step '%s' was skipped, so it has no '%s'", ref.Root, ref.Field)
	}
	var fields []string
	for _, f := range template.ResultFields() {
		fields = append(fields, f.Name)
	}
	_, err = template.Member(res.Data, ref.Root, ref.Field, fields...)
	return nil, err
}

// field returns a field of a step for a template. ok is false for an unknown field.
func (v *visit) field(name string) (value any, ok bool) {
	s := &v.result
	switch name {
	case template.FieldAggregated:
		return s.AggregatedContent, true
	case template.FieldContent:
		return s.Content, true
	case template.FieldCount:
		return s.count(), true
	case template.FieldCounts:
		return s.Counts, true
	case template.FieldData:
		return s.Data, true
	case template.FieldEdits:
		return s.EditsApplied, true
	case template.FieldError:
		return s.Error, true
	case template.FieldErrorCode:
		return stepCode(v.err), true
	case template.FieldFiles:
		return s.FilesMatched, true
	case template.FieldFilesCount:
		return len(s.FilesMatched), true
	case template.FieldOK:
		return s.ran(), true
	case template.FieldOutput:
		return s.Output, true
	case template.FieldRenames:
		return s.Renames, true
	case template.FieldRisk:
		return max(s.RiskLevel, risk.Low).String(), true
	case template.FieldSkipped:
		return s.Skipped, true
	case template.FieldVisits:
		if s.Skipped {
			return 0, true
		}
		return v.number, true
	}
	return nil, false
}

// otherValue returns the value of a reference of step i that is not to a step id. Before the first step, the previous
// step is a step without an id, files and edits.
func (r *run) otherValue(ctx context.Context, i int, ref template.Ref) (any, error) {
	switch {
	case ref.Root == definition.RootVars:
		return r.p.Variable(ref.Field), nil
	case ref.Root == definition.RootRun && ref.Field == "id":
		return r.x.RunID, nil
	case ref.Root == definition.RootRun && ref.Field == definition.FieldShared:
		return r.scratch.SharedDir(ctx)
	case ref.Root == definition.RootRun:
		return r.p.Name, nil
	}
	v := r.before(i)
	if v == nil {
		v = new(visit)
	}
	if ref.Field == "id" {
		return v.result.StepID, nil
	}
	value, _ := v.field(ref.Field) // which Build has checked
	return value, nil
}

// facts adapts a run to conditions.
type facts struct{ r *run }

// Step implements [condition.Facts].
func (f facts) Step(id string) (condition.StepFacts, bool) {
	if _, ok := f.r.p.Index[id]; !ok {
		return condition.StepFacts{}, false
	}
	return f.r.result(id).facts(), true
}

// Previous implements [condition.Facts].
func (f facts) Previous() (failed, ok bool) {
	v, failed := f.r.previous()
	return failed, v != nil
}

// Exists implements [condition.Facts]: on the present stage, inside the allowed paths only.
func (f facts) Exists(path string) (bool, error) {
	switch _, err := f.r.stage.Stat(path); {
	case err == nil:
		return true, nil
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fsutil.ErrNotDir):
		return false, nil
	default:
		return false, err
	}
}

// facts returns the values of the step for a condition, nil for a step that has not run.
func (s *StepResult) facts() condition.StepFacts {
	if s == nil {
		return condition.StepFacts{}
	}
	return condition.StepFacts{
		Ran: !s.Skipped, Succeeded: s.ran(), Failed: s.Failed(), Skipped: s.Skipped, Files: len(s.FilesMatched),
		Count: s.count(),
	}
}

// InterpolationError means that the value of a well-formed template could not be used.
type InterpolationError struct {
	// Pointer is the parameter's JSON pointer below the step's "params".
	Pointer string
	// Text is the parameter as written, "" if the value is wrong.
	Text string
	Err  error
}

// Error names the parameter and the reason.
func (e *InterpolationError) Error() string {
	return fmt.Sprintf("parameter %s: %v", e.Pointer, e.Err)
}

// Unwrap returns the reason.
func (e *InterpolationError) Unwrap() error { return e.Err }

// Is makes it match [ErrInterpolation].
func (e *InterpolationError) Is(target error) bool { return target == ErrInterpolation }

// Code returns "INTERPOLATION_FAILED", or "canceled" if Err is the error of a context.
func (e *InterpolationError) Code() string {
	return errorform.UnlessCanceled(e.Err, errorform.Interpolation)
}
