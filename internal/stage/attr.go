package stage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/guard"
	"github.com/millrace-go/millrace/internal/modes"
	"github.com/millrace-go/millrace/internal/names"
)

// Chmod sets the permission bits of a file or directory, links followed. Type bits are ignored.
func (s *Stage) Chmod(name string, mode os.FileMode) error {
	return pathError("chmod", name, s.changeMeta(name, func(m *meta) bool {
		differs := m.mode != mode&modes.PermBits
		m.mode = mode & modes.PermBits
		return differs
	}))
}

// Chtimes sets the time of modification of a file, links followed; the zero time leaves it as it is. Another time is a
// change of the file although its bytes stay the same, until the file is written to again: writing gives it the time of
// writing. Times of directories are only seen on the stage. Times of access are not staged at all: nothing could ever
// tell that they were set, since reading sets them too.
func (s *Stage) Chtimes(name string, _, mtime time.Time) error {
	return pathError("chtimes", name, s.changeMeta(name, func(m *meta) bool {
		if mtime.IsZero() || m.mtime.Equal(mtime) {
			return false
		}
		m.mtime, m.timed = mtime, true
		return true
	}))
}

// Chown does not stage anything: owners cannot be changed. It returns nil only if both ids are -1 or what the file has
// already, and otherwise an error that is [errors.ErrUnsupported]. What was made on the stage will belong to the user
// and the group of this process.
func (s *Stage) Chown(name string, uid, gid int) error {
	p, err := s.lookUp(name, true, guard.Write)
	if err != nil {
		return pathError("chown", name, err)
	}
	var id capability.Identity
	known := true
	switch n := p.ent.n; {
	case n == nil:
		id, known = p.ent.f.id, p.ent.f.id != capability.Identity{}
	case n.from != nil:
		id, known = n.from.id, n.from.id != capability.Identity{}
	case os.Getuid() < 0: // there are no such numbers on this system
		known = false
	default:
		id.UID, id.GID = uint32(os.Getuid()), uint32(os.Getgid())
	}
	same := func(want int, is uint32) bool { return want == -1 || known && want >= 0 && uint64(want) == uint64(is) }
	if same(uid, id.UID) && same(gid, id.GID) {
		return nil
	}
	return pathError("chown", name, fmt.Errorf("owners cannot be changed on a stage: %w", errors.ErrUnsupported))
}

// changeMeta lets fn change a copy of the attributes of a file or directory, and stages it if fn says that it did.
func (s *Stage) changeMeta(name string, fn func(m *meta) bool) error {
	w, err := s.begin(name, guard.Write)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p, err := s.findExisting(w.name, true, guard.Write)
	switch {
	case err != nil:
		return err
	case p.ent.kind() == change.Other:
		return names.ErrNotRegular
	case w.asDir && p.ent.kind() != change.Dir:
		return names.ErrNotDir
	case p.path == ".":
		return fs.ErrInvalid // the root is the caller's, no change is about it
	}
	n := s.adopt(p)
	m := n.meta
	if fn(&m) {
		m.by = stamped(m.by, s.origin(), len(s.log))
		s.setMeta(n, m)
	}
	return nil
}
