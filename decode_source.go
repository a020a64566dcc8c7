package millrace

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/millrace-go/millrace/internal/mend"
	"github.com/millrace-go/millrace/internal/strictjson"
)

// source is a text that was read.
type source struct {
	data   []byte // as it was given
	root   *strictjson.Node
	mended *mend.Mended // what was read in its place, nil if that is the text itself
}

// read parses a text, mended if need be.
func (d Decoder) read(data []byte) (*source, error) {
	limits := strictjson.Limits{MaxBytes: cmp.Or(d.MaxBytes, MaxPipelineBytes), MaxDepth: jsonDepth(d.MaxDepth)}
	root, err := strictjson.Parse(data, limits)
	if err == nil {
		return &source{data: data, root: root}, nil
	}
	if errors.Is(err, strictjson.ErrTooLarge) || errors.Is(err, strictjson.ErrTooDeep) {
		return nil, d.invalidJSON(err, "")
	}
	mended, mendErr := mend.JSON(data)
	if mendErr != nil {
		if d.Lenient {
			return nil, d.invalidJSON(mendErr, "")
		}
		syntax, _ := mendErr.(*strictjson.SyntaxError)
		return nil, d.invalidJSON(err, syntax.Msg)
	}
	limits.MaxBytes = max(limits.MaxBytes, len(mended.Text))
	root, mendErr = strictjson.Parse(mended.Text, limits)
	switch {
	case d.Lenient && mendErr != nil:
		return nil, d.invalidJSON(mended.Moved(mendErr, data), "")
	case d.Lenient:
		return &source{data: data, root: root, mended: mended}, nil
	case mendErr != nil:
		return nil, d.invalidJSON(err, "")
	}
	var advice []string
	for _, r := range mended.Repairs {
		advice = append(advice, r.Advice)
	}
	return nil, d.invalidJSON(err, strings.Join(advice, "; "))
}

// invalidJSON is the one problem of a text that cannot be read.
func (d Decoder) invalidJSON(err error, hint string) error {
	p := Problem{Code: codeInvalidJSON, Message: "Invalid pipeline JSON: " + err.Error(), Hint: hint}
	if syntax, ok := err.(*strictjson.SyntaxError); ok {
		p.Line, p.Column = syntax.Line, syntax.Column
		switch syntax.Err {
		case strictjson.ErrTooLarge:
			p.Code = codeLargeJSON
		case strictjson.ErrTooDeep:
			p.Code = codeDeepJSON
		}
	}
	return &ValidationError{Problems: []Problem{p}}
}

// notObject is the problem of a text that is JSON, but no object.
func (d Decoder) notObject(s *source) error {
	hint := ""
	switch s.root.Kind {
	case strictjson.Array:
		hint = `put the steps into an object: {"name": "...", "steps": [...]}`
	case strictjson.String:
		hint = "the JSON is in quotes once too often: send the object itself"
	}
	err := &strictjson.SyntaxError{Line: 1, Column: 1, Msg: fmt.Sprintf("a pipeline is an object, got %s", s.root.Kind)}
	return d.invalidJSON(err, hint)
}

// locate gives problems their lines. A pointer to something that is missing gets the place of what it is missing from.
func (t *decoding) locate(problems []Problem) {
	lines := strictjson.NewLocator(t.source.data)
	for i := range problems {
		p := &problems[i]
		if p.Line > 0 {
			continue // a repair of the text, which knows its place
		}
		at, moved := t.places[p.Pointer]
		if t.Locate != nil {
			_, pointer := nodeAt(t.source.root, p.Pointer)
			p.Line, p.Column = t.Locate(pointer, at.name && pointer == p.Pointer)
			continue
		}
		if !moved {
			n, _ := nodeAt(t.source.root, p.Pointer)
			at.offset = n.Offset
		}
		if t.source.mended != nil && !at.origin {
			at.offset = t.source.mended.Origin(at.offset)
		}
		p.Line, p.Column = lines.LineColumn(at.offset)
	}
}

// nodeAt follows a pointer as far as there are values, and returns the last of them and its pointer.
func nodeAt(n *strictjson.Node, pointer string) (*strictjson.Node, string) {
	tokens, _ := strictjson.SplitPointer(pointer)
	at := ""
	for _, token := range tokens {
		var next *strictjson.Node
		if n.Kind == strictjson.Array {
			if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(n.Elems) {
				next = n.Elems[i]
			}
		} else {
			next = n.Get(token)
		}
		if next == nil {
			break
		}
		n, at = next, at+"/"+strictjson.EscapeToken(token)
	}
	return n, at
}
