package lenient

import (
	"errors"
	"strconv"
	"strings"

	"github.com/millrace-go/millrace/internal/mend"
	"github.com/millrace-go/millrace/internal/strictjson"
)

// Source is a JSON text that was read.
type Source struct {
	Data   []byte // as it was given
	Root   *strictjson.Node
	Mended *mend.Mended // what was read in its place, nil if that is the text itself
}

// SyntaxError says why a text cannot be read.
type SyntaxError struct {
	*strictjson.SyntaxError
	// Hint says what to write instead, if that is known.
	Hint string
}

// Read parses a text, mended if it has to be and may be.
func Read(data []byte, limits strictjson.Limits, mayMend bool) (*Source, *SyntaxError) {
	root, err := strictjson.Parse(data, limits)
	if err == nil {
		return &Source{Data: data, Root: root}, nil
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
		return &Source{Data: data, Root: root, Mended: mended}, nil
	case mendErr != nil:
		return nil, syntaxError(err, "")
	}
	var advice []string
	for _, r := range mended.Repairs {
		advice = append(advice, r.Advice)
	}
	return nil, syntaxError(err, strings.Join(advice, "; "))
}

// syntaxError is for the errors of packages strictjson and mend, which have no other type.
func syntaxError(err error, hint string) *SyntaxError {
	syntax, _ := err.(*strictjson.SyntaxError)
	return &SyntaxError{SyntaxError: syntax, Hint: hint}
}

// NodeAt follows a pointer as far as there are values, and returns the last of them and its pointer.
func NodeAt(n *strictjson.Node, pointer string) (*strictjson.Node, string) {
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
