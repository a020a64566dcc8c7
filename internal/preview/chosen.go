package preview

import (
	"fmt"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/names"
)

// Chosen returns the changes at these paths, and below the paths that are directories, each once and in path order.
// Without paths it returns all changes. The error wraps [ErrNoChange] if a path has no change. Its time is proportional
// to its result, because callers may call it once per path of a long list.
func Chosen(changes []change.Change, paths ...string) ([]change.Change, error) {
	if len(paths) == 0 || slices.Contains(paths, ".") && len(changes) > 0 {
		return changes, nil
	}
	var places []int
	for _, name := range paths {
		n := len(places)
		if at, ok := place(changes, name); ok {
			places = append(places, at)
		}
		// In path order, the paths below a directory are consecutive, but not next to the directory.
		for at, _ := place(changes, name+"/"); at < len(changes) &&
			strings.HasPrefix(changes[at].Path, name+"/"); at++ {
			places = append(places, at)
		}
		if len(places) == n {
			return nil, fmt.Errorf("%s: %w", name, ErrNoChange)
		}
	}
	slices.Sort(places)
	var chosen []change.Change
	for _, at := range slices.Compact(places) {
		chosen = append(chosen, changes[at])
	}
	return chosen, nil
}

// place returns the index of the change at a path, or the index where it would be inserted, and whether it exists.
func place(changes []change.Change, name string) (int, bool) {
	return slices.BinarySearchFunc(changes, name,
		func(c change.Change, name string) int { return strings.Compare(c.Path, name) })
}

// Touched reports whether a change in the list touches a path.
func Touched(changes []change.Change, name string) bool {
	return slices.ContainsFunc(changes, func(c change.Change) bool { return Touches(c, name) })
}

// Touches reports whether a change concerns a path: as its path, its old path, or a path below a removed directory.
func Touches(c change.Change, name string) bool {
	return name == c.Path || name == c.From || c.Old.Kind == change.Dir && names.Within(name, c.OldPath())
}
