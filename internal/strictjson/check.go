package strictjson

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/millrace-go/millrace/internal/nearest"
)

// Shape describes what a JSON value has to look like. A nil Shape is a value that is neither a list nor an object. Null
// fits every shape.
type Shape struct {
	// Names are the allowed names of an object, in this very spelling, each with its shape. Nil for a value that is
	// not such an object.
	Names map[string]*Shape
	// Each is the shape of all elements of a list, or of all values of an object with any names if Names is nil.
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

// Check returns a [*SyntaxError] for the first thing in which data is not JSON as [Parse] takes it, or has another
// shape. It keeps nothing of the values, so that it is fit for texts of which another parser is going to make
// something. MaxValues does not count.
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

// known returns the shape of the value of a member.
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

// CheckDepth returns a [*SyntaxError] around [ErrTooDeep] if lists and objects in data are nested more than most
// deep, for texts that another parser is going to read, and how many objects there are. It needs no memory, and does
// not care whether data is JSON otherwise. Zero, less, and more than 10,000 mean what they mean in [Limits].
func CheckDepth(data []byte, most int) (objects int, err error) {
	most = maxDepth(most)
	depth, quoted := 0, false
	for pos := 0; pos < len(data); pos++ {
		switch c := data[pos]; {
		case quoted && c == '\\':
			pos++ // what is escaped
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

// maxDepth returns the depth that a field stands for.
func maxDepth(field int) int { return min(cmp.Or(max(field, 0), defaultDepth), mostDepth) }
