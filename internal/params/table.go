package params

import (
	"cmp"
	"reflect"
	"strconv"
	"strings"

	"github.com/millrace-go/millrace/internal/form"
	"github.com/millrace-go/millrace/internal/strictjson"
	"github.com/millrace-go/millrace/internal/synonyms"
)

// Table has the fields of an object that is not a single Go struct, such as a step, whose parameters depend on its
// action. The fields are written in this order. A table is made for the Go values of its fields each time; for a form
// or a schema these are zero values.
type Table []Row

// Row is one field of an object.
type Row struct {
	// Name is the name in JSON. Aliases are the names that lenient decoding accepts for it in place of the usual names,
	// separated by spaces. Doc is the sentence in the schema.
	Name, Aliases, Doc string
	// Was is an earlier name, which is read like Name unless both are present. "" means that there was none.
	Was string
	// To points to the value, which has a type that is allowed for a parameter, or is a *Part.
	To any
	// Always means that a string is written even if it is empty.
	Always bool
	// ID means that the value is a step id, or a list of them.
	ID bool
	// Unless means that a bool holds the opposite: it is true by default in JSON, and false in Go.
	Unless bool
	// Most is the largest number of characters of a string, or of elements of a list, 0 for any number. Only schemas use
	// it.
	Most int
	// Def is the name of the schema of the value, or of the elements of a list, among the "$defs"; "" for the schema of
	// its type.
	Def string
}

// Part is a value that is read and written separately from the object around it.
type Part struct {
	List bool             // a list of objects; otherwise an object
	Node *strictjson.Node // as it was read, nil if it is absent
	JSON []byte           // the JSON to write, empty if it is left out
}

// mostInTable is the largest number of problems of one object.
const mostInTable = 1000

// Read reads the members of an object, in the order of the text, like [Decode], but without templates and required
// fields. more is the number of problems beyond the limit.
func (t Table) Read(n *strictjson.Node) (problems []Problem, more int) {
	d := &decoder{collector: collector{most: mostInTable}}
	for _, m := range n.Members {
		i := 0
		for i < len(t) && t[i].Name != m.Name && !t[i].was(m.Name, n) {
			i++
		}
		if i == len(t) {
			d.unknown(nil, nil, m.Name, m.NameOffset)
		} else {
			t[i].read(d, m.Value)
		}
	}
	return d.problems, d.dropped
}

// was reports whether the object has the field by its earlier name.
func (r *Row) was(name string, in *strictjson.Node) bool {
	return r.Was != "" && r.Was == name && in.Get(r.Name) == nil
}

func (r *Row) read(d *decoder, n *strictjson.Node) {
	switch to := r.To.(type) { // most fields need no reflection
	case *string:
		if n.Kind == strictjson.String {
			*to = n.Text
			return
		}
	case *bool:
		if n.Kind == strictjson.Bool {
			*to = n.Bool != r.Unless
			return
		}
	case *Part:
		if n.Kind == strictjson.Array && to.List || n.Kind == strictjson.Object && !to.List {
			to.Node = n
			return
		}
	}
	at := (*path)(nil).member(r.Name)
	if part, ok := r.To.(*Part); ok {
		want := "an object"
		if part.List {
			want = "a list of " + r.Name
		}
		d.add(at, CodeWrongType, n.Offset, "", "'%s' must be %s, got %s", at, want, n.Kind)
		return
	}
	f, into, err := r.field()
	if err != nil {
		d.add(at, CodeBadAction, n.Offset, "", "'%s' cannot be read: %v", at, err)
		return
	}
	d.member(&f, into, n, at)
}

// field returns the row as a field of a struct would be, and its value.
func (r *Row) field() (field, reflect.Value, error) {
	v := reflect.ValueOf(r.To).Elem()
	b := builder{root: v.Type()}
	s, err := b.shape(v.Type(), r.Name)
	return field{name: r.Name, shape: s, id: r.ID, aliases: r.Aliases, doc: r.Doc, omit: true}, v, err
}

// Append appends the object as compact JSON. It returns the errors of [Encode].
func (t Table) Append(dst []byte) ([]byte, error) {
	e := &encoder{buf: append(dst, '{')}
	start := len(e.buf)
	for i := range t {
		r := &t[i]
		before := len(e.buf)
		if before > start {
			e.buf = append(e.buf, ',')
		}
		e.buf = append(strictjson.AppendQuoted(e.buf, r.Name), ':')
		named := len(e.buf)
		if err := r.append(e); err != nil {
			return dst, err
		}
		if len(e.buf) == named {
			e.buf = e.buf[:before] // it is empty
		}
	}
	return append(e.buf, '}'), nil
}

// append appends the value, or nothing if it is left out.
func (r *Row) append(e *encoder) error {
	switch to := r.To.(type) {
	case *Part:
		e.buf = append(e.buf, to.JSON...)
		return nil
	case *string:
		if *to == "" && !r.Always {
			return nil
		}
		// The escapes are the same as in encoding/json, because they have always been part of the digest of a pipeline.
		at := len(e.buf)
		err := e.text(*to, nil)
		if text := string(e.buf[at:]); strings.ContainsAny(text, "\u2028\u2029") {
			e.buf = append(e.buf[:at], strings.NewReplacer("\u2028", `\u2028`, "\u2029", `\u2029`).Replace(text)...)
		}
		return err
	}
	if reflect.ValueOf(r.To).Elem().IsZero() {
		return nil
	}
	f, v, err := r.field()
	if err != nil || isEmpty(f.shape, v) {
		return err
	}
	if r.Unless {
		e.buf = strconv.AppendBool(e.buf, !v.Bool())
		return nil
	}
	return e.value(f.shape, v, reflect.Value{}, (*path)(nil).member(r.Name))
}

// Form returns the form of the object. The fields of parts are not known.
func (t Table) Form() *form.Form {
	all := &form.Form{Kind: form.Object, Fields: make([]form.Field, len(t))}
	for i := range t {
		r := &t[i]
		all.Fields[i] = form.Field{
			Name: r.Name, Aliases: cmp.Or(r.Aliases, synonyms.Of(r.Name)), Doc: r.Doc, Form: r.form(),
		}
	}
	return all
}

func (r *Row) form() *form.Form {
	if part, ok := r.To.(*Part); ok {
		object := &form.Form{Kind: form.Object}
		if part.List {
			return &form.Form{Kind: form.List, Elem: object}
		}
		return object
	}
	f, _, err := r.field()
	if err != nil {
		return &form.Form{}
	}
	return f.shape.describe(&f)
}

// Schema returns the JSON Schema of the object, with no other fields. Ids of steps are "#/$defs/id". The map may be
// modified.
func (t Table) Schema() map[string]any {
	properties := make(map[string]any, len(t))
	for i := range t {
		r := &t[i]
		property := map[string]any{"$ref": "#/$defs/" + r.Def}
		if part, ok := r.To.(*Part); ok && part.List {
			property = map[string]any{"type": "array", "minItems": 1, "maxItems": r.Most, "items": property}
		} else if !ok && r.Def == "" {
			f, v, err := r.field()
			if err != nil {
				continue
			}
			property = schemer{}.property(&f, v)
			if r.Most > 0 {
				property["maxLength"] = r.Most
			}
			if r.Unless {
				property["default"] = true
			}
		}
		if r.Doc != "" {
			property["description"] = r.Doc
		}
		properties[r.Name] = property
	}
	return map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
}
