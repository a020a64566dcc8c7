package textdiff

import (
	"bytes"

	"github.com/millrace-go/millrace/change"
)

var newline = []byte{'\n'}

// Spans returns the spans that splices have changed.
func Spans(splices []change.Splice) []Span {
	spans := make([]Span, len(splices))
	shift := 0
	for i, s := range splices {
		off, end := int(s.Off), int(s.Off+s.Len)
		spans[i] = Span{off, end, off + shift, off + shift + len(s.Text)}
		shift += len(s.Text) - int(s.Len)
	}
	return spans
}

// fit reports whether the spans are within the texts, in order, with the same number of bytes between them in both
// texts.
func (t texts) fit(spans []Span) bool {
	last := Span{}
	for i := range len(spans) + 1 {
		s := Span{t.old.Size(), t.old.Size(), t.new.Size(), t.new.Size()}
		if i < len(spans) {
			s = spans[i]
		}
		if s.Old < last.OldEnd || s.OldEnd < s.Old || s.Old-last.OldEnd != s.New-last.NewEnd {
			return false
		}
		last = s
	}
	return true
}

// boxes widens spans to whole lines, and joins spans that then overlap or touch. Some are missing if the comparison was
// cancelled.
func (t texts) boxes(spans []Span) []Span {
	out := make([]Span, 0, len(spans))
	for i, s := range spans {
		if t.ended(i) {
			break
		}
		before, after := 0, t.old.Size()
		if i > 0 {
			before = spans[i-1].OldEnd
		}
		if i+1 < len(spans) {
			after = spans[i+1].Old
		}
		b := t.widen(s, before, after)
		if n := len(out); n > 0 && b.Old <= out[n-1].OldEnd {
			out[n-1].OldEnd, out[n-1].NewEnd = b.OldEnd, b.NewEnd
		} else {
			out = append(out, b)
		}
	}
	return out
}

// widen returns the lines that a span touches. The bytes of the old text from before to the span, and from its end to
// after, are the same in both texts, so a step into them is a step in both.
func (t texts) widen(s Span, before, after int) Span {
	back := s.Old - t.old.lineStart(before, s.Old)
	s.Old -= back
	s.New -= back
	if startsLine(t.old, s.OldEnd) && startsLine(t.new, s.NewEnd) {
		return s
	}
	ahead := lineEnd(t.old, s.OldEnd, after) - s.OldEnd
	s.OldEnd += ahead
	s.NewEnd += ahead
	return s
}

// stride is how many bytes are compared at a time before looking for the exact difference.
const stride = 512

// common returns the number of common bytes at the beginnings of two texts, and of the other bytes at their ends.
func common(a, b []byte) (head, tail int) {
	n := min(len(a), len(b))
	for head+stride <= n && bytes.Equal(a[head:head+stride], b[head:head+stride]) {
		head += stride
	}
	for head < n && a[head] == b[head] {
		head++
	}
	n -= head
	for tail+stride <= n && bytes.Equal(a[len(a)-tail-stride:len(a)-tail], b[len(b)-tail-stride:len(b)-tail]) {
		tail += stride
	}
	for tail < n && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return head, tail
}

// countLines counts lines, including a last line without a line end.
func countLines(text []byte) int {
	n := bytes.Count(text, newline)
	if len(text) > 0 && !bytes.HasSuffix(text, newline) {
		n++
	}
	return n
}
