package stage

import (
	"crypto/sha256"
	"encoding/binary"
	"io/fs"
	"time"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/guard"
	"github.com/millrace-go/millrace/internal/modes"
	"github.com/millrace-go/millrace/internal/names"
)

// Version identifies one content of a name, see fsutil.Stage.Version. The zero Version means that nothing is there.
type Version [sha256.Size]byte

// Version returns the version of the entry at the name, links not followed.
func (s *Stage) Version(name string) (Version, error) {
	v, _, _, err := s.version(name)
	return v, err
}

func (s *Stage) version(name string) (v Version, asBase, sure bool, err error) {
	p, err := s.lookUp(name, false, guard.Look)
	if err == nil && p.ent.kind() == change.File {
		err = s.guard.Check(p.path, guard.Read)
	}
	if err == nil {
		v, asBase, err = s.versionOf(p.ent)
	}
	sure = err == nil && (!asBase || s.knowsByID(p.ent.fact()))
	return v, asBase, sure, names.PathError("version", name, err)
}

// VersionIn is Version for an entry of a listing of the stage. info is from the listing, so the base is not asked
// again. asBase means that it is a file with the bytes and the time of the base; sure means that the version
// distinguishes all of its contents.
func (s *Stage) VersionIn(name string, info fs.FileInfo) (v Version, asBase, sure bool, err error) {
	clean, _, err := s.begin(name, guard.Read)
	if _, own := info.(fileInfo); own || err != nil || modes.KindOf(info.Mode()) == change.Symlink ||
		!s.untouched(clean) {
		return s.version(name)
	}
	f, err := s.core.base.newFact(clean, info)
	if err == nil {
		v, asBase, err = s.versionOf(ent{f: f})
	}
	return v, asBase, err == nil && (!asBase || s.knowsByID(f)), names.PathError("version", name, err)
}

// versionOf returns the version of an existing entry.
func (c *core) versionOf(e ent) (v Version, asBase bool, err error) {
	if e.n == nil {
		return c.versionOfFact(e.f, e.f.mode), e.f.kind == change.File, nil
	}
	c.mu.RLock()
	n, mode, set := e.n, e.n.mode, int64(0)
	if e.n.timed {
		set = e.n.mtime.UnixNano()
	}
	c.mu.RUnlock()
	if n.kind != change.File {
		return versionBy('s', n.kind, mode, n.target), false, nil
	}
	b, err := c.bodyOf(e)
	if err != nil {
		return v, false, err
	}
	if b.plain() && set == 0 {
		return c.versionOfFact(b.src, mode), b.src == n.from, nil
	}
	h, err := c.hashOf(b)
	if err != nil {
		return v, false, err
	}
	return versionBy('h', n.kind, mode, string(h[:]), set), false, nil
}

// versionOfFact returns the version of an entry that is as in the base, except perhaps for its mode.
func (c *core) versionOfFact(f *fact, mode fs.FileMode) Version {
	switch {
	case f.kind != change.File:
		return versionBy('s', f.kind, mode, f.target)
	case c.knowsByID(f):
		id := f.id
		return versionBy('i', f.kind, mode, "", int64(id.Dev), int64(id.Ino), id.CTime, f.size, f.mtime.UnixNano())
	}
	// Within the run, the fact of the file is the state that the stage works with.
	return versionBy('r', f.kind, mode, c.nonce+f.path, f.size, f.mtime.UnixNano())
}

// recent is how long before the beginning of a run a file may have been changed so that another change may keep the
// same time: a tick of the clock of the kernel, or of a file system that counts in seconds.
const (
	recent      = 100 * time.Millisecond
	recentWhole = 3 * time.Second
)

// knowsByID reports whether the identity of a file distinguishes all of its contents, in later runs too.
func (c *core) knowsByID(f *fact) bool {
	if f.id == (capability.Identity{}) || f.id.Ino == 0 || f.id.CTime == 0 {
		return false
	}
	return isOld(f.id.CTime, c.now)
}

// isOld reports whether the change time is so long ago that another change at now shows another time.
func isOld(changed int64, now time.Time) bool {
	within := recent
	if changed%int64(time.Second) == 0 {
		within = recentWhole
	}
	return changed < now.Add(-within).UnixNano()
}

// versionBy makes a version from the identifying values of a content.
func versionBy(by byte, kind change.Kind, mode fs.FileMode, text string, numbers ...int64) Version {
	buf := make([]byte, 0, 128)
	buf = append(buf, by, byte(kind))
	buf = binary.LittleEndian.AppendUint32(buf, uint32(mode))
	for _, n := range numbers {
		buf = binary.LittleEndian.AppendUint64(buf, uint64(n))
	}
	buf = append(buf, text...)
	return sha256.Sum256(buf)
}
