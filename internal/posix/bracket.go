package posix

import (
	"regexp/syntax"
	"unicode"
	"unicode/utf8"

	"github.com/millrace-go/millrace/internal/match"
)

// element is one piece within brackets, before it is known whether it begins a range.
type element struct {
	char  rune
	class spans // not nil for [:name:]
	equal bool  // [=x=], which begins no range
	named bool  // [=x=] or [.x.]
}

// bracket reads a bracket expression; p.tok is the [. There are no escapes within: what sed has for them is replaced
// before.
func (p *parser) bracket() *syntax.Regexp {
	start := p.at
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
			return p.fail(p.err)
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
				return p.fail(p.err)
			}
			switch {
			case to.class != nil, to.equal:
				return p.fail(errRange)
			case max(from.char, to.char) >= utf8.RuneSelf:
				return p.fail(errCollation) // C.UTF-8 has no order of characters
			case from.char > to.char:
				return p.fail(errRange)
			}
			set = append(set, span{from.char, to.char})
			simple, plain = false, false
			continue
		}
		set = append(set, span{from.char, from.char})
		simple = simple && from.char < utf8.RuneSelf
		plain = plain && !from.named
		other = other || from.char != ':'
	}
	if plain && other && colons && p.has(p.at-1, ':') {
		return p.fail(errClassSyntax)
	}
	p.at++
	key := string(p.chars[start-1 : p.at])
	if p.known[key] == nil {
		if set = set.tidy(); len(set) > 0 && set[len(set)-1].hi >= match.RawByte {
			return p.fail(errRawBracket)
		}
		if not {
			if p.Lines {
				set = append(set, span{'\n', '\n'}).tidy()
			}
			set, simple = set.not(), false
		}
		if p.IgnoreCase {
			set = set.unfold()
		}
		p.keep(key, set)
	}
	p.plain = p.plain && simple
	return p.class(p.known[key])
}

// fold is what IgnoreCase makes of a character.
func (p *parser) fold(r rune) rune {
	if p.IgnoreCase {
		return unicode.ToUpper(r)
	}
	return r
}

// has reports whether the rune at a place is the one given.
func (p *parser) has(at int, r rune) bool { return at < len(p.chars) && p.chars[at] == r }

// element reads one piece. A - stands for itself only where hyphen says so or as the last one.
func (p *parser) element(hyphen bool) (element, bool) {
	if p.at >= len(p.chars) {
		p.fail(errUnmatchedBracket)
		return element{}, false
	}
	r := p.chars[p.at]
	p.at++
	if r == '[' && p.at < len(p.chars) {
		switch kind := p.chars[p.at]; kind {
		case '.', '=', ':':
			p.at++
			return p.named(kind)
		}
	}
	if r == '-' && !hyphen {
		switch {
		case p.at >= len(p.chars):
			p.fail(errUnmatchedBracket)
			return element{}, false
		case !p.has(p.at, ']'):
			p.fail(errRange)
			return element{}, false
		}
	}
	return element{char: p.fold(r)}, true
}

// named reads the rest of [.x.], [=x=] or [:name:].
func (p *parser) named(kind rune) (element, bool) {
	start := p.at
	for ; ; p.at++ {
		if p.at+1 >= len(p.chars) || p.at-start >= 32 {
			p.fail(errUnmatchedBracket)
			return element{}, false
		}
		if p.chars[p.at] == kind && p.chars[p.at+1] == ']' {
			break
		}
	}
	name := p.chars[start:p.at]
	p.at += 2
	if kind != ':' {
		if len(name) != 1 || name[0] >= utf8.RuneSelf {
			p.fail(errCollation)
			return element{}, false
		}
		return element{char: p.fold(name[0]), equal: kind == '=', named: true}, true
	}
	text := string(name)
	if p.IgnoreCase && (text == "upper" || text == "lower") {
		text = "alpha"
	}
	set, ok := classes()[text]
	if ok = ok && text != "word"; !ok { // only \w is called so
		p.fail(errClassName)
	}
	return element{class: set}, ok
}
