package posix

// token is a piece of a pattern.
type token struct {
	kind  rune // what an operator is written with in extended syntax, or one of those below
	char  rune // of an anchor or a class, what it is written with, but for the backslash
	at, n int
}

const (
	tokEnd rune = -1 - iota
	tokChar
	tokClass // \w and its like
	tokAnchor
	tokBackReference
	tokBackslash // at the end
)

// peek reads the piece of the pattern at p.at. After what a ^ may follow, caret is true.
func (p *parser) peek(at int, caret bool) token {
	if at >= len(p.chars) {
		return token{kind: tokEnd, at: at}
	}
	r := p.chars[at]
	t := token{kind: tokChar, char: r, at: at, n: 1}
	switch r {
	case '\\':
		return p.peekEscape(t)
	case '.', '*', '[':
		t.kind = r
	case '^':
		if !p.Basic || caret || at == 0 {
			t.kind = tokAnchor
		}
	case '$':
		if !p.Basic || at+1 == len(p.chars) || p.closes(at+1) {
			t.kind = tokAnchor
		}
	case '|', '+', '?', '{', '}', '(', ')':
		if !p.Basic {
			t.kind = r
		}
	}
	return t
}

// closes reports whether a \( ... \) or a branch ends at a place in a basic pattern.
func (p *parser) closes(at int) bool {
	return p.has(at, '\\') && (p.has(at+1, '|') || p.has(at+1, ')'))
}

func (p *parser) peekEscape(t token) token {
	if t.at+1 >= len(p.chars) {
		t.kind = tokBackslash
		return t
	}
	t.char, t.n = p.chars[t.at+1], 2
	switch t.char {
	case '|', '+', '?', '{', '}', '(', ')':
		if p.Basic {
			t.kind = t.char
		}
	case '1', '2', '3', '4', '5', '6', '7', '8', '9':
		t.kind = tokBackReference
	case 'w', 'W', 's', 'S':
		t.kind = tokClass
	case '<', '>', 'b', 'B', '`', '\'':
		t.kind = tokAnchor
	}
	return t
}
