package millrace

import (
	"fmt"

	"github.com/millrace-go/millrace/internal/lenient"
	"github.com/millrace-go/millrace/internal/mend"
	"github.com/millrace-go/millrace/internal/strictjson"
)

// invalidJSON is the one problem of a text that cannot be read.
func invalidJSON(err *lenient.SyntaxError) error {
	p := Problem{
		Code: codeInvalidJSON, Message: "Invalid pipeline JSON: " + err.Error(), Hint: err.Hint, Line: err.Line, Column: err.Column,
	}
	switch err.Err {
	case strictjson.ErrTooLarge:
		p.Code = codeLargeJSON
	case strictjson.ErrTooDeep:
		p.Code = codeDeepJSON
	}
	return &ValidationError{Problems: []Problem{p}}
}

// notObject is the problem of a text that is JSON, but no object.
func notObject(root *strictjson.Node) error {
	hint := ""
	switch root.Kind {
	case strictjson.Array:
		hint = `put the steps into an object: {"name": "...", "steps": [...]}`
	case strictjson.String:
		hint = "the JSON is in quotes once too often: send the object itself"
	}
	err := &strictjson.SyntaxError{Line: 1, Column: 1, Msg: fmt.Sprintf("a pipeline is an object, got %s", root.Kind)}
	return invalidJSON(&lenient.SyntaxError{SyntaxError: err, Hint: hint})
}

// locate gives problems their lines. A pointer to something that is missing gets the place of what it is missing from.
func (t *decoding) locate(problems []Problem) {
	lines := strictjson.NewLocator(t.source.Data)
	for i := range problems {
		p := &problems[i]
		if p.Line > 0 {
			continue // a repair of the text, which knows its place
		}
		at, moved := t.places[p.Pointer]
		if t.Locate != nil {
			_, pointer := lenient.NodeAt(t.source.Root, p.Pointer)
			p.Line, p.Column = t.Locate(pointer, at.name && pointer == p.Pointer)
			continue
		}
		if !moved {
			n, _ := lenient.NodeAt(t.source.Root, p.Pointer)
			at.offset = n.Offset
		}
		if t.source.Mended != nil && !at.origin {
			at.offset = t.source.Mended.Origin(at.offset)
		}
		p.Line, p.Column = lines.LineColumn(at.offset)
	}
}

// repaired reads what strict decoding has refused: it mends the text and the values, and decodes them strictly. All it does
// is a warning.
func (d Decoder) repaired(s *lenient.Source) (Pipeline, error) {
	t := d.decoding(s)
	repairs := t.forms().Repair(s.Root)
	if s.Root.Kind != strictjson.Object {
		return Pipeline{}, notObject(s.Root)
	}
	if s.Mended != nil {
		t.warnings(s.Mended.Repairs)
	}
	for _, c := range repairs.Changes {
		t.places[c.Pointer] = spot{offset: c.Offset}
		if c.Refused {
			t.draft.problem(c.Pointer, codeUnknownField, c.Advice, "%s", c.Done)
			t.draft.told(c.Pointer)
			continue
		}
		t.draft.warning(Problem{Pointer: c.Pointer, Code: codeRepaired, Message: c.Done, Hint: c.Advice})
	}
	t.draft.moreWarnings += repairs.More
	t.draft.moreProblems += repairs.MoreRefused
	return t.decode()
}

// warnings are about repairs of the text, each at its own place.
func (t *decoding) warnings(repairs []mend.Repair) {
	for i, r := range repairs {
		if i == mostProblems {
			t.draft.moreWarnings += len(repairs) - i
			return
		}
		p := Problem{Code: codeRepaired, Message: r.Done, Hint: r.Advice}
		if t.Locate == nil {
			p.Line, p.Column = strictjson.LineColumn(t.source.Data, r.Offset)
		}
		t.draft.warning(p)
	}
}
