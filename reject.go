package millrace

import (
	"fmt"
	"path"
	"slices"

	"github.com/millrace-go/millrace/fsutil"
)

// Reject returns a plan without the changes at these paths, and at all paths below those that are directories. The risk
// is judged anew, by the files that are left and the edits less those that were in the files rejected; the results of
// the steps stay what they were. It is an error to name a path at which nothing changes, or to reject what the
// rest needs, such as the renaming of a file in whose place another one is put.
func (p *Plan) Reject(paths ...string) (*Plan, error) {
	rejected := make([]bool, len(p.changes))
	for _, name := range paths {
		found := false
		for i, c := range p.changes {
			if fsutil.Within(c.Path, name) {
				rejected[i], found = true, true
			}
		}
		if !found {
			return nil, fmt.Errorf("reject %s: the plan changes nothing there", name)
		}
	}
	var kept []fsutil.Change
	var back []string // what stays where it was
	edits := 0
	for i, c := range p.changes {
		if !rejected[i] {
			kept = append(kept, c)
			continue
		}
		edits += editsIn(c.Splices)
		if c.Old.Kind != fsutil.Absent {
			back = append(back, oldPath(c))
		}
	}
	kept, err := keepDirs(kept, back)
	if err != nil {
		return nil, err
	}
	return p.with(kept, edits), nil
}

// oldPath is where the tree has what a change starts from.
func oldPath(c fsutil.Change) string {
	if c.From != "" {
		return c.From
	}
	return c.Path
}

// keepDirs takes back the removal of every directory that something stays in, and checks that each place is taken once.
func keepDirs(changes []fsutil.Change, back []string) ([]fsutil.Change, error) {
	stays := make(map[string]bool)
	for _, name := range back {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			stays[dir] = true
		}
	}
	var kept []fsutil.Change
	left := make(map[string]fsutil.Kind)
	for _, c := range changes {
		if c.Old.Kind == fsutil.Dir && stays[oldPath(c)] && (c.Kind == fsutil.Deleted || c.Kind == fsutil.Renamed) {
			if c.Kind == fsutil.Deleted {
				continue
			}
			// The directory stays where it is, and its new name becomes one of its own.
			c.Kind, c.From, c.Old = fsutil.Created, "", fsutil.State{}
		}
		kept = append(kept, c)
		left[c.Path] = c.New.Kind
	}
	for _, name := range back {
		if kind, ok := left[name]; ok && kind != fsutil.Absent {
			return nil, fmt.Errorf("reject: %s would stay, but the plan puts something else in its place; reject that too", name)
		}
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if kind, ok := left[dir]; ok && kind != fsutil.Dir {
				return nil, fmt.Errorf("reject: %s would stay, but the plan makes %s no directory; reject that too", name, dir)
			}
		}
	}
	for _, c := range kept {
		if dir := path.Dir(c.Path); c.New.Kind != fsutil.Absent && dir != "." && left[dir] == fsutil.Absent {
			if _, changed := left[dir]; changed {
				return nil, fmt.Errorf("reject: %s needs the directory %s; reject it too", c.Path, dir)
			}
		}
	}
	return kept, nil
}

// RejectHunks returns a plan in which the hunks of these numbers, counted from 0 as [Plan.Files] lists them, of the file at
// path are left as they were. Rejecting all hunks of a file that is only edited rejects the file.
func (p *Plan) RejectHunks(path string, numbers ...int) (*Plan, error) {
	at := slices.IndexFunc(p.changes, func(c fsutil.Change) bool { return c.Path == path })
	if at < 0 {
		return nil, fmt.Errorf("reject hunks of %s: the plan changes nothing there", path)
	}
	c := p.changes[at]
	if c.Old.Kind != fsutil.File || c.New.Kind != fsutil.File {
		return nil, fmt.Errorf("reject hunks of %s: the file is %s as a whole; reject it", path, c.Kind)
	}
	hunks, binary, err := p.hunksOf(c)
	if err != nil {
		return nil, err
	}
	if binary || len(hunks) == 0 {
		return nil, fmt.Errorf("reject hunks of %s: it has none; reject the file", path)
	}
	for _, n := range numbers {
		if n < 0 || n >= len(hunks) {
			return nil, fmt.Errorf("reject hunk %d of %s: there are %d, counted from 0", n, path, len(hunks))
		}
	}
	var before, after []byte
	text := func(from, to int) ([]byte, error) { return after[from:to], nil }
	sparse, err := p.openSparse(c)
	if sparse != nil {
		defer sparse.close()
		text = sparse.after
	} else if err == nil {
		before, after, err = p.contents(c)
	}
	if err != nil {
		return nil, err
	}
	edits := editsIn(c.Splices)
	splices := []fsutil.Splice{}
	rejected := make(map[int]bool, len(numbers))
	for _, n := range numbers {
		rejected[n] = true
	}
	for i, h := range hunks {
		if !rejected[i] {
			kept, err := splicesOf(c, h, text)
			if err != nil {
				return nil, fmt.Errorf("reject hunks of %s: %w", path, err)
			}
			splices = append(splices, kept...)
		}
	}
	if len(splices) == 0 && c.Kind == fsutil.Modified && c.Old.Mode == c.New.Mode {
		return p.Reject(path)
	}
	if sparse != nil {
		c, err = respliced(c, splices)
	} else {
		c, err = reapplied(c, before, splices)
	}
	if err != nil {
		return nil, fmt.Errorf("reject hunks of %s: %w", path, err)
	}
	changes := slices.Clone(p.changes)
	changes[at] = c
	return p.with(changes, edits-editsIn(splices)), nil
}

// reapplied returns the change with other splices in the old bytes.
func reapplied(c fsutil.Change, before []byte, splices []fsutil.Splice) (fsutil.Change, error) {
	text, err := fsutil.ApplySplices(before, splices)
	c.Splices, c.New.Hash, c.New.Size = splices, fsutil.HashOf(text), int64(len(text))
	return c.WithContent(c.OpenOld, fsutil.BytesOpener(text)), err
}

// splicesOf returns the splices that make one hunk: the ones of the change, or a single one if there are none or they
// reach beyond the hunk.
func splicesOf(c fsutil.Change, h Hunk, after func(from, to int) ([]byte, error)) ([]fsutil.Splice, error) {
	core := h.core
	inside := splicesAt(c.Splices, core)
	beyond := func(s fsutil.Splice) bool { return s.Off < int64(core.OldOff) || s.Off+s.Len > int64(core.OldEnd) }
	if len(inside) > 0 && !slices.ContainsFunc(inside, beyond) {
		return inside, nil
	}
	text, err := after(core.NewOff, core.NewEnd)
	return []fsutil.Splice{{Off: int64(core.OldOff), Len: int64(core.OldEnd - core.OldOff), Text: text, By: h.By}}, err
}

// editsIn returns how many edits a list of splices holds.
func editsIn(splices []fsutil.Splice) int {
	n := 0
	for _, s := range splices {
		n += max(1, len(s.By))
	}
	return n
}

// with returns a plan with other changes, judged anew, that has lost some edits.
func (p *Plan) with(changes []fsutil.Change, fewerEdits int) *Plan {
	q := &Plan{
		tree: p.tree, stage: p.stage, name: p.name, options: p.options, digest: p.digest, mutates: p.mutates,
		result: p.result.clone(), changes: changes, failed: p.failed, abandoned: p.abandoned,
	}
	q.result.TotalEdits = max(0, q.result.TotalEdits-fewerEdits)
	q.judge()
	return q
}
