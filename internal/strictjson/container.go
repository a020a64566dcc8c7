package strictjson

// nested reads an array or object, whose opening byte is next, with its parts read by parts.
func (p *parser) nested(n *Node, shape *Shape, parts func(*Node, *Shape) error) error {
	if p.check {
		if shape == nil {
			return p.fail(p.pos, "expected a plain value, found %s", p.found())
		}
		if shape.List != (n.Kind == Array) {
			return p.fail(p.pos, "expected %s, found %s", shape.word(), p.found())
		}
	}
	if p.depth++; p.depth > p.limits.MaxDepth {
		return p.failAs(ErrTooDeep, p.pos, "%s", tooDeep(p.limits.MaxDepth))
	}
	p.pos++
	if err := parts(n, shape); err != nil {
		return err
	}
	p.depth--
	return nil
}

func (p *parser) elems(n *Node, shape *Shape) error {
	var each *Shape
	if p.check {
		each = shape.Each
	}
	for first := true; ; first = false {
		if p.space(); p.peek() == ']' {
			return p.end(first)
		}
		e, err := p.value(each)
		if err != nil {
			return err
		}
		if !p.check {
			n.Elems = append(n.Elems, e)
		}
		if done, err := p.next(n, ']'); done || err != nil {
			return err
		}
	}
}

func (p *parser) members(n *Node, shape *Shape) error {
	var seen names
	for first := true; ; first = false {
		if p.space(); p.peek() == '}' {
			return p.end(first)
		}
		m := Member{NameOffset: p.pos}
		if p.peek() != '"' {
			return p.noName()
		}
		var err error
		if m.Name, err = p.text(); err != nil {
			return err
		}
		var inside *Shape
		if p.check {
			if inside, err = p.known(shape, m); err != nil {
				return err
			}
		}
		if seen.repeated(n.Members, m.Name) {
			return p.fail(m.NameOffset, "name %s appears twice in one object", quoted(m.Name))
		}
		if p.space(); p.peek() != ':' {
			return p.fail(p.pos, "expected ':' after the name %s, found %s", quoted(m.Name), p.found())
		}
		p.pos++
		p.space()
		if m.Value, err = p.value(inside); err != nil {
			return err
		}
		n.Members = append(n.Members, m)
		if done, err := p.next(n, '}'); done || err != nil {
			return err
		}
	}
}

// end reads the closing byte that is next, which cannot follow a comma.
func (p *parser) end(first bool) error {
	if !first {
		return p.fail(p.pos, "a comma before '%c' has nothing after it", p.peek())
	}
	p.pos++
	return nil
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

// next reads the comma or the closing byte after a part of n; done is true at the latter.
func (p *parser) next(n *Node, closing byte) (done bool, err error) {
	p.space()
	switch p.peek() {
	case ',':
		p.pos++
		return false, nil
	case closing:
		p.pos++
		return true, nil
	}
	line, _ := LineColumn(p.data, n.Offset)
	return false, p.fail(p.pos, "expected ',' or the '%c' of the %s that starts in line %d, found %s", closing,
		n.Kind, line, p.found())
}

// names finds repeated names: small objects by looking at each, large ones with a set.
type names struct{ set map[string]bool }

func (s *names) repeated(members []Member, name string) bool {
	const few = 16
	if len(members) < few {
		for i := range members {
			if members[i].Name == name {
				return true
			}
		}
		return false
	}
	if s.set == nil {
		s.set = make(map[string]bool, 2*few)
		for i := range members {
			s.set[members[i].Name] = true
		}
	}
	if s.set[name] {
		return true
	}
	s.set[name] = true
	return false
}
