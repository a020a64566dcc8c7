package millrace

import (
	"fmt"
	"math"
	"strings"

	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/mend"
	"github.com/millrace-go/millrace/internal/params"
	"github.com/millrace-go/millrace/internal/strictjson"
)

// fields reads the members of an object by name, and reports those that have none. The form has the same names.
func (t *decoding) fields(n *strictjson.Node, at string, form *mend.Form, readers map[string]func(*strictjson.Node, string)) {
	for _, m := range n.Members {
		pointer := at + "/" + strictjson.EscapeToken(m.Name)
		if read, ok := readers[m.Name]; ok {
			read(m.Value, pointer)
			continue
		}
		hint := ""
		if !t.draft.isFull() {
			hint = t.meant(form, m.Name, at)
		}
		if hint == "" {
			hint = "the fields are " + strings.Join(form.Names(), ", ")
		}
		t.unknown(pointer, m.NameOffset, hint, "unknown field '%s'", m.Name)
	}
}

// unknown reports a name that there is not.
func (t *decoding) unknown(pointer string, offset int, hint, format string, args ...any) {
	t.places[pointer] = spot{offset: offset, name: true}
	t.draft.problem(pointer, codeUnknownField, hint, format, args...)
}

// meant says what an unknown name in an object was probably meant to be, which is then not reported as missing, too. It
// returns "" if nobody can tell.
func (t *decoding) meant(form *mend.Form, name, at string) string {
	known, ok := form.Known(name)
	if !ok {
		known, ok = strictjson.Nearest(name, form.Names())
	}
	if !ok {
		return ""
	}
	t.draft.told(at + "/" + strictjson.EscapeToken(known))
	return fmt.Sprintf("did you mean '%s'?", known)
}

// misplaced says where a name belongs that is unknown in a step or in its parameters, or returns "".
func (t *decoding) misplaced(name, at string, action *mend.Form) string {
	option, isOption := pipelineForm().Known(name)
	field, isField := stepForm().Known(name)
	param := ""
	if action != nil && !isField {
		param, _ = action.Known(name)
	}
	switch {
	case param != "":
		t.draft.told(at + "/params/" + strictjson.EscapeToken(param))
		return fmt.Sprintf("put '%s' into 'params'", param)
	case isField && mend.Same(field, name):
		t.draft.told(at + "/" + field)
		return fmt.Sprintf("put '%s' beside 'params', into the step", field)
	case isOption && mend.Same(option, name):
		return fmt.Sprintf("put '%s' into the pipeline, it is for all steps", option)
	}
	return ""
}

// unknownParam says what an unknown parameter was probably meant to be.
func (t *decoding) unknownParam(p params.Problem, action *mend.Form, at string) string {
	up, token := p.Pointer[:strings.LastIndexByte(p.Pointer, '/')], p.Pointer[strings.LastIndexByte(p.Pointer, '/')+1:]
	tokens, _ := strictjson.SplitPointer("/" + token)
	form := action.At(up)
	if form == nil {
		return p.Hint
	}
	if _, near := strictjson.Nearest(tokens[0], form.Names()); !near && up == "" {
		if _, known := form.Known(tokens[0]); !known {
			if hint := t.misplaced(tokens[0], at, nil); hint != "" {
				return hint
			}
		}
	}
	if hint := t.meant(form, tokens[0], at+"/params"+up); hint != "" {
		return hint
	}
	return p.Hint
}

// wrong reports a value of another kind than wanted.
func (t *decoding) wrong(n *strictjson.Node, pointer, want string) {
	tokens, _ := strictjson.SplitPointer(pointer)
	t.draft.problem(pointer, codeWrongType, "", "'%s' must be %s, got %s", tokens[len(tokens)-1], want, n.Kind)
	t.draft.told(pointer)
}

func (t *decoding) text(into *string) func(*strictjson.Node, string) {
	return func(n *strictjson.Node, pointer string) {
		if n.Kind != strictjson.String {
			t.wrong(n, pointer, "a string")
			return
		}
		*into = n.Text
	}
}

// flag reads a boolean; negated for the fields whose default is true.
func (t *decoding) flag(into *bool, negated bool) func(*strictjson.Node, string) {
	return func(n *strictjson.Node, pointer string) {
		if n.Kind != strictjson.Bool {
			t.wrong(n, pointer, "true or false")
			return
		}
		*into = n.Bool != negated
	}
}

// number reads a whole number; quoted ones too where people write them so.
func (t *decoding) number(into **int, quoted bool) func(*strictjson.Node, string) {
	return func(n *strictjson.Node, pointer string) {
		text := n.Number
		if n.Kind == strictjson.String && quoted {
			text = n.Text
		} else if n.Kind != strictjson.Number {
			t.wrong(n, pointer, "a whole number")
			return
		}
		v, err := condition.ParseValue(text)
		if err != nil {
			t.draft.problem(pointer, codeWrongType, "", "'%s' is not a whole number from %d to %d", shortened(text), math.MinInt, math.MaxInt)
			t.draft.told(pointer)
			return
		}
		*into = &v
	}
}

// shortened keeps a message readable whatever stands in the text.
func shortened(text string) string {
	const most = 40
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "..."
}

func (t *decoding) object(n *strictjson.Node, pointer string) bool {
	if n.Kind != strictjson.Object {
		t.wrong(n, pointer, "an object")
	}
	return n.Kind == strictjson.Object
}
