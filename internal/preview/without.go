package preview

import (
	"fmt"
	"path"

	"github.com/millrace-go/millrace/change"
)

// Without returns the changes without those at these paths, and without those below these paths if they are
// directories. It also returns the number of edits in the removed changes. It is an error, [ErrNoChange], if a path has
// no change, and an error if the remaining changes need a removed one.
func Without(changes []change.Change, paths ...string) (kept []change.Change, edits int, err error) {
	rejected := make(map[string]bool, len(paths))
	if len(paths) > 0 {
		chosen, err := Chosen(changes, paths...)
		if err != nil {
			return nil, 0, fmt.Errorf("reject %w", err)
		}
		for _, c := range chosen {
			rejected[c.Path] = true
		}
	}
	var back []string // paths that stay unchanged
	for _, c := range changes {
		if !rejected[c.Path] {
			kept = append(kept, c)
			continue
		}
		edits += Edits(c.Splices)
		if c.Old.Kind != change.Absent {
			back = append(back, c.OldPath())
		}
	}
	kept, err = keepDirs(kept, back)
	return kept, edits, err
}

// keepDirs cancels the removal of every directory that keeps an entry, and checks that no path is used twice.
func keepDirs(changes []change.Change, back []string) ([]change.Change, error) {
	stays := make(map[string]bool)
	for _, name := range back {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			stays[dir] = true
		}
	}
	var kept []change.Change
	left := make(map[string]change.Kind)
	for _, c := range changes {
		if c.Old.Kind == change.Dir && stays[c.OldPath()] && (c.Kind == change.Deleted || c.Kind == change.Renamed) {
			if c.Kind == change.Deleted {
				continue
			}
			// The directory stays where it is, and its new name becomes a separate directory.
			c.Kind, c.From, c.Old, c.Replaced = change.Created, "", c.Replaced, change.State{}
			if c.Old.Kind != change.Absent {
				c.Kind = change.Modified
			}
			if c.Old.SameContent(c.New) {
				continue // an empty directory already exists
			}
		}
		kept = append(kept, c)
		left[c.Path] = c.New.Kind
	}
	for _, name := range back {
		if kind, ok := left[name]; ok && kind != change.Absent {
			return nil, fmt.Errorf(
				"reject: %s would stay, but the plan puts something else in its place; reject that too", name)
		}
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if kind, ok := left[dir]; ok && kind != change.Dir {
				return nil, fmt.Errorf("reject: %s would stay, but the plan makes %s no directory; reject that too",
					name, dir)
			}
		}
	}
	for _, c := range kept {
		if dir := path.Dir(c.Path); c.New.Kind != change.Absent && dir != "." && left[dir] == change.Absent {
			if _, changed := left[dir]; changed {
				return nil, fmt.Errorf("reject: %s needs the directory %s; reject it too", c.Path, dir)
			}
		}
	}
	return kept, nil
}

// Edits returns the number of edits in a list of splices.
func Edits(splices []change.Splice) int {
	n := 0
	for _, s := range splices {
		n += max(1, len(s.By))
	}
	return n
}
