package actions

import (
	"bytes"
	"context"
	"fmt"
	"unicode/utf8"
)

// maxShownLine is the number of bytes shown of a line. A longer line is cut around its first match.
const maxShownLine = 1000

// lineWriter writes the lines of a file with matches, and lines around them, in the form of grep -n -C:
//
//	Line 9- context before
//	Line 10: a match is in this line
//	Line 11- context after
//	--
//	Line 42: ...
//
// It receives matches from left to right and reads each byte of the file a few times at most, for any number of
// matches.
type lineWriter struct {
	ctx     context.Context
	data    []byte
	context int
	room    *showing

	out  []byte
	next int // the start of the first line after all written lines
	no   int // its number, from 1
	err  error
}

// match writes the lines of a match, and returns false when its room is used up. A newline belongs to the line that
// it ends.
func (w *lineWriter) match(start, end int) bool {
	if start == len(w.data) {
		if w.data[len(w.data)-1] == '\n' {
			return true
		}
		start--
	}
	last := max(start, end-1)
	if last < w.next {
		return w.err == nil // they have been written for an earlier match
	}
	from := max(start, w.next)
	line := w.next + bytes.LastIndexByte(w.data[w.next:from], '\n') + 1
	w.between(line)
	for line <= last && line < len(w.data) && w.err == nil {
		end := w.lineEnd(line)
		w.line(':', line, end, max(from-line, 0), last+1-line)
		line = end
		w.next = end
	}
	return w.err == nil
}

// between writes the context after the last written line and before the line at to.
func (w *lineWriter) between(to int) {
	gap, first := bytes.Count(w.data[w.next:to], []byte{'\n'}), len(w.out) == 0
	after := min(gap, w.context)
	if first {
		after = 0
	}
	before := min(gap-after, w.context)
	skipped := gap - after - before
	w.lines(after)
	if skipped > 0 {
		if !first && w.context > 0 {
			w.write([]byte("--\n"))
		}
		w.next, w.no = to, w.no+skipped
		for range before {
			w.next = bytes.LastIndexByte(w.data[:w.next-1], '\n') + 1
		}
	}
	w.lines(before)
}

func (w *lineWriter) lines(n int) {
	for ; n > 0 && w.next < len(w.data) && w.err == nil; n-- {
		end := w.lineEnd(w.next)
		w.line('-', w.next, end, 0, 0)
		w.next = end
	}
}

// end returns the written text, with the context after the last match.
func (w *lineWriter) end() ([]byte, error) {
	if len(w.out) > 0 {
		w.lines(w.context)
	}
	return w.out, w.err
}

// lineEnd returns the end of the line that begins at start, including its newline.
func (w *lineWriter) lineEnd(start int) int {
	if i := bytes.IndexByte(w.data[start:], '\n'); i >= 0 {
		return start + i + 1
	}
	return len(w.data)
}

// line writes one line and counts it. from and to are the offsets of a match in it.
func (w *lineWriter) line(mark byte, start, end, from, to int) {
	text := bytes.TrimSuffix(bytes.TrimSuffix(w.data[start:end], []byte{'\n'}), []byte{'\r'})
	line := fmt.Appendf(nil, "Line %d%c ", w.no, mark)
	line = append(line, shownLine(text, from, to)...)
	w.write(append(line, '\n'))
	w.no++
}

func (w *lineWriter) write(line []byte) {
	if w.err == nil && w.no%1024 == 0 {
		w.err = w.ctx.Err()
	}
	if w.err == nil {
		w.err = w.room.take(len(line))
	}
	if w.err == nil {
		w.out = append(w.out, line...)
	}
}

// shownLine returns a line for display: bytes that are not UTF-8 become U+FFFD. A long line is cut to a part around the
// match, or to a part from the match's start if the match is longer, with "…" for the rest.
func shownLine(line []byte, from, to int) []byte {
	if len(line) > maxShownLine {
		from, to = min(from, len(line)), min(to, len(line))
		start := max(0, from-max(0, maxShownLine-(to-from))/2)
		start = min(start, len(line)-maxShownLine)
		end := start + maxShownLine
		for i := 1; i < utf8.UTFMax && start > 0 && !utf8.RuneStart(line[start]); i++ {
			start++
		}
		for i := 1; i < utf8.UTFMax && end < len(line) && !utf8.RuneStart(line[end]); i++ {
			end--
		}
		var cut []byte
		if start > 0 {
			cut = append(cut, "…"...)
		}
		cut = append(cut, line[start:end]...)
		if end < len(line) {
			cut = append(cut, "…"...)
		}
		line = cut
	}
	return bytes.ToValidUTF8(line, []byte("\uFFFD"))
}
