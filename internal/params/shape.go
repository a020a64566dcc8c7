package params

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
)

// kind is the way in which a type is read and written.
type kind uint8

const (
	text kind = iota
	boolean
	integer
	unsigned
	float
	list
	dict     // a map with string keys
	object   // a struct
	pointer  // to another kind
	custom   // through the methods of the type
	anything // an interface without methods, which holds any JSON value
)

// shape describes a type. It is computed for each call, or once for an [Action]: that takes microseconds, and a cache
// would have to be a global variable.
type shape struct {
	typ     reflect.Type
	kind    kind
	elem    *shape  // of list, dict and pointer
	fields  []field // of object
	viaJSON bool    // of custom: through the JSON methods, otherwise through the text methods
}

// TypeError means that a type cannot be an action or have parameters. It is a mistake of the action's author.
type TypeError struct {
	// Type is the struct; nil if the value was nil.
	Type reflect.Type
	// Field is the Go name of the field, with the fields around it; "" for the struct itself.
	Field string
	// Msg describes the mistake.
	Msg string
}

// Error names the type and the field.
func (e *TypeError) Error() string {
	switch {
	case e.Type == nil:
		return e.Msg
	case e.Field == "":
		return fmt.Sprintf("%v: %s", e.Type, e.Msg)
	default:
		return fmt.Sprintf("%v.%s: %s", e.Type, e.Field, e.Msg)
	}
}

// Action is an action with the shape of its type, for callers that use it more than once. The zero Action has no
// parameters.
type Action struct {
	shape   *shape
	value   reflect.Value // the struct
	pointer bool          // the action is a pointer to it
}

// Of returns the Action of a value; an [Action] is returned as it is. The error is a [*TypeError], also for a nil
// pointer.
func Of(value any) (Action, error) {
	if a, ok := value.(Action); ok {
		return a, nil
	}
	s, v, err := shapeOf(value)
	if err == nil && !v.IsValid() {
		err = &TypeError{Type: s.typ, Msg: "action is a nil pointer"}
	}
	if err != nil {
		return Action{}, err
	}
	return Action{shape: s, value: v, pointer: reflect.TypeOf(value).Kind() == reflect.Pointer}, nil
}

// with returns an action like a with another struct.
func (a Action) with(v reflect.Value) any {
	if !a.pointer {
		return v.Interface()
	}
	p := reflect.New(a.shape.typ)
	p.Elem().Set(v)
	return p.Interface()
}

// shapeOf returns the shape of an action and its struct, or the zero reflect.Value if value is a nil pointer.
func shapeOf(value any) (*shape, reflect.Value, error) {
	if value == nil {
		return nil, reflect.Value{}, &TypeError{Msg: "action is nil"}
	}
	v := reflect.ValueOf(value)
	t := v.Type()
	if t.Kind() == reflect.Pointer {
		t, v = t.Elem(), v.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil, reflect.Value{}, &TypeError{Type: v.Type(), Msg: "an action must be a struct or a pointer to one"}
	}
	b := builder{root: t, above: make([]reflect.Type, 0, 4), plain: make([]*shape, 0, 4)}
	// The struct itself is always read field by field: methods for JSON, perhaps promoted from an embedded field, would
	// hide its parameters.
	s, err := b.object(t, "")
	if err != nil {
		return nil, reflect.Value{}, err
	}
	return s, v, nil
}

type builder struct {
	root  reflect.Type
	above []reflect.Type // the types around the present one
	plain []*shape       // shapes of types without a name so far: most fields share a few
}

func (b *builder) fail(at, format string, args ...any) error {
	return &TypeError{Type: b.root, Field: at, Msg: fmt.Sprintf(format, args...)}
}

func (b *builder) shape(t reflect.Type, at string) (*shape, error) {
	if t.PkgPath() != "" {
		return b.newShape(t, at)
	}
	for _, s := range b.plain {
		if s.typ == t {
			return s, nil
		}
	}
	s, err := b.newShape(t, at)
	if err == nil {
		b.plain = append(b.plain, s)
	}
	return s, err
}

func (b *builder) newShape(t reflect.Type, at string) (*shape, error) {
	if s, err := b.custom(t, at); s != nil || err != nil {
		return s, err
	}
	s := &shape{typ: t}
	switch t.Kind() {
	case reflect.String:
		s.kind = text
	case reflect.Bool:
		s.kind = boolean
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		s.kind = integer
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		s.kind = unsigned
	case reflect.Float32, reflect.Float64:
		s.kind = float
	case reflect.Struct:
		return b.object(t, at)
	case reflect.Interface:
		if s.kind = anything; t.NumMethod() > 0 {
			return nil, b.fail(at, "%v cannot be a parameter: an interface must have no methods", t)
		}
	case reflect.Pointer:
		s.kind = pointer
		switch t.Elem().Kind() {
		case reflect.Pointer:
			return nil, b.fail(at, "a pointer to a pointer cannot be a parameter")
		case reflect.Interface:
			return nil, b.fail(at, "a pointer to an interface cannot be a parameter: the interface can be nil itself")
		}
		return b.container(s, at)
	case reflect.Slice:
		s.kind = list
		if t.Elem().Kind() == reflect.Uint8 {
			return nil, b.fail(at, "bytes cannot be a parameter: use a string")
		}
		return b.container(s, at)
	case reflect.Map:
		s.kind = dict
		if key, err := b.shape(t.Key(), at); err != nil || key.kind != text {
			return nil, b.fail(at, "a map that is a parameter must have strings as keys")
		}
		return b.container(s, at)
	default:
		return nil, b.fail(at, "%v cannot be a parameter", t)
	}
	return s, nil
}

func (b *builder) container(s *shape, at string) (*shape, error) {
	if err := b.enter(s.typ, at); err != nil {
		return nil, err
	}
	defer b.leave()
	var err error
	if s.elem, err = b.shape(s.typ.Elem(), at); err != nil {
		return nil, err
	}
	return s, nil
}

// enter refuses types that contain themselves, whose shape would be infinite.
func (b *builder) enter(t reflect.Type, at string) error {
	if slices.Contains(b.above, t) {
		return b.fail(at, "%v contains itself", t)
	}
	b.above = append(b.above, t)
	return nil
}

func (b *builder) leave() { b.above = b.above[:len(b.above)-1] }

// custom returns the shape of a type that reads and writes itself, or nil.
func (b *builder) custom(t reflect.Type, at string) (*shape, error) {
	if t.Kind() == reflect.Pointer || t.Kind() == reflect.Interface || t.PkgPath() == "" && t.Kind() != reflect.Struct {
		return nil, nil // a type without a name has methods only if it is a struct that embeds another
	}
	p := reflect.PointerTo(t) // its method set includes the methods of t
	readsJSON, writesJSON := p.Implements(reflect.TypeFor[json.Unmarshaler]()),
		p.Implements(reflect.TypeFor[json.Marshaler]())
	readsText, writesText := p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()),
		p.Implements(reflect.TypeFor[encoding.TextMarshaler]())
	switch {
	case readsJSON && writesJSON:
		return &shape{typ: t, kind: custom, viaJSON: true}, nil
	case readsText && writesText && !readsJSON && !writesJSON:
		return &shape{typ: t, kind: custom}, nil
	case readsJSON || writesJSON:
		return nil, b.fail(at, "%v must have both MarshalJSON and UnmarshalJSON, or neither", t)
	case readsText || writesText:
		return nil, b.fail(at, "%v must have both MarshalText and UnmarshalText, or neither", t)
	}
	return nil, nil
}

func (b *builder) object(t reflect.Type, at string) (*shape, error) {
	if err := b.enter(t, at); err != nil {
		return nil, err
	}
	defer b.leave()
	s := &shape{typ: t, kind: object}
	if err := b.addFields(s, t, nil, at); err != nil {
		return nil, err
	}
	return s, nil
}

func (b *builder) addFields(s *shape, t reflect.Type, index []int, at string) error {
	s.fields = slices.Grow(s.fields, t.NumField())
	indexes := make([]int, 0, t.NumField()*(len(index)+1)) // for all fields
	for i := range t.NumField() {
		sf := t.Field(i)
		place := sf.Name
		if at != "" {
			place = at + "." + sf.Name
		}
		f, err := b.tags(sf, place)
		if err != nil {
			return err
		}
		from := len(indexes)
		indexes = append(append(indexes, index...), i)
		where := slices.Clip(indexes[from:])
		if f.embedded {
			if err := b.addFields(s, sf.Type, where, at); err != nil {
				return err
			}
			continue
		}
		if f.ignored {
			continue
		}
		f.index = where
		if slices.ContainsFunc(s.fields, func(o field) bool { return o.name == f.name }) {
			return b.fail(place, "two fields have the name %q", f.name)
		}
		if f.shape, err = b.shape(sf.Type, place); err != nil {
			return err
		}
		if len(f.enum) > 0 && !f.shape.holdsText() {
			return b.fail(place, "only strings, and lists and maps of them, can have an enum tag")
		}
		// An empty struct that is not required is left out, and its own required fields must not be missed.
		f.omit = !f.required && (f.omit || f.shape.kind == object)
		s.fields = append(s.fields, f)
	}
	return nil
}
