package stage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/handle"
	"github.com/millrace-go/millrace/internal/names"
)

// RefuseForeign makes it [fs.ErrPermission] to write to a file that another user owns and this process may not write
// to, and to make, replace or remove something in a directory that this process may not write to. The commit puts a new
// file in its place, for which the directory is enough, and that would belong to this user. Call it before the first
// use.
func (s *Stage) RefuseForeign() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuses = true
}

// mayWrite returns fs.ErrPermission for such a file, and for one whose directory may not be written to. The system is
// asked, for access control lists count as well: to open a file for writing changes nothing of it.
func (c *core) mayWrite(p place) error {
	if err := c.mayTake(p.dir, p.ent); err != nil {
		return err
	}
	f := p.ent.fact()
	if !c.refuses || f == nil || f.kind != change.File || f.id == (capability.Identity{}) ||
		int64(f.id.UID) == int64(os.Geteuid()) {
		return nil
	}
	file, err := c.base.fsys.OpenFile(f.path, os.O_WRONLY, 0)
	if err == nil {
		return file.Close()
	}
	if errors.Is(err, fs.ErrPermission) {
		return fs.ErrPermission
	}
	return nil // the commit finds out what else is wrong
}

// mayChange returns an error that matches fs.ErrPermission for a directory of the base in which this process may not
// make, replace and remove entries. core.mu must be held for writing.
func (c *core) mayChange(dir ent) error {
	at := ""
	switch {
	case dir.n != nil:
		at = dir.n.base
	case dir.f != nil:
		at = dir.f.path
	}
	if at == "" || !c.refuses {
		return nil
	}
	err, known := c.locked[at]
	if !known {
		err = handle.MayChange(c.base.fsys, at)
		c.locked[at] = err
	}
	return err
}

// mayTake is mayChange for an entry that is to be replaced, moved or removed: of a directory with the sticky bit that
// is another user's, only this user's own entries may be.
func (c *core) mayTake(dir, e ent) error {
	if err := c.mayChange(dir); err != nil || !c.refuses {
		return err
	}
	in, f := dir.fact(), e.fact()
	if dir == (ent{}) {
		in = c.root.from
	}
	if in == nil || f == nil || path.Dir(f.path) != in.path {
		return nil
	}
	return handle.MayTake(c.base.fsys, in.mode, in.id, f.id)
}

// mayMark returns fs.ErrPermission for a file or directory of another user, which may not be given a mode or a time. A
// file that has other bytes already is made anew, and belongs to this user then.
func (c *core) mayMark(p place) error {
	f := p.ent.fact()
	if !c.refuses || f == nil || p.ent.n != nil && p.ent.n.kind == change.File && p.ent.n.body != f.body() ||
		handle.Owns(c.base.fsys, f.id) {
		return nil
	}
	return fs.ErrPermission
}

// RefuseMounted makes it an error to replace, move or remove what something is mounted on in the base: no commit can do
// that. With inPlace a file may be given other bytes, for the commit overwrites those. Call it before the first use.
func (s *Stage) RefuseMounted(inPlace bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mounted, s.inPlace = handle.MountPoints(s.core.base.fsys), inPlace
}

// mayRewrite returns why the file at the place may not get other bytes.
func (c *core) mayRewrite(p place) error {
	if err := c.mayWrite(p); err != nil || c.inPlace || c.mountedIn(p) == "" {
		return err
	}
	return capability.ErrMountPoint
}

// mayMove returns an error that matches ErrMountPoint for what something is mounted on, and for a directory that holds
// such a thing. It names the mount point: the caller may be about another path.
func (c *core) mayMove(p place) error {
	if point := c.mountedIn(p); point != "" {
		return fmt.Errorf("%s %w", point, capability.ErrMountPoint)
	}
	return nil
}

// mountedIn returns the first mount point at a place or below it, "" if there is none.
func (c *core) mountedIn(p place) string {
	f := p.ent.fact()
	if f == nil {
		return ""
	}
	for _, point := range c.mounted {
		if point == f.path || f.kind == change.Dir && names.Within(point, f.path) {
			return point
		}
	}
	return ""
}
