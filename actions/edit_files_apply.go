package actions

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
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

// run makes all edits but a create on the text, in memory. Edits that cannot be made are recorded; the others are tried all
// the same, so that all that is wrong is found at once. The error is one of the run.
func (w *editing) run(ctx context.Context) error {
	text, err := w.now.Bytes(math.MaxInt64)
	if err != nil {
		return err
	}
	file := lineedit.New(text)
	w.form = file.Form()
	w.compareContent(text)
	w.lines(file)
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
	w.appends()
	if w.plan.splices, err = w.now.Splices(); err != nil {
		return err
	}
	slices.SortStableFunc(w.plan.failures, func(a, b *EditFailure) int { return cmp.Compare(a.Index, b.Index) })
	if !w.plan.isNew && w.plan.changed > 1 {
		same, err := w.now.Same(ctx)
		if same {
			w.plan.changed, w.plan.splices = 0, nil // one edit has taken back what another one did
		}
		return err
	}
	return nil
}

// create makes the edit that gives the file its text. old is that of a file that exists.
func (w *editing) create(i int, old []byte) (err error) {
	text := w.plan.edits[i].newText()
	if err := w.left.Take(len(text)); err != nil {
		return err
	}
	if w.plan.isNew {
		w.plan.text, w.plan.changed = []byte(text), 1
		w.now, err = replace.NewDraft(match.Bytes(w.plan.text), w.call.sizes)
		return err
	}
	if w.now, err = replace.NewDraft(match.Bytes(old), w.call.sizes); err == nil && string(old) != text {
		w.addSplices([]fsutil.Splice{{Len: int64(len(old)), Text: []byte(text), By: w.by(i)}})
	}
	return err
}

// compareContent holds the text against the hashes that edits want the whole file to have.
func (w *editing) compareContent(text []byte) {
	var got fsutil.Hash
	for i, e := range w.plan.edits {
		if e.ContentHash == "" || e.Command == commandCreate {
			continue
		}
		if got == (fsutil.Hash{}) {
			got = fsutil.HashOf(text)
		}
		if err := compareHash(e.ContentHash, got, HashError{}); err != nil {
			w.plan.fail(i, err)
		}
	}
}

// fit returns the new text of an edit with the line ends it is to have.
func (w *editing) fit(text string) string {
	if w.options.EOL == eolAsGiven {
		return text
	}
	return w.form.Fit(text)
}

// lines makes the edits that name lines.
func (w *editing) lines(file *lineedit.File) {
	var edits []lineedit.Edit
	for i, e := range w.plan.edits {
		if e.Command != commandInsert && e.Command != commandReplaceLines {
			continue
		}
		first, last, err := e.place(file)
		if err == nil && e.RangeHash != "" {
			from := first
			if e.Command == commandInsert {
				from = max(last, 1)
			}
			got := fsutil.HashOf(file.Bytes(from, last))
			err = compareHash(e.RangeHash, got, HashError{Range: true, First: from, Last: last})
		}
		if err != nil {
			w.plan.fail(i, err)
			continue
		}
		edits = append(edits, lineedit.Edit{ID: i, First: first, Last: last, Text: w.fit(e.newText())})
	}
	splices, overlaps := file.Splices(edits)
	for _, o := range overlaps {
		w.plan.fail(o.Second, &LineOverlapError{First: o.First, Second: o.Second})
	}
	w.add(splices, nil)
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

// add takes splices over the present text into the work. ids are the edits that the IDs of the splices stand for; nil if
// they are the same.
func (w *editing) add(splices []lineedit.Splice, ids []int) {
	now, err := w.now.Bytes(math.MaxInt64)
	if err != nil {
		w.plan.failWhole(err)
		return
	}
	list := make([]fsutil.Splice, 0, len(splices))
	for _, s := range splices {
		id := s.ID
		if ids != nil {
			id = ids[id]
		}
		if err := w.left.Take(len(s.Text)); err != nil {
			w.plan.fail(id, err)
			return
		}
		if !bytes.Equal(now[s.Off:s.Off+s.Len], s.Text) {
			list = append(list, fsutil.Splice{Off: int64(s.Off), Len: int64(s.Len), Text: s.Text, By: w.by(id)})
		}
	}
	w.addSplices(list)
}

func (w *editing) addSplices(list []fsutil.Splice) {
	if err := w.now.Add(list); err != nil {
		w.plan.failWhole(err)
		return
	}
	w.plan.changed += len(list)
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
	w.addSplices(list)
	return nil
}

// nearest describes the lines that come near to a text that was not found, for the first such texts of a file. Each file of the step
// may look at an equal share of what a step looks at for it, so that no schedule shows in what is told.
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
func (w *editing) appends() {
	var texts []string
	var ids []int
	for i, e := range w.plan.edits {
		if e.Command == commandAppend {
			texts, ids = append(texts, w.fit(e.newText())), append(ids, i)
		}
	}
	if len(texts) > 0 {
		now, err := w.now.Bytes(math.MaxInt64)
		if err != nil {
			w.plan.failWhole(err)
			return
		}
		w.add(w.form.Append(now, texts), ids)
	}
}
