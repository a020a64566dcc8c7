// Package lineedit computes the effect of edits of whole lines on the bytes of a file.
//
// A line ends with "\n", or with the file, and includes its line end. Lines count from 1, and from the end with
// negative numbers, -1 being the last one. A file without bytes has no lines. A byte order mark belongs to the first
// line when lines are read, but edits leave it in place.
//
// All edits of one [File] refer to its original lines, and no edit sees the text of another edit. Together they give a
// list of splices in ascending order. Text is inserted as given, except that a line end is added if another line
// follows. [Form] decides which line end that is, and whether the caller's text is fitted to the file first.
package lineedit

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/fsutil"
)

// Source reads a text: it calls do with one part after the other, until do returns false. The first part is long enough
// for a byte order mark.
type Source func(do func(part []byte) bool) error

// File is a text, divided into lines. It does not store the text, and is immutable.
type File struct {
	Form  Form // the form that new text must have
	Lines int  // number of lines
	read  Source
	size  int64
	last  byte // of the text
}

// Edit replaces the lines First to Last by Text; with Last = First-1 it inserts Text between these two lines. The
// numbers count from 1 and must be results of [File.Line] or [File.After].
type Edit struct {
	ID          int // the caller's number for the edit
	First, Last int
	Text        string
}

// Splice is a part of the effect of an edit.
type Splice struct {
	ID int // of the edit
	change.Splice
}

// Overlap means that two edits change the same lines. First is the one with the lower ID.
type Overlap struct{ First, Second int }

// New divides a text into lines. The file later reads it again with the same source.
func New(read Source) (*File, error) {
	f := &File{read: read}
	var facts fsutil.Facts
	err := read(func(part []byte) bool {
		if len(part) == 0 {
			return true
		}
		now := fsutil.TextFacts(part)
		if f.size == 0 {
			facts.BOM = now.BOM
		}
		if f.last == '\r' && part[0] == '\n' { // a line end split between two parts
			facts.CR, now.LF, now.CRLF = facts.CR-1, now.LF-1, now.CRLF+1
		}
		facts.LF, facts.CRLF, facts.CR = facts.LF+now.LF, facts.CRLF+now.CRLF, facts.CR+now.CR
		f.size += int64(len(part))
		f.last = part[len(part)-1]
		return true
	})
	f.Form, f.Lines = Form{bom: facts.BOM}, facts.LF+facts.CRLF
	if f.Lines+facts.CR > 0 { // otherwise it has none that text could be fitted to
		f.Form.eol, f.Form.only = facts.EOL(), !facts.Mixed()
	}
	if f.size > 0 && f.last != '\n' {
		f.Lines++
	}
	return f, err
}

// Line converts a line number to a number that counts from 1. ok is false if the line does not exist.
func (f *File) Line(n int) (line int, ok bool) {
	if n < 0 {
		n += f.Lines + 1
	}
	return n, n >= 1 && n <= f.Lines
}

// After returns the line after which a text is to be inserted, 0 for the top of the file. -1 means the end, even for a
// file without lines. ok is false if the line does not exist.
func (f *File) After(n int) (line int, ok bool) {
	if n == 0 || n == -1 {
		return -n * f.Lines, true
	}
	return f.Line(n)
}

// Splices returns the effect of the edits, in ascending order of offsets. Texts inserted at the same place keep the
// order of the list, and come before the replacement of the lines after that place. A text inserted between two lines
// that one edit replaces is an overlap, but not at the border of such lines. Only one of two overlapping edits is in
// the splices.
func (f *File) Splices(edits []Edit) ([]Splice, []Overlap, error) {
	ranges := make([]Range, len(edits))
	for i, e := range edits {
		ranges[i] = Range{e.First, e.Last}
	}
	s := newStarts(ranges)
	if err := f.find(&s, nil); err != nil {
		return nil, nil, err
	}
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(a, b Edit) int {
		return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(min(a.Last, a.First), min(b.Last, b.First)))
	})
	var overlaps []Overlap
	taken, by := 0, 0 // the last line replaced so far, and the ID of its edit
	w := writer{form: f.Form, out: make([]Splice, 0, len(edits))}
	mark := int64(f.Form.bom)
	pos := mark
	for _, e := range edits {
		if e.First <= taken {
			overlaps = append(overlaps, Overlap{min(by, e.ID), max(by, e.ID)})
			continue
		}
		if e.Last >= e.First {
			taken, by = e.Last, e.ID
		}
		start, end := max(s.at[s.index(e.First)], mark), max(s.at[s.index(e.Last+1)], mark)
		before := byte('\n') // the start of a line
		if start == f.size {
			before = f.last
		}
		w.keep(start-pos, before)
		text := e.Text
		if start == mark && start > 0 {
			text = strings.TrimPrefix(text, bom) // the file's byte order mark stays
		}
		w.put(Splice{e.ID, change.Splice{Off: start, Len: end - start, Text: []byte(text)}})
		pos = end
	}
	w.keep(f.size-pos, f.last)
	return w.out, overlaps, nil
}

// Append returns splices that append the texts of edits to the file, each on its own line. An empty text adds nothing.
// form is the form of the file before it was edited.
func (f *File) Append(form Form, edits []Edit) []Splice {
	w := writer{form: form}
	w.keep(f.size-int64(f.Form.bom), f.last)
	for _, e := range edits {
		w.put(Splice{e.ID, change.Splice{Off: f.size, Text: []byte(e.Text)}})
	}
	return w.out
}

// writer adds line ends where the text before or after a new text needs them.
type writer struct {
	form Form
	out  []Splice
	open bool // the text so far ends within a line
	last int  // the number of the last splice, from 1, if the text so far ends with it; 0 if it ends with old text
}

// keep passes n bytes that stay; last is the last of them.
func (w *writer) keep(n int64, last byte) {
	if n == 0 {
		return
	}
	if w.open && w.last > 0 {
		w.close(&w.out[w.last-1])
	}
	w.open, w.last = w.form.open(last), 0
}

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
	w.open, w.last = w.form.open(s.Text[len(s.Text)-1]), now
}

func (w *writer) close(s *Splice) { s.Text = append(s.Text, w.form.end(s.Text)...) }

const bom = "\xef\xbb\xbf"

// Form is the form that new text must have.
type Form struct {
	bom  int    // length of the byte order mark
	eol  string // the most frequent line end; "" without line ends
	only bool   // the file has no other line end
}

// Fit returns the text with the line ends of the file, if the file has only one kind, otherwise the unchanged text. A
// "\r" that is not part of a line end stays, unless it is the line end of the file.
func (f Form) Fit(text string) string {
	if !f.only || strings.IndexByte(text, '\n') < 0 {
		return text
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if f.eol != "\n" {
		text = strings.ReplaceAll(text, "\n", f.eol)
	}
	return text
}

// open reports whether text after that byte would be on the same line.
func (f Form) open(last byte) bool {
	return last != '\n' && !(f.only && f.eol == "\r" && last == '\r')
}

// end returns the line end to insert before or after a new text.
func (f Form) end(text []byte) string {
	if f.eol != "" {
		return f.eol
	}
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}
