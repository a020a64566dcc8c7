package textdiff

import (
	"bytes"
	"iter"
)

// grouped yields the cores of each hunk.
func grouped(cores []Core, context int) iter.Seq[[]Core] {
	return func(yield func([]Core) bool) {
		for i := 0; i < len(cores); {
			j := i + 1
			for j < len(cores) && cores[j].OldLine-(cores[j-1].OldLine+cores[j-1].OldLines) <= 2*context {
				j++
			}
			if !yield(cores[i:j]) {
				return
			}
			i = j
		}
	}
}

// frame returns the hunk of consecutive cores without its lines, and its begin and end in the old text.
func (t texts) frame(cores []Core, context int) (h Hunk, start, end int) {
	first, last := cores[0], cores[len(cores)-1]
	h.OldStart, h.NewStart = first.OldLine, first.NewLine
	h.OldLines, h.NewLines = last.OldLine+last.OldLines-first.OldLine, last.NewLine+last.NewLines-first.NewLine
	h.Cores = cores[:len(cores):len(cores)]
	start, end = first.Old, last.OldEnd
	for n := 0; n < context && start > 0; n++ {
		start = t.old.lineStart(0, start-1)
		h.OldStart, h.OldLines, h.NewStart, h.NewLines = h.OldStart-1, h.OldLines+1, h.NewStart-1, h.NewLines+1
	}
	for n := 0; n < context && end < t.old.Size(); n++ {
		end = lineEnd(t.old, end, t.old.Size())
		h.OldLines, h.NewLines = h.OldLines+1, h.NewLines+1
	}
	if h.OldLines > 0 {
		h.OldStart++
	}
	if h.NewLines > 0 {
		h.NewStart++
	}
	return h, start, end
}

// hunk makes one hunk of consecutive cores.
func (t texts) hunk(cores []Core, context int) Hunk {
	h, start, end := t.frame(cores, context)
	n := h.OldLines
	for _, c := range cores {
		n += c.NewLines
	}
	h.Lines = make([]Line, 0, n)
	t.each(cores, start, end, func(op byte, line []byte) { h.Lines = append(h.Lines, Line{op, line}) })
	return h
}

// each calls do for the lines of a hunk from start to end.
func (t texts) each(cores []Core, start, end int, do func(op byte, line []byte)) {
	lines := func(op byte, text []byte) {
		for line := range bytes.Lines(text) {
			do(op, line)
		}
	}
	for _, c := range cores {
		lines(' ', t.old.shown(start, c.Old))
		lines('-', t.old.shown(c.Old, c.OldEnd))
		lines('+', t.new.shown(c.New, c.NewEnd))
		start = c.OldEnd
	}
	lines(' ', t.old.shown(start, end))
}
