package params

import (
	"reflect"
	"strconv"

	"github.com/millrace-go/millrace/internal/strictjson"
)

// path is a place below "params", linked upwards, so that its text is only made when needed. Nil is "params" itself.
type path struct {
	up    *path
	name  string // of a member, if index is below 0
	index int
}

func (p *path) member(name string) *path { return &path{up: p, name: name, index: -1} }
func (p *path) elem(i int) *path         { return &path{up: p, index: i} }

// pointer returns the JSON pointer.
func (p *path) pointer() string {
	if p == nil {
		return ""
	}
	if p.index >= 0 {
		return p.up.pointer() + "/" + strconv.Itoa(p.index)
	}
	return p.up.pointer() + "/" + strictjson.EscapeToken(p.name)
}

// String returns the place in the form of messages: "edits[0].old_text".
func (p *path) String() string {
	if p == nil {
		return "params"
	}
	if p.index >= 0 {
		return p.up.String() + "[" + strconv.Itoa(p.index) + "]"
	}
	if p.up == nil {
		return shown(p.name)
	}
	return p.up.String() + "." + shown(p.name)
}

// last returns the last part of the place.
func (p *path) last() string {
	if p.index >= 0 {
		return strconv.Itoa(p.index)
	}
	return p.name
}

// follow returns the path of a JSON pointer, and the shape and the value there. ok is false without a value, as
// below a nil pointer. The value itself, "", is not a parameter.
func follow(s *shape, v reflect.Value, to string) (at *path, found *shape, there reflect.Value, ok bool) {
	tokens, ok := strictjson.SplitPointer(to)
	if !ok || len(tokens) == 0 {
		return nil, nil, v, false
	}
	for _, token := range tokens {
		if s.kind == pointer {
			if v.IsNil() {
				return nil, nil, v, false
			}
			s, v = s.elem, v.Elem()
		}
		switch s.kind {
		case object:
			f := s.field(token)
			if f == nil {
				return nil, nil, v, false
			}
			at, s, v = at.member(token), f.shape, v.FieldByIndex(f.index)
		case dict:
			v = v.MapIndex(reflect.ValueOf(token).Convert(s.typ.Key()))
			if !v.IsValid() {
				return nil, nil, v, false
			}
			at, s = at.member(token), s.elem
		case list:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= v.Len() || strconv.Itoa(i) != token {
				return nil, nil, v, false
			}
			at, s, v = at.elem(i), s.elem, v.Index(i)
		default:
			return nil, nil, v, false
		}
	}
	return at, s, v, true
}
