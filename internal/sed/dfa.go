package sed

import "slices"

// cacheBytes is about how much memory the states of one automaton may take before they are thrown away and made anew.
const cacheBytes = 4 << 20

// What comes after a place, as far as the end of a match can depend on it.
const (
	afterOther = iota
	afterWord
	afterNewline
	afterEnd
	afters
)

func afterOf(x context) int {
	switch {
	case x&ctxEdge != 0:
		return afterEnd
	case x&ctxWord != 0:
		return afterWord
	case x&ctxNewline != 0:
		return afterNewline
	}
	return afterOther
}

// state is a set of nodes at one place.
type state struct {
	nodes []int32       // those that take a unit and the ends, ascending
	ends  [afters]int32 // the end that is reached if that is what follows, or -1
	halts bool          // some of ends is not -1
}

// dfa makes states of the sets of nodes of an nfa, as they are needed. The state 0 has no nodes.
type dfa struct {
	n          *nfa
	a          *alphabet
	clock      *clock
	room       int  // about how much memory the states may take, in bytes
	everywhere bool // a match may begin at every place, not at the first only
	states     []state
	next       []int32 // len(a.context) for each state; -1 is not known yet
	starts     [8]int32
	known      map[string]int32
	bytes      int
	made       int // the nodes that were looked at for steps not known
	set        nodeSet
	key        []byte
}

func newDFA(n *nfa, a *alphabet, everywhere bool, room int) *dfa {
	d := &dfa{n: n, a: a, room: room, everywhere: everywhere, set: newNodeSet(len(n.nodes))}
	d.reset()
	return d
}

func (d *dfa) reset() {
	d.states, d.next, d.known, d.bytes = d.states[:0], d.next[:0], make(map[string]int32), 0
	for i := range d.starts {
		d.starts[i] = -1
	}
	d.set.clear()
	d.intern()
}

// start is the state of a match that begins after x.
func (d *dfa) start(x context) int32 {
	if s := d.starts[x]; s >= 0 {
		return s
	}
	d.set.clear()
	d.n.close(&d.set, d.n.start, x)
	s := d.intern()
	d.starts[x] = s
	return s
}

// step is the state after s and a letter. It may throw away all states but the one it returns.
func (d *dfa) step(s int32, letter uint16) int32 {
	x := d.a.within[letter]
	d.made += len(d.states[s].nodes)
	d.set.clear()
	for _, i := range d.states[s].nodes {
		node := &d.n.nodes[i]
		if node.kind == treeSet && d.a.in(letter, node.set) && node.when.after(x) {
			d.n.close(&d.set, node.next, x)
		}
	}
	if d.everywhere {
		d.n.close(&d.set, d.n.start, d.a.context[letter])
	}
	d.clock.spend(len(d.states[s].nodes) + 2*len(d.set.list))
	if d.bytes > d.room {
		list := slices.Clone(d.set.list)
		d.reset()
		d.set.clear()
		for _, i := range list {
			d.set.add(i)
		}
		return d.intern()
	}
	to := d.intern()
	d.next[int(s)*len(d.a.context)+int(letter)] = to
	return to
}

// intern returns the state of what is in d.set.
func (d *dfa) intern() int32 {
	nodes := make([]int32, 0, len(d.set.list))
	for _, i := range d.set.list {
		if !d.n.nodes[i].empty() && d.set.has(i) {
			nodes = append(nodes, i)
		}
	}
	slices.Sort(nodes)
	d.key = d.key[:0]
	for _, i := range nodes {
		d.key = append(d.key, byte(i), byte(i>>8), byte(i>>16))
	}
	if s, ok := d.known[string(d.key)]; ok {
		return s
	}
	s := state{nodes: nodes, ends: [afters]int32{-1, -1, -1, -1}}
	for after, x := range [afters]context{0, ctxWord, ctxNewline, ctxEdge | ctxNewline} {
		for _, i := range nodes {
			if node := &d.n.nodes[i]; node.kind == treeEnd && node.when.after(x) {
				s.ends[after], s.halts = i, true
				break
			}
		}
	}
	id := int32(len(d.states))
	d.known[string(d.key)] = id
	d.states = append(d.states, s)
	for range d.a.context {
		d.next = append(d.next, -1)
	}
	d.bytes += 7*len(nodes) + 4*len(d.a.context) + 128
	return id
}

// close adds a node and all that can be reached from it without taking a unit, after x.
func (n *nfa) close(set *nodeSet, i int32, x context) {
	if !set.visit(i) {
		return
	}
	set.stack = append(set.stack[:0], i)
	for len(set.stack) > 0 {
		i := set.stack[len(set.stack)-1]
		set.stack = set.stack[:len(set.stack)-1]
		node := &n.nodes[i]
		if node.when.before(x) {
			set.list = append(set.list, i)
			set.mark[i] = set.now + 1
		}
		if !node.empty() {
			continue
		}
		for _, e := range node.edges {
			if set.visit(e) {
				set.stack = append(set.stack, e)
			}
		}
	}
}

// nodeSet is a set of nodes that is quickly emptied.
type nodeSet struct {
	list  []int32
	mark  []uint32 // now: looked at; now+1: in the set
	now   uint32
	stack []int32
}

func newNodeSet(n int) nodeSet { return nodeSet{mark: make([]uint32, n), now: 1} }

func (s *nodeSet) clear() {
	s.list = s.list[:0]
	if s.now += 2; s.now > 1<<32-4 {
		clear(s.mark)
		s.now = 1
	}
}

// visit reports whether a node had not been looked at.
func (s *nodeSet) visit(i int32) bool {
	if s.mark[i] >= s.now {
		return false
	}
	s.mark[i] = s.now
	return true
}

func (s *nodeSet) add(i int32) {
	s.list = append(s.list, i)
	s.mark[i] = s.now + 1
}

func (s *nodeSet) has(i int32) bool { return s.mark[i] == s.now+1 }
