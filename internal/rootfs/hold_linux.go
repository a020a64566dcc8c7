package rootfs

import (
	"io/fs"
	"path"

	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace/internal/names"
)

// Holding returns a view of r in which a directory of the caller is open, for work on many of its entries: a name in
// the directory needs no lookup of the directories above. The directory stays the same even if it is renamed. A
// directory that cannot be opened, or that a symbolic link leads to, is looked up as before. done closes the directory,
// and must not be called while the view is used.
func (r *FS) Holding(dir string) (view *FS, done func()) {
	held := *r
	fd, err := r.root.open(dir, unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return &held, func() {}
	}
	held.root.held = map[string]int{dir: fd}
	return &held, func() {
		clear(held.root.held) // the number may soon belong to another file
		_ = unix.Close(fd)    // nothing was written through it
	}
}

// createFast is CreateNew for a canonical name whose directory has no symbolic link in its path. The error is errSlow
// for all other names, and if the system has no fast way.
func (r *FS) createFast(name string, perm fs.FileMode) (Created, error) {
	if clean, err := r.Canonical(name); err != nil || clean != name {
		return nil, errSlow
	}
	f := &NewFile{number{name, -1}, r}
	err := r.root.plainly(path.Dir(name), func(dir int) error { return f.create(dir, path.Base(name), perm) })
	switch err {
	case nil:
		return f, nil
	case errSlow:
		return nil, err
	}
	return nil, names.PathError("open", name, err)
}
