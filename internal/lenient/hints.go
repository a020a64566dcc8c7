package lenient

import (
	"fmt"
	"strings"

	"github.com/millrace-go/millrace/internal/form"
	"github.com/millrace-go/millrace/internal/strictjson"
	"github.com/millrace-go/millrace/internal/synonyms"
)

// Hint is the probable meaning of a wrong name, and the JSON pointer of the meant name. If At is set, nothing else is
// reported about the value. Both are "" if unknown.
type Hint struct{ Text, At string }

// Meant returns the hint for an unknown name in an object of that form at a pointer.
func Meant(object *form.Form, name, at string) Hint {
	field, ok := suggest(object, name)
	if !ok || form.OtherUnit(name, field) {
		return Hint{}
	}
	return Hint{fmt.Sprintf("did you mean '%s'?", field), at + "/" + strictjson.EscapeToken(field)}
}

// suggest returns the field of an object that an unknown name was probably meant for. The synonyms of a form of its
// own come first.
func suggest(object *form.Form, name string) (field string, ok bool) {
	if field, ok = object.Known(name); ok {
		return field, ok
	}
	return synonyms.Suggest(name, object.Names())
}

// Unknown returns the hint for an unknown name. pointer is the pointer of the name, relative to an object of that form,
// which is at the pointer at. If no name in its object is similar, the hint lists the existing names.
func Unknown(object *form.Form, pointer, at string) Hint {
	name, up, within := within(object, pointer)
	if within == nil {
		return Hint{}
	}
	hint := Meant(within, name, at+up)
	if hint.Text == "" {
		hint.Text = "the fields are " + strings.Join(within.Names(), ", ")
	}
	return hint
}

// within returns the last part of a pointer relative to an object, the pointer before it, and the form at that pointer,
// nil if unknown.
func within(object *form.Form, pointer string) (name, up string, f *form.Form) {
	last := strings.LastIndexByte(pointer, '/')
	tokens, _ := strictjson.SplitPointer(pointer[last:])
	return tokens[0], pointer[:last], object.At(pointer[:last])
}

// Misplaced returns a hint with the correct place of a name that is unknown in the step at a pointer, or in its
// parameters. action is the form of the step's action, nil if the name is among the parameters.
func (f *Forms) Misplaced(name, at string, action *form.Form) Hint {
	option, isOption := f.Pipeline.Known(name)
	field, isField := f.Step.Known(name)
	param := ""
	if action != nil && !isField {
		param, _ = action.Known(name)
	}
	switch {
	case param != "":
		return Hint{fmt.Sprintf("put '%s' into 'params'", param), at + "/params/" + strictjson.EscapeToken(param)}
	case isField && form.Same(field, name) && (action != nil || field != "params"):
		return Hint{fmt.Sprintf("put '%s' beside 'params', into the step", field), at + "/" + field}
	case isOption && form.Same(option, name):
		return Hint{Text: fmt.Sprintf("put '%s' into the pipeline, it is for all steps", option)}
	}
	return Hint{}
}

// UnknownParam returns the hint for an unknown parameter. pointer is its pointer relative to the parameters of the
// step, which is at the pointer at.
func (f *Forms) UnknownParam(pointer, at string, action *form.Form) Hint {
	name, up, object := within(action, pointer)
	if object == nil {
		return Hint{}
	}
	if _, meant := suggest(object, name); !meant && up == "" {
		if hint := f.Misplaced(name, at, nil); hint.Text != "" {
			return hint
		}
	}
	return Meant(object, name, at+"/params"+up)
}
