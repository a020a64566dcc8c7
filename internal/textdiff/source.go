package textdiff

import "bytes"

// source is a text as far as it is looked at: in memory, or read page by page.
type source struct {
	over  func() bool // whether nobody waits for the comparison any more; nil for never
	size  int
	data  []byte // all of it, unless it has pages
	pages *pages
}

func whole(data []byte) *source { return &source{size: len(data), data: data} }

// slice returns the bytes from from to to. They are shared, or a copy.
func (s *source) slice(from, to int) []byte {
	if s.pages != nil {
		return s.pages.slice(from, to)
	}
	return s.data[from:to]
}

// take is slice for bytes that are compared or shown, which may be held to a limit.
func (s *source) take(from, to int) []byte {
	if s.pages != nil {
		s.pages.charge(to - from)
	}
	return s.slice(from, to)
}

// lineStart returns where the line begins that at is in, or lo if that is later.
func (s *source) lineStart(lo, at int) int {
	if s.pages != nil {
		return s.pages.lastNewline(lo, at) + 1
	}
	return lo + bytes.LastIndexByte(s.data[lo:at], '\n') + 1
}

// lineEnd returns the end of the line that begins at off, behind its line end if it has one, or hi if that comes first.
func (s *source) lineEnd(off, hi int) int {
	if s.pages != nil {
		return s.pages.newline(off, hi)
	}
	if n := bytes.IndexByte(s.data[off:hi], '\n'); n >= 0 {
		return off + n + 1
	}
	return hi
}

// startsLine reports whether a line begins at off, or would if the text went on.
func (s *source) startsLine(off int) bool {
	return off == 0 || s.pages != nil && s.pages.slice(off-1, off)[0] == '\n' || s.pages == nil && s.data[off-1] == '\n'
}

// newlines counts line ends from from to to. From one call to the next the offsets must not fall.
func (s *source) newlines(from, to int) int {
	if s.pages != nil {
		return s.pages.count(from, to)
	}
	return bytes.Count(s.data[from:to], newline)
}
