package preview

import (
	"fmt"
	"path"

	"github.com/millrace-go/millrace/fsutil"
)

// Without returns the changes without those at these paths, and at all paths below those that are directories, and how many
// edits were in these. It is an error to name a path at which nothing changes, which is [ErrNoChange], or to take away what
// the rest needs.
func Without(changes []fsutil.Change, paths ...string) (kept []fsutil.Change, edits int, err error) {
	rejected := make([]bool, len(changes))
	for _, name := range paths {
		found := false
		for i, c := range changes {
			if fsutil.Within(c.Path, name) {
				rejected[i], found = true, true
			}
		}
		if !found {
			return nil, 0, fmt.Errorf("reject %s: %w", name, ErrNoChange)
		}
	}
	var back []string // what stays where it was
	for i, c := range changes {
		if !rejected[i] {
			kept = append(kept, c)
			continue
		}
		edits += Edits(c.Splices)
		if c.Old.Kind != fsutil.Absent {
			back = append(back, OldPath(c))
		}
	}
	kept, err = keepDirs(kept, back)
	return kept, edits, err
}

// OldPath is where the tree has what a change starts from.
func OldPath(c fsutil.Change) string {
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
		if c.Old.Kind == fsutil.Dir && stays[OldPath(c)] && (c.Kind == fsutil.Deleted || c.Kind == fsutil.Renamed) {
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

// Edits returns how many edits a list of splices holds.
func Edits(splices []fsutil.Splice) int {
	n := 0
	for _, s := range splices {
		n += max(1, len(s.By))
	}
	return n
}
