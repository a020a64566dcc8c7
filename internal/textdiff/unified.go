package textdiff

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"strconv"

	"github.com/millrace-go/millrace/change"
)

// Unified writes the difference of two texts as a plain unified diff: a line "--- oldName", a line "+++ newName", and
// the hunks with so many unchanged lines around each change, a negative number meaning 0. Nothing is written if the
// texts are equal. It returns the number of hunks, and as error what w returned, or the context's.
//
// Names are printed as they are, in the way of git and diff. A name with control characters, quotes, backslashes or
// bytes above 0x7f is printed in quotes with escapes. A name with a space is followed by a tab, so that tools see where
// it ends.
//
// splices, if not nil, are those that make the new text of the old one, as for [Hunks]; so are the errors of reading.
func Unified(
	ctx context.Context, w io.Writer, oldName, newName string, old, new Source, splices []change.Splice, around int,
) (hunks int, err error) {
	defer stopped(&err)
	t := texts{old: old, new: new, over: func() bool { return ctx.Err() != nil }}
	cores := t.cores(splices)
	if err := ctx.Err(); err != nil || len(cores) == 0 {
		return 0, err
	}
	p := newPrinter(w)
	p.fileLine("--- ", oldName)
	p.fileLine("+++ ", newName)
	around = min(max(around, 0), maxContext)
	for some := range grouped(cores, around) {
		if err := ctx.Err(); err != nil {
			return hunks, err
		}
		// Without a list of the lines, which would take many times as much as short lines themselves.
		h, start, end := t.frame(some, around)
		p.head(h)
		t.each(some, start, end, p.line)
		hunks++
	}
	return hunks, p.w.Flush()
}

// printer writes the parts of a patch and keeps the first error.
type printer struct{ w *bufio.Writer }

func newPrinter(w io.Writer) *printer { return &printer{w: bufio.NewWriterSize(w, 8<<10)} }

// print writes strings. A bufio.Writer keeps its first error and writes no more after it, so nothing is looked at here.
func (p *printer) print(parts ...string) {
	for _, s := range parts {
		_, _ = p.w.WriteString(s)
	}
}

func (p *printer) head(h Hunk) {
	_, _ = p.w.Write(AppendHead(p.w.AvailableBuffer(), h.OldStart, h.OldLines, h.NewStart, h.NewLines))
}

// AppendHead appends the line above a hunk that says where that stands.
func AppendHead(dst []byte, oldStart, oldLines, newStart, newLines int) []byte {
	number := func(mark string, n int) { dst = strconv.AppendInt(append(dst, mark...), int64(n), 10) }
	number("@@ -", oldStart)
	if oldLines != 1 {
		number(",", oldLines)
	}
	number(" +", newStart)
	if newLines != 1 {
		number(",", newLines)
	}
	return append(dst, " @@\n"...)
}

// NoNewline follows the text of a line without a line end.
const NoNewline = "\n\\ No newline at end of file\n"

func (p *printer) line(op byte, text []byte) {
	_ = p.w.WriteByte(op)
	_, _ = p.w.Write(text)
	if !bytes.HasSuffix(text, newline) {
		p.print(NoNewline)
	}
}
