package fsutil

import "io/fs"

// CheckWrite returns an *fs.PathError if the guard forbids writing to the path, which must be canonical and resolved. A
// stage does this by itself; it is for paths that come from elsewhere, such as a stored plan or a backup.
func (g Guard) CheckWrite(name string) error {
	clean, err := Clean(name)
	if err != nil {
		return err
	}
	if clean != name || clean == "." {
		return &fs.PathError{Op: "write", Path: name, Err: ErrBadName}
	}
	made := newGuard(g)
	if err := made.check(name, write); err != nil {
		return &fs.PathError{Op: "write", Path: name, Err: err}
	}
	return nil
}
