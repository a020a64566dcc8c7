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
// the hunks with around unchanged lines around each change; a negative number means 0. Nothing is written if the texts
// are equal. It returns the number of hunks, and the error of w or of the context.
//
// Names are printed as git and diff print them. A name with control characters, quotes, backslashes or bytes above 0x7f
// is printed in quotes with escapes. A name with a space is followed by a tab, so that tools find its end.
//
// splices, if not nil, are the splices that made the new text from the old text, as in [Hunks]. Errors of reading are
// also as in [Hunks].
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
		// Without a list of the lines, which would need many times the memory of short lines.
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

// print writes strings. A bufio.Writer keeps its first error and writes no more after it, so errors are not checked
// here.
func (p *printer) print(parts ...string) {
	for _, s := range parts {
		_, _ = p.w.WriteString(s)
	}
}

func (p *printer) head(h Hunk) {
	_, _ = p.w.Write(AppendHead(p.w.AvailableBuffer(), h.OldStart, h.OldLines, h.NewStart, h.NewLines))
}

// AppendHead appends the line above a hunk with its line numbers.
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
