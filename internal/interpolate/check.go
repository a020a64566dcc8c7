package interpolate

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/internal/nearest"
	"github.com/millrace-go/millrace/internal/template"
)

// Problem is a mistake in the templates of a step, or, as a Warning, a suspicion.
type Problem struct {
	Pointer string // relative to the step
	Code    string // a Code constant
	Message string
	Hint    string
	Warning bool
}

// The codes of problems. They are stable.
const (
	CodeBadTemplate  = "invalid_template"
	CodeForwardRef   = "forward_reference"
	CodeUnknownRef   = "unknown_reference"
	CodeNearTemplate = "unknown_template"
	CodeNoVariable   = "unknown_variable"
	CodeWrongType    = "wrong_type"
)

// Check finds the templates of the step, and checks every reference: its step comes earlier, the field exists, and the
// type can fit.
func (t *Texts) Check(s Step, report func(Problem)) {
	defer func() { t.parsed, t.known = nil, nil }()
	add := func(pointer, code, hint, format string, args ...any) {
		report(Problem{
			Pointer: pointer, Code: code, Hint: hint, Warning: code == CodeNearTemplate || code == CodeNoVariable,
			Message: fmt.Sprintf(format, args...),
		})
	}
	t.each(s, func(pointer, text string, whole reflect.Type) {
		if s.Raw {
			return
		}
		p := t.parse(text)
		t.keep(pointer, p.text)
		for _, problem := range p.problems {
			code := CodeBadTemplate
			if problem.Code == unknownRoot {
				code, problem.Hint = CodeUnknownRef, t.rootHint(problem)
			}
			add(pointer, code, problem.Hint, "step '%s': %s", s.ID, problem.Message)
		}
		for _, ref := range p.text.Refs() {
			if slices.Index(t.ids, ref.Root) >= t.at {
				add(pointer, CodeForwardRef, "", "step '%s' has forward reference to step '%s'", s.ID, ref.Root)
			}
		}
		suspicions := p.text.NearMisses
		if isPath(pointer) {
			suspicions = p.text.Unclosed
			wrong := false
			for _, source := range t.foreign(text, p) {
				wrong = t.reportForeign(s, pointer, source, source == text, add) || wrong
			}
			if wrong {
				return
			}
		}
		for _, problem := range suspicions(t.ids) {
			add(pointer, CodeNearTemplate, "", "step '%s': %s; %s", s.ID, problem.Message, problem.Hint)
		}
		if whole == nil || len(p.problems) > 0 {
			return
		}
		param := strings.TrimPrefix(pointer, paramsPointer)
		ref, ok := p.text.Whole()
		if !ok {
			add(pointer, CodeBadTemplate, "write nothing but {{step.field}}",
				"step '%s': parameter %s is not a string, so it takes one template and nothing else, got %q", s.ID,
				param, text)
		} else if !t.fits(ref, whole) {
			add(pointer, CodeWrongType, "", "step '%s': template '%s' is a %s, which parameter %s cannot be",
				s.ID, ref.Source, ref.Type, param)
		}
	})
	if s.Raw && len(s.Bind) > 0 {
		add(paramsPointer, CodeBadTemplate, "leave out raw, or give the value itself",
			"step '%s' is raw and binds a template", s.ID)
	}
}

// Nearest returns a hint with the earlier step that has the most similar id, "" if none is similar.
func (t *Texts) Nearest(step string) string {
	if near, ok := nearest.Of(step, t.ids[:t.at]); ok {
		return fmt.Sprintf("did you mean '%s'?", near)
	}
	return ""
}

// unknownRoot is the code of package template for a reference to a missing root.
const unknownRoot = "unknown_root"

// rootHint returns the hint for a reference to an unknown step.
func (t *Texts) rootHint(p template.Problem) string {
	if near := t.Nearest(words(p.Source)[0]); near != "" {
		return near + " " + p.Hint
	}
	return "name an earlier step; " + p.Hint
}

// fits reports whether the value of a template can fit a parameter of that Go type.
func (t *Texts) fits(ref template.Ref, want reflect.Type) bool {
	for want.Kind() == reflect.Pointer {
		want = want.Elem()
	}
	have := ref.Type
	// A string can contain a number or a bool, but not paths, levels of risk or the texts of files.
	ofFiles := func(f template.Field) bool { return f.Name == ref.Field }
	ofStep := ref.Root == "prev" || slices.Contains(t.ids, ref.Root)
	written := have == template.String && !(ofStep && slices.ContainsFunc(template.Fields(), ofFiles))
	switch zero := reflect.Zero(want); {
	case have == template.Any, want.Kind() == reflect.String:
		return true
	case zero.CanInt(), zero.CanUint(), zero.CanFloat():
		return have == template.Int || have == template.Number || written
	case want.Kind() == reflect.Bool:
		return have == template.Bool || written
	case want.Kind() == reflect.Map:
		return have == template.Object
	case want.Kind() == reflect.Slice && want.Elem().Kind() == reflect.String:
		return have == template.String || have == template.List
	}
	return want.Kind() == reflect.Slice && want.Elem().Kind() == reflect.Interface
}
