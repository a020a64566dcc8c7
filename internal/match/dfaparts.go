package match

import "bytes"

// parts is the number of parts of a text that are searched at the same time. Each table lookup must wait for the lookup
// before; with several parts the processor always has a lookup to continue with.
const parts = 4

// leastPart is the minimum size of a part in bytes: about three lines, because a part ends at a line end.
const leastPart = 128

// divide puts a lane at the beginning of each part of the text, which begins a line. It reports whether the text could
// be divided.
func (d *dfa) divide() bool {
	data := d.data
	if len(data) < parts*leastPart || d.m.anchored || d.jumps {
		return false
	}
	begin, size := 0, len(data)/parts
	for i := range parts {
		end := len(data)
		if i < parts-1 {
			end = size * (i + 1)
			newline := bytes.IndexByte(data[end:end+size], '\n')
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

// runParts is run for the lanes of all parts. It ends at the end of any part, or at a special entry.
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

// contains reports whether there is a match in the text, if ok is true. byLine means that no match goes beyond a line.
func (d *dfa) contains(data []byte, byLine bool) (found, ok bool) {
	if !d.begin(data) {
		return false, false
	}
	if !byLine || !d.divide() {
		at, ok := d.find(data, 0)
		return at >= 0, ok
	}
	v := d.together()
	for i := 0; i < parts && v == goesOn; i++ {
		v = d.rest(&d.lanes[i])
	}
	return v == isMatch, v != gaveUp
}

// together advances all parts until any part is at its end or has a verdict.
func (d *dfa) together() verdict {
	for {
		d.runParts()
		for i := range parts {
			l := &d.lanes[i]
			if l.pos == l.to {
				return goesOn
			}
			if d.table[l.state+uint32(d.m.column[d.data[l.pos]])] < special {
				continue
			}
			if v := d.step(l); v != goesOn {
				return v
			}
		}
	}
}

// rest advances a lane to its end, or until there is a verdict.
func (d *dfa) rest(l *lane) verdict {
	for {
		d.run(l)
		if l.pos == l.to && l.to < len(d.data) {
			return goesOn // a line has ended, and no match continues beyond it
		}
		last := l.pos == len(d.data)
		if v := d.step(l); v != goesOn || last {
			return v
		}
	}
}
