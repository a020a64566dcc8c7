package structural

import (
	"bytes"
	"context"
)

// matcher compares a program with texts. It is not safe for concurrent use.
type matcher struct {
	lexer  lexer
	ctx    context.Context
	prog   *program
	fold   bool
	data   []byte
	tokens []token

	loc    []int   // of the match and its groups, in bytes
	took   []taken // by groups
	frames []frame
	tried  [][]uint64 // for each row, a bit for each token: nothing matches if the hole ends there or later
	steps  int64
	most   int64 // the largest number of steps
	look   int64 // the number of steps at which the context is checked next
}

// taken is the match of a group.
type taken struct {
	from, to int // bytes, from < 0 for nothing
	a, b     int // tokens, a < 0 for a part of a token
}

// frame is a hole that may match more.
type frame struct {
	item     int
	from, at int // tokens: it begins before from, and ends before at
}

func (m *matcher) begin(ctx context.Context, p *Pattern, prog *program, data []byte, tokens []token) {
	m.ctx, m.prog, m.fold, m.data, m.tokens, m.steps = ctx, prog, p.fold, data, tokens, 0
	m.look, m.most = 0, maxSteps
	if prog.counted {
		m.most = maxCounted
	}
	m.loc = make([]int, 2*len(p.names))
	m.took = make([]taken, len(p.names))
	m.tried = make([][]uint64, prog.holes)
}

// end drops the references to the text.
func (m *matcher) end() { m.data, m.lexer.data, m.ctx, m.lexer.ctx, m.tried = nil, nil, nil, nil, nil }

// step counts steps and returns an error if there were too many, or the error of the context.
func (m *matcher) step() error {
	m.steps++
	if m.steps > m.most {
		return &StepsError{Limit: m.most}
	}
	if m.steps >= m.look {
		m.look = m.steps + 1<<16
		return m.ctx.Err()
	}
	return nil
}

// at returns the token after a match that begins with the token start, -1 if not found. The offsets are in loc.
func (m *matcher) at(start int) (int, error) {
	first := &m.prog.items[0]
	if first.kind != kindHole {
		if !m.equal(first, start) {
			return -1, nil
		}
	} else if k := m.tokens[start].kind; k == kindComment || k == kindClose || k == kindBroken {
		return -1, nil
	}
	for i := range m.took {
		m.took[i] = taken{from: -1, to: -1}
	}
	m.frames = m.frames[:0]
	i, t := 0, start
	for {
		if err := m.step(); err != nil {
			return -1, err
		}
		var ok bool
		if i, t, ok = m.chain(i, t, start); ok && i == len(m.prog.items) {
			m.unmark(t)
			m.matched(start, t)
			return t, nil
		}
		if ok {
			ok = m.enter(i, t)
		}
		if ok {
			f := m.frames[len(m.frames)-1]
			i, t = f.item+1, f.at
			continue
		}
		if i, t, ok = m.more(); !ok {
			return -1, m.step()
		}
	}
}

// chain compares items, from i on, with tokens, up to the next open hole or to the end.
func (m *matcher) chain(i, t, start int) (int, int, bool) {
	for ; i < len(m.prog.items); i++ {
		it := &m.prog.items[i]
		switch {
		case it.kind == kindHole && it.same:
			n, ok := m.again(it, i, t)
			if !ok {
				return i, t, false
			}
			t = n
			continue
		case it.kind == kindHole && !it.word:
			return i, t, true
		}
		if t > start || i > 0 {
			n, done, ok := m.layout(it, i, t)
			if !ok {
				return i, t, false
			}
			if t = n; done {
				continue
			}
		}
		if t >= len(m.tokens) || !m.equal(it, t) || !m.stands(it, i, t) || !m.keep(it, t) {
			return i, t, false
		}
		t++
		m.steps++
	}
	return i, t, true
}

// layout skips comments before a token that is compared with an item. done: the item is a ";" and the text has a line
// end in its place; next is then before the comments, which do not belong to the match.
func (m *matcher) layout(it *item, i, t int) (next int, done, ok bool) {
	line := it.line
	semicolon := it.kind == kindOperator && it.text[0] == ';' && i > 0
	ends, from := m.lexer.lang.ends != endsNothing, t
	for {
		switch {
		case t == len(m.tokens):
			return from, semicolon, semicolon && ends
		case m.tokens[t].kind == kindComment && it.kind != kindComment:
			m.steps++
			t++
			continue
		case line && m.tokens[t].kind == kindOperator && m.data[m.tokens[t].start] == ';' && !semicolon:
			t, line = t+1, false
			continue
		}
		break
	}
	isSemicolon := m.tokens[t].kind == kindOperator && m.data[m.tokens[t].start] == ';'
	switch {
	case semicolon && !isSemicolon && (m.tokens[t].ends || m.tokens[t].kind == kindClose && ends):
		return from, true, true
	case m.tokens[t].ends && !line && !m.afterSemicolon(i):
		return t, false, false
	}
	return t, false, true
}

// afterSemicolon reports whether the item before is a ";", for which the text may have a line end.
func (m *matcher) afterSemicolon(i int) bool {
	before := &m.prog.items[i-1]
	return before.kind == kindOperator && before.text[0] == ';'
}

// equal compares an item for a single token with a token.
func (m *matcher) equal(it *item, t int) bool {
	tok := &m.tokens[t]
	text := m.data[tok.start:tok.end]
	switch {
	case it.kind == kindHole:
		return it.word && tok.kind == kindWord
	case it.kind != tok.kind:
		return false
	case it.expr != nil:
		return it.expr.Match(text)
	case m.fold:
		return bytes.EqualFold(it.text, text)
	}
	return bytes.Equal(it.text, text)
}

// stands reports whether an operator character touches the token before it as in the pattern.
func (m *matcher) stands(it *item, i, t int) bool {
	if i == 0 || t == 0 || it.touch == touchAny {
		return true
	}
	before, tok := &m.tokens[t-1], &m.tokens[t]
	if before.kind != kindOperator || tok.kind != kindOperator || separates(m.data[before.start]) {
		return true
	}
	return (before.end == tok.start) == (it.touch == touchYes)
}

// keep records the match of an item for a single token, and reports whether its names match the same text as before.
func (m *matcher) keep(it *item, t int) bool {
	tok := &m.tokens[t]
	if it.kind == kindHole && it.group > 0 {
		m.took[it.group] = taken{int(tok.start), int(tok.end), t, t + 1}
		return true
	}
	if it.expr == nil {
		return true
	}
	sub := it.expr.FindSubmatchIndex(m.data[tok.start:tok.end])
	for k, g := range it.groups {
		if g == 0 {
			continue
		}
		now := taken{int(tok.start) + sub[2*k+2], int(tok.start) + sub[2*k+3], -1, -1}
		if old := m.took[g]; !it.repeats[k] {
			m.took[g] = now
		} else if !bytes.Equal(m.data[old.from:old.to], m.data[now.from:now.to]) {
			return false
		}
	}
	return true
}

// matched puts the offsets of a match into loc.
func (m *matcher) matched(start, end int) {
	m.loc[0], m.loc[1] = int(m.tokens[start].start), m.endOf(end, start)
	for g := 1; g < len(m.took); g++ {
		m.loc[2*g], m.loc[2*g+1] = m.took[g].from, m.took[g].to
	}
}

// endOf returns the end offset of the token before t.
func (m *matcher) endOf(t, start int) int {
	if t == start || t == 0 {
		return int(m.tokens[start].start)
	}
	return int(m.tokens[t-1].end)
}
