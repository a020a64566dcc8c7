package millrace

import (
	"fmt"
	"path"

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
			return nil, fmt.Errorf("reject %s: %w", name, errNoChange)
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
	q := p.copied()
	q.changes = changes
	q.result.TotalEdits = max(0, q.result.TotalEdits-fewerEdits)
	q.judge()
	return q
}

// copied returns a plan like this one that is not committed yet.
func (p *Plan) copied() *Plan {
	q := &Plan{
		tree: p.tree, stage: p.stage, name: p.name, options: p.options, digest: p.digest, mutates: p.mutates,
		result: p.result.clone(), changes: p.changes, failed: p.failed, foreign: p.foreign, abandoned: p.abandoned,
		restores: p.restores, undoes: p.undoes,
	}
	if done, err := p.reading(); err == nil {
		defer done()
		return q.keep()
	}
	q.closed = true
	return q
}
