package textdiff

import (
	"bytes"
	"fmt"
)

// MismatchError says that a hunk does not fit the text it is applied to.
type MismatchError struct {
	Hunk int // which of the hunks, counted from 0
	Line int // the line of the old text it should begin at, as Hunk.OldStart
}

// Error implements error.
func (e *MismatchError) Error() string {
	return fmt.Sprintf("hunk %d does not fit the text at line %d", e.Hunk+1, e.Line)
}

// Apply returns old with the hunks applied, all or some of those that [Hunks] returned, in the same order. Each must find
// the lines it removes at its byte offset; if one does not, or if they overlap, the error is a *[MismatchError]. The
// result shares no memory with old.
func Apply(old []byte, hunks []Hunk) ([]byte, error) {
	out := make([]byte, 0, len(old)+len(old)/8)
	at := 0
	for i, h := range hunks {
		before, after := h.core()
		if h.OldOff < at || h.OldEnd < h.OldOff || h.OldEnd > len(old) || !bytes.Equal(before, old[h.OldOff:h.OldEnd]) {
			return nil, &MismatchError{Hunk: i, Line: h.OldStart}
		}
		out = append(out, old[at:h.OldOff]...)
		out = append(out, after...)
		at = h.OldEnd
	}
	return append(out, old[at:]...), nil
}

// core returns what is between the first changed line of a hunk and its last, before and after the change.
func (h Hunk) core() (before, after []byte) {
	from, to := 0, len(h.Lines)
	for from < to && h.Lines[from].Op == ' ' {
		from++
	}
	for to > from && h.Lines[to-1].Op == ' ' {
		to--
	}
	for _, l := range h.Lines[from:to] {
		if l.Op != '+' {
			before = append(before, l.Text...)
		}
		if l.Op != '-' {
			after = append(after, l.Text...)
		}
	}
	return before, after
}

// Keep returns those hunks for which keep, called with their indices in ascending order, returns true. Their places in
// the new text, lines and bytes, become those they have in the result of [Apply] with these hunks alone, so that they make
// a patch of their own. hunks must be all that [Hunks] returned, and stays as it is.
func Keep(hunks []Hunk, keep func(i int) bool) []Hunk {
	var kept []Hunk
	lines, size := 0, 0 // what the rejected hunks so far would have added
	for i, h := range hunks {
		if !keep(i) {
			lines += h.NewLines - h.OldLines
			size += (h.NewEnd - h.NewOff) - (h.OldEnd - h.OldOff)
			continue
		}
		h.NewStart -= lines
		h.NewOff -= size
		h.NewEnd -= size
		kept = append(kept, h)
	}
	return kept
}
