package match

import (
	"bytes"
	"slices"
)

// A searcher finds places that a match must touch. It is immutable.
type searcher interface {
	// next returns the first offset at or after from where the text is, or -1.
	next(data []byte, from int) int
	// size is the length of the text in bytes.
	size() int
}

// finder finds a text, byte for byte. It looks for the byte of the text that is rarest in source code, which is two to
// five times as fast there as bytes.Index, and leaves the rest to bytes.Index where that byte turns out to be common.
type finder struct {
	text   []byte
	rare   byte
	at     int  // where in text the rare byte is
	second byte // the rarest one of the others, which is looked at next
	at2    int
}

func newFinder(text string) *finder {
	f := &finder{text: []byte(text)}
	f.at, f.at2 = rarest(f.text, frequency)
	f.rare, f.second = f.text[f.at], f.text[f.at2]
	return f
}

// rarest returns the offsets of the bytes of a text that are least common and second to that, the first ones of
// several. They are the same if the text has no other.
func rarest(text []byte, rank func(byte) float64) (first, second int) {
	for i, c := range text {
		if rank(c) < rank(text[first]) {
			first = i
		}
	}
	second = first
	for i, c := range text {
		if c != text[first] && (second == first || rank(c) < rank(text[second])) {
			second = i
		}
	}
	return first, second
}

func (f *finder) size() int { return len(f.text) }

func (f *finder) next(data []byte, from int) int {
	last := len(data) - len(f.text) // the last offset where the text has room
	for pos, failed := from, 0; pos <= last; failed++ {
		if failed > 16+(pos-from)/32 {
			// The byte is common in this file: from here on the worst case of looking for it would be quadratic.
			i := bytes.Index(data[pos:], f.text)
			if i < 0 {
				return -1
			}
			return pos + i
		}
		i := bytes.IndexByte(data[pos+f.at:last+f.at+1], f.rare)
		if i < 0 {
			return -1
		}
		pos += i
		if data[pos+f.at2] == f.second && string(data[pos:pos+len(f.text)]) == string(f.text) {
			return pos
		}
		pos++
	}
	return -1
}

// foldFinder finds an ASCII text whatever the case of its letters. It is given no k and no s: in a regular expression
// without regard to case they also stand for the Kelvin sign and the long s, which are longer.
type foldFinder struct {
	text         []byte // lower case
	lower, upper byte   // the rarest byte, in both cases
	at           int
	second       byte // the rarest one of the others, which is looked at next
	at2          int
}

func newFoldFinder(lower string) *foldFinder {
	f := &foldFinder{text: []byte(lower)}
	f.at, f.at2 = rarest(f.text, func(c byte) float64 {
		if upper := asciiUpper(c); upper != c {
			return frequency(c) + frequency(upper)
		}
		return frequency(c)
	})
	f.lower, f.upper, f.second = f.text[f.at], asciiUpper(f.text[f.at]), f.text[f.at2]
	return f
}

func (f *foldFinder) size() int { return len(f.text) }

func (f *foldFinder) next(data []byte, from int) int {
	last := len(data) - len(f.text)
	// Both cases are looked for window by window: one of them may be all over the file and the other one nowhere, and
	// looking for that to the end of the file at each call would be quadratic.
	window := 256
	for start := from; start <= last; window = min(2*window, 64<<10) {
		end := min(start+window, last+1)
		lower, upper := f.index(data, f.lower, start, end), end
		if f.upper != f.lower {
			upper = f.index(data, f.upper, start, end)
		}
		for {
			pos := min(lower, upper)
			if pos == end {
				break
			}
			if asciiLower(data[pos+f.at2]) == f.second && f.equal(data[pos:]) {
				return pos
			}
			if pos == lower {
				lower = f.index(data, f.lower, pos+1, end)
			}
			if pos == upper && f.upper != f.lower {
				upper = f.index(data, f.upper, pos+1, end)
			}
		}
		start = end
	}
	return -1
}

// index returns the first offset from start to end at which the text could be, by one byte of it; end if there is none.
func (f *foldFinder) index(data []byte, c byte, start, end int) int {
	if i := bytes.IndexByte(data[start+f.at:end+f.at], c); i >= 0 {
		return start + i
	}
	return end
}

// equal reports whether data, which is long enough, begins with the text.
func (f *foldFinder) equal(data []byte) bool {
	for i, c := range f.text {
		if asciiLower(data[i]) != c {
			return false
		}
	}
	return true
}

func asciiLower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

func asciiUpper(c byte) byte {
	if 'a' <= c && c <= 'z' {
		c -= 'a' - 'A'
	}
	return c
}

// places walks through the places where any of several texts is, each text being looked for once.
type places struct {
	data []byte
	of   []searcher
	at   []int // the next place of each, len(data)+1 if there is none
}

// reset begins anew.
func (p *places) reset(data []byte, of []searcher) {
	p.data, p.of, p.at = data, of, slices.Grow(p.at[:0], len(of))[:len(of)]
	for i := range p.at {
		p.at[i] = -1
	}
}

// next returns the first place at or after from, or -1. From one call to the next, from must not fall.
func (p *places) next(from int) int {
	first := len(p.data) + 1
	for i, s := range p.of {
		if p.at[i] < from {
			if p.at[i] = s.next(p.data, from); p.at[i] < 0 {
				p.at[i] = len(p.data) + 1
			}
		}
		first = min(first, p.at[i])
	}
	if first > len(p.data) {
		return -1
	}
	return first
}

// anywhere reports whether any of the texts is in data.
func anywhere(data []byte, of []searcher) bool {
	for _, s := range of {
		if s.next(data, 0) >= 0 {
			return true
		}
	}
	return false
}
