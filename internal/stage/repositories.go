package stage

import (
	"io/fs"
	"path"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/guard"
	"github.com/millrace-go/millrace/internal/modes"
	"github.com/millrace-go/millrace/internal/names"
)

// A git repository never moves in the base, nor do the directories above it, and no directory becomes a repository on
// the stage. So the base answers for each path whether it is in a repository, and the stage is asked only when an entry
// gets one of the names that make a repository.

// check returns an error if the access to the canonical, resolved path is refused. isDir means that it is a directory
// of the base that was never moved.
func (c *core) check(name string, a guard.Access, isDir bool) error {
	if err := c.guard.Check(name, a); err != nil {
		return err
	}
	return c.repos.Check(name, a, isDir)
}

// isDirAt reports whether it is a directory of the base with the same name there.
func (e ent) isDirAt(name string) bool { return e.kind() == change.Dir && e.base() == name }

// mayPut returns an error if an entry of the kind may not be made at the place: it would block a reserved path, or make
// its directory a repository, or this process may not write to the directory.
func (c *core) mayPut(p place, kind change.Kind) error {
	if err := c.mayChange(p.dir); err != nil {
		return err
	}
	if kind != change.Dir {
		if c.guard.HoldsReserved(p.path) {
			return names.ErrReserved
		}
		if err := c.checkHolds(p.path); err != nil {
			return err
		}
	}
	mark := names.MarkOf(p.name, modes.Bits(kind))
	if mark == 0 {
		return nil
	}
	kids, err := c.children(nil, p.dir)
	if err != nil {
		return err
	}
	for _, k := range kids {
		mark |= names.MarkOf(k.name, modes.Bits(k.kind))
	}
	if mark.IsRepository() {
		return guard.MadeRepository(path.Dir(p.path))
	}
	return nil
}

// checkHolds returns an error if only a directory may be at the path, and no directory may move from or to it.
func (c *core) checkHolds(name string) error {
	holds, err := c.repos.Holds(name)
	if err == nil && holds {
		err = names.ErrProtected
	}
	return err
}

// guardTree is the base for the guard, through the facts of the stage.
type guardTree struct {
	guard.Tree
	base *baseFs
}

func (t guardTree) Lookup(name string) (fs.FileMode, string, error) {
	f, err := t.base.lstat(name)
	switch {
	case err != nil:
		return 0, "", err
	case f == nil:
		return 0, "", fs.ErrNotExist
	}
	return f.typ, f.target, nil
}

// Inside returns the canonical name of an absolute name of the system, "" if it is not in the tree.
func (s *Stage) Inside(absolute string) string {
	if s.core.base == nil {
		return ""
	}
	return guard.TreeOf(s.core.base.fsys).Inside(absolute)
}

// newRepositories returns the repositories of the base.
func (c *core) newRepositories() *guard.Repositories {
	return c.guard.NewRepositories(guardTree{guard.TreeOf(c.base.fsys), c.base})
}
