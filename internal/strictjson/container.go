package strictjson

// nested reads an array or object, whose opening byte is next, with its parts read by parts.
func (p *parser) nested(n *Node, parts func(*Node) error) error {
	if p.depth++; p.depth > p.limits.MaxDepth {
		return p.failAs(ErrTooDeep, p.pos, "%s", tooDeep(p.limits.MaxDepth))
	}
	p.pos++
	if err := parts(n); err != nil {
		return err
	}
	p.depth--
	return nil
}

func (p *parser) elems(n *Node) error {
	for {
		p.space()
		if p.peek() == ']' {
			if len(n.Elems) > 0 {
				return p.fail(p.pos, "a comma before ']' has nothing after it")
			}
			p.pos++
			return nil
		}
		e, err := p.value()
		if err != nil {
			return err
		}
		n.Elems = append(n.Elems, e)
		if done, err := p.next(n, ']'); done || err != nil {
			return err
		}
	}
}

func (p *parser) members(n *Node) error {
	var seen names
	for {
		p.space()
		if p.peek() == '}' {
			if len(n.Members) > 0 {
				return p.fail(p.pos, "a comma before '}' has nothing after it")
			}
			p.pos++
			return nil
		}
		m := Member{NameOffset: p.pos}
		if p.peek() != '"' {
			return p.noName()
		}
		var err error
		if m.Name, err = p.text(); err != nil {
			return err
		}
		if seen.repeated(n.Members, m.Name) {
			return p.fail(m.NameOffset, "name %s appears twice in one object", quoted(m.Name))
		}
		p.space()
		if p.peek() != ':' {
			return p.fail(p.pos, "expected ':' after the name %s, found %s", quoted(m.Name), p.found())
		}
		p.pos++
		p.space()
		if m.Value, err = p.value(); err != nil {
			return err
		}
		n.Members = append(n.Members, m)
		if done, err := p.next(n, '}'); done || err != nil {
			return err
		}
	}
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
	return false, p.fail(p.pos, "expected ',' or the '%c' of the %s that starts in line %d, found %s", closing, n.Kind, line, p.found())
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
