package actions

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"hash"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/lineedit"
	"github.com/millrace-go/millrace/internal/match"
	"github.com/millrace-go/millrace/internal/replace"
)

// editing is the work on the text of one file.
type editing struct {
	call    *Call
	plan    *filePlan
	options EditFiles
	left    *replace.Budget

	form                lineedit.Form
	now                 *replace.Draft // the text after the edits made so far
	hinted, hintedBytes int            // for how many texts the nearest lines were looked for, and in how many bytes
}

// by is the origin of what an edit does.
func (w *editing) by(i int) []fsutil.Origin { return []fsutil.Origin{{Step: w.call.Step, Edit: i}} }

// plans makes all edits of a file that has that text, or for a create had it. Edits that cannot be made are recorded.
func (w *editing) plans(ctx context.Context, text match.Content, create int) (err error) {
	if w.now, err = replace.NewDraft(text, w.call.sizes); err != nil {
		return err
	}
	w.plan.large = !w.plan.isNew && !w.call.sizes.Fit(text.Size())
	if create >= 0 {
		err = w.create(ctx, text, create)
	}
	if err == nil {
		err = w.run(ctx, create)
	}
	return err
}

// create makes the edit that gives the file its text. That of a new one is there already.
func (w *editing) create(ctx context.Context, old match.Content, i int) (err error) {
	e := w.plan.edits[i]
	if !w.plan.isNew && (w.plan.large || e.ContentHash != "") {
		if w.plan.hash, err = w.call.hashOf(ctx, old); err == nil {
			err = compareHash(e.ContentHash, w.plan.hash, HashError{})
		}
		if err != nil {
			return err
		}
	}
	text := e.newText()
	if err := w.left.Take(len(text)); err != nil || w.plan.isNew {
		w.plan.changed = 1
		return err
	}
	return w.add([]fsutil.Splice{{Len: w.now.Size(), Text: []byte(text), By: w.by(i)}})
}

// run makes all edits but a create on the text. Edits that cannot be made are recorded; the others are tried all
// the same, so that all that is wrong is found at once. The error is one of the run, or that of the text.
func (w *editing) run(ctx context.Context, create int) error {
	file, err := w.divide(ctx, create)
	if err != nil {
		return err
	}
	w.form = file.Form()
	if err := w.lines(ctx, file); err != nil {
		return err
	}
	for i, e := range w.plan.edits {
		if e.Command != commandReplace {
			continue
		}
		err := w.replace(ctx, i, e)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			w.plan.fail(i, err)
		}
	}
	if err := w.appends(ctx); err != nil {
		return err
	}
	slices.SortStableFunc(w.plan.failures, func(a, b *EditFailure) int { return cmp.Compare(a.Index, b.Index) })
	if !w.plan.isNew && w.plan.changed > 1 {
		if same, err := w.now.Same(ctx); same || err != nil {
			w.plan.changed = 0 // one edit has taken back what another one did
			return err
		}
	}
	w.plan.splices, err = w.now.Splices()
	return err
}

// divide divides the text into lines, and holds it against the hashes that edits want the whole file to have.
func (w *editing) divide(ctx context.Context, create int) (*lineedit.File, error) {
	var sum hash.Hash
	compared := func(i int) bool { return i != create && w.plan.edits[i].ContentHash != "" }
	for i := range w.plan.edits {
		if sum == nil && (compared(i) || w.plan.large && create < 0) {
			sum = sha256.New()
		}
	}
	if sum == nil {
		return w.call.divide(ctx, w.now, nil)
	}
	file, err := w.call.divide(ctx, w.now, sum)
	if err != nil {
		return nil, err
	}
	got := fsutil.Hash(sum.Sum(nil))
	if create < 0 {
		w.plan.hash = got
	}
	for i, e := range w.plan.edits {
		if compared(i) {
			if err := compareHash(e.ContentHash, got, HashError{}); err != nil {
				w.plan.fail(i, err)
			}
		}
	}
	return file, nil
}

// fit returns the new text of an edit with the line ends it is to have.
func (w *editing) fit(text string) string {
	if w.options.EOL == eolAsGiven {
		return text
	}
	return w.form.Fit(text)
}

// lines makes the edits that name lines.
func (w *editing) lines(ctx context.Context, file *lineedit.File) error {
	var edits []lineedit.Edit
	for i, e := range w.plan.edits {
		if e.Command != commandInsert && e.Command != commandReplaceLines {
			continue
		}
		first, last, err := e.place(file)
		if err != nil {
			w.plan.fail(i, err)
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
		w.plan.fail(o.Second, &LineOverlapError{First: o.First, Second: o.Second})
	}
	return w.take(splices, nil)
}

// compareRanges holds lines against the hashes that edits want them to have, and returns the edits that may be made.
func (w *editing) compareRanges(ctx context.Context, file *lineedit.File, edits []lineedit.Edit) ([]lineedit.Edit, error) {
	var compared []HashError
	var ids, lines []int
	for _, edit := range edits {
		if e := w.plan.edits[edit.ID]; e.RangeHash != "" {
			from := edit.First
			if e.Command == commandInsert {
				from = max(edit.Last, 1)
			}
			compared = append(compared, HashError{Range: true, First: from, Last: edit.Last})
			ids, lines = append(ids, edit.ID), append(lines, from, edit.Last+1)
		}
	}
	if len(compared) == 0 {
		return edits, nil
	}
	starts, err := file.Starts(lines)
	if err != nil {
		return nil, err
	}
	parts, sums := make([]section, len(compared)), make([]hash.Hash, len(compared))
	for i, c := range compared {
		parts[i], sums[i] = section{starts.At(c.First), starts.At(c.Last + 1)}, sha256.New()
	}
	if err := w.call.sections(ctx, w.now, parts, func(i int, piece []byte) { _, _ = sums[i].Write(piece) }); err != nil {
		return nil, err
	}
	for i, c := range compared {
		if err := compareHash(w.plan.edits[ids[i]].RangeHash, fsutil.Hash(sums[i].Sum(nil)), c); err != nil {
			w.plan.fail(ids[i], err)
		}
	}
	return slices.DeleteFunc(edits, func(e lineedit.Edit) bool { return w.plan.failed[e.ID] }), nil
}

// place returns the lines that an edit is about: those to replace, or with last = first-1 those to insert between.
func (e LineEdit) place(file *lineedit.File) (first, last int, err error) {
	if e.Command == commandInsert {
		after, ok := file.After(*e.InsertLine)
		if !ok {
			err = &LineError{Start: *e.InsertLine, End: *e.InsertLine, Lines: file.Lines()}
		}
		return after + 1, after, err
	}
	first, ok1 := file.Line(e.StartLine)
	last, ok2 := file.Line(e.EndLine)
	if !ok1 || !ok2 || first > last {
		err = &LineError{Start: e.StartLine, End: e.EndLine, Lines: file.Lines()}
	}
	return first, last, err
}

// take takes splices over the present text into the work. ids are the edits that the IDs of the splices stand for;
// nil if they are the same.
func (w *editing) take(splices []lineedit.Splice, ids []int) error {
	list := make([]fsutil.Splice, 0, len(splices))
	for _, s := range splices {
		id := s.ID
		if ids != nil {
			id = ids[id]
		}
		if err := w.left.Take(len(s.Text)); err != nil {
			w.plan.fail(id, err)
			return nil
		}
		s.By = w.by(id)
		list = append(list, s.Splice)
	}
	return w.add(list)
}

// add makes those of the splices that change anything.
func (w *editing) add(list []fsutil.Splice) error {
	list, err := w.now.Changing(list)
	if err != nil {
		return err
	}
	w.plan.changed += len(list)
	return w.now.Add(list)
}

// replace makes a str_replace.
func (w *editing) replace(ctx context.Context, i int, e LineEdit) error {
	p, err := w.call.compilePattern("old_str", e.OldStr, "literal", match.Literal, match.Flags{})
	if err != nil {
		return err
	}
	rule := replace.Rule{Pattern: p, Template: match.Verbatim(e.newText()), By: w.by(i)}
	if w.options.EOL != eolAsGiven {
		// The replacement takes its line ends from the text.
		fitted := e.newText()
		if strings.IndexByte(e.OldStr, '\r') < 0 {
			fitted = w.form.Fit(fitted)
		}
		rule.Template = match.Text(fitted)
	}
	var found NotUniqueError
	line, pos := 1, int64(0)
	list, err := rule.Splices(ctx, w.now, match.How{Sizes: w.call.sizes, Lines: true}, w.left, func(at *match.Window, loc []int) bool {
		if pos < at.Off {
			line, pos = 1+at.Line, at.Off
		}
		line += bytes.Count(at.Data[pos-at.Off:loc[0]], []byte{'\n'})
		pos = at.Off + int64(loc[0])
		found.add(line)
		return found.Count == 1 || e.ReplaceAll
	})
	switch {
	case err != nil:
		return err
	case found.Count == 0:
		return &NotFoundError{Nearest: w.nearest(ctx, e.OldStr)}
	case found.Count > 1 && !e.ReplaceAll:
		return &found
	}
	w.plan.changed += len(list)
	return w.now.Add(list)
}

// nearest describes the lines that come near to a text that was not found, for the first such texts of a file. Each
// file of the step may look at an equal share of what a step looks at for it, so that no schedule shows in what is
// told.
func (w *editing) nearest(ctx context.Context, text string) []string {
	share := nearestBytes / max(1, len(w.options.FileEdits))
	if w.hinted == nearestTexts || w.now.Size() > int64(share-w.hintedBytes) || ctx.Err() != nil {
		return nil
	}
	now, err := w.now.Bytes(w.now.Size())
	if err != nil {
		return nil
	}
	w.hinted++
	w.hintedBytes += len(now)
	var all []string
	for _, h := range match.Nearest(now, text, nearestHints) {
		all = append(all, fmt.Sprintf("line %d, which %s: %s", h.Line, h.Why, h.Text))
	}
	return all
}

// appends makes the edits that add to the end.
func (w *editing) appends(ctx context.Context) error {
	var texts []string
	var ids []int
	for i, e := range w.plan.edits {
		if e.Command == commandAppend {
			texts, ids = append(texts, w.fit(e.newText())), append(ids, i)
		}
	}
	if len(texts) == 0 {
		return nil
	}
	file, err := w.call.divide(ctx, w.now, nil)
	if err != nil {
		return err
	}
	return w.take(file.Append(w.form, texts), ids)
}
