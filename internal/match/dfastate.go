package match

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
)

// intern returns the state of the instructions in d.next. It may be none.
func (d *dfa) intern(before past, searching bool) uint32 {
	// Without an assertion on the way, the instructions that wait for a character are known now. With an assertion, they
	// depend on that character; the order of preference is only right if the whole way is followed at once then.
	list := d.next.order
	if looks := d.follow(list, 0); !looks {
		list, before = d.todo.order, 0
	}
	if len(list) == 0 && !searching {
		return none
	}
	if d.m.posix {
		slices.Sort(list) // no instruction is preferred
	}
	d.key = append(d.key[:0], byte(before)<<1|flag(searching))
	for _, pc := range list {
		d.key = binary.LittleEndian.AppendUint32(d.key, pc)
	}
	if s, ok := d.known[string(d.key)]; ok {
		return s
	}
	s := uint32(len(d.table))
	for i := range d.m.width {
		d.table = append(d.table, unknown)
		if c := len(d.m.classes.sample); i == c+slowByte || i == c+slowCR {
			d.table[len(d.table)-1] = unclear
		}
	}
	d.fresh = append(d.fresh, make([]bool, d.m.width)...)
	d.known[string(d.key)] = s
	d.states = append(d.states, state{list: slices.Clone(list), before: before, searching: searching})
	d.bytes += 5*d.m.width + 2*len(d.key) + 200
	return s
}

// follow puts the instructions that can be reached without a character into d.todo, in order of preference. flags are
// the assertions that hold. It reports whether it has met an assertion.
func (d *dfa) follow(list []uint32, flags syntax.EmptyOp) (looks bool) {
	d.todo.order, d.seen.order = d.todo.order[:0], d.seen.order[:0]
	for _, pc := range list {
		d.stack = append(d.stack[:0], pc)
		for len(d.stack) > 0 {
			pc := d.stack[len(d.stack)-1]
			d.stack = d.stack[:len(d.stack)-1]
			if !d.seen.add(pc) {
				continue
			}
			in := &d.m.prog.Inst[pc]
			switch in.Op {
			case syntax.InstAlt, syntax.InstAltMatch:
				d.stack = append(d.stack, in.Arg, in.Out)
			case syntax.InstCapture, syntax.InstNop:
				d.stack = append(d.stack, in.Out)
			case syntax.InstEmptyWidth:
				looks = true
				if syntax.EmptyOp(in.Arg)&^flags == 0 {
					d.stack = append(d.stack, in.Out)
				}
			case syntax.InstFail:
			default:
				d.todo.add(pc)
			}
		}
	}
	return looks
}

// fill computes the table entry of a column for the state of a lane. It returns unknown if the dfa is too slow for this
// text.
func (d *dfa) fill(l *lane, column uint8) uint32 {
	if d.bytes > d.m.room && !d.makeRoom() {
		return unknown
	}
	r := rune(-1)
	if int(column) < len(d.m.classes.sample) {
		r = d.m.classes.sample[column]
	}
	s := &d.states[int(l.state)/d.m.width]
	d.follow(s.list, d.m.flags(s.before, r))
	d.next.order = d.next.order[:0]
	entry := uint32(0)
	for _, pc := range d.todo.order {
		in := &d.m.prog.Inst[pc]
		if in.Op == syntax.InstMatch {
			if entry = special | matched; d.m.posix {
				continue // a way that continues may match more
			}
			break
		}
		if r >= 0 && in.MatchRune(r) {
			d.next.add(in.Out)
		}
	}
	searching := s.searching && entry == 0
	alone := len(d.next.order) == 0 // no earlier way continues
	if searching {
		d.next.add(uint32(d.m.prog.Start))
	}
	to := uint32(none)
	if searching && alone {
		d.fresh[int(l.state)+int(column)] = true
		if d.jumps {
			entry = special | atHome
		}
	}
	if r >= 0 {
		to = d.intern(d.m.behind(r), searching)
	}
	if entry |= to; to == none {
		entry |= special
	}
	d.table[int(l.state)+int(column)] = entry
	return entry
}
