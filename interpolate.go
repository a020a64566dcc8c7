package millrace

import (
	"errors"
	"fmt"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/interpolate"
	"github.com/millrace-go/millrace/internal/params"
	"github.com/millrace-go/millrace/template"
)

// expand returns a copy of the action of a step in which all templates have their values, and what its Validate has kept.
func (r *run) expand(i int) (actions.Action, any, error) {
	texts := r.p.compiled[i].texts
	v, err := texts.Expand(r.value, r.x.stepLimits(r.p).ShownBytes())
	if err != nil {
		return nil, nil, interpolationError(err)
	}
	action := v.(actions.Action)
	if !texts.Any() {
		return action, r.p.compiled[i].kept, nil
	}
	kept, err := recheck(r.p.steps[i], action)
	return action, kept, err
}

func interpolationError(err error) error {
	if e, ok := err.(*interpolate.Error); ok {
		return &InterpolationError{Pointer: e.Pointer, Text: e.Text, Err: e.Err}
	}
	return err
}

// expandCondition returns the condition of a step with the templates in its path expanded.
func (r *run) expandCondition(i int) (condition.Condition, error) {
	when := r.p.steps[i].When
	path, ok, err := r.p.compiled[i].texts.Path(r.value)
	switch {
	case err != nil:
		return when, interpolationError(err)
	case !ok:
		return when, nil
	case when.Type() == condition.TypeFileExists:
		return condition.FileExists(path), nil
	default:
		return condition.FileNotExists(path), nil
	}
}

// recheck holds the final values against the rules that were let go for templates before the run: a template may have
// given an empty pattern, or one that is no regular expression. It returns what Validate has kept.
func recheck(s Step, action actions.Action) (kept any, err error) {
	for _, p := range params.Check(action.Spec().Name, action, nil, nil) {
		return nil, &InterpolationError{Pointer: p.Pointer, Err: errors.New(p.Message)}
	}
	c := &actions.Check{HasInput: len(s.inputs()) > 0}
	if v, ok := action.(actions.Validator); ok {
		v.Validate(c)
	}
	for _, p := range c.Problems {
		return nil, &InterpolationError{Pointer: p.Param, Err: errors.New(p.Message)}
	}
	return c.Keep, nil
}

// value returns what a reference stands for. A step that was skipped or has failed has done nothing: no files, no edits.
func (r *run) value(ref template.Ref) (any, error) {
	res := r.result(ref.Step)
	if res == nil {
		return nil, fmt.Errorf("step '%s' has not run", ref.Step)
	}
	v, ok := res.field(ref.Field)
	if !ok {
		return nil, fmt.Errorf("unknown field '%s'", ref.Field)
	}
	return v, nil
}
