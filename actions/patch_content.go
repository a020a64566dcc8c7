package actions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/patch"
	"github.com/millrace-go/millrace/internal/splice"
)

// content places the hunks of a section in the text of its file. An error is one of the run.
func (w *patching) content(ctx context.Context, s *patchSection, node *patchNode) error {
	s.first = node.hunks
	node.hunks += len(s.Hunks)
	switch {
	case len(s.Hunks) == 0 && s.File.Binary == nil && (s.Op != patch.Delete || s.Unchecked):
		return nil
	case node.made || node.link:
		list, err := w.place(ctx, s, node, node.text)
		if err == nil && !node.failed && len(list) > 0 {
			node.text, err = splice.Apply(node.text, list)
			node.retext = true
		}
		return w.runs(ctx, s, err)
	}
	var list []fsutil.Splice
	refusal := unlessBinary(w.Patch.Binary || s.File.Binary != nil || len(s.Hunks) == 0)
	err := w.c.update(node.place, refusal, func(text *source) ([]fsutil.Splice, error) {
		data, err := text.Bytes(math.MaxInt64)
		if err == nil && len(node.splices) > 0 {
			data, err = splice.Apply(data, node.splices)
		}
		if err == nil {
			list, err = w.place(ctx, s, node, data)
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

// runs returns an error that is one of the run, and makes another one that of the section.
func (w *patching) runs(ctx context.Context, s *patchSection, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case isOfStep(err):
		return err
	}
	if limit, ok := errors.AsType[*LimitError](patchLimit(err)); ok && limit.What == LimitPatchSteps {
		return limit
	}
	s.fail(0, s.Line, patchLimit(err))
	return nil
}

// place returns what the hunks, or the binary data, make of a text.
func (w *patching) place(ctx context.Context, s *patchSection, node *patchNode, data []byte) ([]fsutil.Splice, error) {
	s.placed, s.failures = nil, nil
	by := func(i int) []fsutil.Origin { return []fsutil.Origin{{Step: w.c.Step, Edit: s.first + i}} }
	if s.File.Binary != nil {
		text, done, err := s.Apply(data, true, w.c.Limits.OutputBytes())
		if err != nil {
			return nil, err
		}
		if done {
			w.warn("%s: the patch is applied already", s.name)
			return nil, nil
		}
		node.edits = max(node.edits, 1)
		return []fsutil.Splice{{Len: int64(len(data)), Text: text, By: by(0)}}, w.spend([][]byte{text})
	}
	text, err := patch.NewText(data)
	if err != nil {
		return nil, err
	}
	if s.placed, err = text.Place(ctx, s.File, w.settings, &w.steps); err != nil {
		return nil, err
	}
	list, texts := w.results(s, node, by)
	if s.Op == patch.Delete && !s.Unchecked && !node.failed {
		size, err := splice.Check(list, int64(len(data)))
		if err == nil && size > 0 {
			err = fmt.Errorf("the file is to be deleted, but has %d bytes that the patch does not remove", size)
		}
		if err != nil {
			return nil, err
		}
	}
	if node.failed {
		return nil, nil
	}
	return list, w.spend(texts)
}

// spend takes new text from the limits.
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

// results goes through the places of the hunks: failures are noted, what is worth knowing is told, and the splices of the
// others are returned with their new texts.
func (w *patching) results(s *patchSection, node *patchNode, by func(i int) []fsutil.Origin) (list []fsutil.Splice, texts [][]byte) {
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
			one.By = by(i)
			list, texts = append(list, one), append(texts, one.Text)
		}
	}
	if len(s.failures) == 0 {
		node.edits += edits
	}
	slices.SortStableFunc(list, func(a, b fsutil.Splice) int { return cmp.Or(cmp.Compare(a.Off, b.Off), cmp.Compare(a.Len, b.Len)) })
	return list, texts
}

func countLines(n int) string {
	if n == 1 {
		return "1 line"
	}
	return fmt.Sprintf("%d lines", n)
}
