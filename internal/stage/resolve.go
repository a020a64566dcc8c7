package stage

import (
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/guard"
	"github.com/millrace-go/millrace/internal/modes"
	"github.com/millrace-go/millrace/internal/names"
)

// maxLinks is how many symbolic links one path may lead through, as on Linux.
const maxLinks = 40

// ent is the entry at a path: a node, or an entry of the base without a node. The zero ent means that nothing is there.
type ent struct {
	n *node
	f *fact // if n is nil
}

func (e ent) kind() change.Kind {
	switch {
	case e.n != nil:
		return e.n.kind
	case e.f != nil:
		return e.f.kind
	}
	return change.Absent
}

// fact returns its fact in the base, nil if it was made on the stage.
func (e ent) fact() *fact {
	if e.n != nil {
		return e.n.from
	}
	return e.f
}

func (e ent) target() string {
	if e.n != nil {
		return e.n.target
	}
	return e.f.target
}

// base returns the directory of the base whose entries show through a directory, "" for none.
func (e ent) base() string {
	if e.n != nil {
		return e.n.base
	}
	return e.f.path
}

// place is a name in an existing directory, and the entry there, if any.
type place struct {
	path string // canonical, without links on the way
	dir  ent    // zero for the root
	name string // last part of path
	ent  ent

	linked bool // the name that was looked up is a link, and path is its target
	asDir  bool // the name ended in a slash; find leaves it unset
}

// child returns the entry of a directory with the name, in the view. at is its path on the stage.
func (c *core) child(v *view, dir ent, name, at string) (ent, error) {
	if dir.n != nil {
		if s, ok := v.slot(dir.n, name); ok {
			return ent{n: s.n}, nil
		}
		if dir.n.base == "" {
			return ent{}, nil
		}
	}
	f, err := c.base.lstat(joinAs(at, dir.base(), name))
	if err != nil || f == nil {
		return ent{}, err
	}
	return ent{f: f}, nil
}

// find resolves a canonical name, link by link, and its last part only if follow is set, and asks the guard about the
// result. If nothing is there, find returns no error; a missing directory is an error. core.mu must be held.
func (c *core) find(name string, follow bool, a guard.Access) (place, error) {
	at := place{path: ".", ent: ent{n: c.root}}
	above := make([]place, 0, 16) // the directories above at
	links, linked, asDir := 0, false, false
	// The guard is asked about the whole name, also if resolving it failed earlier: the error must not reveal whether
	// something exists in a place that may not be looked at.
	refuse := func(rest string, err error) (place, error) {
		if g := c.guard.Check(path.Join(at.path, rest), a); g != nil {
			err = g
		}
		return place{}, err
	}
	for rest := name; rest != ""; {
		var part string
		part, rest, _ = strings.Cut(rest, "/")
		if part == "" || part == "." {
			continue
		}
		if at.ent.kind() != change.Dir {
			err := error(names.ErrNotDir)
			if at.ent.kind() == change.Absent {
				err = fs.ErrNotExist
			}
			return refuse(names.Join(part, rest), err)
		}
		if part == ".." { // only targets of links have these
			if len(above) == 0 {
				return place{}, names.ErrEscape
			}
			at, above = above[len(above)-1], above[:len(above)-1]
			continue
		}
		here := joinAs(name[:max(0, len(name)-len(rest))], at.path, part)
		kid, err := c.child(nil, at.ent, part, here)
		if err != nil {
			return refuse(names.Join(part, rest), err)
		}
		if kid.kind() == change.Symlink && (follow || rest != "") {
			if err := c.guard.CheckLink(here, a); err != nil {
				return place{}, err
			}
			if links++; links > maxLinks {
				return refuse(part, names.ErrLinkLoop)
			}
			target := kid.target()
			switch {
			case target == "":
				return refuse(part, fs.ErrNotExist)
			case path.IsAbs(target) || filepath.VolumeName(target) != "":
				return refuse(part, fmt.Errorf("%w: symbolic link %s has an absolute target", names.ErrEscape,
					names.Join(at.path, part)))
			}
			if rest == "" {
				linked, asDir = true, asDir || isWrittenAsDir(target)
			}
			rest = strings.TrimSuffix(target+"/"+rest, "/")
			continue
		}
		above = append(above, at)
		at = place{path: here, dir: at.ent, name: part, ent: kid}
	}
	if err := c.check(at.path, a, at.ent.isDirAt(at.path)); err != nil {
		return place{}, err
	}
	if k := at.ent.kind(); asDir && k != change.Dir && k != change.Absent {
		return place{}, names.ErrNotDir
	}
	at.linked = linked
	return at, nil
}

// findExisting is find, but returns fs.ErrNotExist if nothing is there.
func (c *core) findExisting(name string, follow bool, a guard.Access) (place, error) {
	p, err := c.find(name, follow, a)
	if err == nil && p.ent.kind() == change.Absent {
		err = fs.ErrNotExist
	}
	return p, err
}

// joinAs is names.Join for a result that likely exists already as a string that is kept anyway, so nothing is
// allocated. A slash at the end of likely is ignored.
func joinAs(likely, dir, name string) string {
	likely = strings.TrimSuffix(likely, "/")
	above, ok := strings.CutSuffix(likely, name)
	if ok &&
		(above == "" && dir == "." || len(above) == len(dir)+1 && above[len(dir)] == '/' && above[:len(dir)] == dir) {
		return likely
	}
	return names.Join(dir, name)
}

// fileInfo is the result of Stat and of directory listings. It is immutable.
type fileInfo struct {
	name  string
	mode  fs.FileMode // with type bits
	size  int64
	mtime time.Time
	sys   any
}

func (i fileInfo) Name() string       { return i.name }
func (i fileInfo) Size() int64        { return i.size }
func (i fileInfo) ModTime() time.Time { return i.mtime }
func (i fileInfo) IsDir() bool        { return i.mode.IsDir() }
func (i fileInfo) Mode() fs.FileMode  { return i.mode }

// Sys returns the Sys of the base for an unchanged file if the base reports the owner only there; nil otherwise.
func (i fileInfo) Sys() any { return i.sys }

// info describes an existing ent. core.mu must be held.
func (e ent) info(name string) fileInfo {
	if e.n == nil {
		f := e.f
		return fileInfo{name: path.Base(name), mode: f.mode | f.typ, size: f.size, mtime: f.mtime, sys: f.sys}
	}
	n := e.n
	i := fileInfo{name: path.Base(name), mode: n.mode | modes.Bits(n.kind), mtime: n.mtime}
	if n.from != nil {
		i.size, i.sys = n.from.size, n.from.sys
	}
	switch n.kind {
	case change.File:
		i.size = n.body.size
		if !n.body.plain() || n.body.src != n.from {
			i.sys = nil
		}
	case change.Symlink:
		i.size = int64(len(n.target))
	case change.Absent, change.Dir, change.Other:
	}
	return i
}
