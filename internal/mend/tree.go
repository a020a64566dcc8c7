package mend

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/millrace-go/millrace/internal/form"
	"github.com/millrace-go/millrace/internal/strictjson"
)

// Change is one repair of a tree.
type Change struct {
	// Pointer is the JSON pointer of the value in the repaired tree.
	Pointer string
	// Offset is the place of the value, or of its name, in the text.
	Offset int
	// Done describes the repair.
	Done string
	// Refused means that nothing was changed, because the value is ambiguous. Then Done describes that, and Advice what to
	// write.
	Refused bool
	Advice  string
}

// Fitter makes trees fit their forms. It changes the trees, which belong to the caller. The zero Fitter is ready to
// use; it may only be used by one goroutine.
type Fitter struct {
	// Changes are the changes made so far, and the refusals; at most a thousand of each.
	Changes []Change
	// More is the number of further changes, MoreRefused the number of further refusals.
	More, MoreRefused int
	noted, refused    int
}

// mostChanges limits the stored changes: a hostile text could need a million.
const mostChanges = 1000

// Note adds a change.
func (t *Fitter) Note(pointer string, offset int, format string, args ...any) {
	if t.noted++; t.noted > mostChanges {
		t.More++
		return
	}
	t.Changes = append(t.Changes, Change{Pointer: pointer, Offset: offset, Done: fmt.Sprintf(format, args...)})
}

// Refuse adds something that could not be repaired.
func (t *Fitter) Refuse(pointer string, offset int, advice, format string, args ...any) {
	if t.refused++; t.refused > mostChanges {
		t.MoreRefused++
		return
	}
	t.Changes = append(t.Changes, Change{Pointer: pointer, Offset: offset, Done: fmt.Sprintf(format, args...),
		Advice: advice, Refused: true})
}

// Fit repairs a value at a pointer.
func (t *Fitter) Fit(n *strictjson.Node, f *form.Form, at string) {
	t.kind(n, f, at)
	switch {
	case n.Kind == strictjson.Object && (f.Kind == form.Object || f.Kind == form.Number && f.Fields != nil):
		t.Names(n, f, at)
		for _, m := range n.Members {
			if field := f.Field(m.Name); field != nil {
				t.Fit(m.Value, field.Form, at+"/"+strictjson.EscapeToken(m.Name))
			}
		}
	case n.Kind == strictjson.Object && f.Kind == form.Map:
		for _, m := range n.Members {
			t.Fit(m.Value, f.Elem, at+"/"+strictjson.EscapeToken(m.Name))
		}
	case n.Kind == strictjson.Array && f.Kind == form.List:
		for i, e := range n.Elems {
			t.Fit(e, f.Elem, at+"/"+strconv.Itoa(i))
		}
	}
}

// Names replaces the names of an object's members by the names they mean, and omits members without information. An
// unknown name stays.
func (t *Fitter) Names(n *strictjson.Node, f *form.Form, at string) {
	given := n.Values()
	kept := n.Members[:0]
	said := make(map[string][]byte) // the JSON under a name, written once for all names similar to it
	same := func(name string, v *strictjson.Node) bool {
		if said[name] == nil {
			said[name] = given[name].AppendJSON(nil)
		}
		return bytes.Equal(said[name], v.AppendJSON(nil))
	}
	for _, m := range n.Members {
		if f.Field(m.Name) == nil {
			name, ok := f.Match(m.Name)
			pointer := at + "/" + strictjson.EscapeToken(name)
			switch {
			case !ok && Remark(m.Name, m.Value):
				t.Note(at+"/"+strictjson.EscapeToken(m.Name), m.NameOffset,
					"'%s' was left out: it says nothing of what is to be done", m.Name)
				continue
			case !ok && form.IsRemark(m.Name):
				t.Refuse(at+"/"+strictjson.EscapeToken(m.Name), m.NameOffset,
					"put what it sets into the fields for that, or leave it out",
					"unknown field '%s', which says more than a remark", m.Name)
				continue
			case !ok:
			case given[name] == nil:
				t.Note(pointer, m.NameOffset, "'%s' was read as '%s'", m.Name, name)
				given[name] = m.Value
				m.Name = name
			case same(name, m.Value):
				t.Note(pointer, m.NameOffset, "'%s' was left out: '%s' says the same", m.Name, name)
				continue
			case Remark(m.Name, m.Value):
				t.Note(pointer, m.NameOffset, "'%s' was left out beside '%s'", m.Name, name)
				continue
			default:
				t.Refuse(at+"/"+strictjson.EscapeToken(m.Name), m.NameOffset, "keep one of them",
					"'%s' and '%s' are given, and differ", m.Name, name)
			}
		}
		if m.Value.Kind == strictjson.Null && f.Field(m.Name) != nil && f.Field(m.Name).Form.Kind != form.Any {
			t.Note(at+"/"+strictjson.EscapeToken(m.Name), m.NameOffset, "null for '%s' was read as missing", m.Name)
			continue
		}
		kept = append(kept, m)
	}
	n.Members = kept
}

// kind converts a value to the expected kind.
func (t *Fitter) kind(n *strictjson.Node, f *form.Form, at string) {
	name := at[strings.LastIndexByte(at, '/')+1:]
	text := strings.TrimSpace(n.Text)
	isText := n.Kind == strictjson.String
	if isText && strings.Contains(text, "{{") && f.Kind != form.Object {
		return // a template: it is checked when the steps are known
	}
	switch f.Kind {
	case form.Object, form.Map:
		if isText && strings.HasPrefix(text, "{") {
			t.nested(n, strictjson.Object, at, name)
		}
	case form.List:
		t.list(n, f, text, at, name)
	case form.Text:
		t.text(n, f, at, name)
	case form.Flag:
		value, ok := map[string]bool{
			"true": true, "yes": true, "on": true, "1": true, "false": false, "no": false, "off": false, "0": false,
		}[strings.ToLower(text+n.Number)] // a value has only one of the two
		if ok {
			t.Note(at, n.Offset, "%s for '%s' was read as %t", n.AppendJSON(nil), name, value)
			n.Kind, n.Bool = strictjson.Bool, value
		}
	case form.Number:
		if !isText {
			return
		}
		if number, err := strictjson.Parse([]byte(text), strictjson.Limits{}); err == nil &&
			number.Kind == strictjson.Number {
			t.Note(at, n.Offset, "the string for '%s' was read as the number %s", name, number.Number)
			n.Kind, n.Number = strictjson.Number, number.Number
		}
	}
}

func (t *Fitter) text(n *strictjson.Node, f *form.Form, at, name string) {
	switch {
	case n.Kind == strictjson.Array && len(n.Elems) == 1 && n.Elems[0].Kind == strictjson.String:
		t.Note(at, n.Offset, "the only element of the list '%s' was read as the string", name)
		*n = strictjson.Node{Kind: strictjson.String, Text: n.Elems[0].Text, Offset: n.Offset, End: n.End}
	case n.Kind == strictjson.Number && f.ID:
		t.Note(at, n.Offset, "the number for '%s' was read as the string '%s'", name, n.Number)
		n.Kind, n.Text = strictjson.String, n.Number
	}
	if n.Kind != strictjson.String || slices.Contains(f.Enum, n.Text) {
		return
	}
	for _, word := range f.Enum {
		if form.Same(word, n.Text) {
			t.Note(at, n.Offset, "'%s' for '%s' was read as '%s'", n.Text, name, word)
			n.Text = word
			return
		}
	}
}

func (t *Fitter) list(n *strictjson.Node, f *form.Form, text, at, name string) {
	switch {
	case n.Kind == strictjson.String && strings.HasPrefix(text, "[") && t.nested(n, strictjson.Array, at, name):
	case n.Kind == strictjson.String && f.Elem.Kind == form.Text && text != "" && f.Elem.ID &&
		strings.Contains(text, ","):
		t.Note(at, n.Offset, "'%s' was read as a list of what is between its commas", name)
		var elems []*strictjson.Node
		for part := range strings.SplitSeq(text, ",") {
			elems = append(elems, &strictjson.Node{Kind: strictjson.String, Text: strings.TrimSpace(part),
				Offset: n.Offset, End: n.End})
		}
		*n = strictjson.Node{Kind: strictjson.Array, Elems: elems, Offset: n.Offset, End: n.End}
	case n.Kind == strictjson.String && f.Elem.Kind == form.Text && text != "" && !strings.ContainsAny(text, ",\n"),
		n.Kind == strictjson.Object && f.Elem.Kind == form.Object:
		t.Note(at, n.Offset, "the %s for '%s' was read as a list of one", n.Kind, name)
		one := *n
		*n = strictjson.Node{Kind: strictjson.Array, Elems: []*strictjson.Node{&one}, Offset: n.Offset, End: n.End}
	}
}

// nested reads a list or an object that is written as a string, and mends it if necessary.
func (t *Fitter) nested(n *strictjson.Node, want strictjson.Kind, at, name string) bool {
	root, err := strictjson.Parse([]byte(n.Text), strictjson.Limits{})
	var repairs []Repair
	if err != nil {
		m, mendErr := JSON([]byte(n.Text))
		if mendErr != nil {
			return false
		}
		if root, err = strictjson.Parse(m.Text, strictjson.Limits{}); err != nil {
			return false
		}
		repairs = m.Repairs
	}
	if root.Kind != want {
		return false
	}
	called := "the text"
	if name != "" {
		called = "'" + name + "'"
	}
	t.Note(at, n.Offset, "%s, which was JSON in a string, was read as that", called)
	for _, r := range repairs {
		t.Note(at, n.Offset, "%s", r.Done)
	}
	place(root, n.Offset, n.End)
	*n = *root
	return true
}

// place sets the place of a whole tree to the place of the string that contained it.
func place(n *strictjson.Node, offset, end int) {
	n.Offset, n.End = offset, end
	for _, e := range n.Elems {
		place(e, offset, end)
	}
	for i := range n.Members {
		n.Members[i].NameOffset = offset
		place(n.Members[i].Value, offset, end)
	}
}

// Remark reports whether a member of an object is a remark that can be omitted: its name means a remark, and its value
// sets nothing.
func Remark(name string, value *strictjson.Node) bool { return form.IsRemark(name) && Silent(value) }

// Silent reports whether a value sets nothing: it is not a text that sets an option, and its members, if any, are
// remarks.
func Silent(n *strictjson.Node) bool {
	loud := func(e *strictjson.Node) bool { return !Silent(e) }
	return Setting(n.Text) == "" && !slices.ContainsFunc(n.Elems, loud) &&
		!slices.ContainsFunc(n.Members, func(m strictjson.Member) bool { return !Remark(m.Name, m.Value) })
}
