package strictjson

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/millrace-go/millrace/internal/nearest"
)

// Shape describes the allowed form of a JSON value. A nil Shape is a value that is neither a list nor an object. Null
// fits every shape.
type Shape struct {
	// Names are the allowed names of an object, in exactly this spelling, each with its shape. Nil for other values.
	Names map[string]*Shape
	// Each is the shape of all elements of a list, or, if Names is nil, of all values of an object with any names.
	Each *Shape
	// List means that the value is a list. Otherwise it is an object.
	List bool
	// any means that every value fits.
	any bool
}

// Anything returns a shape that every value fits.
func Anything() *Shape {
	s := &Shape{any: true}
	s.Each = s
	return s
}

// Check returns a [*SyntaxError] for the first place where data is not JSON for [Parse], or has another shape. It keeps
// no values, so it is suited to check text before another parser reads it. MaxValues does not apply.
func Check(data []byte, limits Limits, shape *Shape) error {
	limits.MaxDepth = maxDepth(limits.MaxDepth)
	p := &parser{data: data, limits: limits, check: true}
	_, err := p.document(shape)
	return err
}

func (s *Shape) word() string {
	if s.List {
		return "a list"
	}
	return "an object"
}

// known returns the shape for the value of a member.
func (p *parser) known(shape *Shape, m Member) (*Shape, error) {
	if shape.Names == nil {
		return shape.Each, nil
	}
	inside, ok := shape.Names[m.Name]
	if ok {
		return inside, nil
	}
	if near, ok := nearest.Of(m.Name, slices.Collect(maps.Keys(shape.Names))); ok {
		return nil, p.fail(m.NameOffset, "unknown field %s: did you mean %s?", quoted(m.Name), quoted(near))
	}
	return nil, p.fail(m.NameOffset, "unknown field %s", quoted(m.Name))
}

// CheckDepth returns a [*SyntaxError] that wraps [ErrTooDeep] if lists and objects in data are nested more than most
// deep. It also returns the number of objects. It is for text that another parser will read. It needs no memory, and
// does not check the rest of the syntax. For most, zero, less, and more than 10,000 have the same meaning as in
// [Limits].
func CheckDepth(data []byte, most int) (objects int, err error) {
	most = maxDepth(most)
	depth, quoted := 0, false
	for pos := 0; pos < len(data); pos++ {
		switch c := data[pos]; {
		case quoted && c == '\\':
			pos++ // skip the escaped byte
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[', c == '{':
			if c == '{' {
				objects++
			}
			if depth++; depth > most {
				line, column := LineColumn(data, pos)
				return objects, &SyntaxError{Offset: pos, Line: line, Column: column, Msg: tooDeep(most),
					Err: ErrTooDeep}
			}
		case c == ']', c == '}':
			depth--
		}
	}
	return objects, nil
}

func tooDeep(most int) string {
	return fmt.Sprintf("lists and objects are nested more than %d deep", most)
}

// maxDepth returns the depth limit that a field means.
func maxDepth(field int) int { return min(cmp.Or(max(field, 0), defaultDepth), mostDepth) }
