package commit

import (
	"io/fs"
	"path"

	"github.com/millrace-go/millrace/change"
)

// rights finds out what this process may do in the directories of the plan. Each directory is asked once.
type rights struct {
	*txn
	asked map[string]error        // why no entry of a directory may be made, replaced or removed
	dirs  map[string]change.State // the directories that were looked at
}

func newRights(t *txn) *rights {
	return &rights{txn: t, asked: make(map[string]error), dirs: make(map[string]change.State)}
}

// verify returns an error that matches [fs.ErrPermission] if the system would refuse to commit the entry, or to undo
// it.
func (r *rights) verify(e *entry) error {
	dir := path.Dir(e.Path)
	isDir := e.Old.Kind == change.Dir
	switch {
	case e.Attr, isKeptDir(e):
		if !r.Owns(e.Old.ID) {
			return fs.ErrPermission
		}
		return nil
	case e.InPlace, e.Old.Kind == change.Absent:
		return r.mayChange(dir)
	}
	err := r.mayChange(dir)
	if err == nil && isDir { // the name of the directory above is an entry of it
		err = r.mayChange(e.Path)
	}
	if err != nil {
		return err
	}
	in, known := r.dirs[dir]
	if !known {
		if in, err = r.Look(dir); err != nil {
			return err
		}
		r.dirs[dir] = in
	}
	return r.MayTake(in, e.Old.ID)
}

func (r *rights) mayChange(dir string) error {
	err, known := r.asked[dir]
	if !known {
		err = r.MayChange(dir)
		r.asked[dir] = err
	}
	return err
}
