package textdiff

import "sort"

// block is a sequence of n equal lines, at a in one list and at b in the other.
type block struct{ a, b, n int }

const (
	// maxRun is the longest sequence of lines, a power of two, that is tried as an anchor.
	maxRun = 32
	// minCover: a chain that covers less than 1/minCover of the lines of the smaller list is ignored.
	minCover = 8
	// minKinds: with fewer different lines, nearly every line has a counterpart nearby, and search alone is better.
	minKinds = 8
)

// anchors finds sequences of lines that occur exactly once in a and once in b, and the longest chain of them that is in
// the same order in both: with sequences of one line, that is patience diff. It tries sequences of 1, 2, 4 ... lines
// and returns the chain that covers the most, in ascending order, or nil if none covers enough. So a few unique lines
// that were moved across a text of common lines do not tear it apart: longer sequences cover more.
func (e *engine) anchors(a, b []int32) []block {
	ga, gb, ids := e.dense(a, b)
	if ids < minKinds {
		return nil
	}
	shorter := min(len(a), len(b))
	var best []block
	covered := 0
	for run := 1; ; run *= 2 {
		chain := unique(ga, gb, ids, run)
		cover := 0
		for _, c := range chain {
			cover += c.n
		}
		if cover > covered {
			best, covered = chain, cover
		}
		if covered > shorter/2 || run == maxRun || 2*run > shorter {
			break
		}
		ga, gb, ids = double(ga, gb, run)
	}
	if covered < shorter/minCover {
		return nil
	}
	return best
}

// dense copies a and b with the lines of a numbered from 0 in order of appearance, and lines that are not in a as -1.
// It returns the number of different lines.
func (e *engine) dense(a, b []int32) (ga, gb []int32, ids int) {
	ga, gb = make([]int32, len(a)), make([]int32, len(b))
	for i, id := range a {
		if e.renumber[id] == 0 {
			ids++
			e.renumber[id] = int32(ids)
		}
		ga[i] = e.renumber[id] - 1
	}
	for j, id := range b {
		gb[j] = e.renumber[id] - 1
	}
	for _, id := range a {
		e.renumber[id] = 0
	}
	return ga, gb, ids
}

// double numbers sequences of twice the length: two sequences are equal if both of their halves are. A sequence that is
// not in both lists gets -1.
func double(a, b []int32, run int) (ga, gb []int32, ids int) {
	numbers := make(map[uint64]int32)
	pair := func(g []int32, i int) (uint64, bool) {
		return uint64(g[i])<<32 | uint64(g[i+run]), g[i] >= 0 && g[i+run] >= 0
	}
	gb = make([]int32, max(0, len(b)-run))
	for j := range gb {
		gb[j] = -1
		if key, ok := pair(b, j); ok {
			id, seen := numbers[key]
			if !seen {
				id = int32(len(numbers))
				numbers[key] = id
			}
			gb[j] = id
		}
	}
	met := make([]bool, len(numbers))
	ga = make([]int32, max(0, len(a)-run))
	for i := range ga {
		ga[i] = -1
		if key, ok := pair(a, i); ok {
			if id, seen := numbers[key]; seen {
				ga[i], met[id] = id, true
			}
		}
	}
	for j, id := range gb {
		if id >= 0 && !met[id] {
			gb[j] = -1
		}
	}
	return ga, gb, len(numbers)
}

// unique returns the chain of the sequences that occur once in a and once in b, or nil if most of them contradict it.
func unique(a, b []int32, ids, run int) []block {
	// The position of each sequence, plus 1; 0 if it does not occur, -1 if it occurs more than once.
	inA, inB := make([]int32, ids), make([]int32, ids)
	place := func(in, g []int32) {
		for i, id := range g {
			switch {
			case id < 0:
			case in[id] == 0:
				in[id] = int32(i) + 1
			default:
				in[id] = -1
			}
		}
	}
	place(inA, a)
	place(inB, b)
	var pairs []block
	for i, id := range a {
		if id >= 0 && inA[id] > 0 && inB[id] > 0 {
			pairs = append(pairs, block{i, int(inB[id]) - 1, run})
		}
	}
	chain := ascending(pairs)
	// Sequences that match by chance form a chain of only about the square root of their number.
	if len(chain) < len(pairs)/2 {
		return nil
	}
	return join(chain)
}

// ascending returns a longest subsequence of pairs, which are ascending in a, that is ascending in b too.
func ascending(pairs []block) []block {
	// tails[l] is the last pair of the chain of l+1 pairs whose b is smallest.
	var tails []int
	before := make([]int, len(pairs))
	for i, p := range pairs {
		l := sort.Search(len(tails), func(l int) bool { return pairs[tails[l]].b >= p.b })
		before[i] = -1
		if l > 0 {
			before[i] = tails[l-1]
		}
		if l == len(tails) {
			tails = append(tails, i)
		} else {
			tails[l] = i
		}
	}
	chain := make([]block, len(tails))
	if len(tails) > 0 {
		for l, i := len(tails)-1, tails[len(tails)-1]; l >= 0; l, i = l-1, before[i] {
			chain[l] = pairs[i]
		}
	}
	return chain
}

// join merges sequences that overlap or touch on one diagonal. A sequence that overlaps the sequence before it on
// another diagonal contradicts it and is left out.
func join(chain []block) []block {
	var out []block
	for _, c := range chain {
		if n := len(out); n > 0 {
			last := &out[n-1]
			if c.a-c.b == last.a-last.b && c.a <= last.a+last.n {
				last.n = c.a + c.n - last.a
				continue
			}
			if c.a < last.a+last.n || c.b < last.b+last.n {
				continue
			}
		}
		out = append(out, c)
	}
	return out
}
