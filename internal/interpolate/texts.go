// Package interpolate handles the templates of a step: in its parameters, and in the path of its condition. It finds
// and checks them when the pipeline is checked, and replaces them by their values when the step runs. Each text is
// parsed once.
package interpolate

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/internal/params"
	"github.com/millrace-go/millrace/internal/template"
)

// Step is the part of a step that matters for templates.
type Step struct {
	ID     string
	Action any
	// Bind has templates for parameters that are not strings, by pointer.
	Bind map[string]string
	// Path is the path of the condition, "" for none.
	Path string
	// Raw means that text in the form of a template is literal.
	Raw bool
}

// Texts are the templates of one step. [New] makes them and [Texts.Check] finds them; after that they are immutable,
// and safe for concurrent use.
type Texts struct {
	*pipeline
	at     int             // index of the step
	others []template.Root // in addition to the steps
	strict bool            // any name with a field must be a step
	known  template.Known
	parsed map[string]parsed // by text, only while the pipeline is checked

	action params.Action
	bind   map[string]string
	params map[string]template.Text // by pointer
	path   template.Text
}

// pipeline is shared by the texts of its steps.
type pipeline struct {
	steps []template.Root
	ids   []string // of the steps
}

type parsed struct {
	text     template.Text
	problems []template.Problem
}

// New returns the Texts of each step of a pipeline with these steps, which must not change any more.
func New(steps []template.Root) []*Texts {
	p := &pipeline{steps: steps, ids: make([]string, len(steps))}
	texts := make([]*Texts, len(steps))
	for i, step := range steps {
		p.ids[i] = step.Name
		texts[i] = &Texts{pipeline: p, at: i}
	}
	return texts
}

// Offer adds other roots to the templates of the step; a step of the same name takes precedence. It must be called
// before anything else.
func (t *Texts) Offer(others ...template.Root) { t.others = append(t.others, others...) }

// Strict treats each name with a field in double braces as a reference, so that a name of no step is a problem. It is
// for texts that are sent to agents and tools, where nobody would see that a value is missing. It must be called before
// anything else except Offer.
func (t *Texts) Strict() { t.strict = true }

// IsTemplate reports whether a text refers to a step of the pipeline, or to another root.
func (t *Texts) IsTemplate(text string) bool {
	return strings.Contains(text, "{{") && t.parse(text).text.IsTemplate()
}

// knows calls [template.Roots], made at the first use: most texts have no reference.
func (t *Texts) knows(name string) (template.Root, bool) {
	if t.known == nil {
		t.known = template.Roots(t.steps, t.at, t.others...)
	}
	root, ok := t.known(name)
	switch {
	case ok:
		return root, true
	case isPosition(name):
		return template.Root{Name: name, Missing: fmt.Sprintf("there is no step '%s' before this step", name)}, true
	case t.strict:
		return template.Root{Name: name, Missing: fmt.Sprintf("there is no step '%s'", name)}, true
	}
	return root, false
}

// isPosition reports whether a name can only mean a step by its position, as in "step1" and "steps[0]".
func isPosition(name string) bool {
	number, ok := strings.CutPrefix(name, "step")
	if inner, list := strings.CutPrefix(number, "s["); list {
		number = strings.TrimSuffix(inner, "]")
	}
	return ok && number != "" && strings.Trim(number, "0123456789") == ""
}

func (t *Texts) parse(text string) parsed {
	p, ok := t.parsed[text]
	if !ok {
		p.text, p.problems = template.Parse(text, t.knows)
		if t.parsed == nil {
			t.parsed = make(map[string]parsed)
		}
		t.parsed[text] = p
	}
	return p
}

// each calls visit for every text that can be a template, with its pointer relative to the step. whole is the type of
// the parameter if it is not a string: then the template must be the whole text.
func (t *Texts) each(s Step, visit func(pointer, text string, whole reflect.Type)) {
	if s.Path != "" {
		visit(pathPointer, s.Path, nil)
	}
	var err error
	if t.action, err = params.Of(s.Action); err != nil {
		return
	}
	t.bind = s.Bind
	t.action.Strings("{{", func(pointer, text string) { visit(paramsPointer+pointer, text, nil) })
	for _, pointer := range slices.Sorted(maps.Keys(s.Bind)) {
		if want, ok := t.action.TypeAt(pointer); ok {
			visit(paramsPointer+pointer, s.Bind[pointer], want)
		}
	}
}

const (
	pathPointer   = "/condition/path"
	paramsPointer = "/params"
)

// keep stores a template for the runs.
func (t *Texts) keep(pointer string, text template.Text) {
	switch {
	case !text.IsTemplate():
	case pointer == pathPointer:
		t.path = text
	default:
		if t.params == nil {
			t.params = make(map[string]template.Text)
		}
		t.params[strings.TrimPrefix(pointer, paramsPointer)] = text
	}
}

// Any reports whether there are templates in the parameters.
func (t *Texts) Any() bool { return len(t.params) > 0 }

// Anywhere reports whether there are templates in the parameters or in the path of the condition.
func (t *Texts) Anywhere() bool { return t.Any() || t.path.IsTemplate() }

// Sources returns the texts of the parameters that have templates. It is empty before the pipeline is checked. After
// that it may be called by several runs at the same time.
func (t *Texts) Sources() map[string]bool {
	sources := make(map[string]bool, len(t.params))
	for _, text := range t.params {
		sources[text.Source()] = true
	}
	return sources
}

// Reference is a reference with its place.
type Reference struct {
	Pointer string // relative to the step
	template.Ref
}

// References returns the references in the parameters and in the path of the condition, in the order of their pointers.
func (t *Texts) References() []Reference {
	var all []Reference
	add := func(pointer string, text template.Text) {
		for _, ref := range text.Refs() {
			all = append(all, Reference{pointer, ref})
		}
	}
	add(pathPointer, t.path)
	for _, pointer := range slices.Sorted(maps.Keys(t.params)) {
		add(paramsPointer+pointer, t.params[pointer])
	}
	return all
}

// Refs returns the ids of the steps that the templates refer to.
func (t *Texts) Refs() []string {
	return slices.DeleteFunc(t.roots(), func(root string) bool { return !slices.Contains(t.ids, root) })
}

// Names reports whether a template refers to another root, which is not a step.
func (t *Texts) Names(other string) bool {
	return !slices.Contains(t.ids, other) && slices.Contains(t.roots(), other)
}

// roots returns the roots of all references.
func (t *Texts) roots() []string {
	var roots []string
	for _, ref := range t.References() {
		roots = append(roots, ref.Root)
	}
	return roots
}
