package actions

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/lineedit"
	"github.com/millrace-go/millrace/internal/match"
)

// editing is the work on the text of one file.
type editing struct {
	call    *Call
	plan    *filePlan
	options EditFiles
	left    *budget

	before              []byte // the file as it was found; nil for a new one
	form                lineedit.Form
	now                 []byte // the text after the edits made so far
	hinted, hintedBytes int    // for how many texts the nearest lines were looked for, and in how many bytes

	rounds [][]fsutil.Splice // what they come to, each over the text that those before it leave
}

// by is the origin of what an edit does.
func (w *editing) by(i int) []fsutil.Origin { return []fsutil.Origin{{Step: w.call.Step, Edit: i}} }

// run makes all edits but a create on the text, in memory. Edits that cannot be made are recorded; the others are tried all
// the same, so that all that is wrong is found at once. The error is one of the run.
func (w *editing) run(ctx context.Context, text []byte) error {
	file := lineedit.New(text)
	w.form, w.now = file.Form(), text
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
	slices.SortStableFunc(w.plan.failures, func(a, b *EditFailure) int { return cmp.Compare(a.Index, b.Index) })
	if !w.plan.isNew && w.plan.changed > 1 && bytes.Equal(w.before, w.now) {
		w.plan.changed, w.rounds = 0, nil // one edit has taken back what another one did
	}
	w.plan.splices = w.total()
	return nil
}

// create makes the edit that gives the file its text.
func (w *editing) create(i int) error {
	text := w.plan.edits[i].newText()
	if err := w.left.take(len(text)); err != nil {
		return err
	}
	switch {
	case w.plan.isNew:
		w.plan.text, w.plan.changed = []byte(text), 1
	case string(w.before) != text:
		w.plan.changed = 1
		w.push([]fsutil.Splice{{Len: int64(len(w.before)), Text: []byte(text), By: w.by(i)}})
	}
	return nil
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
	list := make([]fsutil.Splice, 0, len(splices))
	for _, s := range splices {
		id := s.ID
		if ids != nil {
			id = ids[id]
		}
		if err := w.left.take(len(s.Text)); err != nil {
			w.plan.fail(id, err)
			return
		}
		if !bytes.Equal(w.now[s.Off:s.Off+s.Len], s.Text) {
			list = append(list, fsutil.Splice{Off: int64(s.Off), Len: int64(s.Len), Text: s.Text, By: w.by(id)})
		}
	}
	w.addSplices(list)
}

func (w *editing) addSplices(list []fsutil.Splice) {
	if len(list) == 0 {
		return
	}
	now, err := fsutil.ApplySplices(w.now, list)
	if err != nil {
		w.plan.failWhole(err)
		return
	}
	w.now = now
	w.plan.changed += len(list)
	w.push(list)
}

// push notes splices over the text that all before them leave. Lists are composed with ones of about their size, so that
// thousands of replacements of one place each do not go through all that is there thousands of times.
func (w *editing) push(list []fsutil.Splice) {
	w.rounds = append(w.rounds, list)
	for n := len(w.rounds); n > 1 && len(w.rounds[n-2]) <= 2*len(w.rounds[n-1]); n = len(w.rounds) {
		w.compose()
	}
}

// compose makes one of the last two lists.
func (w *editing) compose() {
	n := len(w.rounds)
	both, err := fsutil.ComposeSplices(w.rounds[n-2], w.rounds[n-1])
	if err != nil {
		w.plan.failWhole(err)
	}
	w.rounds = append(w.rounds[:n-2], both)
}

// total returns what all edits come to, over the file as it was found, or over the text of a new one.
func (w *editing) total() []fsutil.Splice {
	for len(w.rounds) > 1 {
		w.compose()
	}
	if len(w.rounds) == 0 {
		return nil
	}
	return w.rounds[0]
}

// replace makes a str_replace.
func (w *editing) replace(ctx context.Context, i int, e LineEdit) error {
	p, err := w.call.compilePattern("old_str", e.OldStr, "literal", match.Literal, match.Flags{})
	if err != nil {
		return err
	}
	fitted := e.newText()
	ends := w.now // the replacement takes its line ends from there
	if w.options.EOL == eolAsGiven {
		ends = nil
	} else if strings.IndexByte(e.OldStr, '\r') < 0 {
		fitted = w.form.Fit(fitted)
	}
	replacer := p.Replacer(match.Text(fitted), ends)
	var list []fsutil.Splice
	var found NotUniqueError
	line, pos := 1, 0
	var over error
	err = p.All(ctx, w.now, 0, func(loc []int) bool {
		line += bytes.Count(w.now[pos:loc[0]], []byte{'\n'})
		pos = loc[0]
		if found.add(line); found.Count > 1 && !e.ReplaceAll {
			return true
		}
		var text []byte
		if text, over = w.left.replace(replacer, loc, w.now); text != nil {
			list = append(list, fsutil.Splice{Off: int64(loc[0]), Len: int64(loc[1] - loc[0]), Text: text, By: w.by(i)})
		}
		return over == nil
	})
	switch err := cmp.Or(over, err); {
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
	if w.hinted == nearestTexts || w.hintedBytes+len(w.now) > share || ctx.Err() != nil {
		return nil
	}
	w.hinted++
	w.hintedBytes += len(w.now)
	var all []string
	for _, h := range match.Nearest(w.now, text, nearestHints) {
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
		w.add(w.form.Append(w.now, texts), ids)
	}
}
