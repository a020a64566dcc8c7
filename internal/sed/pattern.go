package sed

import "encoding/binary"

// maxPatternBytes is the longest pattern, and maxNesting how deep its groups may be nested.
const (
	maxPatternBytes = 64 << 10
	maxNesting      = 1000
)

// maxRepeat is the largest number in an interval, as everywhere in GNU.
const maxRepeat = 32767

// patternParser reads one pattern in POSIX syntax, as the C library reads it.
type patternParser struct {
	units    []unit
	basic    bool
	icase    bool
	lines    bool // M: . and [^...] do not match a newline
	bytes    bool // the pattern has bytes that are part of no character, so that every byte is a unit
	maxNodes int

	at     int // behind tok
	tok    token
	groups int32
	nodes  int
	sets   []spans
	known  map[string]int32 // sets by what is in them
	key    []byte
	simple bool // nothing but literals, dots, simple brackets and anchors of lines: the C library compares bytes then
	words  bool // there are anchors at words
	alts   bool // there may be more than one way to match
	where  int  // the unit at which the error is
	err    string
}

// fold is what I makes of a unit.
func (p *patternParser) fold(u unit) unit {
	if p.icase {
		return upper(u)
	}
	return u
}

func (p *patternParser) next(caret bool) {
	p.tok = p.peek(p.at, caret)
	p.at += p.tok.n
}

// fail keeps the first error and ends the parse.
func (p *patternParser) fail(text string) *tree {
	if p.err == "" {
		p.err, p.where = text, p.tok.at
	}
	p.at = len(p.units)
	p.tok = token{kind: tokEnd, at: p.at}
	return nil
}

func (p *patternParser) node(t tree) *tree {
	if p.nodes++; p.nodes > p.maxNodes {
		return p.fail(errTooBig)
	}
	return &t
}

// copy is copyTree within the limit.
func (p *patternParser) copy(t *tree) *tree {
	if p.nodes += t.size(); p.nodes > p.maxNodes {
		return p.fail(errTooBig)
	}
	return copyTree(t)
}

func (p *patternParser) pair(kind treeKind, left, right *tree) *tree {
	if kind == treeAlt || kind == treeStar {
		p.alts = true
	}
	return p.node(tree{kind: kind, left: left, right: right})
}

// join is the concatenation of two trees of which either may be empty.
func (p *patternParser) join(left, right *tree) *tree {
	switch {
	case left == nil:
		return right
	case right == nil:
		return left
	}
	return p.pair(treeCat, left, right)
}

// set is one unit of a set. Sets that are the same are kept once: that of a class is long.
func (p *patternParser) set(s spans) *tree {
	p.key = p.key[:0]
	for _, r := range s {
		p.key = binary.LittleEndian.AppendUint64(p.key, uint64(uint32(r.lo))<<32|uint64(uint32(r.hi)))
	}
	i, ok := p.known[string(p.key)]
	if !ok {
		i = int32(len(p.sets))
		if p.known == nil {
			p.known = make(map[string]int32)
		}
		p.known[string(p.key)] = i
		p.sets = append(p.sets, s)
	}
	return p.node(tree{kind: treeSet, set: i})
}

// literal is one character of the pattern.
func (p *patternParser) literal(u unit) *tree {
	if !p.bytes || 0 <= u && u < 0x80 {
		return p.set(spans{{u, u}})
	}
	var t *tree
	for _, b := range encode(nil, u) {
		t = p.join(t, p.set(spans{{unit(b), unit(b)}}))
	}
	return t
}

// parse reads the whole pattern. The caller looks at p.err.
func (p *patternParser) parse() *tree {
	p.simple = !p.icase
	p.next(true)
	t := p.alternatives(0)
	end := p.node(tree{kind: treeEnd})
	if t == nil {
		return end
	}
	return p.pair(treeCat, t, end)
}

func (p *patternParser) alternatives(nest int) *tree {
	t := p.branch(nest)
	for p.tok.kind == tokAlt {
		p.next(true)
		var right *tree
		if k := p.tok.kind; k != tokAlt && k != tokEnd && (nest == 0 || k != tokClose) {
			right = p.branch(nest)
		}
		t = p.pair(treeAlt, t, right)
	}
	return t
}

func (p *patternParser) branch(nest int) *tree {
	t := p.expression(nest)
	for k := p.tok.kind; k != tokAlt && k != tokEnd && (nest == 0 || k != tokClose); k = p.tok.kind {
		t = p.join(t, p.expression(nest))
	}
	return t
}

func (p *patternParser) expression(nest int) *tree {
	var t *tree
	switch tok := p.tok; tok.kind {
	case tokAlt, tokEnd:
		return nil
	case tokBackslash:
		return p.fail(errTrailing)
	case tokBackReference:
		return p.fail(errBackReference)
	case tokAnchor:
		// Nothing repeats an anchor: a * that follows is an error or itself.
		t = p.anchor(tok)
		p.next(false)
		return t
	case tokOpen:
		t = p.group(nest + 1)
	case tokBracket:
		t = p.bracket()
	case tokDot:
		t = p.dot()
	case tokClass:
		t = p.escapeClass(tok.char)
	case tokClose:
		return p.fail(errUnmatchedClose)
	case tokInterval, tokStar, tokPlus, tokQuestion:
		if !p.basic || tok.kind == tokInterval {
			return p.fail(errRepeatsNothing)
		}
		t = p.literal(tok.char)
	default:
		t = p.literal(tok.char)
	}
	p.next(false)
	for {
		switch p.tok.kind {
		case tokStar, tokPlus, tokQuestion, tokInterval:
		default:
			return t
		}
		t = p.repeat(t)
		if p.basic && (p.tok.kind == tokStar || p.tok.kind == tokInterval) {
			return p.fail(errRepeatsNothing)
		}
	}
}

func (p *patternParser) anchor(tok token) *tree {
	if tok.when&wordAny != 0 {
		p.words, p.simple = true, false
	}
	first := p.node(tree{kind: treeAnchor, when: tok.when})
	if !tok.delim {
		return first
	}
	other := wordLast
	if tok.when == insideWord {
		other = insideNotWord
	}
	return p.pair(treeAlt, first, p.node(tree{kind: treeAnchor, when: other}))
}

func (p *patternParser) group(nest int) *tree {
	if nest > maxNesting {
		return p.fail(errTooDeep)
	}
	group := p.groups
	p.groups++
	p.next(true)
	var t *tree
	if p.tok.kind != tokClose {
		t = p.alternatives(nest)
		if p.tok.kind != tokClose {
			return p.fail(errUnmatchedOpen)
		}
	}
	return p.node(tree{kind: treeGroup, left: t, group: group})
}

func (p *patternParser) escapeClass(u unit) *tree {
	p.simple = false
	name := "word"
	if u == 's' || u == 'S' {
		name = "space"
	}
	s := classes()[name]
	if u == 'W' || u == 'S' {
		s = s.not() // with a newline, whatever M says
	}
	return p.set(s)
}

// dot is any character. Where every byte is a unit it is written out as what UTF-8 may be.
func (p *patternParser) dot() *tree {
	all := spans{{0, maxUnit}}
	if p.bytes {
		all = spans{{0, 0x7f}}
	}
	if p.lines {
		all = spans{{0, '\n' - 1}, {'\n' + 1, all[0].hi}}
	}
	t := p.set(all)
	if !p.bytes {
		return t
	}
	for _, form := range []struct {
		lead, second span
		more         int
	}{
		{span{0xc2, 0xdf}, span{0x80, 0xbf}, 0},
		{span{0xe0, 0xe0}, span{0xa0, 0xbf}, 1},
		{span{0xe1, 0xef}, span{0x80, 0xbf}, 1},
		{span{0xf0, 0xf0}, span{0x90, 0xbf}, 2},
		{span{0xf1, 0xf7}, span{0x80, 0xbf}, 2},
		{span{0xf8, 0xf8}, span{0x88, 0xbf}, 3},
		{span{0xf9, 0xfb}, span{0x80, 0xbf}, 3},
		{span{0xfc, 0xfc}, span{0x84, 0xbf}, 4},
		{span{0xfd, 0xfd}, span{0x80, 0xbf}, 4},
	} {
		seq := p.join(p.set(spans{form.lead}), p.set(spans{form.second}))
		for range form.more {
			seq = p.join(seq, p.set(spans{{0x80, 0xbf}}))
		}
		t = p.pair(treeAlt, t, seq)
	}
	return t
}
