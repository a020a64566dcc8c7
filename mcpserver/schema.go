package mcpserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
)

// maxProblems limits the reported mistakes of a call.
const maxProblems = 100

// schema is the part of JSON Schema that the tools use. The arguments are checked with the schema that the client was
// shown, so the two cannot differ.
type schema struct {
	Type       types              `json:"type"`
	Properties map[string]*schema `json:"properties"`
	Required   []string           `json:"required"`
	Items      *schema            `json:"items"`
	Enum       []string           `json:"enum"`
	Minimum    *int64             `json:"minimum"`
	// Description is the hint if the value is missing.
	Description string `json:"description"`
}

// types is a type or a list of types.
type types []string

func (t *types) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*t = types{one}
		return nil
	}
	var list []string
	err := json.Unmarshal(data, &list)
	*t = list
	return err
}

func parseSchema(data []byte) (*schema, error) {
	s := &schema{}
	return s, json.Unmarshal(data, s)
}

func compact(data []byte) json.RawMessage {
	var b bytes.Buffer
	if err := json.Compact(&b, data); err != nil {
		return data
	}
	return b.Bytes()
}

// check returns the problems with the arguments.
func (s *schema) check(args []byte) []millrace.Problem {
	if !utf8.Valid(args) || !json.Valid(args) {
		return []millrace.Problem{{Code: "invalid_json", Message: "the arguments are no JSON in UTF-8"}}
	}
	var k checker
	k.value(s, "", bytes.TrimSpace(args))
	if more := len(k.problems) - maxProblems; more > 0 {
		k.problems = append(k.problems[:maxProblems], millrace.Problem{
			Code: "too_many_problems", Message: fmt.Sprintf("and %d more problems", more),
		})
	}
	return k.problems
}

type checker struct{ problems []millrace.Problem }

func (k *checker) add(pointer, code, hint, format string, args ...any) {
	k.problems = append(k.problems,
		millrace.Problem{Pointer: pointer, Code: code, Message: fmt.Sprintf(format, args...),
			Hint: hint})
}

// value checks a value that is valid JSON without surrounding space.
func (k *checker) value(s *schema, pointer string, data []byte) {
	kind := kindOf(data)
	if len(s.Type) > 0 && !slices.Contains(s.Type, kind) {
		k.add(pointer, "wrong_type", "", "%s must be %s, not %s", nameOf(pointer), spoken(s.Type), article(kind))
		return
	}
	switch {
	case kind == "object" && s.Properties != nil:
		k.object(s, pointer, data)
		return
	case kind == "array" && s.Items != nil:
		k.array(s.Items, pointer, data)
		return
	}
	if half := halfSurrogate(data); half != "" { // it would be read as another character
		k.add(pointer, "invalid_json", "", "%s has %s, one half of a surrogate pair without the other", nameOf(pointer),
			half)
		return
	}
	switch {
	case kind == "string" && len(s.Enum) > 0:
		var text string
		if json.Unmarshal(data, &text) == nil && !slices.Contains(s.Enum, text) {
			hint := "use '" + strings.Join(s.Enum, "', '") + "'"
			if near, ok := actions.Nearest(text, s.Enum); ok {
				hint = "did you mean '" + near + "'? U" + hint[1:]
			}
			k.add(pointer, "unsupported_value", hint, "unsupported %s '%s'", nameOf(pointer), shown(text))
		}
	case kind == "integer" && s.Minimum != nil:
		if n, ok := wholeNumber(data); !ok || n < *s.Minimum {
			k.add(pointer, "out_of_range", "", "%s must be at least %d", nameOf(pointer), *s.Minimum)
		}
	}
}

func (k *checker) object(s *schema, pointer string, data []byte) {
	dec := json.NewDecoder(bytes.NewReader(data))
	_, _ = dec.Token()
	seen := make(map[string]bool)
	for dec.More() {
		token, _ := dec.Token()
		name, _ := token.(string)
		var v json.RawMessage
		if dec.Decode(&v) != nil {
			return
		}
		at := pointer + "/" + actions.PointerToken(name)
		property, known := s.Properties[name]
		switch {
		case !known:
			k.add(at, "unknown_field", meantName(name, s.Properties), "unknown parameter '%s'", shown(name))
		case seen[name]:
			k.add(at, "duplicate_field", "", "%s is given twice", nameOf(at))
		default:
			k.value(property, at, v)
		}
		seen[name] = true
		if len(k.problems) > 10*maxProblems {
			return
		}
	}
	for _, name := range s.Required {
		if !seen[name] {
			k.add(pointer, "missing_param", s.Properties[name].told(), "'%s' is required", name)
		}
	}
}

// told returns a short description of a missing value.
func (s *schema) told() string {
	if s != nil && len(s.Enum) > 0 {
		return "one of '" + strings.Join(s.Enum, "', '") + "'"
	}
	if s != nil {
		return strings.TrimSuffix(s.Description, ".")
	}
	return ""
}

func (k *checker) array(items *schema, pointer string, data []byte) {
	dec := json.NewDecoder(bytes.NewReader(data))
	_, _ = dec.Token()
	for i := 0; dec.More() && len(k.problems) <= 10*maxProblems; i++ {
		var v json.RawMessage
		if dec.Decode(&v) != nil {
			return
		}
		k.value(items, pointer+"/"+strconv.Itoa(i), v)
	}
}

// kindOf returns the type of a JSON value, by its name in schemas.
func kindOf(data []byte) string {
	switch data[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	if n, ok := wholeNumber(data); ok && n == int64(int32(n)) {
		return "integer"
	}
	return "number"
}

// wholeNumber reads a whole number in any notation: 5, 5.0 or 5e0.
func wholeNumber(data []byte) (int64, bool) {
	if n, err := strconv.ParseInt(string(data), 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(string(data), 64)
	return int64(f), err == nil && f == math.Trunc(f) && math.Abs(f) <= maxID
}

// plainNumbers returns the arguments with whole numbers in plain notation where the schema requires them. If all of
// them are plain, it returns the arguments unchanged.
func (s *schema) plainNumbers(args json.RawMessage) json.RawMessage {
	dec := json.NewDecoder(bytes.NewReader(args))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return args
	}
	changed := false
	v = s.plain(v, &changed)
	if !changed {
		return args
	}
	text, err := plainJSON(v)
	if err != nil {
		return args
	}
	return text
}

func (s *schema) plain(v any, changed *bool) any {
	switch v := v.(type) {
	case json.Number:
		if n, ok := wholeNumber([]byte(v)); ok && slices.Contains(s.Type, "integer") &&
			strconv.FormatInt(n, 10) != string(v) {
			*changed = true
			return n
		}
	case []any:
		for i := range v {
			if s.Items != nil {
				v[i] = s.Items.plain(v[i], changed)
			}
		}
	case map[string]any:
		for name, property := range s.Properties {
			if v[name] != nil {
				v[name] = property.plain(v[name], changed)
			}
		}
	}
	return v
}

func article(kind string) string {
	switch kind {
	case "object", "array":
		return "an " + kind
	case "integer":
		return "a whole number"
	case "boolean":
		return "true or false"
	case "null":
		return "null"
	}
	return "a " + kind
}

func spoken(kinds types) string {
	words := make([]string, len(kinds))
	for i, kind := range kinds {
		words[i] = article(kind)
	}
	return strings.Join(words, " or ")
}

// nameOf returns the name that messages use for the value at a pointer.
func nameOf(pointer string) string {
	if pointer == "" {
		return "the argument"
	}
	return "'" + shown(pointer[1:]) + "'"
}

// halfSurrogate returns the first escape in valid JSON that is one half of a surrogate pair without the other, "" if
// not found (RFC 8259, section 8.2).
func halfSurrogate(data []byte) string {
	unit := func(at int) rune {
		if at+6 > len(data) || data[at] != '\\' || data[at+1] != 'u' {
			return 0
		}
		n, _ := strconv.ParseUint(string(data[at+2:at+6]), 16, 16)
		return rune(n)
	}
	for i := 0; i < len(data); i++ {
		if data[i] != '\\' {
			continue
		}
		if r := unit(i); utf16.IsSurrogate(r) {
			if utf16.DecodeRune(r, unit(i+6)) == utf8.RuneError {
				return string(data[i : i+6])
			}
			i += 6
		}
		i++ // skip the escaped character
	}
	return ""
}

// maxID is the largest number that can be an id: a larger one would be returned as another number.
const maxID = 1 << 53
