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
	char  unit
	when  constraint
	delim bool // \b or \B, which are two anchors each
	at, n int
}

// peek reads the piece of the pattern at p.at. After what a ^ may follow, caret is true.
func (p *patternParser) peek(at int, caret bool) token {
	if at >= len(p.units) {
		return token{kind: tokEnd, at: at}
	}
	u := p.units[at]
	t := token{kind: tokChar, char: p.fold(u), at: at, n: 1}
	if u == '\\' {
		return p.peekEscape(t)
	}
	switch u {
	case '.':
		t.kind = tokDot
	case '*':
		t.kind = tokStar
	case '[':
		t.kind = tokBracket
	case '^':
		if !p.basic || caret || at == 0 {
			t.kind, t.when = tokAnchor, lineFirst
		}
	case '$':
		if !p.basic || at+1 == len(p.units) || p.closes(at+1) {
			t.kind, t.when = tokAnchor, lineLast
		}
	case '|', '+', '?', '{', '}', '(', ')':
		if !p.basic {
			t.kind = operator(u)
		}
	}
	return t
}

// closes reports whether a \( ... \) or a branch ends at a place in a basic pattern.
func (p *patternParser) closes(at int) bool {
	k := p.peek(at, false).kind
	return k == tokAlt || k == tokClose
}

func operator(u unit) tokenKind {
	switch u {
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
	if t.at+1 >= len(p.units) {
		t.kind = tokBackslash
		return t
	}
	u := p.units[t.at+1]
	t.char, t.n = u, 2 // not folded: the C library takes it as it is, so that with I, \q matches nothing
	switch u {
	case '|', '+', '?', '{', '}', '(', ')':
		if p.basic {
			t.kind = operator(u)
		}
	case '1', '2', '3', '4', '5', '6', '7', '8', '9':
		t.kind = tokBackReference
	case 'w', 'W', 's', 'S':
		t.kind = tokClass
	case '<':
		t.kind, t.when = tokAnchor, wordFirst
	case '>':
		t.kind, t.when = tokAnchor, wordLast
	case 'b':
		t.kind, t.when, t.delim = tokAnchor, wordFirst, true
	case 'B':
		t.kind, t.when, t.delim = tokAnchor, insideWord, true
	case '`':
		t.kind, t.when = tokAnchor, bufFirst
	case '\'':
		t.kind, t.when = tokAnchor, bufLast
	}
	return t
}
