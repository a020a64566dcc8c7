package millrace

import (
	"reflect"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/params"
)

// ActionDoc describes an action for people and models. It belongs to the caller.
type ActionDoc struct {
	// Name is the word in a step's "action", Summary a line of what it does.
	Name    string `json:"name"`
	Summary string `json:"summary"`
	// ReadOnly says that it never writes.
	ReadOnly bool `json:"read_only"`
	// Input says where its files come from.
	Input actions.Input `json:"-"`
	// Params are its parameters in the order of their declaration, each followed by those within it.
	Params []ParamDoc `json:"params"`
}

// ParamDoc describes a parameter of an action.
type ParamDoc struct {
	// Name is the name in "params"; of one in a list of objects "edits[].old_text", of one in an object "range.start".
	Name string `json:"name"`
	// Type says what it takes: "a string", "true or false", "a whole number", "a list of strings".
	Type string `json:"type"`
	// Required says that it must be given.
	Required bool `json:"required,omitempty"`
	// Enum are the strings that it can be, nil for any.
	Enum []string `json:"enum,omitempty"`
	// Doc is what it means, in a sentence or two, with its default.
	Doc string `json:"doc,omitempty"`
}

// Describe returns what there is to know of an action that the decoder takes. ok is false if there is no such action.
func (d Decoder) Describe(action string) (doc ActionDoc, ok bool) {
	if d.Actions.Names() == nil {
		d.Actions = actions.Builtin()
	}
	prototype, ok := d.Actions.Lookup(action)
	if !ok {
		return ActionDoc{}, false
	}
	fields, err := params.Describe(prototype)
	if err != nil {
		return ActionDoc{}, false
	}
	spec := prototype.Spec()
	doc = ActionDoc{Name: action, Summary: spec.Summary, ReadOnly: spec.ReadOnly, Input: spec.Input, Params: []ParamDoc{}}
	doc.add("", fields)
	return doc, true
}

func (doc *ActionDoc) add(within string, fields []params.Field) {
	for _, f := range fields {
		doc.Params = append(doc.Params, ParamDoc{Name: within + f.Name, Type: f.Wants, Required: f.Required, Enum: f.Enum, Doc: f.Doc})
		if len(f.Fields) == 0 {
			continue
		}
		dot := "."
		if f.Type.Kind() == reflect.Slice {
			dot = "[]."
		}
		doc.add(within+f.Name+dot, f.Fields)
	}
}
