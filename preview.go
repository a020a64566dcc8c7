package millrace

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/preview"
)

// Result returns the result that the run would have. It is a copy. For a stored plan it warns of files that have
// changed since.
func (p *Plan) Result() *Result {
	res := p.result.clone()
	for _, name := range p.moved {
		if preview.Touched(p.changes, name) {
			res.Warnings = append(res.Warnings, fsutil.Visible(name)+
				" has changed since the plan was made: the plan shows it "+
				"as it was then, and cannot be committed")
		}
	}
	return res
}

// FileDiff is the difference at one path of a plan, for showing it.
type FileDiff struct {
	// Kind is the change of the file or link at the path, as in [FilesChanged], or of a directory if no file is involved.
	// A file that is replaced by a directory is deleted.
	Kind change.ChangeKind `json:"kind"`
	Path string            `json:"path"`
	From string            `json:"from,omitempty"`
	// Binary means that the file has NUL bytes at its beginning, and thus no hunks.
	Binary bool `json:"binary,omitempty"`
	// Hunks are the places that differ, from top to bottom. A binary file, a directory, and a change
	// of only the name or the mode have no hunks.
	Hunks []Hunk `json:"hunks,omitempty"`
}

// Diff returns the changes of the plan as a patch in git's format, for `git apply` and, without binary files, `patch
// -p1`. Directories are not part of it. If a file of the tree has changed so that the diff can no longer be computed,
// the text reports that and contains no patch; [Plan.WriteDiff] returns an error then.
func (p *Plan) Diff() string {
	var b strings.Builder
	if err := p.WriteDiff(&b); err != nil {
		return fmt.Sprintf("the diff cannot be shown: %v\n", err)
	}
	return b.String()
}

// WriteDiff writes the text of [Plan.Diff], file by file. An edited large text file is not held in memory as a whole:
// the error is an *actions.LimitError if the differing lines with their context exceed the executor's MaxOutputBytes.
// Any other file is held in memory: the error is a *LimitError if the file exceeds MaxFileBytes, or its planned content
// exceeds that by more than MaxOutputBytes. Even if a plan cannot be shown, it can be committed.
//
// With paths, only changes at these paths, and below those that are directories, are written; other files are not read.
// A renamed file has its new path. It is an error to name a path without a change.
func (p *Plan) WriteDiff(w io.Writer, paths ...string) error {
	done, err := p.reading()
	if err != nil {
		return err
	}
	defer done()
	if err := p.conflict(paths...); err != nil {
		return err
	}
	return p.view().WriteDiff(w, p.changes, paths...)
}

// view returns the reader of the plan's changes.
func (p *Plan) view() preview.View {
	tree := func(name string) (io.ReadCloser, error) { return disk.Open(p.tree.fs).OpenFound(name) }
	return preview.View{Limits: p.tree.x.limits(), Tree: tree, Unsure: p.stage == nil}
}

// Files returns the differences, with their hunks, in path order: all of them, or those at the paths and below paths
// that are directories, like [Plan.WriteDiff]. So a large plan need not be in memory as a whole: [Plan.Outline] has the
// paths, and no other file is read.
func (p *Plan) Files(paths ...string) ([]FileDiff, error) {
	done, err := p.reading()
	if err != nil {
		return nil, err
	}
	defer done()
	if err := p.conflict(paths...); err != nil {
		return nil, err
	}
	changes, err := preview.Chosen(p.changes, paths...)
	if err != nil {
		return nil, fmt.Errorf("files of %w", err)
	}
	files, kinds := make([]FileDiff, len(changes)), preview.Kinds(changes, p.changes)
	for i, c := range changes {
		// an existing file is shown at its new place
		if c.New.Kind == change.Dir && kinds[i] == change.Created {
			files[i] = FileDiff{Kind: kinds[i], Path: c.Path}
			continue
		}
		f, err := p.view().File(c)
		if err != nil {
			return nil, err
		}
		files[i] = FileDiff{Kind: kinds[i], Path: c.Path, From: c.From, Binary: f.Binary, Hunks: hunksOf(f.Hunks)}
	}
	return files, nil
}

// Outline returns the differences like [Plan.Changes], but reads no files: New.Hash is zero if it was not needed so
// far. Use it to list a plan of many files, and [Plan.Files] for the hunks of each file.
func (p *Plan) Outline() []change.Change { return slices.Clone(p.changes) }

// Hunk is a place at which a file differs, as in a unified diff.
type Hunk struct {
	OldStart int `json:"old_start"` // lines count from 1
	OldLines int `json:"old_lines"`
	NewStart int `json:"new_start"`
	NewLines int `json:"new_lines"`
	// Text has the lines of the hunk, each after a space, a "-" or a "+".
	Text string `json:"text"`
	// By has the edits of the steps that made the hunk, in the order of the steps: exactly the edits that are rejected
	// with it.
	By []change.Origin `json:"by,omitempty"`

	runs  [][]change.Origin // the origins of each run of changed lines
	marks [][][2]int        // of each changed line
}

func hunksOf(list []preview.Hunk) []Hunk {
	if len(list) == 0 {
		return nil
	}
	hunks := make([]Hunk, 0, len(list))
	for _, h := range list {
		hunks = append(hunks, Hunk{h.OldStart, h.OldLines, h.NewStart, h.NewLines, h.Text, h.By, h.Runs, h.Marks})
	}
	return hunks
}

func (h Hunk) shown() preview.Hunk {
	return preview.Hunk{
		OldStart: h.OldStart, OldLines: h.OldLines, NewStart: h.NewStart, NewLines: h.NewLines,
		Text: h.Text, By: h.By, Runs: h.runs, Marks: h.marks,
	}
}

// Steps returns the ids of the steps that made the hunk, each once, in the order in which they ran.
func (h Hunk) Steps() []string {
	var steps []string
	for _, o := range h.By {
		if o.Step != preview.Reviewer && !slices.Contains(steps, o.Step) {
			steps = append(steps, o.Step)
		}
	}
	return steps
}

// String returns the hunk in the form of a unified diff, with its "@@" line.
func (h Hunk) String() string { return h.shown().String() }

// HunkLine is a line of the text of a hunk: Op, Text and a newline together are the line in the diff.
type HunkLine struct {
	// Op is ' ' for a line of both files, '-' for a line that only the old file has, '+' for a line that only the new file
	// has, and '\\' for the note that the line above it, the last line of its file, has no line end.
	Op byte `json:"op"`
	// Old and New are the numbers of the line in the two files, counted from 1, and 0 if it is not in that file.
	Old int `json:"old,omitempty"`
	New int `json:"new,omitempty"`
	// Text is the line without its "\n"; a "\r" before the "\n" is part of Text.
	Text string `json:"text"`
	// Marks are the ranges of Text, as start and end offsets in bytes, that splices removed or inserted, in ascending
	// order; only lines with '-' and '+' have marks. A line is marked as a whole if it was removed or inserted as a whole,
	// and if the diff shows a change on other lines than the changed ones. If only the line end has changed, the line
	// has no mark.
	Marks [][2]int `json:"marks,omitempty"`
}

// Lines returns the lines of the hunk with their numbers. A hunk of a [Plan] has marks, a hunk that was read from JSON
// has none.
func (h Hunk) Lines() []HunkLine {
	all := h.shown().Lines()
	lines := make([]HunkLine, len(all))
	for i, l := range all {
		lines[i] = HunkLine(l)
	}
	return lines
}

// Split returns a hunk for each run of changed lines of this hunk, from top to bottom, with the unchanged lines around
// it, so that each can be rejected alone: [Plan.Revise] accepts any choice of them. A hunk with one run is returned
// unchanged. Two hunks that are close together both show the lines between them, so only one of them can be part of a
// patch. Their new lines are numbered as if all hunks were accepted.
//
// If one edit has made several runs, all of them have that edit as origin, and each can be rejected alone.
func (h Hunk) Split() []Hunk { return hunksOf(h.shown().Split()) }

// Reject returns a plan without the changes at these paths, and at all paths below paths that are directories. The risk
// is judged again, by the remaining files and by the edits without those in the rejected files; the results of the
// steps stay unchanged. It is an error to name a path without a change, or to reject a change that the rest needs, such
// as the rename of a file whose place another file gets.
func (p *Plan) Reject(paths ...string) (*Plan, error) {
	kept, edits, err := p.changes, 0, error(nil)
	if at := p.changesAt(paths); len(at) > 0 {
		if kept, edits, err = preview.Without(p.changes, at...); err != nil {
			return nil, err
		}
	}
	q := p.with(kept, edits)
	p.withoutConflicts(q, paths)
	return q, nil
}

// Part is the decision about one hunk of a file, see [Plan.Revise].
type Part struct {
	// Hunk is a hunk from [Plan.Files], or a part of it from [Hunk.Split]. It may have been written as JSON and read back.
	Hunk Hunk
	// Text replaces all lines of the hunk, including the unchanged lines at its ends. In the plan these are the lines of
	// [Hunk.Lines] with ' ' and '+'. Nil means the lines of the tree, those with ' ' and '-'.
	Text *string
}

// RejectHunks returns a plan without some hunks of the file at path. Hunks are numbered from 0, in the order of
// [Plan.Files]; all others stay unchanged, to the byte. Rejecting all hunks of a file that is only edited rejects the
// file. The hunks of the new plan are numbered again; [Plan.Revise] accepts several decisions at once.
func (p *Plan) RejectHunks(path string, numbers ...int) (*Plan, error) {
	q, err := p.revised(path, func(r *preview.Revision) error { return r.Reject(numbers...) })
	if err != nil {
		return nil, fmt.Errorf("reject hunks of %s: %w", path, err)
	}
	return q, nil
}

// Revise returns a plan in which some hunks of the file at path are replaced: by the text of the tree, or by other
// text. All parts are hunks of this plan, not of the resulting plan, and must not share changed lines. Other hunks stay
// unchanged.
//
// A text is expected as a person leaves it in an editor. If all lines of the hunk end in "\r\n", lines that end in "\n"
// get "\r\n" too. The byte order mark at the beginning of a file stays. At the end of the file a line end is added or
// removed so that the last line is as complete as before, unless the hunk changes just that. Elsewhere a last line
// without a line end gets one. The text counts as one edit, and its [change.Origin] is {"(review)", n}, n counted from
// 0 for each file: no step has that id. A text that consists of some of the hunk's edits belongs to the steps that made
// these edits.
//
// The plan is judged again, as by [Plan.Reject]. A plan of [Executor.PlanRestore] with another text is judged like any
// change from then on. It is an error to name a file that is created or deleted as a whole, a binary file, or a hunk
// that is not a hunk of the file. A file that has changed since the plan was made is a conflict when the new plan is
// committed, and an [fsutil.ErrDrift] here if it has to be read again.
//
// To reject the same hunks in a new plan as in an earlier one, look for hunks with the same Text: it has no line
// numbers.
func (p *Plan) Revise(path string, parts ...Part) (*Plan, error) {
	if len(parts) == 0 && slices.ContainsFunc(p.changes, func(c change.Change) bool { return c.Path == path }) {
		return p.with(p.changes, 0), nil
	}
	q, err := p.revised(path, func(r *preview.Revision) error {
		for i, part := range parts {
			if err := r.Replace(part.Hunk.shown(), part.Text); err != nil {
				return fmt.Errorf("part %d: %w", i, err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("revise %s: %w", path, err)
	}
	return q, nil
}

// revised returns a plan in which the change at a path is revised.
func (p *Plan) revised(path string, decide func(*preview.Revision) error) (*Plan, error) {
	done, err := p.reading()
	if err != nil {
		return nil, err
	}
	defer done()
	at := slices.IndexFunc(p.changes, func(c change.Change) bool { return c.Path == path })
	if at < 0 {
		return nil, preview.ErrNoChange
	}
	r, err := p.view().Revise(p.changes[at])
	if err == nil {
		err = decide(r)
	}
	if err != nil {
		return nil, err
	}
	c, ok, err := r.Change(p.tree.x.limits().OutputBytes())
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return p.with(p.changes, 0), nil
	case c.New.Hash == c.Old.Hash && c.Kind == change.Modified && c.Old.Mode == c.New.Mode:
		return p.Reject(path)
	}
	changes := slices.Clone(p.changes)
	changes[at] = c.Change
	q := p.with(changes, c.FewerEdits-c.Texts)
	if q.undoes && c.Texts > 0 {
		// Text that a person has written is not the former text: it is judged like any change.
		q.undoes = false
		q.judge()
	}
	return q, nil
}

// with returns a plan with other changes and fewer edits, judged again.
func (p *Plan) with(changes []change.Change, fewerEdits int) *Plan {
	q := p.copied()
	q.changes = changes
	q.result.TotalEdits = max(0, q.result.TotalEdits-fewerEdits)
	q.judge()
	return q
}

// copied returns an equal plan that is not committed yet.
func (p *Plan) copied() *Plan {
	q := &Plan{
		tree: p.tree, stage: p.stage, name: p.name, options: p.options, digest: p.digest, mutates: p.mutates,
		result: p.result.clone(), changes: p.changes, failed: p.failed, abandoned: p.abandoned, held: p.held,
		restores: p.restores, undoes: p.undoes, moved: p.moved, drifted: p.drifted, damaged: p.damaged,
		budget: p.budget,
	}
	if done, err := p.reading(); err == nil {
		defer done()
		return q.keep()
	}
	q.closed = true
	return q
}
