package condition

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/millrace-go/millrace/internal/show"
	"github.com/millrace-go/millrace/internal/strictjson"
	"github.com/millrace-go/millrace/internal/synonyms"
)

// errValue reports that a text is not a whole number, or is a number that an int cannot hold.
var errValue = errors.New("condition value must be a whole number")

// parseValue reads the value of a count condition exactly: a whole number in the syntax of JSON, including 3.0 and 3e2.
// In JSON it may also be in quotes. The error wraps errValue.
func parseValue(text string) (int, error) {
	negative, magnitude, err := strictjson.Whole(text)
	limit := uint64(math.MaxInt)
	if negative {
		limit++
	}
	switch {
	case err != nil:
		return 0, fmt.Errorf("%w, got %s: %w", errValue, show.Quote(text, 40), err)
	case magnitude > limit:
		return 0, fmt.Errorf("%w, got %s: %w", errValue, show.Quote(text, 40), strictjson.ErrRange)
	case negative:
		return -int(magnitude), nil
	}
	return int(magnitude), nil
}

// MarshalJSON writes the fields of the type, the value as a number; null for the zero Condition. It does not check:
// UnmarshalJSON will refuse a condition with problems that [Condition.Check] reports.
func (c Condition) MarshalJSON() ([]byte, error) {
	if c.IsZero() {
		return []byte("null"), nil
	}
	b := strictjson.AppendQuoted([]byte(`{"type":`), string(c.typ))
	f := c.Fields()
	f.each(func(name string, to any) {
		if !c.typ.has(name) {
			return
		}
		b = append(strictjson.AppendQuoted(append(b, ','), name), ':')
		switch to := to.(type) {
		case *string:
			b = strictjson.AppendQuoted(b, *to)
		case **int:
			b = strconv.AppendInt(b, int64(**to), 10)
		}
	})
	return append(b, '}'), nil
}

// UnmarshalJSON reads the output of MarshalJSON, strictly: names have their exact case and appear once, unknown names
// are refused, and null is neither a text nor a number. The value may also be a text with a number in it, and the
// condition may be the text [Short]. The error has all problems, and leaves the condition as it was. If the whole text
// is null, nothing changes, as encoding/json requires.
func (c *Condition) UnmarshalJSON(data []byte) error {
	node, err := strictjson.Parse(data, strictjson.Limits{})
	if err != nil {
		invalid := Problem{Code: codeInvalidJSON, Message: "condition is not valid JSON: " + err.Error()}
		return &problemsError{Problems: []Problem{invalid}}
	}
	if node.Kind == strictjson.Null {
		return nil
	}
	decoded, problems := decode(node)
	if len(problems) > 0 {
		return &problemsError{Problems: problems}
	}
	*c = decoded
	return nil
}

func decode(node *strictjson.Node) (Condition, []Problem) {
	if node.Kind == strictjson.String && node.Text == Short {
		return PrevError(), nil
	}
	if node.Kind != strictjson.Object {
		return Condition{}, []Problem{{
			Code: codeWrongType, Message: fmt.Sprintf("condition must be an object, got %s", node.Kind),
			Hint: `write {"type": "has_matches", "step_ref": "..."}`,
		}}
	}
	var problems []Problem
	var f Fields
	known := map[string]any{"type": &f.Type}
	f.each(func(name string, to any) { known[name] = to })
	for _, m := range node.Members {
		switch to := known[m.Name].(type) {
		case *string:
			if *to = m.Value.Text; m.Value.Kind != strictjson.String {
				problems = append(problems, Problem{
					Field: m.Name, Code: codeWrongType,
					Message: fmt.Sprintf("condition %s must be a string, got %s", m.Name, m.Value.Kind),
				})
			}
		case **int:
			n, err := parseValue(m.Value.Number + m.Value.Text) // a value has only one of them
			if m.Value.Kind != strictjson.Number && m.Value.Kind != strictjson.String {
				err = fmt.Errorf("%w, got %s", errValue, m.Value.Kind)
			}
			if *to = &n; err != nil {
				problems = append(problems, Problem{Field: m.Name, Code: codeBadValue, Message: err.Error()})
			}
		default:
			problems = append(problems, unknownField(m.Name))
		}
	}
	c, more := New(f)
	for _, p := range more {
		// The list already has a problem with the field; a second problem, that it is missing, would be too much.
		if !slices.ContainsFunc(problems, func(said Problem) bool { return said.Field == p.Field }) {
			problems = append(problems, p)
		}
	}
	return c, problems
}

func unknownField(name string) Problem {
	names := []string{"type"}
	new(Fields).each(func(name string, _ any) { names = append(names, name) })
	last := len(names) - 1
	p := Problem{
		Field: name, Code: codeUnknownField, Message: "unknown field " + show.Quote(name, 40) + " in condition",
		Hint: "the fields are " + strings.Join(names[:last], ", ") + " and " + names[last],
	}
	if near, ok := synonyms.Suggest(name, names); ok {
		p.Hint = fmt.Sprintf("did you mean '%s'?", near)
	}
	return p
}
