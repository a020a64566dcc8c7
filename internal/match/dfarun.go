package match

// lane is a position in the text of a dfa.
type lane struct {
	state uint32
	pos   int // the next byte
	to    int // end of the lane
	end   int // end of the best match so far, -1 before the first match
}

// verdict is the result of a step.
type verdict uint8

const (
	goesOn  verdict = iota
	isMatch         // a match has ended, at lane.end
	isOver          // no match, or no better match, is possible
	gaveUp          // the dfa is too slow for this text
)

// begin starts a text. It reports whether the dfa is useful.
func (d *dfa) begin(data []byte) bool {
	const enough = 1000 // jumps before judging
	if d.jumps && d.jumped > enough && d.skipped < sparse*d.jumped {
		d.jumps = false
		d.forget()
	}
	if d.hopeless && d.wasted < 3 {
		d.hopeless = false
		d.forget()
	}
	d.data = data
	for i := range d.lanes {
		d.lanes[i].state = none
	}
	return !d.hopeless
}

// enter puts a lane at an offset of the text.
func (d *dfa) enter(l *lane, pos, to int) {
	*l = lane{state: d.start(d.m.pastAt(d.data, pos), true), pos: pos, to: to, end: -1}
	if d.jumps {
		d.jump(l)
	}
}

// jump moves from a place where a search begins to the next place where a match may begin.
func (d *dfa) jump(l *lane) {
	pos := d.ahead.Next(l.pos)
	if pos < 0 {
		pos = l.to
	}
	d.jumped++
	d.skipped += pos - l.pos
	d.taken += pos - l.pos
	l.pos, l.state = pos, d.start(d.m.pastAt(d.data, pos), true)
}

// run advances to the next special entry, or to the end of the lane.
func (d *dfa) run(l *lane) {
	table, column := d.table, &d.m.column
	rest := d.data[l.pos:l.to]
	state, i := l.state, 0
	for ; i < len(rest); i++ {
		entry := table[state+uint32(column[rest[i]])]
		if entry >= special {
			break
		}
		state = entry
	}
	l.state = state
	l.pos += i
	d.taken += i
}

// runOn is run for a lane that has a match and looks for a better match.
func (d *dfa) runOn(l *lane) {
	table, column := d.table, &d.m.column
	rest := d.data[l.pos:l.to]
	state, i, end := l.state, 0, -1
	for ; i < len(rest); i++ {
		entry := table[state+uint32(column[rest[i]])]
		if entry >= special {
			if entry&(matched|atHome) != matched || entry&none == none || rest[i] == '\n' {
				break
			}
			end = i
		}
		state = entry & none
	}
	if end >= 0 {
		l.end = l.pos + end
	}
	l.state = state
	l.pos += i
	d.taken += i
}

// step advances by one character, or over the end of the text.
func (d *dfa) step(l *lane) verdict {
	data := d.data
	column, width := uint8(len(d.m.classes.sample)+endOfText), 0
	wide := false
	if l.pos < len(data) {
		column, width = d.m.column[data[l.pos]], 1
		if d.table[l.state+uint32(column)] == unclear {
			if d.skips(l.pos) {
				l.pos++
				return goesOn
			}
			var r rune
			r, width = d.m.first(data[l.pos:])
			column, wide = d.m.classes.of(r), data[l.pos] != '\r'
		}
	}
	entry := d.table[l.state+uint32(column)]
	if entry == unknown {
		if entry = d.fill(l, column); entry == unknown {
			return gaveUp
		}
		if wide {
			d.shortcut(l)
		}
	}
	result := goesOn
	if entry >= special {
		if result = isOver; entry&atHome != 0 {
			result = goesOn
		} else if entry&matched != 0 {
			result, l.end = isMatch, l.pos
			if l.pos > 0 && l.pos < len(data) && d.skips(l.pos-1) {
				l.end-- // before the whole line end
			}
		}
	}
	if l.state = entry &^ (special | matched | atHome); l.state == none {
		return result
	}
	l.pos += width
	d.taken += width
	if entry&atHome != 0 {
		d.jump(l)
		return goesOn
	}
	return result
}

func (d *dfa) skips(offset int) bool {
	return d.skipCR && d.data[offset] == '\r' && offset+1 < len(d.data) && d.data[offset+1] == '\n'
}

// find looks for a match that begins at or after an offset, and returns as soon as there certainly is a match: at is
// then the end of a match that begins there, -1 if not found.
func (d *dfa) find(data []byte, from int) (at int, ok bool) {
	if !d.begin(data) {
		return 0, false
	}
	l := &d.lanes[0]
	d.enter(l, from, len(data))
	switch d.rest(l) {
	case isMatch:
		return l.end, true
	case gaveUp:
		return 0, false
	}
	return -1, true
}

// matchAt returns the end of the match that begins at an offset, -1 if not found, and how far it looked. find must
// have been called for the same text.
func (d *dfa) matchAt(data []byte, from int) (end, seen int, ok bool) {
	if d.hopeless {
		return 0, 0, false
	}
	l := &d.lanes[0]
	*l = lane{state: d.start(d.m.pastAt(data, from), false), pos: from, to: len(data), end: -1}
	ok = d.toBest(l)
	return l.end, l.pos, ok
}

// toBest advances a lane until no better match is possible, or to the end of the text. ok is false if the dfa is too
// slow for this text.
func (d *dfa) toBest(l *lane) (ok bool) {
	for l.state != none {
		if l.end >= 0 {
			d.runOn(l)
		} else {
			d.run(l)
		}
		last := l.pos == len(d.data)
		if d.step(l) == gaveUp {
			return false
		}
		if last {
			break
		}
	}
	return true
}

// count counts the matches in the text, up to most, if ok is true. A count above one is only right if no match is
// empty. byLine means that no match goes beyond a line.
func (d *dfa) count(data []byte, byLine bool, most int) (n int, ok bool) {
	const often = 256 // matches between two checks of the context
	if most == 1 || byLine && len(data) >= parts*leastPart {
		// With several parts, a text without a match is detected sooner.
		if found, ok := d.contains(data, byLine); !found || !ok || most == 1 {
			return int(flag(found)), ok
		}
	} else if !d.begin(data) {
		return 0, false
	}
	l := &d.lanes[0]
	for pos := 0; n%often != 0 || d.ctx.Err() == nil; n++ {
		d.enter(l, pos, len(data))
		if ok := d.toBest(l); !ok || l.end < 0 {
			return n, ok
		}
		pos = l.end
	}
	return 0, false
}

// beginning returns an offset, not before from, such that the first match from there does not begin before the offset.
// to is the result of find for from. Most states that find went through still exist.
func (d *dfa) beginning(data []byte, from, to int) int {
	if !d.begin(data) {
		return from
	}
	l := &d.lanes[0]
	if d.enter(l, from, to); d.jumps {
		return l.pos
	}
	first := from
	for l.pos < to {
		at := int(l.state) + int(d.m.column[data[l.pos]])
		if entry := d.table[at]; entry < special {
			l.state = entry
			if l.pos++; d.fresh[at] {
				first = l.pos
			}
		} else if d.step(l) != goesOn {
			return first
		}
	}
	return first
}
