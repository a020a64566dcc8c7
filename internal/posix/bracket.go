package posix

import (
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/millrace-go/millrace/internal/match"
)

// element is one piece within brackets, before it is known whether it begins a range.
type element struct {
	char  rune
	class spans // not nil for [:name:]
	equal bool  // [=x=], which cannot begin a range
	named bool  // [=x=] or [.x.]
}

// bracket reads a bracket expression; p.tok is the [. The caller has already replaced escapes in it.
func (p *parser) bracket() *syntax.Regexp {
	start := p.at
	not := p.has(p.at, '^')
	if not {
		p.at++
	}
	var set spans
	var added []*span // the first span of each class in set
	simple := true
	// [:name:] alone is refused, because the user means [[:name:]]: plain is true before the first range or class.
	plain, other, colons := true, false, p.has(p.at, ':')
	for first := true; p.err == "" && (first || !p.has(p.at, ']')); first = false {
		from := p.element(first)
		switch {
		case from.class != nil:
			if class := &from.class[0]; !slices.Contains(added, class) { // otherwise it is already in the set
				added, set = append(added, class), append(set, from.class...)
			}
			simple, plain = false, false
		case !from.equal && p.has(p.at, '-') && !p.has(p.at+1, ']'):
			p.at++
			to := p.element(true)
			switch {
			case to.class != nil, to.equal:
				p.fail(errRange)
			case max(from.char, to.char) >= utf8.RuneSelf:
				p.fail(errCollation) // C.UTF-8 has no order of characters
			case from.char > to.char:
				p.fail(errRange)
			}
			set = append(set, span{from.char, to.char})
			simple, plain = false, false
		default:
			set = append(set, span{from.char, from.char})
			simple = simple && from.char < utf8.RuneSelf
			plain = plain && !from.named
			other = other || from.char != ':'
		}
	}
	if p.err != "" {
		return p.fail(p.err)
	}
	if plain && other && colons && p.has(p.at-1, ':') {
		return p.fail("character class syntax is [[:space:]], not [:space:]")
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

// fold returns the character that represents r if IgnoreCase is set.
func (p *parser) fold(r rune) rune {
	if p.IgnoreCase {
		return unicode.ToUpper(r)
	}
	return r
}

func (p *parser) has(at int, r rune) bool { return at < len(p.chars) && p.chars[at] == r }

// element reads one piece. A - is a literal only if hyphen is set, or as the last character.
func (p *parser) element(hyphen bool) element {
	if p.at >= len(p.chars) {
		p.fail(errUnmatchedBracket)
		return element{}
	}
	r := p.chars[p.at]
	p.at++
	if r == '[' && (p.has(p.at, '.') || p.has(p.at, '=') || p.has(p.at, ':')) {
		p.at++
		return p.named(p.chars[p.at-1])
	}
	if r == '-' && !hyphen {
		switch {
		case p.at >= len(p.chars):
			p.fail(errUnmatchedBracket)
		case !p.has(p.at, ']'):
			p.fail(errRange)
		}
	}
	return element{char: p.fold(r)}
}

// named reads the rest of [.x.], [=x=] or [:name:].
func (p *parser) named(kind rune) element {
	start := p.at
	for p.at-start < 32 && p.at+1 < len(p.chars) && (p.chars[p.at] != kind || p.chars[p.at+1] != ']') {
		p.at++
	}
	if p.at-start >= 32 || !p.has(p.at+1, ']') {
		p.fail(errUnmatchedBracket)
		return element{}
	}
	name := p.chars[start:p.at]
	p.at += 2
	if kind != ':' {
		if len(name) != 1 || name[0] >= utf8.RuneSelf {
			p.fail(errCollation)
			return element{}
		}
		return element{char: p.fold(name[0]), equal: kind == '=', named: true}
	}
	text := string(name)
	if p.IgnoreCase && (text == "upper" || text == "lower") {
		text = "alpha"
	}
	set := classes()[text]
	if set == nil || text == "word" { // "word" is only for \w
		p.fail("Invalid character class name")
	}
	return element{class: set}
}
