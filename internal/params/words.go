package params

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// holdsText reports whether the type is a string, or a list, a map or a pointer of strings.
func (s *shape) holdsText() bool {
	for s.elem != nil {
		s = s.elem
	}
	return s.kind == text
}

// plain returns the shape that a pointer points to, or s itself.
func (s *shape) plain() *shape {
	if s.kind == pointer {
		return s.elem
	}
	return s
}

// field returns the parameter of that name.
func (s *shape) field(name string) *field {
	for i := range s.fields {
		if s.fields[i].name == name {
			return &s.fields[i]
		}
	}
	return nil
}

// bindable reports whether a template may replace the value: a template has a number, a string, a list, or an object of
// anything.
func (s *shape) bindable() bool {
	switch s = s.plain(); s.kind {
	case boolean, integer, unsigned, float, custom:
		return true
	case list:
		return s.elem.kind != list && s.elem.bindable() || s.elem.kind == text || s.elem.kind == anything
	case dict:
		return s.elem.kind == anything
	default:
		return false
	}
}

// wants describes the values of the type, as in "must be a list of strings".
func (s *shape) wants() string {
	switch s = s.plain(); s.kind {
	case boolean:
		return "true or false"
	case integer, unsigned:
		return "a whole number"
	case float:
		return "a number"
	case list:
		of := map[kind]string{
			integer: " of whole numbers", unsigned: " of whole numbers", float: " of numbers", dict: " of objects",
			object: " of objects",
			list:   " of lists", text: " of strings",
		}
		return "a list" + of[s.elem.plain().kind]
	case dict, object:
		return "an object"
	case anything:
		return "any value"
	case custom:
		if s.viaJSON {
			return "a value of type " + s.typ.String()
		}
		return "a string"
	default:
		return "a string"
	}
}

// shown prepares text from the user for a message: not too long, on one line.
func shown(s string) string {
	const most = 60
	cut := ""
	if utf8.RuneCountInString(s) > most {
		s, cut = string([]rune(s[:min(len(s), most*utf8.UTFMax)])[:most]), "..."
	}
	if !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		quoted := strconv.Quote(s)
		s = strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
	}
	return s + cut
}

// choice writes a list as "'auto', 'literal' or 'regex'".
func choice(words []string) string {
	text := ""
	for i, w := range words {
		switch {
		case i == 0:
		case i == len(words)-1:
			text += " or "
		default:
			text += ", "
		}
		text += "'" + w + "'"
	}
	return text
}

// given describes the value of a template, for a message.
func given(got any) string {
	switch got := got.(type) {
	case nil:
		return "nothing"
	case string:
		return "'" + shown(got) + "'"
	case []string:
		if len(got) == 1 {
			return "a list of 1 string"
		}
		return fmt.Sprintf("a list of %d strings", len(got))
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	case int, int64, float64, json.Number, bool:
		return fmt.Sprint(got)
	default:
		return fmt.Sprintf("a value of type %T", got)
	}
}
