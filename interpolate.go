package millrace

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/params"
	"github.com/millrace-go/millrace/internal/strictjson"
	"github.com/millrace-go/millrace/risk"
	"github.com/millrace-go/millrace/template"
)

// ids returns the ids of all steps, in order.
func ids(steps []Step) []string {
	all := make([]string, len(steps))
	for i, s := range steps {
		all[i] = s.ID
	}
	return all
}

// knownSteps is [template.Steps] for the step at position i, made when it is asked for the first time: most texts have no
// reference in them. It is for one goroutine.
func knownSteps(steps []Step, i int) template.Known {
	var known template.Known
	return func(ref string) (string, bool) {
		if known == nil {
			known = template.Steps(ids(steps), i)
		}
		return known(ref)
	}
}

// templateTexts calls visit for every text of a step in which a template can be, with its pointer below the step: those of
// its parameters, and the path of its condition. whole is the type of the parameter if it is not a string, so that only a
// template that is all of the text fits.
func templateTexts(s Step, visit func(pointer, text string, whole reflect.Type)) {
	if s.Raw {
		return
	}
	if path := s.When.Path(); path != "" {
		visit("/condition/path", path, nil)
	}
	if s.Action == nil {
		return
	}
	params.Strings(s.Action, func(pointer, text string) { visit("/params"+pointer, text, nil) })
	for _, pointer := range slices.Sorted(maps.Keys(s.Bind)) {
		if want, ok := params.TypeAt(s.Action, pointer); ok {
			visit("/params"+pointer, s.Bind[pointer], want)
		}
	}
}

// templated reports whether a text in step i refers to a step of the pipeline.
func (d *draft) templated(i int, text string) bool {
	if d.steps[i].Raw {
		return false
	}
	t, _ := template.Parse(text, knownSteps(d.steps, i))
	return t.IsTemplate()
}

// checkTemplates checks every reference of a step: the step named comes before, the field exists, the type can fit.
func (d *draft) checkTemplates(i int, at string) {
	s := d.steps[i]
	all := ids(d.steps)
	known := knownSteps(d.steps, i)
	templateTexts(s, func(pointer, text string, whole reflect.Type) {
		t, problems := template.Parse(text, known)
		for _, p := range problems {
			d.problem(at+pointer, codeBadTemplate, p.Hint, "step '%s': %s", s.ID, p.Message)
		}
		for _, ref := range t.Refs() {
			if j := d.index[ref.Step]; j >= i {
				d.problem(at+pointer, codeForwardRef, "", "step '%s' has forward reference to step '%s'", s.ID, ref.Step)
			}
		}
		if ref, ok := unknownStep(text, known); ok && isPath(pointer) {
			d.problem(at+pointer, codeUnknownRef, d.nearestStep(ref.Step, i), "step '%s': template '%s' names no step", s.ID, ref.Source)
			return
		}
		for _, p := range t.NearMisses(all) {
			d.warn(at+pointer, codeNearTemplate, "step '%s': %s; %s", s.ID, p.Message, p.Hint)
		}
		if whole == nil || len(problems) > 0 {
			return
		}
		ref, ok := t.Whole()
		if !ok {
			d.problem(at+pointer, codeBadTemplate, "write nothing but {{step.field}}",
				"step '%s': parameter %s is not a string, so it takes one template and nothing else, got %q", s.ID, param(pointer), text)
		} else if !fits(ref.Type(), whole) {
			d.problem(at+pointer, codeWrongType, "",
				"step '%s': template '%s' is a %s, which parameter %s cannot be", s.ID, ref.Source, ref.Type(), param(pointer))
		}
	})
	if s.Raw && len(s.Bind) > 0 {
		d.problem(at+"/params", codeBadTemplate, "leave out raw, or give the value itself", "step '%s' is raw and binds a template", s.ID)
	}
}

// param is the pointer of a parameter below "params".
func param(pointer string) string { return strings.TrimPrefix(pointer, "/params") }

// unknownStep returns the reference that a text is as a whole, if its field is one that steps have, but there is no such step.
func unknownStep(text string, known template.Known) (template.Ref, bool) {
	t, _ := template.Parse(text, func(step string) (string, bool) { return step, true })
	ref, ok := t.Whole()
	if !ok {
		return ref, false
	}
	_, there := known(ref.Step)
	return ref, !there
}

// isPath reports whether a parameter has the names of files, by the names that parameters have: a template of no step is no
// file's name, but can be a text that is to be found or written.
func isPath(pointer string) bool {
	tokens, _ := strictjson.SplitPointer(pointer)
	for len(tokens) > 0 && strings.Trim(tokens[len(tokens)-1], "0123456789") == "" {
		tokens = tokens[:len(tokens)-1]
	}
	if len(tokens) == 0 {
		return false
	}
	switch tokens[len(tokens)-1] {
	case "files", "paths", "path", "file_a", "file_b", "destination", "directory", "base":
		return true
	}
	return false
}

// fits reports whether a value of the template's type can ever be given to a parameter of that Go type.
func fits(have template.Type, want reflect.Type) bool {
	for want.Kind() == reflect.Pointer {
		want = want.Elem()
	}
	switch want.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64:
		return have == template.Int
	case reflect.Slice:
		return have != template.Int && want.Elem().Kind() == reflect.String
	case reflect.String:
		return true
	default:
		return false
	}
}

// templateRefs returns the steps that the templates of a step name, in its parameters and in its condition.
func (p Pipeline) templateRefs(s Step) []string {
	var refs []string
	known := knownSteps(p.steps, p.index[s.ID])
	templateTexts(s, func(_, text string, _ reflect.Type) {
		t, _ := template.Parse(text, known)
		for _, ref := range t.Refs() {
			refs = append(refs, ref.Step)
		}
	})
	return refs
}

// references returns every step that a step names: its inputs, its condition, its templates.
func (p Pipeline) references(s Step) []string {
	refs := append(p.templateRefs(s), s.inputs()...)
	if ref := s.When.StepRef(); ref != "" {
		refs = append(refs, ref)
	}
	return refs
}

// expand returns a copy of the step's action in which all templates have their values.
func (r *run) expand(s Step) (actions.Action, error) {
	if s.Raw {
		action := params.Clone(s.Action).(actions.Action)
		return action, nil
	}
	known := knownSteps(r.p.steps, r.p.index[s.ID])
	most := r.x.stepLimits(r.p).ShownBytes()
	left := most
	v, err := params.Expand(s.Action, s.Bind, func(pointer, text string) (any, error) {
		t, _ := template.Parse(text, known)
		if !t.IsTemplate() {
			return t.Expand(r.value)
		}
		v, err := t.Expand(r.value)
		if left -= expandedSize(v); err == nil && left < 0 {
			err = &actions.LimitError{What: actions.LimitExpand, Limit: most}
		}
		if err != nil {
			return nil, &InterpolationError{Pointer: pointer, Text: text, Err: err}
		}
		return v, nil
	})
	if err != nil {
		return nil, err
	}
	return v.(actions.Action), recheck(s, v.(actions.Action))
}

// expandedSize is about how much memory a template's value takes, in bytes. The texts of a list are those of a result.
func expandedSize(v any) int64 {
	const perElement = 16
	switch v := v.(type) {
	case string:
		return int64(len(v))
	case []string:
		return perElement * int64(len(v))
	default:
		return perElement
	}
}

// expandCondition returns the step's condition with the templates in its path expanded. A path is one path: a list of files
// has to have one element, or else nobody could say which of them is asked for.
func (r *run) expandCondition(s Step) (condition.Condition, error) {
	path := s.When.Path()
	if path == "" || s.Raw {
		return s.When, nil
	}
	t, _ := template.Parse(path, knownSteps(r.p.steps, r.p.index[s.ID]))
	if !t.IsTemplate() {
		return s.When, nil
	}
	v, err := t.Expand(func(ref template.Ref) (any, error) {
		v, err := r.value(ref)
		if files, ok := v.([]string); ok && !ref.Indexed && len(files) != 1 {
			return nil, fmt.Errorf("it is %d paths, and a condition asks for one, such as {{%s.files[0]}}", len(files), ref.Step)
		}
		return v, err
	})
	if err != nil {
		return s.When, &InterpolationError{Pointer: "/condition/path", Text: path, Err: err}
	}
	if files, ok := v.([]string); ok {
		v = files[0]
	}
	if s.When.Type() == condition.TypeFileExists {
		return condition.FileExists(fmt.Sprint(v)), nil
	}
	return condition.FileNotExists(fmt.Sprint(v)), nil
}

// recheck holds the final values against the rules that were let go for templates before the run: a template may have
// given an empty pattern, or one that is no regular expression.
func recheck(s Step, action actions.Action) error {
	name := action.Spec().Name
	for _, p := range params.Check(name, action, nil, nil) {
		return &InterpolationError{Pointer: p.Pointer, Err: errors.New(p.Message)}
	}
	if v, ok := action.(actions.Validator); ok {
		c := &actions.Check{HasInput: len(s.inputs()) > 0}
		v.Validate(c)
		for _, p := range c.Problems {
			return &InterpolationError{Pointer: p.Param, Err: errors.New(p.Message)}
		}
	}
	return nil
}

// value returns what a reference stands for. A step that was skipped or has failed has done nothing: no files, no edits.
func (r *run) value(ref template.Ref) (any, error) {
	res := r.result(ref.Step)
	if res == nil {
		return nil, fmt.Errorf("step '%s' has not run", ref.Step)
	}
	switch ref.Field {
	case template.FieldCount:
		return res.count(), nil
	case template.FieldEdits:
		return res.EditsApplied, nil
	case template.FieldFilesCount:
		return len(res.FilesMatched), nil
	case template.FieldFiles:
		return res.FilesMatched, nil
	case template.FieldAggregated:
		return res.AggregatedContent, nil
	case template.FieldRisk:
		if res.RiskLevel == risk.Unset {
			return risk.Low.String(), nil
		}
		return res.RiskLevel.String(), nil
	default:
		return nil, fmt.Errorf("unknown field '%s'", ref.Field)
	}
}
