package millrace

import (
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"strings"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/interpolate"
	"github.com/millrace-go/millrace/internal/params"
	"github.com/millrace-go/millrace/risk"
	"github.com/millrace-go/millrace/template"
)

// seen returns what steps may know of one, nil if it has not run in this sweep. Steps that another one refers to have
// always been recorded before it starts, so the visit does not change any more.
func (r *run) seen(id string) *visit {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now[r.p.index[id]]
}

// result returns the result of what seen returns.
func (r *run) result(id string) *StepResult {
	if v := r.seen(id); v != nil {
		return &v.result
	}
	return nil
}

// filesOf returns the files that the step works on: canonical, each once, in the order they were given. A name that
// is no good stays as it is.
func (r *run) filesOf(s Step, action actions.Action) []string {
	var names []string
	if s.Input == inputPrevious {
		if v, _ := r.previous(); v != nil {
			names = v.result.FilesMatched
		}
	} else if ins := s.inputs(); len(ins) > 0 && action.Spec().Input != actions.InputNone {
		for _, ref := range ins {
			if in := r.result(ref); in != nil {
				names = append(names, in.FilesMatched...)
			}
		}
	} else {
		of, _ := params.Of(action) // which was checked with the pipeline
		for _, param := range fileParams(action.Spec()) {
			switch v, _ := of.Get(param); {
			case !v.IsValid():
			case v.Type() == reflect.TypeFor[[]string]():
				names = append(names, v.Interface().([]string)...)
			case v.Kind() == reflect.String && v.Len() > 0:
				names = append(names, v.String())
			}
		}
	}
	files := make([]string, 0, len(names))
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		canonical, err := r.stage.Canonical(name)
		if err == nil && (strings.HasSuffix(name, "/") || strings.HasSuffix(name, "/.")) {
			// It asks for what a link leads to, and for a directory, which the canonical name does not tell any more.
			if _, err = r.stage.Stat(name); err == nil {
				canonical, err = r.stage.Resolve(name)
			}
		}
		if err != nil {
			canonical = name // the action meets the error at this file, and can say what becomes of the others
		}
		if !seen[canonical] {
			seen[canonical] = true
			files = append(files, canonical)
		}
	}
	return files
}

// noFiles says why a step that works on files has none.
func noFiles(s Step) string {
	switch ins := s.inputs(); {
	case s.Input == inputPrevious:
		return "the step that was executed before matched no files"
	case len(ins) == 0:
		return "the list of files is empty"
	case len(ins) == 1:
		return fmt.Sprintf("input step '%s' matched no files", ins[0])
	default:
		return "the input steps matched no files"
	}
}

// expand returns a copy of the action of a step in which all templates have their values, and what its Validate has
// kept.
func (r *run) expand(i int) (actions.Action, any, error) {
	c := &r.p.compiled[i]
	v, err := c.texts.Expand(r.value, r.x.stepLimits(r.p).ShownBytes())
	if err != nil {
		return nil, nil, interpolationError(err)
	}
	action := v.(actions.Action)
	if !c.texts.Any() && !c.unchecked {
		return action, c.kept, nil
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
	if err != nil || !ok {
		return when, interpolationError(err)
	}
	return when.WithPath(path), nil
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

// value returns what a reference stands for. A step that was skipped or has failed has done nothing: no files, no
// edits.
func (r *run) value(ref template.Ref) (any, error) {
	res := r.result(ref.Root)
	if res == nil {
		return nil, fmt.Errorf("step '%s' has not run", ref.Root)
	}
	v, ok := res.field(ref.Field)
	if !ok {
		return nil, fmt.Errorf("unknown field '%s'", ref.Field)
	}
	return v, nil
}

// field is what a template takes of the step. ok is false if there is no such field.
func (s *StepResult) field(name string) (v any, ok bool) {
	switch name {
	case template.FieldCount:
		return s.count(), true
	case template.FieldEdits:
		return s.EditsApplied, true
	case template.FieldFilesCount:
		return len(s.FilesMatched), true
	case template.FieldFiles:
		return s.FilesMatched, true
	case template.FieldAggregated:
		return s.AggregatedContent, true
	case template.FieldRisk:
		return max(s.RiskLevel, risk.Low).String(), true
	default:
		return nil, false
	}
}

// facts shows a run to a condition.
type facts struct{ r *run }

// Step implements [condition.Facts].
func (f facts) Step(id string) (condition.StepFacts, bool) {
	if _, ok := f.r.p.index[id]; !ok {
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

// facts is what a condition asks of the step, nil for one that has not run.
func (s *StepResult) facts() condition.StepFacts {
	if s == nil {
		return condition.StepFacts{}
	}
	return condition.StepFacts{
		Ran: !s.Skipped, Succeeded: s.ran(), Failed: s.Failed(), Skipped: s.Skipped, Files: len(s.FilesMatched), Count: s.count(),
	}
}
