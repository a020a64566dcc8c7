package millrace

import (
	"fmt"
	"slices"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/textdiff"
)

// Part says what becomes of one hunk of a file, see [Plan.Revise].
type Part struct {
	// Hunk is one that [Plan.Files] lists for the file, or one of its parts as [Hunk.Split] gives them. It may have
	// been written as JSON and read back.
	Hunk Hunk
	// Text is what is to stand in place of all lines of the hunk, the unchanged ones at its ends included. The plan as
	// it is has there the lines of [Hunk.Lines] with ' ' and '+'. Nil means the lines as the tree has them, those with
	// ' ' and '-'.
	Text *string
}

// RejectHunks returns a plan in which the hunks of these numbers, counted from 0 as [Plan.Files] lists them, of the
// file at path are left as they were; all others stay what they are, to the byte. Rejecting all hunks of a file that is
// only edited rejects the file. The hunks of the new plan are numbered anew; [Plan.Revise] takes several decisions at
// once.
func (p *Plan) RejectHunks(path string, numbers ...int) (*Plan, error) {
	r, err := p.revision(path)
	if err != nil {
		return nil, fmt.Errorf("reject hunks of %s: %w", path, err)
	}
	for _, n := range numbers {
		if n < 0 || n >= len(r.hunks) {
			return nil, fmt.Errorf("reject hunk %d of %s: there are %d, counted from 0", n, path, len(r.hunks))
		}
		for i := range r.runs {
			if r.runs[i].hunk == n {
				r.runs[i].state = rejected
			}
		}
	}
	q, err := r.plan()
	if err != nil {
		return nil, fmt.Errorf("reject hunks of %s: %w", path, err)
	}
	return q, nil
}

// Revise returns a plan in which some hunks of the file at path are as the parts say: as the tree has them, or with
// other text. All parts are hunks of this plan, not of the one that comes of it, and must not share changed lines.
// Hunks that no part names stay as they are.
//
// A text is taken as a person leaves it in an editor: where all lines of the hunk end in "\r\n", lines that end in "\n"
// get that too; the byte order mark at the beginning of a file stays; and at its end a line end is added or taken away
// so that the last line is as complete as it was, unless the hunk changes just that. Elsewhere a last line without a
// line end gets one. The text counts as one edit, and its [fsutil.Origin] is {"(review)", n}, n counted from 0 for each
// file: no step has that id.
//
// The plan is judged anew, as by [Plan.Reject]; one of [Executor.PlanRestore] that is given another text is judged as any
// change is from then on. It is an error to name a file that is created or deleted as a whole, or
// binary, or a hunk that is none of its hunks. A file that has changed since the plan was made is a conflict when the
// new plan is committed, and an [fsutil.ErrDrift] here if it has to be read again.
//
// To reject in a new plan what was rejected in an earlier one, look for hunks with the same Text: it has no line
// numbers.
func (p *Plan) Revise(path string, parts ...Part) (*Plan, error) {
	if len(parts) == 0 && slices.ContainsFunc(p.changes, func(c fsutil.Change) bool { return c.Path == path }) {
		return p.with(p.changes, 0), nil
	}
	r, err := p.revision(path)
	for i := 0; i < len(parts) && err == nil; i++ {
		if err = r.take(parts[i]); err != nil {
			err = fmt.Errorf("part %d: %w", i, err)
		}
	}
	var q *Plan
	if err == nil {
		q, err = r.plan()
	}
	if err != nil {
		return nil, fmt.Errorf("revise %s: %w", path, err)
	}
	return q, nil
}

// revision is a change of which not all is wanted as it is.
type revision struct {
	p      *Plan
	at     int // of the change
	change fsutil.Change
	who    authors
	hunks  []Hunk
	runs   []revisedRun
	found  map[place][2]int // the first run of a hunk, and the one behind its last
	texts  []fsutil.Splice  // of parts
}

// revisedRun is a run of changed lines.
type revisedRun struct {
	textdiff.Core
	hunk  int
	new   []byte
	state int
}

// The states of a run; those from 0 on are the number of the text that it is part of.
const (
	kept     = -1
	rejected = -2
)

// place is what a hunk is known by.
type place struct {
	oldStart, oldLines, newStart, newLines int
	text                                   string
}

func placeOf(h Hunk) place { return place{h.OldStart, h.OldLines, h.NewStart, h.NewLines, h.Text} }

// revision begins to revise the file at a path.
func (p *Plan) revision(path string) (*revision, error) {
	done, err := p.reading()
	if err != nil {
		return nil, err
	}
	defer done()
	at := slices.IndexFunc(p.changes, func(c fsutil.Change) bool { return c.Path == path })
	if at < 0 {
		return nil, errNoChange
	}
	c := p.changes[at]
	if c.Old.Kind != fsutil.File || c.New.Kind != fsutil.File {
		return nil, fmt.Errorf("the file is %s as a whole; reject it", c.Kind)
	}
	hunks, binary, err := p.hunksOf(c)
	if err != nil {
		return nil, err
	}
	if binary || len(hunks) == 0 {
		return nil, errNoHunks
	}
	r := &revision{p: p, at: at, change: c, who: authorsOf(c), hunks: hunksToShow(c, hunks)}
	for n, h := range hunks {
		run := 0
		for i, l := range h.Lines {
			if l.Op == ' ' {
				continue
			}
			if i == 0 || h.Lines[i-1].Op == ' ' {
				r.runs = append(r.runs, revisedRun{Core: h.Cores[run], hunk: n, state: kept})
				run++
			}
			if l.Op == '+' {
				last := &r.runs[len(r.runs)-1]
				last.new = append(last.new, l.Text...)
			}
		}
	}
	return r, nil
}

// find returns the runs of a hunk.
func (r *revision) find(h Hunk) (first, end int, err error) {
	if r.found == nil {
		r.found = make(map[place][2]int)
		for _, all := range r.hunks {
			from := end
			for _, part := range all.Split() {
				end++
				r.found[placeOf(part)] = [2]int{end - 1, end}
			}
			r.found[placeOf(all)] = [2]int{from, end}
		}
	}
	runs, ok := r.found[placeOf(h)]
	if !ok {
		return 0, 0, fmt.Errorf("the file has no such hunk in this plan, nor a part of one, at line %d:\n%s", h.OldStart, h)
	}
	return runs[0], runs[1], nil
}

// take notes what a part wants.
func (r *revision) take(part Part) error {
	first, end, err := r.find(part.Hunk)
	if err != nil {
		return err
	}
	for _, run := range r.runs[first:end] {
		if run.state != kept {
			return fmt.Errorf("another part has the same lines, from line %d on", part.Hunk.OldStart)
		}
	}
	state := rejected
	if part.Text != nil {
		text, err := reviseText(part.Hunk, *part.Text, r.runs[first].OldOff, r.change.Old.Size)
		switch {
		case err != nil:
			return err
		case text.asPlanned:
			return nil
		case !text.asBefore:
			state = len(r.texts)
			r.texts = append(r.texts, text.splice)
		}
	}
	for i := first; i < end; i++ {
		r.runs[i].state = state
	}
	return nil
}

// plan returns the revised plan.
func (r *revision) plan() (*Plan, error) {
	p, c := r.p, r.change
	if !slices.ContainsFunc(r.runs, func(run revisedRun) bool { return run.state != kept }) {
		return p.with(p.changes, 0), nil
	}
	if err := r.checkTexts(); err != nil {
		return nil, err
	}
	splices := r.splices()
	revised, err := respliced(c, splices)
	if err != nil {
		return nil, err
	}
	if revised.New.Hash == c.Old.Hash && c.Kind == fsutil.Modified && c.Old.Mode == c.New.Mode {
		return p.Reject(c.Path)
	}
	revised.By = authorsLeft(revised, c.By)
	changes := slices.Clone(p.changes)
	changes[r.at] = revised
	fewer := max(0, editsIn(c.Splices)-(editsIn(splices)-len(r.texts)))
	q := p.with(changes, fewer-len(r.texts))
	if q.undoes && len(r.texts) > 0 {
		// What a person has written is not what was there before: it is judged as any change, by what it does.
		q.undoes, q.foreign = false, true
		q.judge()
	}
	return q, nil
}

// checkTexts gives the texts their author, and checks that they are neither too long nor in each other's way.
func (r *revision) checkTexts() error {
	n := 0
	for _, s := range r.change.Splices {
		for _, o := range s.By {
			if o.Step == reviewer {
				n = max(n, o.Edit+1)
			}
		}
	}
	left := r.p.tree.x.limits().OutputBytes()
	for i := range r.texts {
		r.texts[i].By = []fsutil.Origin{{Step: reviewer, Edit: n + i}}
		if left -= int64(len(r.texts[i].Text)); left < 0 {
			return &actions.LimitError{What: actions.LimitOutput, Limit: r.p.tree.x.limits().OutputBytes()}
		}
	}
	end, last := int64(0), kept
	for _, run := range r.runs {
		if run.state < 0 || run.state == last {
			continue
		}
		s := r.texts[run.state]
		if s.Off < end {
			return errSharedLines
		}
		end, last = s.Off+s.Len, run.state
	}
	return nil
}

// splices returns what makes the file of the old one. Runs that are left keep the splices they come from, unless those
// make other runs too that are not left, or lie where a text does: a run then gets a splice of its own.
func (r *revision) splices() []fsutil.Splice {
	all := r.change.Splices
	var out []fsutil.Splice
	last := kept
	for from := 0; from < len(r.runs); {
		to := from + 1
		for to < len(r.runs) && r.runs[to].From == r.runs[from].From {
			to++
		}
		group := r.runs[from:to]
		from = to
		splices := all[group[0].From:group[0].To]
		if all != nil && r.untouched(group, splices) {
			out = append(out, splices...)
			continue
		}
		for _, run := range group {
			switch {
			case run.state == kept:
				out = append(out, fsutil.Splice{
					Off: int64(run.OldOff), Len: int64(run.OldEnd - run.OldOff), Text: run.new, By: r.who.of(splices),
				})
			case run.state >= 0 && run.state != last:
				out = append(out, r.texts[run.state])
				last = run.state
			}
		}
	}
	return out
}

// untouched reports whether runs that come from the same splices are all left, and no text lies between them.
func (r *revision) untouched(runs []revisedRun, splices []fsutil.Splice) bool {
	for _, run := range runs {
		if run.state != kept {
			return false
		}
	}
	from, to := int64(runs[0].OldOff), int64(runs[len(runs)-1].OldEnd)
	if len(splices) > 0 {
		last := splices[len(splices)-1]
		from, to = min(from, splices[0].Off), max(to, last.Off+last.Len)
	}
	return !slices.ContainsFunc(r.texts, func(s fsutil.Splice) bool { return s.Off <= to && s.Off+s.Len >= from })
}

// authorsLeft returns those of all who have made some of what is left of an edited file. Who has moved it or changed
// its mode cannot be told from that; then all are.
func authorsLeft(c fsutil.Change, all []fsutil.Origin) []fsutil.Origin {
	left := make(map[fsutil.Origin]bool)
	for _, s := range c.Splices {
		for _, o := range s.By {
			left[o] = true
		}
	}
	onlyText := c.Kind == fsutil.Modified && c.Old.Mode == c.New.Mode
	var by []fsutil.Origin
	for _, o := range all {
		if left[o] || !onlyText {
			by = append(by, o)
		}
		delete(left, o)
	}
	for _, s := range c.Splices { // the texts that are new
		for _, o := range s.By {
			if left[o] {
				by = append(by, o)
				delete(left, o)
			}
		}
	}
	return by
}
