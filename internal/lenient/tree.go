// Package lenient repairs pipelines where that needs knowledge of their form; package mend repairs any JSON. It also
// finds the probable meaning of a wrong name, for the hints of strict decoding.
package lenient

import (
	"fmt"
	"slices"

	"github.com/millrace-go/millrace/internal/form"
	"github.com/millrace-go/millrace/internal/mend"
	"github.com/millrace-go/millrace/internal/strictjson"
)

// Forms are the forms of pipelines.
type Forms struct {
	// Pipeline and Step are the forms of a pipeline and of a step. The steps of a pipeline and the parameters of a step
	// are checked separately, when the action of the step is known.
	Pipeline, Step *form.Form
	// Actions are the names of all actions. Params returns the form of the parameters of an action, nil for an unknown
	// action.
	Actions []string
	Params  func(action string) *form.Form
	// MostSteps is the maximum number of steps. The steps of a larger pipeline are not repaired.
	MostSteps int
}

// Repair corrects a tree that strict decoding has refused, as far as its meaning is clear, and reports the repairs.
// Strict decoding then decides whether the tree is an object, and valid.
func (f *Forms) Repair(root *strictjson.Node) *mend.Fitter {
	t := &fitting{Forms: f}
	if root.Kind != strictjson.Object {
		t.toObject(root)
	}
	if root.Kind == strictjson.Object {
		t.unwrap(root)
		t.pipeline(root)
	}
	return &t.Fitter
}

type fitting struct {
	*Forms
	mend.Fitter
}

func (f *fitting) pipeline(root *strictjson.Node) {
	f.Fit(root, f.Pipeline, "")
	list := root.Get("steps")
	if list == nil || list.Kind != strictjson.Array || len(list.Elems) > f.MostSteps {
		return
	}
	for i, n := range list.Elems {
		if n.Kind == strictjson.Object {
			f.step(root, n, i, fmt.Sprintf("/steps/%d", i))
		}
	}
}

func (f *fitting) step(root, n *strictjson.Node, i int, at string) {
	f.inputs(n, at)
	f.asking(n, at)
	f.spellings(root, n, at)
	action := f.action(n, at)
	f.dryRun(root, n, action, at)
	f.moveDown(n, action, at)
	f.Fit(n, f.Step, at)
	if n.Get("id") == nil {
		id := &strictjson.Node{Kind: strictjson.String, Text: fmt.Sprintf("step-%d", i), Offset: n.Offset, End: n.End}
		f.Note(at+"/id", n.Offset, "the step without an id got the id '%s'", id.Text)
		n.Members = append(n.Members, strictjson.Member{Name: "id", NameOffset: n.Offset, Value: id})
	}
	values := n.Get("params")
	if action == nil || values == nil || values.Kind != strictjson.Object {
		return
	}
	f.dryRun(root, values, action, at+"/params")
	f.moveUp(root, n, values, action, at)
	f.Fit(values, action, at+"/params")
}

// asking converts a step that has its parameters directly in it to the form with params. Strict decoding reads both
// forms.
func (f *fitting) asking(n *strictjson.Node, at string) {
	prompt := f.Params(ActionPrompt)
	if prompt == nil || slices.ContainsFunc(n.Members, func(m strictjson.Member) bool {
		known, _ := f.Step.Match(m.Name)
		return known == "action" || known == "params"
	}) {
		return
	}
	for i := range n.Members {
		if m := &n.Members[i]; n.Get(ActionPrompt) == nil && form.Same(m.Name, ActionPrompt) {
			f.Note(at+"/params/"+ActionPrompt, m.NameOffset, "'%s' was read as '%s'", m.Name, ActionPrompt)
			m.Name = ActionPrompt
		}
	}
	if Asks(n) {
		plain, _ := Asking(n, f.Step, prompt)
		*n = *plain
	}
}

// action returns the form of the parameters of a step's action, or nil if no such action exists.
func (f *fitting) action(n *strictjson.Node, at string) *form.Form {
	var name *strictjson.Node
	exact := n.Get("action")
	for _, m := range n.Members {
		if known, ok := f.Step.Match(m.Name); ok && known == "action" && (m.Name == known || exact == nil) {
			name = m.Value
			break
		}
	}
	if name == nil || name.Kind != strictjson.String {
		return nil
	}
	if !slices.Contains(f.Actions, name.Text) {
		known := form.Form{Kind: form.Object}
		for _, action := range f.Actions {
			known.Fields = append(known.Fields, form.Field{Name: action})
		}
		near, found := known.Match(name.Text)
		if !found {
			return nil
		}
		f.Note(at+"/action", name.Offset, "action '%s' was read as '%s'", name.Text, near)
		name.Text = near
	}
	return f.Params(name.Text)
}

// dryRun treats a dry run requested for a step, or for the call of a tool, as a dry run of the pipeline, so that never
// more is done than was requested. Other options are not moved, because an option to force one step must not apply to
// the others.
func (f *fitting) dryRun(root, n *strictjson.Node, own *form.Form, at string) {
	option := f.Pipeline.Field("dry_run")
	alone := form.Form{Kind: form.Object, Fields: []form.Field{*option}}
	whole := root.Get("dry_run")
	n.Members = slices.DeleteFunc(n.Members, func(m strictjson.Member) bool {
		if _, ok := alone.Match(m.Name); !ok {
			return false
		}
		if own != nil {
			if _, taken := own.Known(m.Name); taken {
				return false // a parameter of the action
			}
		}
		pointer := at + "/" + strictjson.EscapeToken(m.Name)
		f.Fit(m.Value, option.Form, pointer)
		if m.Value.Kind != strictjson.Bool && m.Value.Kind != strictjson.Null {
			return false
		}
		if !m.Value.Bool {
			f.Note(pointer, m.NameOffset, "'%s' of a step was left out: it is false", m.Name)
			return true
		}
		f.Note("/dry_run", m.NameOffset, "'%s' of a step was read as a field of the pipeline", m.Name)
		if whole == nil {
			whole = m.Value
			root.Members = append(root.Members,
				strictjson.Member{Name: "dry_run", NameOffset: m.NameOffset, Value: whole})
		}
		whole.Kind, whole.Bool = strictjson.Bool, true
		return true
	})
}

// inputs handles a list in input_from: it becomes input_from_all, or is removed if empty.
func (f *fitting) inputs(n *strictjson.Node, at string) {
	for i, m := range n.Members {
		if !form.Same(m.Name, "input_from") || m.Value.Kind != strictjson.Array {
			continue
		}
		switch {
		case len(m.Value.Elems) > 1 && n.Get("input_from_all") == nil:
			f.Note(at+"/input_from_all", m.NameOffset, "the list in '%s' was read as 'input_from_all'", m.Name)
			n.Members[i].Name = "input_from_all"
		case len(m.Value.Elems) == 0:
			f.Note(at+"/input_from", m.NameOffset, "the empty list in '%s' was read as missing", m.Name)
			n.Members = slices.Delete(n.Members, i, i+1)
		}
		return
	}
}

// moveDown moves parameters that are directly in the step into params.
func (f *fitting) moveDown(n *strictjson.Node, action *form.Form, at string) {
	if action == nil {
		return
	}
	var values *strictjson.Node
	for i, m := range n.Members {
		if name, _ := f.Step.Known(m.Name); name == "params" {
			values = n.Members[i].Value
		}
	}
	if values != nil && values.Kind != strictjson.Object {
		return
	}
	var moved []strictjson.Member
	inner := values.Values()
	n.Members = slices.DeleteFunc(n.Members, func(m strictjson.Member) bool {
		_, own := f.Step.Known(m.Name)
		name, ok := action.Known(m.Name)
		if own || !ok || form.IsRemark(m.Name) || inner[name] != nil {
			return false
		}
		f.Note(at+"/params/"+strictjson.EscapeToken(m.Name), m.NameOffset, "'%s' was put into 'params'", m.Name)
		moved = append(moved, m)
		return true
	})
	if len(moved) == 0 {
		return
	}
	if values == nil {
		values = &strictjson.Node{Kind: strictjson.Object, Offset: n.Offset, End: n.End}
		n.Members = append(n.Members, strictjson.Member{Name: "params", NameOffset: n.Offset, Value: values})
	}
	values.Members = append(values.Members, moved...)
}

// ofStep are the fields of a step that are also looked for among the parameters.
var ofStep = []string{
	"input_from", "input_from_all", "condition", "expect", "on_fail", "next", "retry_if", "max_retries", "max_visits",
	"manual",
}

// moveUp moves fields of the step out of the parameters.
func (f *fitting) moveUp(root, n, values *strictjson.Node, action *form.Form, at string) {
	outer := n.Values()
	values.Members = slices.DeleteFunc(values.Members, func(m strictjson.Member) bool {
		name := ""
		for _, field := range ofStep {
			if form.Same(field, m.Name) {
				name = field
			}
		}
		if _, own := action.Known(m.Name); own || name == "" || outer[name] != nil {
			return false
		}
		f.Note(at+"/"+name, m.NameOffset, "'%s' was taken out of 'params'", m.Name)
		outer[name], m.Name = m.Value, name
		n.Members = append(n.Members, m)
		f.spellings(root, object(n, m), at)
		f.Fit(m.Value, f.Step.Field(name).Form, at+"/"+name)
		return true
	})
}
