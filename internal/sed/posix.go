package sed

import (
	"bytes"
	"sync"
)

// The messages of the C library for patterns it refuses, and ours for what we do.
const (
	errTrailing         = "Trailing backslash"
	errUnmatchedOpen    = "Unmatched ( or \\("
	errUnmatchedClose   = "Unmatched ) or \\)"
	errUnmatchedBracket = "Unmatched [, [^, [:, [., or [="
	errUnmatchedBrace   = "Unmatched \\{"
	errInterval         = "Invalid content of \\{\\}"
	errRange            = "Invalid range end"
	errRepeatsNothing   = "Invalid preceding regular expression"
	errTooBig           = "Regular expression too big"
	errTooDeep          = "groups are nested too deeply (more than 1000)"
	errClassName        = "Invalid character class name"
	errCollation        = "Invalid collation character"
	errClassSyntax      = "character class syntax is [[:space:]], not [:space:]"
	errBackReference    = "back-references in the pattern are not supported"
	errRawBracket       = "bytes that are no character are not supported within [...]"
	errRawPattern       = "bytes that are no character are not supported beside classes, words or the flag I"
)

// posix is a compiled pattern in POSIX syntax. It is safe for concurrent use.
type posix struct {
	n        *nfa
	a        *alphabet
	must     []byte // every match contains it, if it is not empty
	room     int    // about how much memory the states of one automaton may take, in bytes
	machines sync.Pool
}

// machine is what one search needs of a posix and no two may share.
type machine struct {
	p        *posix
	clock    *clock
	anchored *dfa
	anywhere *dfa
	sub      submatcher
}

// stretch is how many bytes of a line are looked at between two looks at the clock.
const stretch = 1 << 16

// patternError says what is wrong with a pattern and at which of its units.
type patternError struct {
	text string
	at   int
}

// compilePosix compiles a pattern. lines is the flag M.
func compilePosix(pattern []byte, basic, icase, lines bool, maxNodes int) (*posix, *patternError) {
	if len(pattern) > maxPatternBytes {
		return nil, &patternError{errTooBig, 0}
	}
	p := &patternParser{basic: basic, icase: icase, lines: lines, maxNodes: maxNodes}
	for i := 0; i < len(pattern); {
		u, n := decode(pattern[i:], false)
		p.bytes = p.bytes || u < 0
		p.units = append(p.units, u)
		i += n
	}
	t := p.parse()
	if p.err == "" && p.bytes && !p.simple {
		p.fail(errRawPattern)
	}
	if p.err != "" {
		return nil, &patternError{p.err, p.where}
	}
	re := &posix{room: cacheBytes}
	if !icase {
		re.must = required(p, t)
	}
	n, ok := build(p, t)
	if !ok {
		return nil, &patternError{errTooBig, len(p.units)}
	}
	a, ok := newAlphabet(p)
	if !ok {
		return nil, &patternError{errTooBig, len(p.units)}
	}
	re.n, re.a = n, a
	return re, nil
}

// machine returns a machine of the pattern that works as long as the clock says; done gives it back.
func (re *posix) machine(c *clock) *machine {
	m, ok := re.machines.Get().(*machine)
	if !ok {
		m = &machine{p: re, anchored: newDFA(re.n, re.a, false, re.room), anywhere: newDFA(re.n, re.a, true, re.room)}
	}
	m.clock, m.anchored.clock, m.anywhere.clock, m.sub.clock = c, c, c, c
	return m
}

func (re *posix) done(m *machine) {
	m.clock, m.anchored.clock, m.anywhere.clock, m.sub.clock = nil, nil, nil, nil
	re.machines.Put(m)
}

// found is a match: its bytes, and the end of the pattern by which it ended.
type found struct {
	start, end int
	by         int32
}

// find returns the leftmost of the longest matches in b that begin at from or later. What stands before from counts as
// context. Its time grows with the length of b, times the size of the pattern where states cannot be kept.
func (m *machine) find(b []byte, from int) (found, bool) {
	if len(m.p.must) > 0 && !bytes.Contains(b[min(from, len(b)):], m.p.must) {
		return found{}, false
	}
	if k := m.p.a.inside(b, from); k > 0 {
		// Only a pattern of nothing matches within a character, where the C library compares bytes.
		if m.p.a.lax {
			if by := m.anchored.states[m.anchored.start(0)].ends[afterOther]; by >= 0 {
				return found{from, from, by}, true
			}
		}
		_, n := decode(b[from-k:], m.p.a.lax)
		from += n - k
	}
	limit, ok := m.exists(b, from)
	if !ok {
		return found{}, false
	}
	work := 16*(limit-from) + 4096 + m.anchored.made
	x := m.p.a.before(b, from)
	for i := from; i <= limit; {
		f, ok, at := m.longest(b, i, x)
		if ok || !m.clock.spend(1+at-i) {
			return f, ok
		}
		if work -= at - i; work < m.anchored.made {
			return m.findSlow(b, from)
		}
		if i == len(b) {
			break
		}
		letter, n := m.p.a.at(b[i:])
		x = m.p.a.context[letter]
		i += n
	}
	return found{}, false
}

// exists finds a place by which some match has ended.
func (m *machine) exists(b []byte, from int) (int, bool) {
	d, a := m.anywhere, m.p.a
	letters := int32(len(a.context))
	s := d.start(a.before(b, from))
	for i := from; i < len(b); {
		block := min(len(b)-i, stretch)
		for stop := i + block; i < stop; {
			letter, n := a.at(b[i:])
			if d.states[s].halts && d.states[s].ends[afterOf(a.context[letter])] >= 0 {
				return i, true
			}
			to := d.next[s*letters+int32(letter)]
			if to < 0 {
				if to = d.step(s, letter); m.clock.err != nil {
					return 0, false
				}
			}
			s = to
			i += n
		}
		if !m.clock.spend(block) {
			return 0, false
		}
	}
	return len(b), d.states[s].ends[afterEnd] >= 0
}

// longest returns the longest match that begins at from, and how far it had to look.
func (m *machine) longest(b []byte, from int, x context) (f found, ok bool, at int) {
	d, a := m.anchored, m.p.a
	letters := int32(len(a.context))
	s := d.start(x)
	for at = from; at < len(b) && s != 0; {
		block := min(len(b)-at, stretch)
		for stop := at + block; at < stop && s != 0; {
			letter, n := a.at(b[at:])
			if d.states[s].halts {
				if by := d.states[s].ends[afterOf(a.context[letter])]; by >= 0 {
					f, ok = found{from, at, by}, true
				}
			}
			to := d.next[s*letters+int32(letter)]
			if to < 0 {
				if to = d.step(s, letter); m.clock.err != nil {
					return f, false, at
				}
			}
			s = to
			at += n
		}
		if at-from >= stretch && !m.clock.spend(block) {
			return f, false, at
		}
	}
	if by := d.states[s].ends[afterEnd]; at >= len(b) && by >= 0 {
		f, ok = found{from, len(b), by}, true
	}
	return f, ok, at
}

// findSlow is find in one pass: it follows all matches at once and keeps for each node the first place from which it is
// reached. It is for what find would look at too often.
func (m *machine) findSlow(b []byte, from int) (best found, ok bool) {
	n, a := m.p.n, m.p.a
	set, now := newNodeSet(len(n.nodes)), newNodeSet(len(n.nodes))
	begin := make([]int, len(n.nodes))
	later := make([]int, len(n.nodes))
	x := a.before(b, from)
	for at := from; ; {
		if !ok {
			before := len(now.list)
			n.close(&now, n.start, x)
			for _, i := range now.list[before:] {
				begin[i] = at
			}
		}
		after, within, letter, size := ctxEdge|ctxNewline, context(0), uint16(0), 0
		if at < len(b) {
			letter, size = a.at(b[at:])
			after, within = a.context[letter], a.within[letter]
		}
		for _, i := range now.list {
			if node := &n.nodes[i]; node.kind == treeEnd && node.when.after(after) {
				if s := begin[i]; !ok || s < best.start || s == best.start && (at > best.end || i < best.by) {
					best, ok = found{s, at, i}, true
				}
			}
		}
		if at == len(b) || ok && len(now.list) == 0 || !m.clock.spend(1+len(now.list)) {
			return best, ok
		}
		// Earlier beginnings stand first in the list, and so they do in the next one.
		set.clear()
		for _, i := range now.list {
			node := &n.nodes[i]
			if ok && begin[i] > best.start {
				break
			}
			if node.kind != treeSet || !a.in(letter, node.set) || !node.when.after(within) {
				continue
			}
			before := len(set.list)
			n.close(&set, node.next, within)
			for _, j := range set.list[before:] {
				later[j] = begin[i]
			}
		}
		set, now, begin, later = now, set, later, begin
		x = after
		at += size
	}
}

// groups finds the next match and its groups. caps is as the indexes of package regexp, and has room for all groups.
func (m *machine) groups(b []byte, from int, caps []int) bool {
	if m.sub.n == nil {
		m.sub.init(m.p.n, m.p.a)
	}
	for {
		f, ok := m.find(b, from)
		if !ok || m.clock.err != nil {
			return false
		}
		caps[0], caps[1] = f.start, f.end
		if len(caps) == 2 {
			return true
		}
		switch m.sub.groups(b, f, caps) {
		case matched:
			return true
		case nowhere:
			return false
		}
		if f.start >= len(b) {
			return false
		}
		_, n := m.p.a.at(b[f.start:])
		from = f.start + n
	}
}

// match reports whether there is a match.
func (m *machine) match(b []byte) bool {
	if len(m.p.must) > 0 && !bytes.Contains(b, m.p.must) {
		return false
	}
	_, ok := m.exists(b, 0)
	return ok
}
