package textdiff

import "iter"

// group gathers cores into hunks and gives them context.
func group(old, new *source, cores []core, context int) []Hunk {
	var hunks []Hunk
	for some := range grouped(cores, context) {
		hunks = append(hunks, hunk(old, new, some, context))
	}
	return hunks
}

// grouped gives the cores of each hunk.
func grouped(cores []core, context int) iter.Seq[[]core] {
	return func(yield func([]core) bool) {
		for i := 0; i < len(cores); {
			j := i + 1
			for j < len(cores) && cores[j].oldLine-(cores[j-1].oldLine+cores[j-1].oldN) <= 2*context {
				j++
			}
			if !yield(cores[i:j]) {
				return
			}
			i = j
		}
	}
}

// frame returns where the context of cores that lie in a row begins and ends, and how many lines it has before and after them.
func frame(old *source, cores []core, context int) (start, before, end, after int) {
	for start = cores[0].oldOff; before < context && start > 0; before++ {
		start = old.lineStart(0, start-1)
	}
	for end = cores[len(cores)-1].oldEnd; after < context && end < old.size; after++ {
		end = old.lineEnd(end, old.size)
	}
	return start, before, end, after
}

// hunk makes one hunk of cores that lie in a row.
func hunk(old, new *source, cores []core, context int) Hunk {
	first, last := cores[0], cores[len(cores)-1]
	h := Hunk{OldOff: first.oldOff, OldEnd: last.oldEnd, NewOff: first.newOff, NewEnd: last.newEnd}

	start, before, end, _ := frame(old, cores, context)
	at := start
	for _, c := range cores {
		h.Lines = appendLines(h.Lines, ' ', old.take(at, c.oldOff))
		h.Lines = appendLines(h.Lines, '-', old.take(c.oldOff, c.oldEnd))
		h.Lines = appendLines(h.Lines, '+', new.take(c.newOff, c.newEnd))
		at = c.oldEnd
		h.Cores = append(h.Cores, Core{c.oldOff, c.oldEnd, c.newOff, c.newEnd, c.from, c.to})
	}
	h.Lines = appendLines(h.Lines, ' ', old.take(at, end))

	h.number(first.oldLine-before, first.newLine-before)
	return h
}

// number sets the line numbers of a hunk whose first line is the given one, counted from 0, in either text.
func (h *Hunk) number(oldLine, newLine int) {
	h.OldLines, h.NewLines = 0, 0
	for _, l := range h.Lines {
		if l.Op != '+' {
			h.OldLines++
		}
		if l.Op != '-' {
			h.NewLines++
		}
	}
	h.OldStart, h.NewStart = oldLine, newLine
	if h.OldLines > 0 {
		h.OldStart++
	}
	if h.NewLines > 0 {
		h.NewStart++
	}
}

func appendLines(lines []Line, op byte, text []byte) []Line {
	for len(text) > 0 {
		n := lineEnd(text, 0)
		lines = append(lines, Line{op, text[:n:n]})
		text = text[n:]
	}
	return lines
}
