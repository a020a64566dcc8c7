package match

import "context"

// dfa runs a [machine] over texts, with one table lookup for each byte. A state is the set of instructions that may
// continue after a place, and the past of the place. States and their transitions are computed when needed and kept,
// within bounds. The time is linear in the text. It is not safe for concurrent use.
//
// A state has the instructions that wait for the next character, the preferred instructions first, as in package
// regexp. The end of a match is known only with the next character, because $ and \b look at it. Before there is a
// match, a match may begin at each place. Once there is a match, everything less preferred is dropped. For a [Longest]
// nothing is preferred: the instructions are a set, and instructions that continue after a match stay.
//
// Characters are defined by the [alphabet] of the machine: as in package regexp, where each byte that is not part of
// valid UTF-8 is a U+FFFD, or as in a [Longest]. For ASCII, the table is indexed by bytes. All other characters are
// decoded, except in the many states that ignore them.
type dfa struct {
	m      *machine
	ctx    context.Context // of the search
	data   []byte
	skipCR bool     // the "\r" of "\r\n" is skipped
	table  []uint32 // a state is the offset of its row
	// for each entry: no earlier way is left, so a match begins after the character or later
	fresh  []bool
	states []state
	known  map[string]uint32 // states by their contents
	starts [2][8]uint32      // see start
	lanes  [parts]lane

	todo, seen, next list
	stack            []uint32
	key              []byte

	jumps   bool   // where a search begins, jump to the next prefix
	ahead   Places // the prefixes in the text
	jumped  int    // number of jumps
	skipped int    // number of bytes that they skipped

	bytes    int // roughly, the memory of the states
	taken    int // bytes of texts processed since the states were last dropped
	wasted   int // how often the states did not pay off
	hopeless bool
}

// An entry of the table is the next state, or has the bit special. Special entries mean: not computed yet; the byte
// must be examined with its neighbours; nothing can match any more; a match has ended before the character, and a state
// follows; or the next state is a state in which a search begins, from which a jump is faster than going byte by byte.
const (
	special = 1 << 31
	matched = 1 << 30
	atHome  = 1 << 29
	none    = atHome - 1 // no state

	unknown = special | none - 1
	unclear = special | none - 2
)

// state is a row of the table.
type state struct {
	list      []uint32 // instructions
	before    past
	searching bool // a match may begin here or later
	shortcut  bool // shortcut was called
}

// list is a list of instructions without duplicates.
type list struct {
	at    []uint32 // for each instruction, its index in order, if it is there
	order []uint32
}

func newList(n int) list { return list{at: make([]uint32, n)} }

func (l *list) add(pc uint32) bool {
	if l.has(pc) {
		return false
	}
	l.at[pc] = uint32(len(l.order))
	l.order = append(l.order, pc)
	return true
}

func (l *list) has(pc uint32) bool {
	i := l.at[pc]
	return int(i) < len(l.order) && l.order[i] == pc
}

func newDFA(m *machine) *dfa {
	n := len(m.prog.Inst)
	d := &dfa{m: m, todo: newList(n), seen: newList(n), next: newList(n)}
	d.jumps = len(m.prefix) > 0
	d.forget()
	return d
}

// forget drops all states.
func (d *dfa) forget() {
	d.table, d.fresh, d.states, d.known = d.table[:0], d.fresh[:0], d.states[:0], make(map[string]uint32)
	for i := range d.starts {
		for before := range d.starts[i] {
			d.starts[i][before] = unknown
		}
	}
	d.bytes, d.taken = 0, 0
}

// start returns the state in which a match begins or, if searching is set, may begin here or later.
func (d *dfa) start(before past, searching bool) uint32 {
	start := &d.starts[flag(searching)][before]
	if *start == unknown {
		d.next.order = d.next.order[:0]
		d.next.add(uint32(d.m.prog.Start))
		*start = d.intern(before, searching && !d.m.anchored)
	}
	return *start
}

// makeRoom drops all states except the states of the lanes. It reports whether the states have paid off and the context
// is not done.
func (d *dfa) makeRoom() bool {
	if d.ctx.Err() != nil {
		d.hopeless = true
		return false
	}
	if d.taken < 10*len(d.states) {
		d.wasted++
		d.hopeless = true
		return false
	}
	var held [parts]state
	for i, l := range d.lanes {
		if l.state != none {
			held[i] = d.states[int(l.state)/d.m.width]
		}
	}
	d.forget()
	for i := range d.lanes {
		if d.lanes[i].state != none {
			d.next.order = d.next.order[:0]
			for _, pc := range held[i].list {
				d.next.add(pc)
			}
			d.lanes[i].state = d.intern(held[i].before, held[i].searching)
		}
	}
	return true
}

// shortcut lets the state of the lane process characters that are not ASCII byte by byte, if all of them lead to the
// same state, and stay there: then the number of characters does not matter.
func (d *dfa) shortcut(l *lane) {
	const most = 8
	beyond := d.m.classes.beyond
	s := &d.states[int(l.state)/d.m.width]
	if s.shortcut || len(beyond) > most || d.bytes > d.m.room {
		return
	}
	s.shortcut = true
	at := func(state uint32, class uint8) uint32 {
		e := d.table[state+uint32(class)]
		if e == unknown && d.bytes <= d.m.room {
			e = d.fill(&lane{state: state}, class)
		}
		return e
	}
	to := at(l.state, beyond[0])
	if to >= special {
		return
	}
	for _, class := range beyond {
		if at(l.state, class) != to || at(to, class) != to {
			return
		}
	}
	slow := uint32(len(d.m.classes.sample) + slowByte)
	d.table[l.state+slow], d.table[to+slow] = to, to
}
