package sed

import "slices"

// explained says whether the groups of a match could be found.
type explained int

const (
	matched explained = iota
	notHere           // the C library looks on for a match that begins later
	nowhere           // it answers that there is none
)

// segment is how many sets of nodes are kept at a time to find submatches; of the others only every segment-th is.
const segment = 1024

// submatcher finds where the groups of a match are, as the C library does: it goes along the match, at every fork by the
// node with the lower number from which the end can be reached, and does not look back. Its time is the length of the match
// times the size of the pattern, at most; its memory is the root of that length times the size, beside six bytes for each
// byte of the match.
type submatcher struct {
	n       *nfa
	a       *alphabet
	clock   *clock
	into    [][]int32 // the nodes that go on at a node after a unit
	empties [][]int32 // the nodes that lead to a node without one

	letters []uint16
	offsets []int32
	start   context
	after   context
	words   int
	kept    map[int][]uint64 // sets by unit: every segment-th, and the last
	window  [][]uint64       // those from base on
	base    int
	stack   []int32
	seen    []uint32 // by grow, for the set it works at
	now     uint32
	via     []uint64 // by the walk, since it last took a unit
	viaNow  uint64
	last    []int // the groups before the last empty one
}

func (s *submatcher) init(n *nfa, a *alphabet) {
	s.n, s.a = n, a
	s.into, s.empties = make([][]int32, len(n.nodes)), make([][]int32, len(n.nodes))
	s.seen, s.via = make([]uint32, len(n.nodes)), make([]uint64, len(n.nodes))
	s.words = (len(n.nodes) + 63) / 64
	for i := range n.nodes {
		node := &n.nodes[i]
		if node.kind == treeSet {
			s.into[node.next] = append(s.into[node.next], int32(i))
		}
		for _, e := range node.edges {
			s.empties[e] = append(s.empties[e], int32(i))
		}
	}
}

// before returns the context before unit i of the match, and next the one after the place there.
func (s *submatcher) before(i int) context {
	if i == 0 {
		return s.start
	}
	return s.a.within[s.letters[i-1]]
}

func (s *submatcher) next(i int) context {
	if i == len(s.letters) {
		return s.after
	}
	return s.a.context[s.letters[i]]
}

func has(set []uint64, i int32) bool { return set[i/64]&(1<<(i%64)) != 0 }

// fresh empties a set for grow.
func (s *submatcher) fresh(set []uint64) {
	clear(set)
	if s.now++; s.now == 0 {
		clear(s.seen)
		s.now = 1
	}
}

// grow adds to a set a node and all that lead to it without a unit.
func (s *submatcher) grow(set []uint64, i int32, x context) {
	s.stack = append(s.stack[:0], i)
	s.seen[i] = s.now
	for len(s.stack) > 0 {
		i := s.stack[len(s.stack)-1]
		s.stack = s.stack[:len(s.stack)-1]
		if s.n.nodes[i].when.before(x) {
			set[i/64] |= 1 << (i % 64)
		}
		for _, e := range s.empties[i] {
			if s.seen[e] != s.now {
				s.seen[e] = s.now
				s.stack = append(s.stack, e)
			}
		}
	}
}

// takes reports whether a node takes unit i. What has to stand after an anchor is not looked at where a class takes a
// character of several bytes.
func (s *submatcher) takes(node int32, i int) bool {
	n := &s.n.nodes[node]
	return s.a.in(s.letters[i], n.set) &&
		(n.when.after(s.next(i)) || !n.literal && s.offsets[i+1]-s.offsets[i] > 1)
}

// back computes into set the nodes at unit i from which the end is reached, of those at unit i+1.
func (s *submatcher) back(set, later []uint64, i int) {
	s.fresh(set)
	x := s.before(i)
	s.clock.spend(len(later))
	for w, bits := range later {
		for q := int32(w * 64); bits != 0; q, bits = q+1, bits>>1 {
			if bits&1 == 0 {
				continue
			}
			s.clock.spend(1 + len(s.into[q]))
			for _, p := range s.into[q] {
				if s.seen[p] != s.now && s.takes(p, i) && s.n.nodes[p].when.before(x) {
					s.grow(set, p, x)
				}
			}
		}
	}
}

// load reads the units of a match and keeps every segment-th set.
func (s *submatcher) load(b []byte, f found) {
	s.letters, s.offsets = s.letters[:0], s.offsets[:0]
	for i := f.start; i < f.end; {
		letter, n := s.a.at(b[i:])
		s.letters = append(s.letters, letter)
		s.offsets = append(s.offsets, int32(i-f.start))
		i += n
	}
	s.offsets = append(s.offsets, int32(f.end-f.start))
	s.start, s.after = s.a.before(b, f.start), s.a.after(b, f.end)
	last := len(s.letters)
	set, other := make([]uint64, s.words), make([]uint64, s.words)
	s.fresh(set)
	s.grow(set, f.by, s.before(last))
	s.kept = map[int][]uint64{last: append([]uint64(nil), set...)}
	for i := last - 1; i > 0 && last > segment && s.clock.err == nil; i-- {
		s.back(other, set, i)
		set, other = other, set
		if i%segment == 0 {
			s.kept[i] = append([]uint64(nil), set...)
		}
	}
	s.base = -1
}

// at returns the set of unit i.
func (s *submatcher) at(i int) []uint64 {
	base := i / segment * segment
	if base != s.base {
		s.base = base
		end := min(base+segment, len(s.letters))
		for len(s.window) <= end-base {
			s.window = append(s.window, make([]uint64, s.words))
		}
		copy(s.window[end-base], s.kept[end])
		for j := end - 1; j >= base && s.clock.err == nil; j-- {
			s.back(s.window[j-base], s.window[j-base+1], j)
		}
	}
	return s.window[i-base]
}

// groups writes where the groups of a match are into caps: start and end of group i at 2*i, from 1; -1 where it took no
// part.
func (s *submatcher) groups(b []byte, f found, caps []int) explained {
	s.load(b, f)
	if s.clock.err != nil {
		return nowhere
	}
	if s.n.alts && !slices.ContainsFunc(s.at(0), func(w uint64) bool { return w != 0 }) {
		return notHere
	}
	caps = caps[2:]
	for i := range caps {
		caps[i] = -1
	}
	s.last = append(s.last[:0], caps...)
	s.viaNow++
	i, node, empties := 0, s.n.start, 0
	for s.clock.spend(1) {
		s.note(node, int(s.offsets[i])+f.start, caps)
		if i == len(s.letters) && node == f.by {
			break
		}
		if node = s.proceed(node, &i, &empties); node < 0 {
			return nowhere
		}
	}
	for g, same := range s.n.same {
		caps[2*g], caps[2*g+1] = caps[2*same], caps[2*same+1]
	}
	return matched
}

// proceed goes on from a node at unit *i.
func (s *submatcher) proceed(from int32, i, empties *int) int32 {
	node := &s.n.nodes[from]
	if !node.empty() {
		if *i == len(s.letters) || node.kind != treeSet || !s.takes(from, *i) {
			return -1
		}
		*i++
		*empties = 0
		s.viaNow++
		return node.next
	}
	if *empties++; *empties > 4*len(s.n.nodes) {
		return -1
	}
	set := s.at(*i)
	s.via[from] = s.viaNow
	to := int32(-1)
	for _, e := range node.edges {
		switch {
		case !has(set, e):
		case to < 0:
			to = e
		case s.via[to] == s.viaNow: // as in (a*)*: been there without taking anything
			return e
		}
	}
	return to
}

// note keeps where groups begin and end.
func (s *submatcher) note(i int32, at int, caps []int) {
	node := &s.n.nodes[i]
	start, end := 2*node.group, 2*node.group+1
	switch node.kind {
	case treeOpen:
		caps[start], caps[end] = at, -1
	case treeClose:
		switch {
		case caps[start] < at:
			caps[end] = at
			copy(s.last, caps)
		case node.optional && s.last[start] != -1:
			copy(caps, s.last)
		default:
			caps[end] = at
		}
	}
}
