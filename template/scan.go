package template

import (
	"fmt"
	"iter"
	"strconv"
	"strings"
)

// candidate is a piece of text of the form "{{" base "." rest "}}", which is a reference if base is a step.
type candidate struct {
	start, end int    // with the braces
	base       string // what names the step
	rest       string // what follows the dot, without the blanks around it
}

// candidates yields everything in a text that could be a reference, from left to right, never overlapping. Each attempt
// ends at the next opening brace, so that nothing is looked at more than twice however many braces there are.
func candidates(text string) iter.Seq[candidate] {
	return func(yield func(candidate) bool) {
		for at := 0; ; {
			i := strings.Index(text[at:], "{{")
			if i < 0 {
				return
			}
			c, ok := scan(text, at+i)
			if !ok {
				// Only one brace is passed: in "{{{find.count}}}" the reference begins at the second.
				at += i + 1
				continue
			}
			if !yield(c) {
				return
			}
			at = c.end
		}
	}
}

// scan reads a candidate that begins with the two braces at start.
func scan(text string, start int) (candidate, bool) {
	inner := text[start+2:]
	n := strings.IndexAny(inner, "{}\r\n")
	if n < 0 || !strings.HasPrefix(inner[n:], "}}") {
		return candidate{}, false
	}
	inner = strings.Trim(inner[:n], " \t")
	base := inner[:baseLen(inner)]
	rest, ok := strings.CutPrefix(inner[len(base):], ".")
	if base == "" || !ok {
		return candidate{}, false
	}
	return candidate{start: start, end: start + 2 + n + 2, base: base, rest: rest}, true
}

// baseLen returns the length of the id, or of the "steps[0]", that s begins with.
func baseLen(s string) int {
	n := 0
	for n < len(s) && idByte(s[n]) {
		n++
	}
	if s[:n] != stepsPrefix {
		return n
	}
	if index, _, ok := strings.Cut(s[n:], "]"); ok && len(index) > 1 && index[0] == '[' && digits(index[1:]) {
		return n + len(index) + 1
	}
	return n
}

func idByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_'
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// resolve makes a reference of a candidate whose step is known, or says what is wrong with it.
func (c candidate) resolve(text, step string) (Ref, *Problem) {
	ref := Ref{Step: step, Source: text[c.start:c.end], Offset: c.start}
	wrong := func(code, hint, format string, args ...any) (Ref, *Problem) {
		message := fmt.Sprintf("template '%s': %s", ref.Source, fmt.Sprintf(format, args...))
		return Ref{}, &Problem{Source: ref.Source, Offset: c.start, Code: code, Message: message, Hint: hint}
	}
	field, index, indexed := strings.Cut(c.rest, "[")
	t, ok := FieldType(field)
	if !ok {
		// The whole rest is quoted: in "{{find.files | join}}" no part of it is the mistake.
		return wrong("unknown_field", fieldHint(field), "unknown field '%s'", c.rest)
	}
	ref.Field = field
	if !indexed {
		return ref, nil
	}
	if t != List {
		return wrong("not_a_list", fmt.Sprintf("write {{%s.%s}}", c.base, field), "field '%s' is not a list", field)
	}
	number, closed := strings.CutSuffix(index, "]")
	if !closed || !digits(strings.TrimPrefix(number, "-")) {
		return wrong("bad_index", hintIndex, "'[%s' is not an index", index)
	}
	n, err := strconv.Atoi(number)
	if err != nil {
		return wrong("bad_index", hintIndex, "index %s is too large", number)
	}
	ref.Index, ref.Indexed = n, true
	return ref, nil
}

const hintIndex = "an index is a whole number in brackets, from 0, or from -1 backwards: {{find.files[0]}}"

// fieldHint says what to write instead of a field that there is not.
func fieldHint(field string) string {
	near, ok := nearest(strings.Trim(field, " \t"), Fields()) // blanks around a field are no part of its name
	if !ok {
		// Results in JSON have longer names for the same things.
		switch field {
		case "files_matched":
			near, ok = FieldFiles, true
		case "edits_applied":
			near, ok = FieldEdits, true
		case "risk_level":
			near, ok = FieldRisk, true
		}
	}
	if ok {
		return fmt.Sprintf("did you mean '%s'?", near)
	}
	return "the fields are " + strings.Join(Fields(), ", ") + "; a backslash before the braces makes them text"
}
