package textdiff

import "bytes"

// Source is a text for comparing: [Bytes], or a text of [Paged.Texts].
type Source interface {
	// Size returns the number of bytes of the text.
	Size() int

	// slice returns the bytes from from to to, shared or a copy; shown is slice for bytes that are compared or shown,
	// which may count towards a limit.
	slice(from, to int) []byte
	shown(from, to int) []byte
	// lineStart returns the begin of the line of at, or lo if that is later.
	lineStart(lo, at int) int
	// index returns the first offset of the byte c from from to to, or -1.
	index(c byte, from, to int) int
	// newlines counts line ends from from to to. The offsets must not decrease from call to call.
	newlines(from, to int) int
	// finish is called after the comparison.
	finish()
}

// lineEnd returns the end of the line that begins at off, including its line end, or hi if that comes first.
func lineEnd(s Source, off, hi int) int {
	if n := s.index('\n', off, hi); n >= 0 {
		return n + 1
	}
	return hi
}

// startsLine reports whether a line of the text begins at off, or would begin there if the text went on.
func startsLine(s Source, off int) bool { return off == 0 || s.lineStart(off-1, off) == off }

// Bytes is a text in memory.
type Bytes []byte

// Size implements [Source].
func (b Bytes) Size() int { return len(b) }

func (b Bytes) slice(from, to int) []byte { return b[from:to] }
func (b Bytes) shown(from, to int) []byte { return b[from:to] }
func (b Bytes) newlines(from, to int) int { return bytes.Count(b[from:to], newline) }
func (b Bytes) finish()                   {}

func (b Bytes) lineStart(lo, at int) int { return lo + bytes.LastIndexByte(b[lo:at], '\n') + 1 }

func (b Bytes) index(c byte, from, to int) int {
	if n := bytes.IndexByte(b[from:to], c); n >= 0 {
		return from + n
	}
	return -1
}
