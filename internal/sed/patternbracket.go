package sed

import "slices"

// element is one piece within brackets, before it is known whether it begins a range.
type element struct {
	char  unit
	class spans // not nil for [:name:]
	equal bool  // [=x=], which begins no range
	named bool  // [=x=] or [.x.]
}

// bracket reads a bracket expression; p.tok is the [. There are no escapes within: what sed has for them is replaced before.
func (p *patternParser) bracket() *tree {
	not := p.has(p.at, '^')
	if not {
		p.at++
	}
	var set spans
	simple := true
	// [:name:] alone is refused, as [[:name:]] is meant: plain until there is a range or a class.
	plain, other, colons := true, false, p.has(p.at, ':')
	for first := true; first || !p.has(p.at, ']'); first = false {
		from, ok := p.element(first)
		if !ok {
			return nil
		}
		switch {
		case from.class != nil:
			if set = append(set, from.class...); len(set) > 1<<14 {
				set = set.tidy() // the same classes again and again
			}
			simple, plain = false, false
			continue
		case !from.equal && p.has(p.at, '-') && !p.has(p.at+1, ']'):
			p.at++
			to, ok := p.element(true)
			if !ok {
				return nil
			}
			switch {
			case to.class != nil, to.equal:
				return p.fail(errRange)
			case min(from.char, to.char) < 0, max(from.char, to.char) >= 0x80:
				return p.fail(errCollation) // C.UTF-8 has no order of characters
			case from.char > to.char:
				return p.fail(errRange)
			}
			set = append(set, span{from.char, to.char})
			simple, plain = false, false
			continue
		}
		set = append(set, span{from.char, from.char})
		simple = simple && 0 <= from.char && from.char < 0x80
		plain = plain && !from.named
		other = other || from.char != ':'
	}
	if plain && other && colons && p.has(p.at-1, ':') {
		return p.fail(errClassSyntax)
	}
	p.at++
	set = set.tidy()
	if len(set) > 0 && set[0].lo < 0 {
		return p.fail(errRawBracket)
	}
	if not {
		if p.lines {
			set = append(set, span{'\n', '\n'}).tidy()
		}
		set, simple = set.not(), false
	}
	p.simple = p.simple && simple
	return p.set(slices.Clip(set))
}

// has reports whether the unit at a place is the one given.
func (p *patternParser) has(at int, u unit) bool { return at < len(p.units) && p.units[at] == u }

// element reads one piece. A - stands for itself only where hyphen says so or as the last one.
func (p *patternParser) element(hyphen bool) (element, bool) {
	if p.at >= len(p.units) {
		p.fail(errUnmatchedBracket)
		return element{}, false
	}
	u := p.units[p.at]
	p.at++
	if u == '[' && p.at < len(p.units) {
		switch kind := p.units[p.at]; kind {
		case '.', '=', ':':
			p.at++
			return p.named(kind)
		}
	}
	if u == '-' && !hyphen {
		switch {
		case p.at >= len(p.units):
			p.fail(errUnmatchedBracket)
			return element{}, false
		case !p.has(p.at, ']'):
			p.fail(errRange)
			return element{}, false
		}
	}
	return element{char: p.fold(u)}, true
}

// named reads the rest of [.x.], [=x=] or [:name:].
func (p *patternParser) named(kind unit) (element, bool) {
	start := p.at
	for ; ; p.at++ {
		if p.at+1 >= len(p.units) || p.at-start >= 32 {
			p.fail(errUnmatchedBracket)
			return element{}, false
		}
		if p.units[p.at] == kind && p.units[p.at+1] == ']' {
			break
		}
	}
	name := p.units[start:p.at]
	p.at += 2
	if kind != ':' {
		if len(name) != 1 || name[0] < 0 || name[0] >= 0x80 {
			p.fail(errCollation)
			return element{}, false
		}
		return element{char: p.fold(name[0]), equal: kind == '=', named: true}, true
	}
	text := make([]byte, 0, len(name))
	for _, u := range name {
		text = encode(text, u)
	}
	if p.icase && (string(text) == "upper" || string(text) == "lower") {
		text = []byte("alpha")
	}
	set, ok := class(string(text))
	if !ok {
		p.fail(errClassName)
	}
	return element{class: set}, ok
}
