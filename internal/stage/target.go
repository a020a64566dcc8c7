package stage

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/millrace-go/millrace/internal/guard"
	"github.com/millrace-go/millrace/internal/names"
)

// checkTarget returns why there must be no link of that name and target: it would lead out of the tree, or to what may
// not be written to, by its name or through the links that are on the way now. A program that follows it asks no stage.
func (c *core) checkTarget(name, target string) error {
	if !c.guarded {
		return nil
	}
	if err := c.guard.CheckTarget(name, target); err != nil {
		return err
	}
	_, err := c.find(path.Dir(name)+"/"+target, true, guard.Write)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, names.ErrNotDir), errors.Is(err, names.ErrLinkLoop):
		return nil // it leads to nothing
	case err != nil:
		return fmt.Errorf("symbolic link %s to %q: %w", name, target, err)
	}
	return nil
}

// CheckTarget returns why there must be no link of that name, which is canonical, and target.
func (s *Stage) CheckTarget(name, target string) error {
	if s.err != nil {
		return s.err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.checkTarget(name, target)
}

// checkMoved returns why a link must not stand at another path: its target leads elsewhere from there, and must not.
// One that led out of the tree before may do so afterwards.
func (c *core) checkMoved(e ent, from, to string) error {
	if !c.guarded || path.Dir(from) == path.Dir(to) || c.guard.CheckTarget(from, e.target()) != nil {
		return nil
	}
	return c.guard.CheckTarget(to, e.target())
}
