package match

import "bytes"

// parts is in how many parts a text is searched at once. Each look into the table has to wait for the one before;
// with several of them the processor always has one to go on with.
const parts = 4

// leastPart is how many bytes a part has at least.
const leastPart = 1 << 10

// divide puts a lane at the beginning of each part of the text. Parts begin at the beginning of a line. It reports
// whether that could be done.
func (d *dfa) divide() bool {
	data := d.data
	if len(data) < parts*leastPart || d.m.anchored || d.jumps {
		return false
	}
	begin := 0
	for i := range parts {
		end := len(data)
		if i < parts-1 {
			end = len(data) / parts * (i + 1)
			newline := bytes.IndexByte(data[end:end+leastPart/2], '\n')
			if newline < 0 {
				return false
			}
			end += newline + 1
		}
		d.enter(&d.lanes[i], begin, end)
		begin = end
	}
	return true
}

// runParts is run for the lanes of all parts. It ends where one of them ends, or needs a closer look.
func (d *dfa) runParts() {
	table, column := d.table, &d.m.column
	l0, l1, l2, l3 := &d.lanes[0], &d.lanes[1], &d.lanes[2], &d.lanes[3]
	n := min(l0.to-l0.pos, l1.to-l1.pos, l2.to-l2.pos, l3.to-l3.pos)
	p0, p1, p2, p3 := d.data[l0.pos:l0.pos+n], d.data[l1.pos:l1.pos+n], d.data[l2.pos:l2.pos+n], d.data[l3.pos:l3.pos+n]
	p1, p2, p3 = p1[:len(p0)], p2[:len(p0)], p3[:len(p0)]
	s0, s1, s2, s3 := l0.state, l1.state, l2.state, l3.state
	i := 0
	for ; i < len(p0); i++ {
		e0 := table[s0+uint32(column[p0[i]])]
		e1 := table[s1+uint32(column[p1[i]])]
		e2 := table[s2+uint32(column[p2[i]])]
		e3 := table[s3+uint32(column[p3[i]])]
		if e0|e1|e2|e3 >= special {
			break
		}
		s0, s1, s2, s3 = e0, e1, e2, e3
	}
	l0.state, l1.state, l2.state, l3.state = s0, s1, s2, s3
	l0.pos += i
	l1.pos += i
	l2.pos += i
	l3.pos += i
	d.taken += parts * i
}

// together goes on with all parts until one of them is at its end. It calls on with each lane that has taken a step
// and what came out; when on returns false, that is the end.
func (d *dfa) together(on func(*lane, verdict) bool) bool {
	for {
		d.runParts()
		for i := range parts {
			l := &d.lanes[i]
			if l.pos == l.to {
				return true
			}
			if d.table[l.state+uint32(d.m.column[d.data[l.pos]])] < special {
				continue
			}
			if v := d.step(l); v != goesOn && !on(l, v) {
				return false
			}
		}
	}
}

// contains reports whether there is a match in the text, if it is ok.
func (d *dfa) contains(data []byte) (found, ok bool) {
	if !d.begin(data) {
		return false, false
	}
	if !d.divide() {
		at, ok := d.find(data, 0)
		return at >= 0, ok
	}
	result := goesOn
	on := func(_ *lane, v verdict) bool { result = v; return false }
	if !d.together(on) {
		return result == isMatch, result == isMatch
	}
	for i := range parts {
		for l := &d.lanes[i]; l.pos < l.to; {
			if d.run(l); l.pos == l.to {
				break
			}
			if v := d.step(l); v != goesOn {
				return v == isMatch, v == isMatch
			}
		}
	}
	// What has begun in one part may go on in the next.
	for i := range parts {
		if v, last := d.join(&d.lanes[i]); v != goesOn || last {
			return v == isMatch, v != gaveUp
		}
	}
	return false, true
}

// join goes on with a lane behind its end, until it is in the state that a lane is in which begins there. It is the
// last one if that does not happen soon: it goes on to the end of the text then.
func (d *dfa) join(l *lane) (v verdict, last bool) {
	other := &d.lanes[parts]
	d.enter(other, l.to, len(d.data))
	l.to = len(d.data)
	for until := l.pos + leastPart; l.pos < min(until, len(d.data)); {
		if l.pos == other.pos && l.state == other.state {
			return goesOn, false
		}
		behind := l
		if other.pos < l.pos {
			behind = other
		}
		if v := d.step(behind); v == isMatch || v == gaveUp {
			return v, true
		}
	}
	other.state = none
	return d.rest(l), true
}

// rest goes on with a lane to the end of the text or a match.
func (d *dfa) rest(l *lane) verdict {
	for {
		d.run(l)
		last := l.pos == len(d.data)
		if v := d.step(l); v != goesOn || last {
			return v
		}
	}
}
