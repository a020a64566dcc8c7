package textdiff

import "iter"

// grouped gives the cores of each hunk.
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

// frame returns where the context of cores that lie in a row begins and ends, and how many lines it has before and
// after them.
func frame(old Source, cores []Core, context int) (start, before, end, after int) {
	for start = cores[0].Old; before < context && start > 0; before++ {
		start = old.lineStart(0, start-1)
	}
	for end = cores[len(cores)-1].OldEnd; after < context && end < old.Size(); after++ {
		end = lineEnd(old, end, old.Size())
	}
	return start, before, end, after
}

// hunk makes one hunk of cores that lie in a row.
func (t texts) hunk(cores []Core, context int) Hunk {
	start, before, end, after := frame(t.old, cores, context)
	h := header(cores, before, after)
	h.Cores = cores[:len(cores):len(cores)]
	n := h.OldLines
	for _, c := range cores {
		n += c.NewLines
	}
	h.Lines = make([]Line, 0, n)
	t.each(cores, start, end, func(op byte, line []byte) { h.Lines = append(h.Lines, Line{op, line}) })
	return h
}

// each gives the lines of a hunk that goes from start to end.
func (t texts) each(cores []Core, start, end int, do func(op byte, line []byte)) {
	lines := func(op byte, text []byte) {
		for len(text) > 0 {
			n := firstLine(text)
			do(op, text[:n:n])
			text = text[n:]
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

// header returns a hunk without its lines, of which so many are before and after the cores.
func header(cores []Core, before, after int) Hunk {
	first, last := cores[0], cores[len(cores)-1]
	h := Hunk{OldStart: first.OldLine - before, NewStart: first.NewLine - before}
	h.OldLines = last.OldLine + last.OldLines + after - h.OldStart
	h.NewLines = last.NewLine + last.NewLines + after - h.NewStart
	if h.OldLines > 0 {
		h.OldStart++
	}
	if h.NewLines > 0 {
		h.NewStart++
	}
	return h
}
