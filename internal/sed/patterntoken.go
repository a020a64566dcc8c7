package sed

// tokenKind says what a piece of a pattern means.
type tokenKind uint8

const (
	tokEnd tokenKind = iota
	tokChar
	tokDot
	tokClass // \w and its like
	tokBracket
	tokStar
	tokPlus
	tokQuestion
	tokInterval
	tokIntervalEnd
	tokAlt
	tokOpen
	tokClose
	tokAnchor
	tokBackReference
	tokBackslash // at the end
)

type token struct {
	kind  tokenKind
	char  rune // of an anchor, what it is written with, but for the backslash
	at, n int
}

// peek reads the piece of the pattern at p.at. After what a ^ may follow, caret is true.
func (p *patternParser) peek(at int, caret bool) token {
	if at >= len(p.chars) {
		return token{kind: tokEnd, at: at}
	}
	r := p.chars[at]
	t := token{kind: tokChar, char: r, at: at, n: 1}
	if r == '\\' {
		return p.peekEscape(t)
	}
	switch r {
	case '.':
		t.kind = tokDot
	case '*':
		t.kind = tokStar
	case '[':
		t.kind = tokBracket
	case '^':
		if !p.basic || caret || at == 0 {
			t.kind = tokAnchor
		}
	case '$':
		if !p.basic || at+1 == len(p.chars) || p.closes(at+1) {
			t.kind = tokAnchor
		}
	case '|', '+', '?', '{', '}', '(', ')':
		if !p.basic {
			t.kind = operator(r)
		}
	}
	return t
}

// closes reports whether a \( ... \) or a branch ends at a place in a basic pattern.
func (p *patternParser) closes(at int) bool {
	return p.has(at, '\\') && (p.has(at+1, '|') || p.has(at+1, ')'))
}

func operator(r rune) tokenKind {
	switch r {
	case '|':
		return tokAlt
	case '+':
		return tokPlus
	case '?':
		return tokQuestion
	case '{':
		return tokInterval
	case '}':
		return tokIntervalEnd
	case '(':
		return tokOpen
	}
	return tokClose
}

func (p *patternParser) peekEscape(t token) token {
	if t.at+1 >= len(p.chars) {
		t.kind = tokBackslash
		return t
	}
	r := p.chars[t.at+1]
	t.char, t.n = r, 2
	switch r {
	case '|', '+', '?', '{', '}', '(', ')':
		if p.basic {
			t.kind = operator(r)
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
