package match

import "context"

// dfa runs a [machine] over texts, with one look into a table for each byte. A state is what may go on behind a
// place, and what is known of the character before it; the states that come up, and where they lead, are worked out
// as they are needed and kept, within bounds. All it does is linear in the text. It is for one goroutine.
//
// A state holds the instructions that wait for the next character, the preferred ones first, as package regexp has
// them. That a match has ended is known with the character behind it, because $ and \b look at that. Until there is a
// match, each place is another one where one could begin. When there is one, all that is less preferred than it goes.
// For a [Longest] nothing is preferred: the instructions are a set, and what goes on behind a match stays.
//
// Characters are those of package regexp, in which each byte that is not part of valid UTF-8 is a U+FFFD, or those of
// a [Longest]: the [alphabet] of the machine says which. For ASCII, the table is indexed by bytes. All other
// characters are taken one at a time, but for the many states to which they mean nothing.
type dfa struct {
	m      *machine
	ctx    context.Context // of the search
	data   []byte
	skipCR bool     // the "\r" of "\r\n" is passed over
	table  []uint32 // a state is the offset of its row
	// of each entry, that nothing is left of what began before: a match begins behind the character or later
	fresh  []bool
	states []state
	known  map[string]uint32 // states by what they consist of
	starts [2][8]uint32      // see start
	lanes  [parts]lane

	todo, seen, next list
	stack            []uint32
	key              []byte

	jumps   bool   // from where a search begins, go to the next prefix
	ahead   Places // the prefixes in the text
	jumped  int    // how often that was done
	skipped int    // and over how many bytes

	bytes    int // about how much memory the states take
	taken    int // how many bytes of texts were gone through since the states were last forgotten
	wasted   int // how often that was not worth it
	hopeless bool
}

// An entry of the table is the state that comes next, or has the bit special: nothing was worked out yet; the byte
// has to be looked at with its neighbours; nothing can match any more; a match has ended before the character, and a
// state follows; or the state that follows is one in which a search begins, from which there is a faster way on than
// byte by byte.
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
	shortcut  bool // shortcut was tried
}

// list is a list of instructions without doubles.
type list struct {
	at    []uint32 // for each instruction, where it is in order, if it is
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

// forget makes room.
func (d *dfa) forget() {
	d.table, d.fresh, d.states, d.known = d.table[:0], d.fresh[:0], d.states[:0], make(map[string]uint32)
	for i := range d.starts {
		for before := range d.starts[i] {
			d.starts[i][before] = unknown
		}
	}
	d.bytes, d.taken = 0, 0
}

// start returns the state in which a match begins or, searching, in which it may begin here or later.
func (d *dfa) start(before past, searching bool) uint32 {
	start := &d.starts[flag(searching)][before]
	if *start == unknown {
		d.next.order = d.next.order[:0]
		d.next.add(uint32(d.m.prog.Start))
		*start = d.intern(before, searching && !d.m.anchored)
	}
	return *start
}

// makeRoom forgets all states but those that the lanes are in. It reports whether they have paid off, and there is
// still time.
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

// shortcut lets the state of the lane take characters that are not ASCII byte by byte, if all of them lead to one and
// the same state, and stay there: how many characters the bytes are does not matter then.
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
