package lenient

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/millrace-go/millrace/internal/mend"
	"github.com/millrace-go/millrace/internal/strictjson"
)

// Source is a parsed JSON text.
type Source struct {
	Data   []byte // the original text
	Root   *strictjson.Node
	Mended *mend.Mended // the repaired text that was read instead, nil if the original was read

	limits strictjson.Limits
}

// Again parses the text again, so the result has none of the changes made to Root.
func (s *Source) Again() *strictjson.Node {
	text := s.Data
	if s.Mended != nil {
		text = s.Mended.Text
	}
	root, _ := strictjson.Parse(text, s.limits) // it was parsed without error before
	return root
}

// SyntaxError is the reason why a text cannot be read.
type SyntaxError struct {
	*strictjson.SyntaxError
	// Hint is advice on what to write instead, "" without advice.
	Hint string
}

// Read parses a text. It mends the text if that is necessary and mayMend is set.
func Read(data []byte, limits strictjson.Limits, mayMend bool) (*Source, *SyntaxError) {
	root, err := strictjson.Parse(data, limits)
	if err == nil {
		return &Source{Data: data, Root: root, limits: limits}, nil
	}
	if errors.Is(err, strictjson.ErrTooLarge) || errors.Is(err, strictjson.ErrTooDeep) {
		return nil, syntaxError(err, "")
	}
	mended, mendErr := mend.JSON(data)
	if mendErr != nil {
		if mayMend {
			return nil, syntaxError(mendErr, "")
		}
		return nil, syntaxError(err, syntaxError(mendErr, "").Msg)
	}
	limits.MaxBytes = max(limits.MaxBytes, len(mended.Text))
	root, mendErr = strictjson.Parse(mended.Text, limits)
	switch {
	case mayMend && mendErr != nil:
		return nil, syntaxError(mended.Moved(mendErr, data), "")
	case mayMend:
		return &Source{Data: data, Root: root, Mended: mended, limits: limits}, nil
	case mendErr != nil:
		return nil, syntaxError(err, "")
	}
	var advice []string
	for _, r := range mended.Repairs {
		advice = append(advice, r.Advice)
	}
	return nil, syntaxError(err, strings.Join(advice, "; "))
}

// syntaxError converts an error of packages strictjson and mend, which have only this type.
func syntaxError(err error, hint string) *SyntaxError {
	syntax, _ := err.(*strictjson.SyntaxError)
	return &SyntaxError{SyntaxError: syntax, Hint: hint}
}

// NodeAt follows a pointer as far as values exist, and returns the last of them.
func NodeAt(n *strictjson.Node, pointer string) *strictjson.Node {
	tokens, _ := strictjson.SplitPointer(pointer)
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
		n = next
	}
	return n
}

// PointerAt returns the pointer of the value at an offset, or of the member whose name is there, in an unchanged tree.
// If neither begins there, it returns the pointer of the enclosing value.
func PointerAt(n *strictjson.Node, offset int) (pointer string, name bool) {
	for n.Offset != offset {
		var next *strictjson.Node
		token := ""
		if n.Kind == strictjson.Array {
			// The first element that begins after the offset follows the element that contains it.
			i, _ := slices.BinarySearchFunc(n.Elems, offset+1,
				func(e *strictjson.Node, o int) int { return e.Offset - o })
			if i > 0 {
				next, token = n.Elems[i-1], strconv.Itoa(i-1)
			}
		} else {
			i, _ := slices.BinarySearchFunc(n.Members, offset+1,
				func(m strictjson.Member, o int) int { return m.NameOffset - o })
			if i > 0 {
				next, token = n.Members[i-1].Value, strictjson.EscapeToken(n.Members[i-1].Name)
				name = n.Members[i-1].NameOffset == offset
			}
		}
		switch {
		case name:
			return pointer + "/" + token, true
		case next == nil || offset < next.Offset || offset >= next.End:
			return pointer, false
		}
		n, pointer = next, pointer+"/"+token
	}
	return pointer, false
}
