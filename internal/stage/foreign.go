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

// RefuseForeign returns [fs.ErrPermission] for writing to a file of another user that this process may not write to,
// and for making, replacing or removing an entry of a directory that this process may not write to. The commit would
// replace the file by a new file, for which write access to the directory is enough, and which would belong to this
// user. Call it before the first use.
func (s *Stage) RefuseForeign() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuses = true
}

// mayWrite returns fs.ErrPermission for such a file, and for a file in a directory that may not be written to. It asks
// the system by opening the file, because access control lists count too: opening a file for writing does not change
// it.
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
	return nil // the commit finds other errors
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

// mayTake is mayChange for an entry that will be replaced, moved or removed: in a directory of another user with the
// sticky bit, only this user's own entries may be.
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

// mayMark returns fs.ErrPermission for a file or directory of another user, whose mode and time may not be set. A file
// whose bytes have changed is made anew, so it will belong to this user.
func (c *core) mayMark(p place) error {
	f := p.ent.fact()
	if !c.refuses || f == nil || p.ent.n != nil && p.ent.n.kind == change.File && p.ent.n.body != f.body() ||
		handle.Owns(c.base.fsys, f.id) {
		return nil
	}
	return fs.ErrPermission
}

// RefuseMounted refuses to replace, move or remove a mount point of the base: no commit can do that. With inPlace, the
// bytes of a file may change, because the commit overwrites the file. Call it before the first use.
func (s *Stage) RefuseMounted(inPlace bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mounted, s.inPlace = handle.MountPoints(s.core.base.fsys), inPlace
}

// mayRewrite returns an error if the bytes of the file at the place may not change.
func (c *core) mayRewrite(p place) error {
	if err := c.mayWrite(p); err != nil || c.inPlace || c.mountedIn(p) == "" {
		return err
	}
	return capability.ErrMountPoint
}

// mayMove returns an error that matches ErrMountPoint for a mount point, and for a directory that contains a mount
// point. The error names the mount point, because the caller may be about another path.
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
