package actions

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/kinds"
	"github.com/millrace-go/millrace/internal/patch"
	"github.com/millrace-go/millrace/internal/patch/placing"
	"github.com/millrace-go/millrace/internal/splice"
)

// content places the hunks of a section in the text of its file. An error belongs to the run.
func (w *patching) content(ctx context.Context, s *patchSection, node *patchNode) error {
	s.first = node.hunks
	node.hunks += len(s.Hunks)
	switch {
	case len(s.Hunks) == 0 && s.File.Binary == nil && (s.Op != patch.Delete || s.Unchecked):
		return nil
	case node.made || node.link:
		list, now, err := w.place(ctx, s, node, node.text)
		if err == nil && !node.failed && len(list) > 0 {
			node.text, node.retext = now, true
		}
		return w.runs(ctx, s, err)
	}
	var list []change.Splice
	refusal := unlessBinary(w.Patch.Binary || s.File.Binary != nil || len(s.Hunks) == 0)
	asFound := refusal
	if len(node.splices) > 0 {
		asFound = nil // the result of the earlier sections counts
	}
	err := w.c.update(node.place, asFound, func(text *source) ([]change.Splice, error) {
		data, err := text.Bytes(math.MaxInt64)
		if err != nil {
			return nil, err
		}
		before := data
		if len(node.splices) > 0 {
			if data, err = splice.Apply(data, node.splices); err != nil {
				return nil, err
			}
			if refusal != nil && fsutil.IsBinary(data) {
				return nil, refusal
			}
		}
		var now []byte
		if list, now, err = w.place(ctx, s, node, data); err == nil {
			node.same = bytes.Equal(before, now)
		}
		return nil, err
	})
	if err == nil && len(list) > 0 {
		if node.splices == nil {
			node.splices = list
		} else {
			node.splices, err = splice.Compose(node.splices, list)
		}
	}
	return w.runs(ctx, s, err)
}

// runs returns an error of the run, and makes any other error an error of the section.
func (w *patching) runs(ctx context.Context, s *patchSection, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case isOfStep(err):
		return err
	}
	if limit, ok := errors.AsType[*LimitError](patchLimit(err)); ok && limit.What == kinds.LimitPatchSteps {
		return limit
	}
	s.fail(0, s.Line, patchLimit(err))
	return nil
}

// place applies the hunks, or the binary data, to a text, and returns the result as splices and as a whole.
func (w *patching) place(ctx context.Context, s *patchSection, node *patchNode,
	data []byte) ([]change.Splice, []byte, error) {
	s.placed, s.failures = nil, nil
	has := s.File.Compare(data)
	if w.applied(s, has) {
		w.warn("%s: the patch is applied already", s.name)
		s.placed = make([]placing.Placed, len(s.Hunks))
		return nil, data, nil
	}
	if s.File.Binary != nil {
		text, done, err := s.Apply(data, true, w.c.Limits.OutputBytes())
		if err != nil || done {
			return nil, data, err
		}
		node.edits = max(node.edits, 1)
		return []change.Splice{{Len: int64(len(data)), Text: text, By: w.by(s, 0)}}, text, w.spend([][]byte{text})
	}
	text, err := placing.NewText(data)
	if err != nil {
		return nil, nil, err
	}
	proven := false
	if has.IsOld && !s.Mixed && (bytes.IndexByte(data, '\r') >= 0 || s.CRLF) {
		if proven, err = w.asNamed(ctx, s, text, data); err != nil {
			return nil, nil, err
		}
	}
	if !proven {
		if s.placed, err = text.Place(ctx, s.File, w.settings, &w.steps); err != nil {
			return nil, nil, err
		}
	}
	list := w.splices(s)
	if w.format != patch.Unified {
		if list, err = w.later(ctx, s, data, list); err != nil {
			return nil, nil, err
		}
	}
	texts := w.results(s, node)
	if node.failed {
		return nil, nil, nil
	}
	now, err := splice.Apply(data, list)
	switch {
	case err != nil:
		return nil, nil, err
	case s.Op == patch.Delete && !s.Unchecked && len(now) > 0:
		return nil, nil, fmt.Errorf("the file is to be deleted, but has %d bytes that the patch does not remove",
			len(now))
	case has.IsOld && s.Op != patch.Delete && s.File.Compare(now).Differs():
		w.warn("%s: the hunks do not make the text that the line \"index\" names; somebody has altered the patch",
			s.name)
	}
	return list, now, w.spend(texts)
}

// asNamed places the hunks so that line ends count. It reports whether the result is exactly the text that the line
// "index" names.
func (w *patching) asNamed(ctx context.Context, s *patchSection, text *placing.Text, data []byte) (bool, error) {
	exact := *s.File
	exact.Mixed = true
	var err error
	if s.placed, err = text.Place(ctx, &exact, w.settings, &w.steps); err != nil {
		return false, err
	}
	if now, err := splice.Apply(data, w.splices(s)); err == nil && s.File.Compare(now).IsNew {
		return true, nil
	}
	text.Forget()
	return false, nil
}

// applied reports whether the file already has the content that a section, or a later section for the same file, makes.
func (w *patching) applied(s *patchSection, has patch.Content) bool {
	if has.IsOld || s.Op == patch.Delete {
		return false
	}
	for next := s; next != nil; next = next.next {
		if has.Is(next.NewID) {
			return true
		}
	}
	return false
}

// by returns the origin of a hunk of a section.
func (w *patching) by(s *patchSection, hunk int) []change.Origin {
	return []change.Origin{{Step: w.c.Step, Edit: s.first + hunk}}
}

// splices returns the splices of the placed hunks, in the order of the file.
func (w *patching) splices(s *patchSection) (list []change.Splice) {
	for i, p := range s.placed {
		for _, one := range p.Splices {
			one.By = w.by(s, i)
			list = append(list, one)
		}
	}
	slices.SortStableFunc(list, func(a, b change.Splice) int {
		return cmp.Or(cmp.Compare(a.Off, b.Off), cmp.Compare(a.Len, b.Len))
	})
	return list
}

// bytesOfStep is the number of bytes of a file that are read for one step. A comparison of two lines is also one step.
const bytesOfStep = 8

// later looks for hunks whose lines are not in the file. It looks in the result of the other hunks of the section.
func (w *patching) later(ctx context.Context, s *patchSection, data []byte,
	list []change.Splice) ([]change.Splice, error) {
	for i, p := range s.placed {
		missing := p.Done && s.Hunks[i].Removed > 0
		if _, ok := errors.AsType[*placing.MissingError](p.Err); !ok && !missing || len(list) == 0 {
			continue
		}
		if err := cmp.Or(ctx.Err(), w.steps.Take(ctx, len(data)/bytesOfStep)); err != nil {
			return nil, err
		}
		now, err := splice.Apply(data, list)
		if err != nil {
			return nil, err
		}
		text, err := placing.NewText(now)
		if err != nil {
			return nil, err
		}
		alone := *s.File
		alone.Hunks = s.Hunks[i : i+1]
		placed, err := text.Place(ctx, &alone, w.settings, &w.steps)
		if err != nil {
			return nil, err
		}
		if placed[0].Err != nil || placed[0].Done {
			continue
		}
		s.placed[i] = placed[0]
		w.warn("%s: hunk %d (line %d of the patch) applied to lines that another hunk of the patch has put in", s.name,
			s.first+i+1, s.Hunks[i].Line)
		more := placed[0].Splices
		for k := range more {
			more[k].By = w.by(s, i)
		}
		if list, err = splice.Compose(list, more); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// spend counts new text against the limits.
func (w *patching) spend(texts [][]byte) error {
	left := w.c.budget()
	for _, text := range texts {
		if err := left.Match(); err != nil {
			return err
		}
		if err := left.Take(len(text)); err != nil {
			return err
		}
		if err := left.Splice(); err != nil {
			return err
		}
	}
	return left.Spend()
}

// results collects the results of the hunks: it records failures, warns of hunks at other places than the patch states,
// and returns the new texts.
func (w *patching) results(s *patchSection, node *patchNode) (texts [][]byte) {
	edits := 0
	for i, p := range s.placed {
		number, line := s.first+i+1, s.Hunks[i].Line
		if p.Err != nil {
			if s.Hunks[i].Recounted {
				p.Err = fmt.Errorf("%w; it has other lines than the numbers behind @@ say", p.Err)
			}
			s.fail(number, line, p.Err)
			continue
		}
		where := fmt.Sprintf("%s: hunk %d (line %d of the patch)", s.name, number, line)
		switch {
		case p.Done:
			w.warn("%s is applied already, at line %d", where, p.At+1)
			continue
		case p.Moved > 0:
			w.warn("%s applied %s further down", where, countLines(p.Moved))
		case p.Moved < 0:
			w.warn("%s applied %s further up", where, countLines(-p.Moved))
		}
		if p.Level > 0 {
			w.warn("%s applied at line %d, where its lines differ in %s", where, p.At+1, p.Level)
		}
		if p.Fuzz > 0 {
			w.warn("%s applied at line %d without %d of its lines at either end", where, p.At+1, p.Fuzz)
		}
		if len(p.Splices) > 0 {
			edits++
		}
		for _, one := range p.Splices {
			texts = append(texts, one.Text)
		}
	}
	if len(s.failures) == 0 {
		node.edits += edits
	}
	return texts
}

func countLines(n int) string {
	if n == 1 {
		return "1 line"
	}
	return fmt.Sprintf("%d lines", n)
}
