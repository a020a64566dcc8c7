package strictjson

import (
	"maps"
	"slices"
)

// Shape says what a JSON value has to look like. A nil Shape is a value that is neither a list nor an object. Null
// fits every shape.
type Shape struct {
	// Names are what an object may have, by name, in this very spelling. Nil for what is no such object.
	Names map[string]*Shape
	// Each is the shape of all elements of a list, or of all values of an object with any names if Names is nil.
	Each *Shape
	// List says that the value is a list. Otherwise it is an object.
	List bool
}

// Check returns a [*SyntaxError] for the first thing in which data is not JSON as [Parse] takes it, or has another
// shape. It keeps nothing of the values, so that it is fit for texts of which another parser is going to make
// something. MaxValues does not count.
func Check(data []byte, limits Limits, shape *Shape) error {
	limits.MaxDepth = maxDepth(limits.MaxDepth)
	c := &checker{parser: parser{data: data, limits: limits}}
	if err := c.checkEncoding(); err != nil {
		return err
	}
	c.space()
	if c.pos == len(data) {
		return c.fail(c.pos, "the text is empty")
	}
	if err := c.value(shape); err != nil {
		return err
	}
	c.space()
	if c.pos < len(data) {
		return c.fail(c.pos, "%s after the end of the JSON value", c.found())
	}
	return nil
}

type checker struct {
	parser
	open []Member // the names so far of all objects that are open
}

func (c *checker) value(shape *Shape) (err error) {
	start, n := c.pos, Node{}
	switch next := c.peek(); {
	case next == '{' || next == '[':
		return c.container(shape, next == '[')
	case next == '"':
		n.Kind = String
		_, err = c.text()
	case next == '-' || '0' <= next && next <= '9':
		n.Kind = Number
		_, err = c.number()
	case letter(next):
		err = c.word(&n)
	default:
		return c.noValue()
	}
	if err == nil && n.Kind != Null && shape != nil {
		err = c.fail(start, "expected %s, found a %s", shape.word(), n.Kind)
	}
	return err
}

func (s *Shape) word() string {
	if s.List {
		return "a list"
	}
	return "an object"
}

func (c *checker) container(shape *Shape, list bool) error {
	switch {
	case shape == nil:
		return c.fail(c.pos, "expected a plain value, found %s", c.found())
	case shape.List != list:
		return c.fail(c.pos, "expected %s, found %s", shape.word(), c.found())
	}
	if c.depth++; c.depth > c.limits.MaxDepth {
		return c.failAs(ErrTooDeep, c.pos, "%s", tooDeep(c.limits.MaxDepth))
	}
	n := Node{Kind: Object, Offset: c.pos}
	c.pos++
	var err error
	if list {
		n.Kind = Array
		err = c.elems(&n, shape.Each)
	} else {
		err = c.members(&n, shape)
	}
	c.depth--
	return err
}

func (c *checker) elems(n *Node, each *Shape) error {
	for first := true; ; first = false {
		c.space()
		if c.peek() == ']' {
			if !first {
				return c.fail(c.pos, "a comma before ']' has nothing after it")
			}
			c.pos++
			return nil
		}
		if err := c.value(each); err != nil {
			return err
		}
		if done, err := c.next(n, ']'); done || err != nil {
			return err
		}
	}
}

func (c *checker) members(n *Node, shape *Shape) error {
	base := len(c.open)
	defer func() { c.open = c.open[:base] }()
	var seen names
	for first := true; ; first = false {
		c.space()
		if c.peek() == '}' {
			if !first {
				return c.fail(c.pos, "a comma before '}' has nothing after it")
			}
			c.pos++
			return nil
		}
		if c.peek() != '"' {
			return c.noName()
		}
		start := c.pos
		name, err := c.text()
		if err != nil {
			return err
		}
		inside, err := c.known(shape, name, start)
		if err != nil {
			return err
		}
		if seen.repeated(c.open[base:], name) {
			return c.fail(start, "name %s appears twice in one object", quoted(name))
		}
		c.open = append(c.open, Member{Name: name})
		c.space()
		if c.peek() != ':' {
			return c.fail(c.pos, "expected ':' after the name %s, found %s", quoted(name), c.found())
		}
		c.pos++
		c.space()
		if err := c.value(inside); err != nil {
			return err
		}
		if done, err := c.next(n, '}'); done || err != nil {
			return err
		}
	}
}

// known returns the shape of what has the name.
func (c *checker) known(shape *Shape, name string, offset int) (*Shape, error) {
	if shape.Names == nil {
		return shape.Each, nil
	}
	inside, ok := shape.Names[name]
	if ok {
		return inside, nil
	}
	if near, ok := Nearest(name, slices.Collect(maps.Keys(shape.Names))); ok {
		return nil, c.fail(offset, "unknown field %s: did you mean %s?", quoted(name), quoted(near))
	}
	return nil, c.fail(offset, "unknown field %s", quoted(name))
}
