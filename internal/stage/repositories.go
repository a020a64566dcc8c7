package stage

import (
	"io/fs"
	"path"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/guard"
	"github.com/millrace-go/millrace/internal/modes"
	"github.com/millrace-go/millrace/internal/names"
)

// A git repository stays where it is in the base, with all directories above it, and no directory becomes a repository
// on the stage. So the base says of each path whether it lies in a repository, and the stage is asked only when one of
// the names that make a repository is put somewhere.

// check returns why the access to the canonical, resolved path is refused. isDir means that it is a directory of the
// base, where it has always been.
func (c *core) check(name string, a guard.Access, isDir bool) error {
	if err := c.guard.Check(name, a); err != nil {
		return err
	}
	return c.repos.Check(name, a, isDir)
}

// isDirAt reports whether it is a directory of the base that is called the same there.
func (e ent) isDirAt(name string) bool { return e.kind() == change.Dir && e.base() == name }

// mayPut returns why something of the kind may not be made at the place: it would stand in the way of what is reserved,
// or make a repository of its directory, or this process may not write to the directory.
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

// checkHolds returns why nothing but a directory may be made at the path, and no directory moved away or there.
func (c *core) checkHolds(name string) error {
	holds, err := c.repos.Holds(name)
	if err == nil && holds {
		err = names.ErrProtected
	}
	return err
}

// guardTree is the base as the guard looks at it: by the facts that the stage goes by.
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

// Inside returns the canonical name of what an absolute name of the system stands for, "" if it is not in the tree.
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
