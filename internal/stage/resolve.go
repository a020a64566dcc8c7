package stage

import (
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/guard"
	"github.com/millrace-go/millrace/internal/names"
)

// maxLinks is how many symbolic links one path may lead through, as on Linux.
const maxLinks = 40

// ent is what stands at a path: a node, or something of the base that has none. The zero ent means nothing.
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

func (e ent) target() string {
	if e.n != nil {
		return e.n.target
	}
	return e.f.target
}

// base returns the directory of the base whose entries show through a directory, "" if none do.
func (e ent) base() string {
	if e.n != nil {
		return e.n.base
	}
	return e.f.path
}

// place is a name in an existing directory, and what stands there, if anything.
type place struct {
	path string // canonical, without links on the way
	dir  ent    // zero for the root
	name string // last part of path
	ent  ent

	linked bool // the name that was looked up is a link, and path is where that leads
}

// child returns what a directory has under the name, as seen by the view. at is the path of that on the stage.
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

// find resolves a canonical name, link by link, the last part only if follow is set, and checks what it leads to
// against the guard. That nothing stands there is no error, that its directory is missing is. core.mu must be held.
func (c *core) find(v *view, name string, follow bool, a guard.Access) (place, error) {
	at := place{path: ".", ent: ent{n: c.root}}
	above := make([]place, 0, 16) // the directories that at lies in
	links, linked, asDir := 0, false, false
	// What the name says beyond the point where resolving it failed counts as well: that nothing is in a place nobody may
	// look at is nothing to tell either.
	refuse := func(rest string, err error) (place, error) {
		if g := c.guard.Check(path.Join(at.path, rest), a); g != nil {
			err = g
		}
		return place{}, err
	}
	for rest := name; rest != ""; {
		var part string
		part, rest = cutPath(rest)
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
		kid, err := c.child(v, at.ent, part, here)
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
				return refuse(part, fmt.Errorf("%w: symbolic link %s has an absolute target", names.ErrEscape, names.Join(at.path, part)))
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
	if err := c.guard.Check(at.path, a); err != nil {
		return place{}, err
	}
	if k := at.ent.kind(); asDir && k != change.Dir && k != change.Absent {
		return place{}, names.ErrNotDir
	}
	at.linked = linked
	return at, nil
}

// findExisting is find, but that nothing stands there is fs.ErrNotExist.
func (c *core) findExisting(name string, follow bool, a guard.Access) (place, error) {
	p, err := c.find(nil, name, follow, a)
	if err == nil && p.ent.kind() == change.Absent {
		err = fs.ErrNotExist
	}
	return p, err
}

// joinAs is joinName for a path that is most likely there already, as a string that is kept anyway. A slash at its end
// does not count.
func joinAs(likely, dir, name string) string {
	likely = strings.TrimSuffix(likely, "/")
	above, ok := strings.CutSuffix(likely, name)
	if ok && (above == "" && dir == "." || len(above) == len(dir)+1 && above[len(dir)] == '/' && above[:len(dir)] == dir) {
		return likely
	}
	return names.Join(dir, name)
}

// cutPath returns the first part of a path and what follows it.
func cutPath(name string) (first, rest string) {
	first, rest, _ = strings.Cut(name, "/")
	return first, rest
}

// splitPath returns the directory and the last part of a canonical name. The last part of the root is "".
func splitPath(name string) (dir, last string) {
	if name == "." {
		return name, ""
	}
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		return name[:i], name[i+1:]
	}
	return ".", name
}
