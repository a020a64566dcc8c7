package guard

import (
	"fmt"
	"path"
	"path/filepath"

	"github.com/millrace-go/millrace/internal/names"
)

// CheckTarget checks the target of a symbolic link against the policy: it must stay in the tree, and must not lead to a
// path that may not be written to. Links on the way are not followed: that is left to the code that has the tree.
func (g *Guard) CheckTarget(name, target string) error {
	at, err := targetOf(name, target, filepath.Separator)
	if err == nil && at != "." {
		err = g.Check(at, Write)
	}
	if err != nil {
		return fmt.Errorf("symbolic link %s to %q: %w", name, target, err)
	}
	return nil
}

// CheckTarget is the method of [Guard], for a link from elsewhere.
func (g Policy) CheckTarget(name, target string) error {
	made := New(g)
	return made.CheckTarget(name, target)
}

// targetOf returns the path that a link with that name and target leads to. The targets of existing links are read with
// slashes on each system.
func targetOf(name, target string, separator rune) (string, error) {
	if target == "" || path.IsAbs(target) || filepath.IsAbs(target) || filepath.VolumeName(target) != "" {
		return "", names.ErrEscape
	}
	if err := names.CheckSeparator(target, separator); err != nil {
		return "", err
	}
	return names.Clean(path.Join(path.Dir(name), target))
}
