package millrace

import (
	"fmt"
	"math"
	"strings"

	"github.com/millrace-go/millrace/internal/form"
	"github.com/millrace-go/millrace/internal/mend"
	"github.com/millrace-go/millrace/internal/params"
	"github.com/millrace-go/millrace/internal/strictjson"
)

// Unknown implements [form.Errors].
func (t *decoding) Unknown(m strictjson.Member, at string, fields form.Fields) {
	hint := ""
	if !t.draft.isFull() {
		known := fields.Mend()
		if hint = t.meant(known, m.Name, at); hint == "" {
			hint = "the fields are " + strings.Join(known.Names(), ", ")
		}
	}
	t.unknown(at+"/"+strictjson.EscapeToken(m.Name), m, hint)
}

// unknown reports a name that there is not.
func (t *decoding) unknown(pointer string, m strictjson.Member, hint string) {
	t.places[pointer] = spot{offset: m.NameOffset, name: true}
	t.draft.problem(pointer, codeUnknownField, hint, "unknown field '%s'", m.Name)
}

// stepForm is what lenient decoding knows of a step.
func (t *decoding) stepForm() *mend.Form {
	if t.steps == nil {
		t.steps = lenientStep()
	}
	return t.steps
}

// meant says what an unknown name in an object was probably meant to be, which is then not reported as missing, too. It
// returns "" if nobody can tell.
func (t *decoding) meant(known *mend.Form, name, at string) string {
	field, ok := known.Known(name)
	if !ok {
		field, ok = strictjson.Nearest(name, known.Names())
	}
	if !ok {
		return ""
	}
	t.draft.told(at + "/" + strictjson.EscapeToken(field))
	return fmt.Sprintf("did you mean '%s'?", field)
}

// misplaced says where a name belongs that is unknown in a step or in its parameters, or returns "".
func (t *decoding) misplaced(name, at string, action *mend.Form) string {
	option, isOption := lenientPipeline().Known(name)
	field, isField := t.stepForm().Known(name)
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
	known := action.At(up)
	if known == nil {
		return p.Hint
	}
	if _, near := strictjson.Nearest(tokens[0], known.Names()); !near && up == "" {
		if _, alias := known.Known(tokens[0]); !alias {
			if hint := t.misplaced(tokens[0], at, nil); hint != "" {
				return hint
			}
		}
	}
	if hint := t.meant(known, tokens[0], at+"/params"+up); hint != "" {
		return hint
	}
	return p.Hint
}

// Wrong implements [form.Errors].
func (t *decoding) Wrong(n *strictjson.Node, pointer, want string) {
	t.draft.problem(pointer, codeWrongType, "", "'%s' must be %s, got %s", pointer[strings.LastIndexByte(pointer, '/')+1:], want, n.Kind)
	t.draft.told(pointer)
}

// NotWhole implements [form.Errors].
func (t *decoding) NotWhole(text, pointer string) {
	t.draft.problem(pointer, codeWrongType, "", "'%s' is not a whole number from %d to %d", shortened(text), math.MinInt, math.MaxInt)
	t.draft.told(pointer)
}

// shortened keeps a message readable whatever stands in the text.
func shortened(text string) string {
	const most = 40
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "..."
}
