package actions

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/kinds"
	"github.com/millrace-go/millrace/internal/lineedit"
	"github.com/millrace-go/millrace/internal/match"
	"github.com/millrace-go/millrace/internal/replace"
	"github.com/millrace-go/millrace/internal/worded"
	"github.com/millrace-go/millrace/wording"
)

// planning plans the edits of one file before anything is written.
type planning struct {
	*filePlan
	call    *Call
	options EditFiles
	left    *replace.Budget
	create  int // the index of the create, -1 without one

	form                lineedit.Form
	now                 *replace.Draft // the text after the edits made so far
	hinted, hintedBytes int            // texts whose nearest lines were searched, and bytes searched
}

// plan computes the edits of one file. An error belongs to the run, not to the file.
func (e EditFiles) plan(ctx context.Context, c *Call, f FileEdits) (*filePlan, error) {
	p := &filePlan{path: f.Path, name: f.Path, place: f.Path, edits: f.Edits}
	name, err := c.stage().Canonical(f.Path)
	if err != nil {
		p.fail(-1, err)
		return p, nil
	}
	p.name = name
	if p.place, err = c.FS.Resolve(name); err != nil {
		p.place = placeOf(c, name)
	}
	w := &planning{filePlan: p, call: c, options: e, left: c.budget()}
	w.create = slices.IndexFunc(f.Edits, func(edit LineEdit) bool { return edit.Command == commandCreate })
	refusal := unlessBinary(e.Binary)
	if w.create >= 0 {
		err, refusal = w.mayCreate(), nil
	}
	switch {
	case err != nil:
	case p.isNew:
		if err = w.make(ctx, match.Bytes(f.Edits[w.create].newText())); err == nil {
			p.text, err = w.now.Bytes(math.MaxInt64)
		}
	default:
		// An update without splices: it ensures that all readings of a large file see the same bytes.
		err = c.update(f.Path, refusal, func(text *source) ([]change.Splice, error) {
			err := w.make(ctx, text)
			if err == nil && p.changed > 0 {
				p.splices, err = w.now.Splices()
			}
			return nil, err
		})
	}
	if err == nil && len(p.failures) == 0 {
		err = w.planMode()
	}
	if err == nil && len(p.splices) > 0 && e.OnError == onErrorContinue {
		err = c.protected(p.name)
	}
	switch {
	case ctx.Err() != nil:
		return p, ctx.Err()
	case err != nil:
		p.fail(w.create, err)
		return p, nil
	}
	return p, w.left.Spend()
}

// mayCreate returns an error if the file cannot be created, and sets isNew if it does not exist.
func (w *planning) mayCreate() error {
	edit := w.edits[w.create]
	_, _, err := w.call.FS.LstatIfPossible(w.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && edit.ContentHash == "":
		w.isNew = true
	case err != nil:
		return err
	case !edit.Overwrite:
		return worded.Errorf("%w; %v", fs.ErrExist,
			wording.Part{Kind: kinds.SetOverwrite, Text: "set overwrite to replace its text"})
	case w.options.RequireHash && edit.ContentHash == "":
		return errNoHash
	}
	return nil
}

// make makes all edits of a file with that text, or of a new file. The error comes from the create, the text or the
// run. Other edits that cannot be made are recorded, so that all problems are reported at once.
func (w *planning) make(ctx context.Context, text match.Content) (err error) {
	if w.now, err = replace.NewDraft(text, w.call.sizes); err != nil {
		return err
	}
	if w.create >= 0 {
		if err := w.overwrite(text); err != nil {
			return err
		}
		text = match.Bytes(w.edits[w.create].newText())
	}
	file, err := w.call.divide(ctx, w.now)
	if err != nil {
		return err
	}
	if err := w.compareHashes(text); err != nil {
		return err
	}
	w.form = file.Form
	if err := w.lines(ctx, file); err != nil {
		return err
	}
	for i, e := range w.edits {
		if e.Command == commandReplace {
			err := w.replace(ctx, i, e)
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case err != nil:
				w.fail(i, err)
			}
		}
	}
	if err := w.appends(ctx); err != nil {
		return err
	}
	slices.SortStableFunc(w.failures, func(a, b *editFailure) int { return cmp.Compare(a.Index, b.Index) })
	if !w.isNew && w.changed > 1 {
		if same, err := w.now.Same(ctx); same || err != nil {
			w.changed = 0 // one edit has undone another
			return err
		}
	}
	return nil
}

// overwrite makes the edit that sets the text of the file. A new file already has its text.
func (w *planning) overwrite(old match.Content) error {
	e := w.edits[w.create]
	if e.ContentHash != "" {
		hash, err := w.call.hashOf(old)
		if err == nil {
			err = compareHash(e.ContentHash, hash, hashError{})
		}
		if err != nil {
			return err
		}
	}
	text := e.newText()
	if err := w.left.Take(len(text)); err != nil || w.isNew {
		w.changed = 1
		return err
	}
	return w.add([]change.Splice{{Len: w.now.Size(), Text: []byte(text), By: w.by(w.create)}})
}

// compareHashes compares the text that the edits refer to with the hashes of the edits.
func (w *planning) compareHashes(text match.Content) error {
	var got change.Hash
	for i, e := range w.edits {
		if i == w.create || e.ContentHash == "" {
			continue
		}
		if got == (change.Hash{}) {
			var err error
			if got, err = w.call.hashOf(text); err != nil {
				return err
			}
		}
		if err := compareHash(e.ContentHash, got, hashError{}); err != nil {
			w.fail(i, err)
		}
	}
	return nil
}

// compareHash returns a *hashError made of e unless the hash equals want.
func compareHash(want string, got change.Hash, e hashError) error {
	if len(want) >= minHashDigits && strings.HasPrefix(got.String(), strings.ToLower(want)) {
		return nil
	}
	e.Want, e.Got = want, got
	return &e
}

// take adds splices of the present text, and counts their bytes.
func (w *planning) take(splices []lineedit.Splice) error {
	list := make([]change.Splice, len(splices))
	for i, s := range splices {
		if err := w.left.Take(len(s.Text)); err != nil {
			w.fail(s.ID, err)
			return nil
		}
		list[i] = s.Splice
		list[i].By = w.by(s.ID)
	}
	return w.add(list)
}

// add applies the splices that change anything.
func (w *planning) add(list []change.Splice) error {
	list, err := w.now.Changing(list)
	if err != nil {
		return err
	}
	w.changed += len(list)
	return w.now.Add(list)
}

// by returns the origin of an edit.
func (w *planning) by(i int) []change.Origin { return []change.Origin{{Step: w.call.Step, Edit: i}} }

func (w *planning) replace(ctx context.Context, i int, e LineEdit) error {
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
	var found notUniqueError
	line, pos := 1, int64(0)
	how := match.How{Sizes: w.call.sizes, Lines: true}
	laps := !e.ReplaceAll && mayLap(e.OldStr)
	if laps {
		how.Sizes.Whole = math.MaxInt64 // so that the text after a match is in its window
	}
	var rest []byte // of the text, from the first match on
	list, err := rule.Splices(ctx, w.now, how, w.left, func(at *match.Window, loc []int) bool {
		if pos < at.Off {
			line, pos = 1+at.Line, at.Off
		}
		line += bytes.Count(at.Data[pos-at.Off:loc[0]], []byte{'\n'})
		pos = at.Off + int64(loc[0])
		if found.add(line); laps && found.Count == 1 {
			rest = at.Data[loc[0]:]
		}
		return found.Count == 1 || e.ReplaceAll
	})
	if err == nil && rest != nil && found.Count == 1 {
		skip := replace.FirstCharacter(rest)
		err = p.Find(ctx, match.Bytes(rest[skip:]), match.How{}, func(_ *match.Window, loc []int) bool {
			found.add(line + bytes.Count(rest[:skip+loc[0]], []byte{'\n'}))
			return true
		})
	}
	switch {
	case err != nil:
		return err
	case found.Count == 0:
		return w.notFound(ctx, e.OldStr, e.newText())
	case found.Count > 1 && !e.ReplaceAll:
		return &found
	}
	w.changed += len(list)
	return w.now.Add(list)
}

// mayLap reports whether two occurrences of a text can overlap. It does not examine long texts.
func mayLap(text string) bool {
	const long = 4 << 10
	for i := 1; i < len(text); i++ {
		if len(text) > long || strings.HasPrefix(text, text[i:]) {
			return true
		}
	}
	return false
}

// notFound returns the error for a text that was not found. For the first such texts of a file, it has the line of the
// new text, or the lines that nearly match the old text. Each file has an equal share of the bytes that a step may read
// for this, so that the result does not depend on scheduling.
func (w *planning) notFound(ctx context.Context, text, fresh string) *textError {
	missing := &textError{}
	share := nearestBytes / max(1, len(w.options.FileEdits))
	if w.hinted == nearestTexts || w.now.Size() > int64(share-w.hintedBytes) || ctx.Err() != nil {
		return missing
	}
	now, err := w.now.Bytes(w.now.Size())
	if err != nil {
		return missing
	}
	w.hinted++
	w.hintedBytes += len(now)
	if missing.Applied = appliedAt(now, fresh); missing.Applied > 0 {
		return missing
	}
	for _, h := range match.Nearest(now, text, nearestHints) {
		missing.Nearest = append(missing.Nearest, fmt.Sprintf("line %d, which %s: %s", h.Line, h.Why, h.Text))
	}
	return missing
}

// appliedAt returns the line at which the file already has the new text of an edit, 0 if it does not. Very short texts
// are not looked for, because files contain them by chance.
func appliedAt(data []byte, text string) int {
	const least = 3
	if len(strings.TrimSpace(text)) < least {
		return 0
	}
	at := bytes.Index(data, []byte(text))
	if at < 0 {
		return 0
	}
	return 1 + bytes.Count(data[:at], []byte{'\n'})
}
