package lenient

import (
	"fmt"
	"strings"

	"github.com/millrace-go/millrace/internal/mend"
	"github.com/millrace-go/millrace/internal/strictjson"
)

// Hint says what a wrong name was probably meant to be, and at which JSON pointer that stands then: nothing more is
// to be said of what is there. Both are "" if nobody can tell.
type Hint struct{ Text, At string }

// Meant returns the hint for an unknown name in an object of that form, which stands at a pointer.
func Meant(form *mend.Form, name, at string) Hint {
	field, ok := form.Known(name)
	if !ok {
		field, ok = strictjson.Nearest(name, form.Names())
	}
	if !ok {
		return Hint{}
	}
	return Hint{fmt.Sprintf("did you mean '%s'?", field), at + "/" + strictjson.EscapeToken(field)}
}

// Misplaced says where a name belongs that is unknown in the step at a pointer, or in its parameters. The form is
// that of its action, nil where the name is among them.
func (f *Forms) Misplaced(name, at string, action *mend.Form) Hint {
	option, isOption := f.Pipeline.Known(name)
	field, isField := f.Step.Known(name)
	param := ""
	if action != nil && !isField {
		param, _ = action.Known(name)
	}
	switch {
	case param != "":
		return Hint{fmt.Sprintf("put '%s' into 'params'", param), at + "/params/" + strictjson.EscapeToken(param)}
	case isField && mend.Same(field, name) && (action != nil || field != "params"):
		return Hint{fmt.Sprintf("put '%s' beside 'params', into the step", field), at + "/" + field}
	case isOption && mend.Same(option, name):
		return Hint{Text: fmt.Sprintf("put '%s' into the pipeline, it is for all steps", option)}
	}
	return Hint{}
}

// UnknownParam returns the hint for an unknown parameter, which stands at a pointer below the parameters of the step
// at another.
func (f *Forms) UnknownParam(pointer, at string, action *mend.Form) Hint {
	last := strings.LastIndexByte(pointer, '/')
	up := pointer[:last]
	tokens, _ := strictjson.SplitPointer(pointer[last:])
	name, form := tokens[0], action.At(up)
	if form == nil {
		return Hint{}
	}
	if _, near := strictjson.Nearest(name, form.Names()); !near && up == "" {
		if _, known := form.Known(name); !known {
			if hint := f.Misplaced(name, at, nil); hint.Text != "" {
				return hint
			}
		}
	}
	return Meant(form, name, at+"/params"+up)
}
