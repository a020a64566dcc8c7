package millrace

import (
	"fmt"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/textdiff"
)

// Hunk is one place at which a file differs, as in a unified diff.
type Hunk struct {
	OldStart int `json:"old_start"` // lines count from 1
	OldLines int `json:"old_lines"`
	NewStart int `json:"new_start"`
	NewLines int `json:"new_lines"`
	// Text has the lines of the hunk, each after a space, a "-" or a "+".
	Text string `json:"text"`
	// By says which edits of which steps made it, in the order of the steps: all those, and only those, that go with it
	// when it is rejected.
	By []fsutil.Origin `json:"by,omitempty"`

	by    [][]fsutil.Origin // of each run of changed lines
	marks [][2]int          // of Text, in ascending order, none of them reaching over a line
}

// reviewer is the step of an [fsutil.Origin] that no step has: a text of [Plan.Revise].
const reviewer = "(review)"

// Steps returns the ids of the steps that made the hunk, each once, in the order they ran.
func (h Hunk) Steps() []string {
	var steps []string
	for _, o := range h.By {
		if o.Step != reviewer && !slices.Contains(steps, o.Step) {
			steps = append(steps, o.Step)
		}
	}
	return steps
}

// String returns the hunk as it stands in a unified diff, its "@@" line included.
func (h Hunk) String() string {
	return fmt.Sprintf("@@ -%s +%s @@\n%s", lineRange(h.OldStart, h.OldLines), lineRange(h.NewStart, h.NewLines), h.Text)
}

func lineRange(start, lines int) string {
	if lines == 1 {
		return fmt.Sprint(start)
	}
	return fmt.Sprintf("%d,%d", start, lines)
}

// HunkLine is one line of the text of a hunk: Op, Text and a newline, one after the other, are the line as it stands
// there.
type HunkLine struct {
	// Op is ' ' for a line that both files have, '-' for one that only the old file has, '+' for one that only the new
	// file has, and '\\' for the note that the line above it, the last of its file, has no line end.
	Op byte `json:"op"`
	// Old and New are the numbers of the line in the two files, counted from 1, and 0 where it is not in that file.
	Old int `json:"old,omitempty"`
	New int `json:"new,omitempty"`
	// Text is the line without its "\n"; a "\r" before that is part of it.
	Text string `json:"text"`
	// Marks are the ranges of Text, from one byte to before another, that splices took away or put in, in ascending
	// order; only lines with '-' and '+' have some. A line is marked as a whole where it was removed or put in as a
	// whole, and where the diff shows a change on other lines than it was made on. There is no mark if nothing but the
	// line end has changed.
	Marks [][2]int `json:"marks,omitempty"`
}

// Lines returns the lines of the hunk with their numbers. The marks are there for a hunk of a [Plan], not for one that
// was read from JSON.
func (h Hunk) Lines() []HunkLine {
	lines := make([]HunkLine, 0, strings.Count(h.Text, "\n"))
	before, now := h.OldStart, h.NewStart
	marks := h.marks
	at := 0
	for text := range strings.Lines(h.Text) {
		l := HunkLine{Op: text[0], Text: strings.TrimSuffix(text[1:], "\n")}
		if l.Op == '\n' {
			l.Op = ' ' // some tools cut the space off an empty line
		}
		if l.Op == ' ' || l.Op == '-' {
			l.Old = before
			before++
		}
		if l.Op == ' ' || l.Op == '+' {
			l.New = now
			now++
		}
		start := at + 1
		at += len(text)
		for len(marks) > 0 && marks[0][1] <= at {
			l.Marks = append(l.Marks, [2]int{marks[0][0] - start, marks[0][1] - start})
			marks = marks[1:]
		}
		lines = append(lines, l)
	}
	return lines
}

// hunkRun is a row of lines of a hunk that are all changed, or all not.
type hunkRun struct {
	from, to     int // in Hunk.Text
	changed      bool
	oldAt, newAt int // the numbers of its first line, or of the one behind it
	oldN, newN   int // how many lines it has of either file
}

// split returns the runs of the hunk from top to bottom.
func (h Hunk) split() []hunkRun {
	var runs []hunkRun
	oldAt, newAt := h.OldStart, h.NewStart
	at := 0
	for text := range strings.Lines(h.Text) {
		op := text[0]
		changed := op == '-' || op == '+'
		if n := len(runs); n == 0 || op != '\\' && runs[n-1].changed != changed {
			runs = append(runs, hunkRun{from: at, changed: changed, oldAt: oldAt, newAt: newAt})
		}
		r := &runs[len(runs)-1]
		at += len(text)
		r.to = at
		if op == '\\' {
			continue
		}
		if op != '+' {
			r.oldN++
			oldAt++
		}
		if op != '-' {
			r.newN++
			newAt++
		}
	}
	return runs
}

// Split returns a hunk for each run of changed lines of this one, from top to bottom, with the unchanged lines around
// it, so that each can be rejected alone: all choices of them give a file, by [Plan.Revise]. A hunk with one run is
// returned as it is. Two that lie close together both show the lines between them, so only one of them can be part of a
// patch. Their new lines are numbered as if all were taken.
//
// Where one edit has made several runs, all of them are by that edit, and each can be rejected all the same.
func (h Hunk) Split() []Hunk {
	runs := h.split()
	var parts []Hunk
	for i, r := range runs {
		if !r.changed {
			continue
		}
		part := Hunk{OldStart: r.oldAt, NewStart: r.newAt, OldLines: r.oldN, NewLines: r.newN}
		from, to := r.from, r.to
		if i > 0 {
			n, size := h.context(runs[i-1], true)
			from -= size
			part.OldStart, part.NewStart = part.OldStart-n, part.NewStart-n
			part.OldLines, part.NewLines = part.OldLines+n, part.NewLines+n
		}
		if i+1 < len(runs) {
			n, size := h.context(runs[i+1], false)
			to += size
			part.OldLines, part.NewLines = part.OldLines+n, part.NewLines+n
		}
		part.Text = h.Text[from:to]
		part.By = h.By
		if len(parts) < len(h.by) {
			part.by = h.by[len(parts) : len(parts)+1]
			part.By = slices.Clone(part.by[0])
		}
		for _, m := range h.marks {
			if from <= m[0] && m[1] <= to {
				part.marks = append(part.marks, [2]int{m[0] - from, m[1] - from})
			}
		}
		parts = append(parts, part)
	}
	if len(parts) <= 1 {
		return []Hunk{h}
	}
	return parts
}

// context returns how many lines of a run of unchanged ones are shown, its last or its first ones, and their size in
// the text.
func (h Hunk) context(r hunkRun, last bool) (lines, size int) {
	text := h.Text[r.from:r.to]
	if r.oldN <= textdiff.DefaultContext {
		return r.oldN, len(text)
	}
	skip := textdiff.DefaultContext
	if last {
		skip = r.oldN - skip
	}
	at := 0
	for range skip {
		at += strings.IndexByte(text[at:], '\n') + 1
	}
	if last {
		at = len(text) - at
	}
	return textdiff.DefaultContext, at
}
