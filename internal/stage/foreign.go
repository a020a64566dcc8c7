package stage

import (
	"errors"
	"io/fs"
	"os"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
)

// RefuseForeign makes it [fs.ErrPermission] to write to a file that another user owns and this process may not write to.
// The commit puts a new file in its place, for which the directory is enough, and that would belong to this user. Call
// it before the first use.
func (s *Stage) RefuseForeign() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuses = true
}

// mayWrite returns fs.ErrPermission for such a file. The system is asked, for access control lists count as well: to open
// a file for writing changes nothing of it.
func (c *core) mayWrite(e ent) error {
	f := e.fact()
	if !c.refuses || f == nil || f.kind != change.File || f.id == (capability.Identity{}) || int64(f.id.UID) == int64(os.Geteuid()) {
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
