package guard

import (
	"io/fs"

	"github.com/millrace-go/millrace/internal/names"
)

// CheckWrite returns an *fs.PathError if the guard forbids writing to the path, which must be canonical and resolved. A
// stage does this by itself; it is for paths that come from elsewhere, such as a stored plan or a backup.
func (g Policy) CheckWrite(name string) error {
	clean, err := names.Clean(name)
	if err != nil {
		return err
	}
	if clean != name || clean == "." {
		return &fs.PathError{Op: "write", Path: name, Err: names.ErrBadName}
	}
	made := New(g)
	if err := made.Check(name, Write); err != nil {
		return &fs.PathError{Op: "write", Path: name, Err: err}
	}
	return nil
}
