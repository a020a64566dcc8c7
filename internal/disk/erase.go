package disk

import (
	"errors"
	"path"
	"strconv"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/change"
)

// deep limits the length of a path below the tree, in bytes. Directories at longer paths are moved up first: no system
// accepts a path longer than a few thousand bytes, but directories can be nested without limit. Short paths are also
// found faster.
const deep = 256

// RemoveTree removes a name and everything below it, without following symbolic links, at any depth: another program
// may have made the tree. A missing name is not an error. If RemoveTree fails, part of the tree may be gone, and
// RemoveTree can be called again. It is for the state directory only.
func (d *Disk) RemoveTree(name string) error {
	e := &eraser{d: d, top: name}
	return e.tree(name)
}

type eraser struct {
	d     *Disk
	top   string
	moved int // number of directories moved up
}

func (e *eraser) tree(name string) error {
	if !e.d.isPlain() && e.d.System.Remove(name) == nil {
		return nil // most are files
	}
	s, err := e.d.Look(name)
	if err != nil && !errors.Is(err, afero.ErrNoReadlink) || s.Kind == change.Absent {
		return err
	}
	if s.Kind != change.Dir {
		return e.d.Remove(name)
	}
	if s.Mode&0o700 != 0o700 {
		if err := e.d.FS.Chmod(name, s.Mode.Perm()|0o700); err != nil {
			return err
		}
	}
	if len(name) > len(e.top)+deep {
		return e.bringUp(name)
	}
	for {
		before := e.moved
		names, err := e.d.Names(name)
		if err != nil {
			return err
		}
		for _, n := range names {
			if err := e.tree(path.Join(name, n)); err != nil {
				return err
			}
		}
		if name != e.top || e.moved == before {
			return e.d.Remove(name)
		}
		// The directories moved up during this pass are here now.
	}
}

// bringUp moves a directory to the top of the tree, where a later pass finds it.
func (e *eraser) bringUp(name string) error {
	for {
		e.moved++
		to := path.Join(e.top, "deep-"+strconv.Itoa(e.moved))
		if s, _ := e.d.Look(to); s.Kind != change.Absent {
			continue
		}
		return e.d.FS.Rename(name, to)
	}
}
