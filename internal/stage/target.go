package stage

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/millrace-go/millrace/internal/guard"
	"github.com/millrace-go/millrace/internal/names"
)

// checkTarget returns an error if there must not be a link of that name and target: it would lead out of the tree, or
// to a path that may not be written, by its name or through the links that exist now. A program that follows the link
// does not ask the stage.
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

// CheckTarget returns an error if there must not be a link of that canonical name and target.
func (s *Stage) CheckTarget(name, target string) error {
	if s.err != nil {
		return s.err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.checkTarget(name, target)
}

// checkMoved returns an error if a link must not move to another path, because its target means another path there. A
// link that led out of the tree before may still do so after the move.
func (c *core) checkMoved(e ent, from, to string) error {
	if !c.guarded || path.Dir(from) == path.Dir(to) || c.guard.CheckTarget(from, e.target()) != nil {
		return nil
	}
	return c.guard.CheckTarget(to, e.target())
}
