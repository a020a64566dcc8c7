package preview

import (
	"errors"
	"fmt"
	"slices"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/kinds"
)

// Reviewer is the step in the [change.Origin] of a text of [Revision.Replace]. No real step has this name.
const Reviewer = "(review)"

// Revision is a partly rejected or replaced change of an edited file.
type Revision struct {
	File
	states []int                   // of the runs
	found  map[string][2]int       // by hunk: its first run, and the run after its last
	texts  []change.Splice         // replacements of some runs
	taken  map[int][]change.Splice // for each text that equals some splices of the change: these splices
}

// The states of a run. A state from 0 on is the number of the text that replaces the run.
const (
	kept     = -1
	rejected = -2
)

// Revise starts the revision of a change, which must be a change of a file with hunks.
func (v View) Revise(c change.Change) (*Revision, error) {
	switch {
	case c.Old.Kind == change.File && c.New.Kind == change.File:
	case c.Kind == change.Modified:
		return nil, fmt.Errorf("a %s becomes a %s, which has no parts; reject it as a whole", c.Old.Kind, c.New.Kind)
	default:
		return nil, fmt.Errorf("the file is %s as a whole; reject it", c.Kind)
	}
	f, err := v.File(c)
	if err != nil {
		return nil, err
	}
	if len(f.Hunks) == 0 {
		return nil, errors.New("the file has no hunks; reject it as a whole")
	}
	return &Revision{File: f, states: slices.Repeat([]int{kept}, len(f.runs)),
		taken: make(map[int][]change.Splice)}, nil
}

// Reject rejects the hunks with these numbers, counted from 0.
func (r *Revision) Reject(numbers ...int) error {
	gone := make([]bool, len(r.Hunks))
	for _, n := range numbers {
		if n < 0 || n >= len(gone) {
			return fmt.Errorf("there is no hunk %d; the file has %d, counted from 0", n, len(gone))
		}
		gone[n] = true
	}
	for i, run := range r.runs {
		if gone[run.hunk] {
			r.states[i] = rejected
		}
	}
	return nil
}

func (r *Revision) find(h Hunk) (first, end int, err error) {
	if r.found == nil {
		r.found = make(map[string][2]int)
		for _, all := range r.Hunks {
			from := end
			for _, part := range all.Split() {
				end++
				r.found[part.String()] = [2]int{end - 1, end}
			}
			r.found[all.String()] = [2]int{from, end}
		}
	}
	runs, ok := r.found[h.String()]
	if !ok {
		return 0, 0, fmt.Errorf("the file has no such hunk in this plan, nor a part of one, at line %d:\n%s",
			h.OldStart, h)
	}
	return runs[0], runs[1], nil
}

// Replace replaces a hunk or a part of one by a text, or, if text is nil, by the lines in the tree.
func (r *Revision) Replace(h Hunk, text *string) error {
	first, end, err := r.find(h)
	if err != nil {
		return err
	}
	for _, state := range r.states[first:end] {
		if state != kept {
			return fmt.Errorf("another part has the same lines, from line %d on", h.OldStart)
		}
	}
	state := rejected
	if text != nil {
		text, err := reviseText(h, *text, int64(r.runs[first].Old), r.change.Old.Size)
		switch {
		case err != nil:
			return err
		case text.asPlanned:
			return nil
		case !text.asBefore:
			state = len(r.texts)
			r.texts = append(r.texts, text.splice)
			if all := r.change.Splices; all != nil {
				own := all[r.runs[first].From:r.runs[end-1].To]
				if taken := takenOf(text.old, text.splice.Off, own, text.splice.Text); len(taken) > 0 {
					r.taken[state] = taken
				}
			}
		}
	}
	for i := first; i < end; i++ {
		r.states[i] = state
	}
	return nil
}

// Revised is the result of a revision.
type Revised struct {
	change.Change
	// FewerEdits is the number of edits removed, and Texts the number of texts added.
	FewerEdits, Texts int
}

// Change returns the revised change; ok is false if nothing was revised. The texts together may have at most most
// bytes.
func (r *Revision) Change(most int64) (revised Revised, ok bool, err error) {
	if !slices.ContainsFunc(r.states, func(state int) bool { return state != kept }) {
		return Revised{}, false, nil
	}
	if err := r.checkTexts(most); err != nil {
		return Revised{}, false, err
	}
	c, splices := r.change, r.splices()
	revised.Texts = len(r.texts) - len(r.taken)
	revised.FewerEdits = max(0, Edits(c.Splices)-(Edits(splices)-revised.Texts))
	if revised.Change, err = respliced(c, splices); err != nil {
		return Revised{}, false, err
	}
	revised.By = authorsLeft(revised.Change, c.By)
	return revised, true, nil
}

// checkTexts sets the author of the texts, and checks that they are neither too long nor overlap.
func (r *Revision) checkTexts(most int64) error {
	n := 0
	for _, s := range r.change.Splices {
		for _, o := range s.By {
			if o.Step == Reviewer {
				n = max(n, o.Edit+1)
			}
		}
	}
	left := most
	for i := range r.texts {
		if r.taken[i] == nil {
			r.texts[i].By = []change.Origin{{Step: Reviewer, Edit: n}}
			n++
		}
		if left -= int64(len(r.texts[i].Text)); left < 0 {
			return &actions.LimitError{What: kinds.LimitOutput, Limit: most}
		}
	}
	end, last := int64(0), kept
	for _, state := range r.states {
		if state < 0 || state == last {
			continue
		}
		s := r.texts[state]
		if s.Off < end {
			return errors.New("two parts change the lines between them, which both show; change them in one part only")
		}
		end, last = s.Off+s.Len, state
	}
	return nil
}

// splices returns the splices that turn the old file into the revised file. Runs that are kept keep their splices,
// unless these also belong to runs that are not kept, or touch a text: a run then gets a splice of its own.
func (r *Revision) splices() []change.Splice {
	all := r.change.Splices
	var out []change.Splice
	last := kept
	for from := 0; from < len(r.runs); {
		to := from + 1
		for to < len(r.runs) && r.runs[to].From == r.runs[from].From {
			to++
		}
		splices := all[r.runs[from].From:r.runs[from].To]
		if all != nil && r.untouched(from, to, splices) {
			out, from = append(out, splices...), to
			continue
		}
		for ; from < to; from++ {
			run, state := r.runs[from], r.states[from]
			switch {
			case state == kept:
				out = append(out, change.Splice{
					Off: int64(run.Old), Len: int64(run.OldEnd - run.Old), Text: run.text('+'), By: r.who.of(splices),
				})
			case state >= 0 && state != last:
				out, last = append(out, r.made(state)...), state
			}
		}
	}
	return out
}

// made returns the splices of a text: the equal splices of steps, or its own.
func (r *Revision) made(text int) []change.Splice {
	if taken := r.taken[text]; taken != nil {
		return taken
	}
	return r.texts[text : text+1]
}

// untouched reports whether all runs of the same splices are kept and no text touches them.
func (r *Revision) untouched(first, end int, splices []change.Splice) bool {
	if slices.ContainsFunc(r.states[first:end], func(state int) bool { return state != kept }) {
		return false
	}
	from, to := int64(r.runs[first].Old), int64(r.runs[end-1].OldEnd)
	if len(splices) > 0 {
		last := splices[len(splices)-1]
		from, to = min(from, splices[0].Off), max(to, last.Off+last.Len)
	}
	return !slices.ContainsFunc(r.texts, func(s change.Splice) bool { return s.Off <= to && s.Off+s.Len >= from })
}

// authorsLeft returns the authors who still have a part in the result, then the authors of new texts. Splices do not
// show who moved a file or changed its mode: then all authors are returned.
func authorsLeft(c change.Change, all []change.Origin) []change.Origin {
	made := origins(c.Splices)
	left := make(map[change.Origin]bool)
	for _, o := range made {
		left[o] = true
	}
	var by []change.Origin
	for _, o := range all {
		if left[o] || c.Kind != change.Modified || c.Old.Mode != c.New.Mode {
			by = append(by, o)
		}
		delete(left, o)
	}
	for _, o := range made {
		if left[o] {
			by = append(by, o)
		}
	}
	return by
}
