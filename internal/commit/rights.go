package commit

import (
	"io/fs"
	"path"

	"github.com/millrace-go/millrace/change"
)

// rights checks the permissions of this process in the directories of the plan. Each directory is checked once.
type rights struct {
	*txn
	asked map[string]error        // error for making, replacing or removing entries of a directory
	dirs  map[string]change.State // the states of the directories that were checked
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
	if err == nil && isDir { // the name of the directory is an entry of the directory above
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
