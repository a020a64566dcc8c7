package actions

import (
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/lineedit"
)

// lines makes the edits that name lines.
func (w *planning) lines(ctx context.Context, file *lineedit.File) error {
	var edits []lineedit.Edit
	for i, e := range w.edits {
		if e.Command != commandInsert && e.Command != commandReplaceLines {
			continue
		}
		first, last, err := e.place(file)
		if err != nil {
			w.fail(i, err)
			continue
		}
		if err := keepsBytes(file, first, last, e.newText()); err != nil {
			w.fail(i, err)
			continue
		}
		edits = append(edits, lineedit.Edit{ID: i, First: first, Last: last, Text: w.fit(e.newText())})
	}
	if len(edits) == 0 {
		return nil
	}
	edits, err := w.compareRanges(ctx, file, edits)
	if err != nil {
		return err
	}
	splices, overlaps, err := file.Splices(edits)
	if err != nil {
		return err
	}
	for _, o := range overlaps {
		w.fail(o.Second, &lineOverlapError{First: o.First, Second: o.Second})
	}
	return w.take(splices)
}

// keepsBytes refuses to replace lines that are not UTF-8 by a text with U+FFFD. Such a text comes from a reader that
// shows every invalid byte of these lines as U+FFFD.
func keepsBytes(file *lineedit.File, first, last int, text string) error {
	if first > last || !strings.ContainsRune(text, utf8.RuneError) {
		return nil
	}
	var lines []byte
	err := file.Read([]lineedit.Range{{First: first, Last: last}}, func(_ int, piece []byte) error {
		lines = append(lines, piece...)
		return nil
	})
	if err == nil && !utf8.Valid(lines) {
		err = errors.New("the lines are not UTF-8, and the new text has U+FFFD in place of their bytes; " +
			"replace the part that is text, with str_replace or the action edit")
	}
	return err
}

// place returns the lines of an edit: those to replace, or with last = first-1 those to insert between.
func (e LineEdit) place(file *lineedit.File) (first, last int, err error) {
	if e.Command == commandInsert {
		after, ok := file.After(*e.InsertLine)
		if !ok {
			err = &lineError{Start: *e.InsertLine, End: *e.InsertLine, Lines: file.Lines}
		}
		return after + 1, after, err
	}
	first, ok1 := file.Line(e.StartLine)
	last, ok2 := file.Line(e.EndLine)
	if !ok1 || !ok2 || first > last {
		err = &lineError{Start: e.StartLine, End: e.EndLine, Lines: file.Lines}
	}
	return first, last, err
}

// compareRanges compares lines with the hashes of the edits, and returns the edits that may be made.
func (w *planning) compareRanges(
	ctx context.Context, file *lineedit.File, edits []lineedit.Edit,
) ([]lineedit.Edit, error) {
	var ids []int
	var ranges []lineedit.Range
	var sums []hash.Hash
	for _, edit := range edits {
		if e := w.edits[edit.ID]; e.RangeHash != "" {
			from := edit.First
			if e.Command == commandInsert {
				from = max(edit.Last, 1)
			}
			ids, sums = append(ids, edit.ID), append(sums, sha256.New())
			ranges = append(ranges, lineedit.Range{First: from, Last: edit.Last})
		}
	}
	if len(ranges) == 0 {
		return edits, nil
	}
	err := file.Read(ranges, func(i int, piece []byte) error {
		_, _ = sums[i].Write(piece) // hashes do not fail
		return ctx.Err()            // all ranges together may be many times the text
	})
	if err != nil {
		return nil, err
	}
	for i, r := range ranges {
		e := hashError{Range: true, First: r.First, Last: r.Last}
		if err := compareHash(w.edits[ids[i]].RangeHash, change.Hash(sums[i].Sum(nil)), e); err != nil {
			w.fail(ids[i], err)
		}
	}
	return slices.DeleteFunc(edits, func(e lineedit.Edit) bool { return w.failed[e.ID] }), nil
}

// appends makes the edits that append to the file.
func (w *planning) appends(ctx context.Context) error {
	var edits []lineedit.Edit
	for i, e := range w.edits {
		if e.Command == commandAppend {
			edits = append(edits, lineedit.Edit{ID: i, Text: w.fit(e.newText())})
		}
	}
	if len(edits) == 0 {
		return nil
	}
	file, err := w.call.divide(ctx, w.now)
	if err != nil {
		return err
	}
	return w.take(file.Append(w.form, edits))
}

// fit returns the new text of an edit with the right line ends.
func (w *planning) fit(text string) string {
	if w.options.EOL == eolAsGiven {
		return text
	}
	return w.form.Fit(text)
}
