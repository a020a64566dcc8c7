package lineedit

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// File is the content of a file, divided into lines. It is immutable and safe for concurrent use.
type File struct {
	data   []byte
	starts []int // where each line begins and, as the last element, where the last one ends
	form   Form
}

// Edit replaces the lines First to Last by Text; with Last = First-1 it puts Text between these two. The numbers count from
// 1 and must have come from [File.Line] or [File.After].
type Edit struct {
	ID          int // what the caller knows it by
	First, Last int
	Text        string
}

// Splice replaces Len bytes at offset Off by Text.
type Splice struct {
	ID       int // of the edit
	Off, Len int
	Text     []byte
}

// Overlap says that two edits want the same lines. First is the one with the lower ID.
type Overlap struct{ First, Second int }

// New divides content into lines. It keeps data, which must not change.
func New(data []byte) *File { return &File{data: data, starts: Starts(data), form: FormOf(data)} }

// Starts returns where each line begins and, as the last element, where the last one ends.
func Starts(data []byte) []int {
	starts := make([]int, 1, bytes.Count(data, []byte{'\n'})+2)
	for pos := 0; ; {
		i := bytes.IndexByte(data[pos:], '\n')
		if i < 0 {
			break
		}
		pos += i + 1
		starts = append(starts, pos)
	}
	if starts[len(starts)-1] < len(data) {
		starts = append(starts, len(data))
	}
	return starts
}

// Form returns what new text has to fit in with.
func (f *File) Form() Form { return f.form }

// Lines returns how many lines there are.
func (f *File) Lines() int { return len(f.starts) - 1 }

// Line returns the line that a number stands for, from 1. ok is false if there is none.
func (f *File) Line(n int) (line int, ok bool) {
	if n < 0 {
		n += f.Lines() + 1
	}
	return n, n >= 1 && n <= f.Lines()
}

// After returns the line after which a text is to be put, 0 for the top of the file. -1 is the end, also of a file that has
// no lines. ok is false if there is no such line.
func (f *File) After(n int) (line int, ok bool) {
	if n == 0 || n == -1 {
		return -n * f.Lines(), true
	}
	return f.Line(n)
}

// Bytes returns the lines first to last with their ends; none if last is first-1.
func (f *File) Bytes(first, last int) []byte { return f.data[f.starts[first-1]:f.starts[last]] }

// Splices returns what the edits do, in ascending order of offsets. Texts that are put in at one place keep the order of the
// list, and come before the lines that replace those behind that place. A text put in between two lines that are both
// replaced by one edit is an overlap; at the border of such lines it is none. Of two edits that overlap only one is in the
// splices.
func (f *File) Splices(edits []Edit) ([]Splice, []Overlap) {
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(a, b Edit) int {
		return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(min(a.Last, a.First), min(b.Last, b.First)))
	})
	var overlaps []Overlap
	taken, by := 0, 0 // the last line replaced so far, and by which edit
	w := writer{form: f.form, out: make([]Splice, 0, len(edits))}
	pos := f.form.bom
	for _, e := range edits {
		if e.First <= taken {
			overlaps = append(overlaps, Overlap{min(by, e.ID), max(by, e.ID)})
			continue
		}
		if e.Last >= e.First {
			taken, by = e.Last, e.ID
		}
		start, end := max(f.starts[e.First-1], f.form.bom), max(f.starts[e.Last], f.form.bom)
		w.keep(f.data[pos:start])
		text := e.Text
		if start == f.form.bom && start > 0 {
			text = strings.TrimPrefix(text, bom) // the file's own one stays
		}
		w.put(Splice{ID: e.ID, Off: start, Len: end - start, Text: []byte(text)})
		pos = end
	}
	w.keep(f.data[pos:])
	return w.out, overlaps
}

// Append returns splices that put texts at the end of data, each in a line of its own. An empty one adds nothing. The IDs of
// the splices are the indices of the texts.
func (f Form) Append(data []byte, texts []string) []Splice {
	w := writer{form: f}
	w.keep(bytes.TrimPrefix(data, []byte(bom)))
	for i, text := range texts {
		w.put(Splice{ID: i, Off: len(data), Text: []byte(text)})
	}
	return w.out
}

// writer puts line ends where the text before a text, or behind it, needs one.
type writer struct {
	form Form
	out  []Splice
	open bool // what there is so far ends within a line
	last int  // the splice it ends with, from 1; 0 if that is text that was there before
}

// keep goes on over text that stays.
func (w *writer) keep(text []byte) {
	if len(text) == 0 {
		return
	}
	if w.open && w.last > 0 {
		w.close(&w.out[w.last-1])
	}
	w.open, w.last = w.form.open(text), 0
}

// put adds a splice.
func (w *writer) put(s Splice) {
	w.out = append(w.out, s)
	if len(s.Text) == 0 {
		return
	}
	now := len(w.out)
	switch {
	case w.open && w.last > 0:
		w.close(&w.out[w.last-1])
	case w.open:
		w.out[now-1].Text = append([]byte(w.form.end(s.Text)), s.Text...)
	}
	w.open, w.last = w.form.open(s.Text), now
}

func (w *writer) close(s *Splice) { s.Text = append(s.Text, w.form.end(s.Text)...) }
