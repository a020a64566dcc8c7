package posix

import (
	"regexp/syntax"
	"strings"
)

type token struct {
	kind rune // the character of an operator in extended syntax, or a constant below
	char rune // of an anchor or a class: its spelling without the backslash
	at   int
}

const (
	tokEnd rune = -1 - iota
	tokChar
	tokClass // \w and similar
	tokAnchor
	tokBackReference
	tokBackslash // at the end of the pattern
)

// next reads the next token of the pattern. caret means that a ^ at this place is an anchor.
func (p *parser) next(caret bool) {
	at := p.at
	p.tok = token{kind: tokEnd, at: at}
	if at >= len(p.chars) {
		return
	}
	t := &p.tok
	t.kind, t.char = tokChar, p.chars[at]
	p.at++
	escaped := t.char == '\\'
	if escaped {
		if p.at == len(p.chars) {
			t.kind = tokBackslash
			return
		}
		t.char = p.chars[p.at]
		p.at++
	}
	switch r := t.char; {
	case strings.ContainsRune("|+?{}()", r):
		if escaped == p.Basic {
			t.kind = r
		}
	case !escaped && strings.ContainsRune(".*[", r):
		t.kind = r
	case escaped && '1' <= r && r <= '9':
		t.kind = tokBackReference
	case escaped && strings.ContainsRune("wWsS", r):
		t.kind = tokClass
	case escaped && strings.ContainsRune("<>bB`'", r),
		!escaped && r == '^' && (!p.Basic || caret || at == 0),
		!escaped && r == '$' && (!p.Basic || p.at == len(p.chars) || p.closes(p.at)):
		t.kind = tokAnchor
	}
}

// closes reports whether a \( ... \) or a branch of a basic pattern ends at a place.
func (p *parser) closes(at int) bool {
	return p.has(at, '\\') && (p.has(at+1, '|') || p.has(at+1, ')'))
}

// repeat reads the repetition of t at p.tok, and the token after it. t has that many nodes.
func (p *parser) repeat(t *syntax.Regexp, nodes int) *syntax.Regexp {
	op, low, high := syntax.OpStar, 0, -1
	switch p.tok.kind {
	case '+':
		op = syntax.OpPlus
	case '?':
		op = syntax.OpQuest
	case '{':
		op = syntax.OpRepeat
		if low, high = p.interval(); p.err != "" {
			return t
		}
	}
	p.next(false)
	if !p.grow(int64(nodes) * int64(max(low, high, 1)-1)) {
		return t
	}
	t = p.op(op, t)
	t.Min, t.Max = low, high
	return t
}

// interval reads the text between { and }; high is -1 for no limit. Afterwards p.tok is the }.
func (p *parser) interval() (low, high int) {
	low, ok := p.number()
	if !ok {
		return p.badInterval()
	}
	comma := p.tok.kind == tokChar && p.tok.char == ','
	switch {
	case low == -1 && !comma:
		p.fail(errInterval)
		return 0, 0
	case low == -1:
		low = 0
	}
	high = low
	if p.tok.kind != '}' {
		if high, ok = p.number(); !comma || !ok {
			return p.badInterval()
		}
	}
	const most = 32767 // as in all GNU programs
	switch {
	case p.tok.kind != '}', high != -1 && low > high:
		p.fail(errInterval)
	case max(low, high) > most:
		p.fail(errTooBig)
	}
	return low, high
}

func (p *parser) badInterval() (low, high int) {
	if p.tok.kind == tokEnd {
		p.fail("Unmatched \\{")
	} else {
		p.fail(errInterval)
	}
	return 0, 0
}

// number reads up to a comma or the end of the interval. n is -1 without digits. ok is false for anything except
// digits.
func (p *parser) number() (n int, ok bool) {
	const most = 1 << 20 // all larger numbers are too large
	n, ok = -1, true
	for {
		p.next(false)
		switch r := p.tok.char; {
		case p.tok.kind == tokEnd:
			return n, false
		case p.tok.kind == '}', r == ',':
			return n, ok
		case p.tok.kind != tokChar || r < '0' || '9' < r:
			ok = false
		default:
			n = min(most, max(n, 0)*10+int(r-'0'))
		}
	}
}
