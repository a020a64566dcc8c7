package sed

import (
	"math"
	"slices"
	"unicode/utf8"
)

// alphabet divides the units into letters: units that no set of a pattern tells apart, and no context either.
type alphabet struct {
	starts  []unit // ascending, from -128
	letters []uint16
	ascii   [utf8.RuneSelf]uint16
	context []context  // of each letter
	within  []context  // of each letter within a match, where a newline is one without M too
	member  [][]uint64 // of each letter, the sets it is in
	sets    []int32    // of each set of the pattern, its number in member
	icase   bool
	bytes   bool // every byte is a unit
	lax     bool // surrogates are characters
}

// maxAlphabet bounds the work of finding out which sets hold which units.
const maxAlphabet = 1 << 26

// newAlphabet returns the alphabet of a parsed pattern. It is false where the pattern tells too many units apart.
func newAlphabet(p *patternParser) (*alphabet, bool) {
	a := &alphabet{icase: p.icase, bytes: p.bytes, lax: p.simple}
	word, line := spans(nil), spans{{'\n', '\n'}}
	if p.words {
		word = wordContext()
	}
	const own = 2 // sets before those of the pattern
	distinct := append([]spans{word, line}, p.sets...)
	for i := range p.sets {
		a.sets = append(a.sets, int32(own+i))
	}
	cuts := []unit{-128}
	for _, s := range distinct {
		for _, r := range s {
			cuts = append(cuts, r.lo)
			if r.hi < maxUnit {
				cuts = append(cuts, r.hi+1)
			}
		}
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	if len(cuts) > math.MaxUint16 || len(cuts)*len(distinct) > maxAlphabet {
		return nil, false
	}
	words := (len(distinct) + 63) / 64
	known := make(map[string]uint16)
	signature := make([]uint64, words)
	at := make([]int, len(distinct)) // into each set, as the cuts go by
	for _, c := range cuts {
		clear(signature)
		for i, s := range distinct {
			for at[i] < len(s) && s[at[i]].hi < c {
				at[i]++
			}
			if at[i] < len(s) && s[at[i]].lo <= c {
				signature[i/64] |= 1 << (i % 64)
			}
		}
		key := appendWords(nil, signature)
		letter, ok := known[string(key)]
		if !ok {
			letter = uint16(len(a.context))
			known[string(key)] = letter
			var x context
			if signature[0]&1 != 0 {
				x |= ctxWord
			}
			if signature[0]&2 != 0 {
				x |= ctxNewline
			}
			a.within = append(a.within, x)
			if !p.lines {
				x &^= ctxNewline
			}
			a.context = append(a.context, x)
			a.member = append(a.member, slices.Clone(signature))
		}
		if n := len(a.letters); n > 0 && a.letters[n-1] == letter {
			continue
		}
		a.starts = append(a.starts, c)
		a.letters = append(a.letters, letter)
	}
	for u := range a.ascii {
		a.ascii[u] = a.find(a.fold(unit(u)))
	}
	return a, true
}

func appendWords(b []byte, words []uint64) []byte {
	for _, w := range words {
		for range 8 {
			b = append(b, byte(w))
			w >>= 8
		}
	}
	return b
}

func (a *alphabet) fold(u unit) unit {
	if a.icase {
		return upper(u)
	}
	return u
}

func (a *alphabet) find(u unit) uint16 {
	i, ok := slices.BinarySearch(a.starts, u)
	if !ok {
		i--
	}
	return a.letters[i]
}

// at returns the letter at the beginning of b, which must not be empty, and its length.
func (a *alphabet) at(b []byte) (uint16, int) {
	if c := b[0]; c < utf8.RuneSelf {
		return a.ascii[c], 1
	}
	if a.bytes {
		return a.find(unit(b[0])), 1
	}
	u, n := decode(b, a.lax)
	return a.find(a.fold(u)), n
}

// in reports whether a letter is in a set of the pattern.
func (a *alphabet) in(letter uint16, set int32) bool {
	set = a.sets[set]
	return a.member[letter][set/64]&(1<<(set%64)) != 0
}

// inside returns how many bytes before b[i] the character began that b[i] is within, 0 if it is the beginning of one.
func (a *alphabet) inside(b []byte, i int) int {
	if a.bytes || i >= len(b) || b[i]&0xc0 != 0x80 {
		return 0
	}
	for k := 1; k <= 5 && k <= i; k++ {
		if c := b[i-k]; c >= 0xc2 {
			if _, n := decode(b[i-k:], a.lax); n > k {
				return k
			}
			return 0
		} else if c < 0x80 {
			return 0
		}
	}
	return 0
}

// before returns the context that ends at b[i], and after the one that begins there.
func (a *alphabet) before(b []byte, i int) context {
	if i == 0 {
		return ctxEdge | ctxNewline
	}
	j := i - 1
	j -= a.inside(b, j)
	letter, _ := a.at(b[j:])
	return a.context[letter]
}

func (a *alphabet) after(b []byte, i int) context {
	if i >= len(b) {
		return ctxEdge | ctxNewline
	}
	letter, _ := a.at(b[i:])
	return a.context[letter]
}
