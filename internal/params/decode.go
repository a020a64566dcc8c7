package params

import (
	"reflect"

	"github.com/millrace-go/millrace/internal/strictjson"
)

// Decode reads the parameters of an action from node, which may be nil for none. It starts from a deep copy of proto,
// so the values of proto are the defaults, and returns the type of proto, struct or pointer.
//
// It is strict: names are case-sensitive, unknown names are refused with a hint, null is allowed only for a parameter
// of type any and in its value, a required parameter must be there and, without ",empty", must not be empty, and no
// value is converted, except that a whole number may be written as 3.0. A list, a map or a list element replaces the
// default; a struct is read into the default.
//
// If isTemplate returns true, a string may be in place of a value of another type: the parameter keeps its default, and
// binds has the string under the pointer. Templates in strings stay unchanged, and no enum is checked for them. A nil
// isTemplate means that nothing is a template. binds is nil without templates.
//
// problems has every mistake, in the order of the text; missing names of an object come after its other problems. It
// has at most a hundred problems, and a last problem that counts the rest. The value is only nil if proto is, and is
// only useful without problems.
func Decode(proto any, node *strictjson.Node, action string, isTemplate func(string) bool) (
	value any, binds map[string]string, problems []Problem,
) {
	return decode(proto, node, collector{action: action, most: mostProblems, isTemplate: isTemplate})
}

// DecodeArguments is [Decode] for the arguments of a tool, with problems worded for tools.
func DecodeArguments(proto any, node *strictjson.Node, tool string, isTemplate func(string) bool) (any, []Problem) {
	value, _, problems := decode(proto, node,
		collector{action: tool, tool: true, most: mostProblems, isTemplate: isTemplate})
	return value, problems
}

func decode(proto any, node *strictjson.Node, c collector) (value any, binds map[string]string, problems []Problem) {
	d := &decoder{collector: c}
	s, v, err := shapeOf(proto)
	if err != nil {
		d.add(nil, CodeBadAction, 0, "", "%s cannot be used: %v", d.owner(), err)
		return proto, nil, d.all()
	}
	into := reflect.New(s.typ)
	if v.IsValid() {
		into.Elem().Set(clone(s, v))
	}
	if node == nil {
		node = &strictjson.Node{Kind: strictjson.Object}
	}
	if node.Kind == strictjson.Object {
		d.object(s, into.Elem(), node, nil)
	} else {
		d.wrongType(s, node, nil)
	}
	if reflect.TypeOf(proto).Kind() == reflect.Pointer {
		return into.Interface(), d.binds, d.all()
	}
	return into.Elem().Interface(), d.binds, d.all()
}

type decoder struct {
	collector
	binds map[string]string
}

// mistakes counts the problems so far, including those that were not kept.
func (d *decoder) mistakes() int { return len(d.problems) + d.dropped }

func (d *decoder) object(s *shape, into reflect.Value, n *strictjson.Node, at *path) {
	present := make(map[string]bool, len(n.Members))
	for _, m := range n.Members {
		f := s.field(m.Name)
		if f == nil {
			d.unknown(s, at, m.Name, m.NameOffset)
			continue
		}
		present[m.Name] = true
		d.member(f, into.FieldByIndex(f.index), m.Value, at.member(m.Name))
	}
	for i := range s.fields {
		if f := &s.fields[i]; f.required && !present[f.name] {
			d.missing(at.member(f.name), n.Offset)
		}
	}
}

// member reads one parameter into its field, and checks its tags.
func (d *decoder) member(f *field, into reflect.Value, n *strictjson.Node, at *path) {
	mistakes, bound := d.mistakes(), len(d.binds)
	enum := f.enum
	if n.Kind == strictjson.String && n.Text == "" {
		// "" is the zero value, the same as absent: it is only wrong if it is required, which is checked below.
		enum = nil
	}
	switch {
	case f.required && n.Kind == strictjson.Null && f.shape.kind != anything:
		d.add(at, CodeNull, n.Offset, f.doc, "'%s' must be %s, got null", at, f.shape.wants())
	case f.single && n.Kind == strictjson.String:
		if n.Text != "" {
			into.Set(reflect.MakeSlice(f.shape.typ, 1, 1))
			into.Index(0).SetString(n.Text)
		}
	case f.bytes && n.Kind == strictjson.Object:
		d.bytesOf(into, n, at)
	case f.quoted && n.Kind == strictjson.String:
		d.value(f.shape, into, &strictjson.Node{Kind: strictjson.Number, Number: n.Text, Offset: n.Offset}, at, nil)
	default:
		d.value(f.shape, into, n, at, enum)
	}
	if f.nonzero && d.mistakes() == mistakes && len(d.binds) == bound && into.IsZero() {
		d.add(at, CodeOutOfRange, n.Offset, f.doc, "'%s' cannot be 0", at)
		return
	}
	// A non-nil pointer is never empty: its type was chosen to distinguish 0 from absent.
	if f.required && !f.allowEmpty && d.mistakes() == mistakes && len(d.binds) == bound && isEmpty(f.shape, into) {
		d.empty(at, f.shape, n.Offset)
	}
}

// value reads any value. enum applies to the strings in it.
func (d *decoder) value(s *shape, into reflect.Value, n *strictjson.Node, at *path, enum []string) {
	if n.Kind == strictjson.Null && s.kind != anything {
		hint := "leave it out to get the default"
		if d.action == "" { // rows of a table may have no default
			hint = ""
		}
		d.add(at, CodeNull, n.Offset, hint, "'%s' must be %s, got null", at, s.wants())
		return
	}
	if n.Kind == strictjson.String && s.bindable() && d.templated(n.Text) {
		if d.binds == nil {
			d.binds = make(map[string]string)
		}
		d.binds[at.pointer()] = n.Text
		return
	}
	switch s.kind {
	case pointer:
		d.pointer(s, into, n, at, enum)
	case list:
		d.list(s, into, n, at, enum)
	case dict:
		d.dict(s, into, n, at, enum)
	case object:
		if n.Kind != strictjson.Object {
			d.wrongType(s, n, at)
			return
		}
		d.object(s, into, n, at)
	case custom:
		d.custom(s, into, n, at)
	case anything:
		d.tree(into, n, at)
	case text:
		if n.Kind != strictjson.String {
			d.wrongType(s, n, at)
			return
		}
		d.allowed(at, n.Text, enum, n.Offset)
		into.SetString(n.Text)
	default:
		d.scalar(s, into, n, at)
	}
}

func (d *decoder) pointer(s *shape, into reflect.Value, n *strictjson.Node, at *path, enum []string) {
	mistakes := d.mistakes()
	to := reflect.New(s.elem.typ)
	if !into.IsNil() {
		to.Elem().Set(into.Elem()) // the default, which is a copy already
	}
	d.value(s.elem, to.Elem(), n, at, enum)
	if d.mistakes() == mistakes {
		into.Set(to)
	}
}

func (d *decoder) list(s *shape, into reflect.Value, n *strictjson.Node, at *path, enum []string) {
	if n.Kind != strictjson.Array {
		d.wrongType(s, n, at)
		return
	}
	all := reflect.MakeSlice(s.typ, len(n.Elems), len(n.Elems))
	for i, e := range n.Elems {
		d.value(s.elem, all.Index(i), e, at.elem(i), enum)
	}
	into.Set(all)
}

func (d *decoder) dict(s *shape, into reflect.Value, n *strictjson.Node, at *path, enum []string) {
	if n.Kind != strictjson.Object {
		d.wrongType(s, n, at)
		return
	}
	all := reflect.MakeMapWithSize(s.typ, len(n.Members))
	for _, m := range n.Members {
		elem := reflect.New(s.elem.typ).Elem()
		d.value(s.elem, elem, m.Value, at.member(m.Name), enum)
		all.SetMapIndex(reflect.ValueOf(m.Name).Convert(s.typ.Key()), elem)
	}
	into.Set(all)
}
