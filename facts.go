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

// seen returns what steps may know of one, nil if it has not run in this sweep. Steps that another one refers to have
// always been recorded before it starts, so the visit does not change any more.
func (r *run) seen(id string) *visit {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now[r.p.Index[id]]
}

// result returns the result of what seen returns.
func (r *run) result(id string) *StepResult {
	if v := r.seen(id); v != nil {
		return &v.result
	}
	return nil
}

// expand returns a copy of the action of a step in which all templates have their values, and what its Validate has
// kept.
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

// misfit means that a value does not fit, without the pointer.
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

// recheck holds the final values against the rules that were let go for templates before the run: a template may have
// given an empty pattern, or an invalid regular expression. It returns the pattern that Validate has kept.
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

// values returns what gives the references of step i their values. A step that was skipped or has failed has done
// nothing: no files, no edits.
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
			value, _ := v.field(ref.Field) // which Build has checked
			return value, nil
		}
		return v.member(ref)
	}
}

// member is what a template takes of a step with data: all of it, a member, which wins over a field of the same name,
// or a field.
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

// field is what a template takes of a step. ok is false if there is no such field.
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

// otherValue returns what a reference of step i to one of these stands for. Before the first step is a step without an
// id that has done nothing.
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

// facts shows a run to a condition.
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

// Exists implements [condition.Facts]: on the stage as it is now, inside the allowed paths only.
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

// facts has the values that a condition asks of the step, nil for a step that has not run.
func (s *StepResult) facts() condition.StepFacts {
	if s == nil {
		return condition.StepFacts{}
	}
	return condition.StepFacts{
		Ran: !s.Skipped, Succeeded: s.ran(), Failed: s.Failed(), Skipped: s.Skipped, Files: len(s.FilesMatched),
		Count: s.count(),
	}
}

// InterpolationError means that a template could not be given its value although it was well formed.
type InterpolationError struct {
	// Pointer is the parameter's JSON pointer below the step's "params".
	Pointer string
	// Text is the parameter as written, "" if it is the value that is wrong.
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

// Code returns "INTERPOLATION_FAILED", or "canceled" if Err is that of a context.
func (e *InterpolationError) Code() string {
	return errorform.UnlessCanceled(e.Err, errorform.Interpolation)
}
