package structural

import "bytes"

// enter begins a hole for any number of tokens from t on, with as few as possible.
func (m *matcher) enter(i, t int) bool {
	it := &m.prog.items[i]
	if it.line && i > 0 && m.afterSemicolon(i) {
		t = m.nextLine(t)
	}
	if t < len(m.tokens) && !m.stands(it, i, t) {
		return false
	}
	m.frames = append(m.frames, frame{i, t, t})
	f := &m.frames[len(m.frames)-1]
	if it.last && it.re == nil {
		f.at = m.rest(it, i, t)
		m.take(it, f)
		return true
	}
	// A hole that begins a line can continue where the same hole, coming from the line before, had to end.
	begins := t < len(m.tokens) && m.tokens[t].line && (i == 0 || it.line)
	if !m.mark(it.row, t) && !begins {
		m.frames = m.frames[:len(m.frames)-1]
		return false
	}
	if m.take(it, f) {
		return true
	}
	return m.extend(f)
}

// nextLine returns the first token after comments if it begins a line, and otherwise t.
func (m *matcher) nextLine(t int) int {
	next := t
	for next < len(m.tokens) && m.tokens[next].kind == kindComment {
		m.steps++
		next++
	}
	if next < len(m.tokens) && m.tokens[next].line {
		return next
	}
	return t
}

// more extends the innermost hole that can match more, and returns where to continue.
func (m *matcher) more() (i, t int, ok bool) {
	for len(m.frames) > 0 {
		f := &m.frames[len(m.frames)-1]
		if it := &m.prog.items[f.item]; !(it.last && it.re == nil) && m.extend(f) {
			return f.item + 1, f.at, true
		}
		m.frames = m.frames[:len(m.frames)-1]
	}
	return 0, 0, false
}

// extend lets a hole match more, until its match is allowed. It returns false if that is not possible.
func (m *matcher) extend(f *frame) bool {
	it := &m.prog.items[f.item]
	for {
		next := m.unit(it, f.item, f.at)
		if m.steps++; next < 0 || !m.mark(it.row, next) || m.steps > m.most {
			return false
		}
		if f.at = next; m.take(it, f) {
			return true
		}
	}
}

// unit returns the token after the token at t, or after its pair, -1 if a hole cannot match it.
func (m *matcher) unit(it *item, i, t int) int {
	if t >= len(m.tokens) {
		return -1
	}
	tok := &m.tokens[t]
	switch {
	case tok.kind == kindClose, tok.kind == kindBroken, tok.closes:
		return -1
	case tok.line && !it.deep && !it.many && i > 0 && !(it.line && m.frames[len(m.frames)-1].from == t):
		return -1
	case tok.line && i == 0 && !it.many && m.frames[len(m.frames)-1].from != t:
		return -1
	case tok.next >= 0:
		return int(tok.next)
	case tok.kind == kindOpen:
		return int(tok.pair) + 1
	}
	return t + 1
}

// rest returns the token after the match of the last hole of a pattern: everything up to the end of the line or the
// closing bracket, without trailing comments and separators.
func (m *matcher) rest(it *item, i, t int) int {
	end := t
	for next := m.unit(it, i, end); next >= 0; next = m.unit(it, i, end) {
		end = next
		m.steps++
	}
	for end > t {
		tok := &m.tokens[end-1]
		if tok.kind != kindComment && (tok.kind != kindOperator || !separates(m.data[tok.start])) {
			break
		}
		end--
	}
	return end
}

// mark records a place as tried, and reports whether it was new.
func (m *matcher) mark(row, t int) bool {
	if m.prog.counted {
		return true
	}
	if m.tried[row] == nil {
		m.tried[row] = make([]uint64, len(m.tokens)/64+1)
	}
	bit := uint64(1) << (t & 63)
	if m.tried[row][t>>6]&bit != 0 {
		return false
	}
	m.tried[row][t>>6] |= bit
	return true
}

// unmark removes the end of a match from the tried places, because the next match may begin there.
func (m *matcher) unmark(end int) {
	if m.prog.counted {
		return
	}
	for _, f := range m.frames {
		if it := &m.prog.items[f.item]; f.at == end && m.tried[it.row] != nil {
			m.tried[it.row][end>>6] &^= 1 << (end & 63)
		}
	}
}

// instructionsOfStep is the number of instructions of an expression that run, for a byte, in about the time of a step.
const instructionsOfStep = 100

// take records the match of a hole, and reports whether the hole allows it.
func (m *matcher) take(it *item, f *frame) bool {
	now := taken{a: f.from, b: f.at}
	now.from, now.to = m.span(f.from, f.at)
	if it.re != nil {
		m.steps += int64(now.to-now.from) * int64(1+it.size/instructionsOfStep)
		if !it.re.Match(m.data[now.from:now.to]) {
			return false
		}
	}
	if it.group > 0 {
		m.took[it.group] = now
	}
	return true
}

// span returns the offsets of tokens. An empty span is at the end of the token before.
func (m *matcher) span(from, to int) (int, int) {
	if from < to {
		return int(m.tokens[from].start), int(m.tokens[to-1].end)
	}
	at := 0
	if from > 0 {
		at = int(m.tokens[from-1].end)
	} else if len(m.tokens) > 0 {
		at = int(m.tokens[0].start)
	}
	return at, at
}

// again compares tokens from t on with the earlier match of the name of a hole, and returns the token after them.
func (m *matcher) again(it *item, i, t int) (int, bool) {
	old := m.took[it.group]
	for t < len(m.tokens) && m.tokens[t].kind == kindComment {
		t++
	}
	if old.a < 0 { // a part of a string
		if t >= len(m.tokens) {
			return t, false
		}
		tok := &m.tokens[t]
		return t + 1, bytes.Equal(m.data[old.from:old.to], m.data[tok.start:tok.end])
	}
	for k := old.a; k < old.b; k++ {
		was := &m.tokens[k]
		if was.kind == kindComment {
			continue
		}
		for t < len(m.tokens) && m.tokens[t].kind == kindComment {
			t++
		}
		if t >= len(m.tokens) || m.tokens[t].kind == kindBroken || k == old.a && m.tokens[t].ends && !it.line {
			return t, false
		}
		if m.steps++; !bytes.Equal(m.data[was.start:was.end], m.data[m.tokens[t].start:m.tokens[t].end]) {
			return t, false
		}
		t++
	}
	return t, i > 0
}
