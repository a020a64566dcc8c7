package preview

import (
	"bytes"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/textdiff"
)

// File is the difference in one file.
type File struct {
	// Binary means that NUL bytes are near the beginning. A binary file has no hunks.
	Binary bool
	Hunks  []Hunk

	change change.Change
	runs   []run
	who    authors
}

type run struct {
	textdiff.Core
	hunk  int // the number of its hunk
	lines []textdiff.Line
}

// text returns the lines of the old file, for '-', or of the new file, for '+'.
func (r run) text(op byte) []byte {
	var text []byte
	for _, l := range r.lines {
		if l.Op == op {
			text = append(text, l.Text...)
		}
	}
	return text
}

// File compares the two sides of a change. A side that is not a file is empty.
func (v View) File(c change.Change) (File, error) {
	f := File{change: c, who: authors{all: c.By, exact: c.Splices != nil, rank: make(map[string]int)}}
	for i, o := range c.By {
		if _, ok := f.who.rank[o.Step]; !ok {
			f.who.rank[o.Step] = i
		}
	}
	list, binary, err := v.compare(c, textdiff.DefaultContext, false)
	if err != nil || len(list) == 0 {
		f.Binary = binary
		return f, err
	}
	var places []textdiff.Span
	if c.Splices != nil {
		places = textdiff.Spans(c.Splices)
	}
	f.Hunks = make([]Hunk, len(list))
	for n, h := range list {
		f.Hunks[n] = f.show(n, h, places)
	}
	return f, nil
}

// compare returns the places where the two sides of a change differ, for binary files only if binaries is set.
func (v View) compare(c change.Change, context int, binaries bool) (list []textdiff.Hunk, binary bool, err error) {
	s := sidesOf(c)
	for _, side := range []*change.State{&s.old, &s.new} {
		if side.Kind != change.File {
			*side = change.State{}
		}
	}
	t, err := v.open(s, binaries)
	if err != nil {
		return nil, false, err
	}
	defer t.close()
	if t.binary && !binaries {
		return nil, true, nil
	}
	if list, err = textdiff.Hunks(t.old, t.new, s.splices, context); err != nil {
		err = s.failed(err)
	}
	return list, t.binary, err
}

// Count returns the number of edits in the changes. Each splice is one edit, however long, like a replacement by a
// step. A file that was overwritten as a whole counts the lines that differ. A file that cannot be compared counts as
// one edit: the tree has drifted, and a commit will notice.
func (v View) Count(changes []change.Change) int {
	edits := 0
	for _, c := range changes {
		switch {
		case c.Splices != nil:
			edits += Edits(c.Splices)
		case c.Old.Kind == change.File && c.New.Kind == change.File && c.Old.Hash != c.New.Hash:
			edits += max(1, v.linesWritten(c))
		}
	}
	return edits
}

// show builds the nth hunk, and stores its runs. places are the places changed by the splices, nil if unknown.
func (f *File) show(n int, h textdiff.Hunk, places []textdiff.Span) Hunk {
	shown := Hunk{OldStart: h.OldStart, OldLines: h.OldLines, NewStart: h.NewStart, NewLines: h.NewLines}
	var all []change.Splice
	changed := 0
	for i, core := range h.Cores {
		splices := f.change.Splices[core.From:core.To]
		shown.Runs = append(shown.Runs, f.who.of(splices))
		if len(h.Cores) > 1 && (i == 0 || core.From != h.Cores[i-1].From) {
			all = append(all, splices...)
		}
		f.runs = append(f.runs, run{Core: core, hunk: n})
		changed += core.OldLines + core.NewLines
	}
	if shown.By = slices.Clone(shown.Runs[0]); len(h.Cores) > 1 {
		shown.By = f.who.of(all)
	}
	shown.Marks = make([][][2]int, 0, changed)
	var text strings.Builder
	size := 0
	for _, l := range h.Lines {
		size += 1 + len(l.Text)
	}
	text.Grow(size + len(textdiff.NoNewline))
	var m marker
	at := len(f.runs) - len(h.Cores)
	for i, l := range h.Lines {
		if l.Op != ' ' && (i == 0 || h.Lines[i-1].Op == ' ') {
			r := &f.runs[at]
			r.lines = h.Lines[i : i+r.OldLines+r.NewLines]
			m = newMarker(*r, places)
			at++
		}
		text.WriteByte(l.Op)
		text.Write(l.Text)
		if !bytes.HasSuffix(l.Text, []byte("\n")) {
			text.WriteString(textdiff.NoNewline)
		}
		if l.Op != ' ' {
			shown.Marks = append(shown.Marks, m.next(l))
		}
	}
	shown.Text = text.String()
	return shown
}

// authors finds the authors of parts of a change.
type authors struct {
	all   []change.Origin
	exact bool           // there are splices
	rank  map[string]int // of steps, by the order in which they ran
}

// of returns the authors of some splices of the change, in the order in which the steps ran.
func (a authors) of(splices []change.Splice) []change.Origin {
	if !a.exact {
		return slices.Clone(a.all)
	}
	if len(splices) == 1 && len(splices[0].By) == 1 {
		return slices.Clone(splices[0].By)
	}
	by := origins(splices)
	slices.SortStableFunc(by, func(x, y change.Origin) int { return a.rank[x.Step] - a.rank[y.Step] })
	return by
}

// origins returns the authors of the splices, each once, in the order of the text.
func origins(splices []change.Splice) (by []change.Origin) {
	seen := make(map[change.Origin]bool)
	for _, s := range splices {
		for _, o := range s.By {
			if !seen[o] {
				seen[o] = true
				by = append(by, o)
			}
		}
	}
	return by
}
