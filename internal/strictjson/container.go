package strictjson

import "slices"

// nested reads an array or object, starting at its opening byte; part reads each of its parts.
func (p *parser) nested(n *Node, shape *Shape, closing byte, part func(*Node, *Shape) error) error {
	if p.check {
		if shape == nil {
			return p.fail(p.pos, "expected a plain value, found %s", p.found())
		}
		if !shape.any && shape.List != (n.Kind == Array) {
			return p.fail(p.pos, "expected %s, found %s", shape.word(), p.found())
		}
	}
	if p.depth++; p.depth > p.limits.MaxDepth {
		return p.failAs(ErrTooDeep, p.pos, "%s", tooDeep(p.limits.MaxDepth))
	}
	p.names = append(p.names[:p.depth-1], nil)
	p.pos++
	p.space()
	for p.peek() != closing {
		if err := part(n, shape); err != nil {
			return err
		}
		p.space()
		switch p.peek() {
		case ',':
			p.pos++
			if p.space(); p.peek() == closing {
				return p.fail(p.pos, "a comma before '%c' has nothing after it", closing)
			}
		case closing:
		default:
			line, _ := LineColumn(p.data, n.Offset)
			return p.fail(p.pos, "expected ',' or the '%c' of the %s that starts in line %d, found %s", closing,
				n.Kind, line, p.found())
		}
	}
	p.pos++
	p.depth--
	return nil
}

func (p *parser) elem(n *Node, shape *Shape) error {
	if p.check {
		_, err := p.value(shape.Each)
		return err
	}
	e, err := p.value(nil)
	n.Elems = append(n.Elems, e)
	return err
}

func (p *parser) member(n *Node, shape *Shape) (err error) {
	m := Member{NameOffset: p.pos}
	if p.peek() != '"' {
		return p.noName()
	}
	if m.Name, err = p.text(); err != nil {
		return err
	}
	var inside *Shape
	if p.check {
		if inside, err = p.known(shape, m); err != nil {
			return err
		}
	}
	if p.repeated(n.Members, m.Name) {
		return p.fail(m.NameOffset, "name %s appears twice in one object", quoted(m.Name))
	}
	if p.space(); p.peek() != ':' {
		return p.fail(p.pos, "expected ':' after the name %s, found %s", quoted(m.Name), p.found())
	}
	p.pos++
	p.space()
	m.Value, err = p.value(inside)
	n.Members = append(n.Members, m)
	return err
}

func (p *parser) noName() error {
	switch c := p.peek(); {
	case c == '\'' || c == '`' || letter(c):
		return p.fail(p.pos, "expected a name in double quotes, found %s", p.found())
	case c == '/' || c == '#':
		return p.fail(p.pos, "expected a name, found %s: comments are not allowed in JSON", p.found())
	default:
		return p.fail(p.pos, "expected a name or '}', found %s", p.found())
	}
}

// repeated reports whether an earlier member has the name. It compares with each of a few members, and uses a set for
// more.
func (p *parser) repeated(members []Member, name string) bool {
	const few = 16
	if len(members) < few {
		return slices.ContainsFunc(members, func(m Member) bool { return m.Name == name })
	}
	set := p.names[p.depth-1]
	if set == nil {
		set = make(map[string]bool, 2*few)
		for i := range members {
			set[members[i].Name] = true
		}
		p.names[p.depth-1] = set
	}
	twice := set[name]
	set[name] = true
	return twice
}
