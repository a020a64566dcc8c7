package runs

import (
	"errors"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/millrace-go/millrace/internal/params"
	"github.com/millrace-go/millrace/internal/strictjson"
)

// read reads the value of a parameter, whose name in the text is written. A mistake becomes a problem.
func (d *call) read(p *param, written string, n *strictjson.Node) (v value, ok bool) {
	switch p.kind {
	case text:
		v.text, ok = d.text(written, n, mostText)
	case word:
		v.texts, ok = d.words(p, written, n)
	case flag:
		if ok = n.Kind == strictjson.Bool; !ok {
			d.wrongType(written, "true or false", n)
		}
		v.flag = n.Bool
	case whole:
		v.number, ok = d.number(written, "a whole number", n, p.least, p.most)
	case ident:
		v.text, ok = d.ident(written, n)
	case moment:
		if v.text, ok = d.text(written, n, mostText); ok {
			v.at, ok = d.moment(written, v.text)
		}
	case digest:
		if v.text, ok = d.text(written, n, mostText); ok {
			ok = d.sha(v.text)
		}
	case variables:
		v.variables, ok = d.variableList(p, written, n)
	case definition:
		v.node = n
		if ok = n.Kind == strictjson.Object; !ok {
			_, ok = d.string(written, "an object or a string", n)
		}
	}
	return v, ok
}

// string reads a string that is not empty.
func (d *call) string(name, want string, n *strictjson.Node) (string, bool) {
	switch {
	case n.Kind != strictjson.String:
		d.wrongType(name, want, n)
		return "", false
	case n.Text == "":
		d.add("/"+name, params.CodeEmpty, "", "'%s' must not be empty", nameOf(name))
		return "", false
	}
	return n.Text, true
}

// text reads a string that is neither empty nor too long.
func (d *call) text(name string, n *strictjson.Node, most int) (string, bool) {
	s, ok := d.string(name, "a string", n)
	return s, ok && d.notLonger(name, s, most)
}

func (d *call) notLonger(name, s string, most int) bool {
	length := utf8.RuneCountInString(s)
	if length > most {
		d.add("/"+name, params.CodeOutOfRange, "", "'%s' has %d characters, at most %d are allowed", nameOf(name),
			length,
			most)
	}
	return length <= most
}

// words reads a word, or, if the parameter allows it and decoding is lenient, a list of words.
func (d *call) words(p *param, name string, n *strictjson.Node) ([]string, bool) {
	if !p.many || !d.lenient || n.Kind != strictjson.Array {
		s, ok := d.string(name, "a string", n)
		return []string{s}, ok && d.word(name, s, p.words)
	}
	if len(n.Elems) == 0 {
		d.add("/"+name, params.CodeEmpty, "", "'%s' must not be empty", name)
		return nil, false
	}
	all := make([]string, len(n.Elems))
	for i, elem := range n.Elems {
		d.offset = elem.Offset
		at := name + "/" + strconv.Itoa(i)
		s, ok := d.string(at, "a string", elem)
		if all[i] = s; ok {
			d.word(at, s, p.words)
		}
	}
	return all, true // mistakes have become problems
}

// number reads a whole number.
func (d *call) number(name, want string, n *strictjson.Node, least, most int64) (int64, bool) {
	if n.Kind != strictjson.Number {
		d.wrongType(name, want, n)
		return 0, false
	}
	negative, magnitude, err := strictjson.Whole(n.Number)
	switch {
	case errors.Is(err, strictjson.ErrFraction):
		d.add("/"+name, params.CodeWrongType, "", "'%s' must be %s, got %s", name, want, shown(n.Number))
		return 0, false
	case err != nil || magnitude > uint64(maxNumber):
		d.outside(name, n.Number, least, most)
		return 0, false
	}
	number := int64(magnitude)
	if negative {
		number = -number
	}
	return number, d.within(name, number, least, most)
}

// ident reads an id: a number from 1, or a string.
func (d *call) ident(name string, n *strictjson.Node) (string, bool) {
	const want = "a whole number or a string"
	if n.Kind == strictjson.Number {
		number, ok := d.number(name, want, n, 1, maxNumber)
		return strconv.FormatInt(number, 10), ok
	}
	s, ok := d.string(name, want, n)
	return s, ok && d.notLonger(name, s, mostText)
}

func (d *call) moment(name, s string) (time.Time, bool) {
	var at time.Time
	if err := at.UnmarshalText([]byte(s)); err != nil { // stricter than time.Parse
		d.add("/"+name, params.CodeBadValue, "write it as 2006-01-02T15:04:05Z", "%s '%s' is no RFC 3339 time", name,
			shown(s))
		return time.Time{}, false
	}
	return at, true
}

// variableFields are the fields of a variable.
func variableFields(typed bool) []string {
	if typed {
		return []string{"key", "value", "variable_type"}
	}
	return []string{"key", "value"}
}

// variableList reads a list of variables.
func (d *call) variableList(p *param, name string, n *strictjson.Node) ([]Variable, bool) {
	if n.Kind != strictjson.Array {
		d.wrongType(name, "a list of objects", n)
		return nil, false
	}
	before := len(d.problems) + d.dropped
	if len(n.Elems) > MaxVariables {
		d.variables(name, make([]Variable, len(n.Elems)))
		return nil, false
	}
	list := make([]Variable, len(n.Elems))
	for i, elem := range n.Elems {
		list[i] = d.variable(p, fmt.Sprintf("%s/%d", name, i), elem)
	}
	if len(d.problems)+d.dropped > before {
		return nil, false
	}
	d.offset = n.Offset
	d.variables(name, list)
	return list, len(d.problems)+d.dropped == before
}

// variable reads a variable. Parts with a problem are left out.
func (d *call) variable(p *param, name string, n *strictjson.Node) Variable {
	var v Variable
	d.offset = n.Offset
	if n.Kind != strictjson.Object {
		d.wrongType(name, "an object", n)
		return v
	}
	for _, field := range []string{"key", "value"} {
		if n.Get(field) == nil {
			d.add("/"+name+"/"+field, params.CodeMissing, "", "%s requires '%s'", nameOf(name), field)
		}
	}
	for _, m := range n.Members {
		at := name + "/" + strictjson.EscapeToken(m.Name)
		d.offset = m.Value.Offset
		switch {
		case m.Name == "key":
			v.Key, _ = d.text(at, m.Value, mostKey)
		case m.Name == "value" && m.Value.Kind != strictjson.String:
			d.wrongType(at, "a string", m.Value)
		case m.Name == "value":
			v.Value = m.Value.Text
		case m.Name == "variable_type" && p.typed:
			s, ok := d.string(at, "a string", m.Value)
			if ok && d.word(at, s, words(variableTypes())) {
				v.Type = VariableType(s)
			}
		default:
			d.offset = m.NameOffset
			d.add("/"+at, params.CodeUnknownField, d.meant(m.Name, variableFields(p.typed)), "unknown parameter '%s'",
				shown(nameOf(at)))
		}
	}
	return v
}

// mostKey is the largest number of characters in the name of a variable.
const mostKey = 255
