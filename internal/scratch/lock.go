package scratch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/rootfs"
)

// handled is a file of the operating system.
type handled interface {
	Fd() uintptr
	Chmod(mode fs.FileMode) error
	Stat() (fs.FileInfo, error)
	Close() error
}

// lock is a file that is locked.
type lock struct{ handled }

// lockFile locks the file of that name, and makes it if needed. The error matches capability.ErrLocked if the file is
// locked already, and names.ErrDrift if the file was removed in between.
func lockFile(fsys *rootfs.FS, name string) (*lock, error) {
	opened, err := fsys.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	file, ok := opened.(handled)
	if !ok {
		return nil, errors.Join(fmt.Errorf("%s: no handle: %w", name, errors.ErrUnsupported), opened.Close())
	}
	if err := tryLock(file.Fd()); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), file.Close())
	}
	l := &lock{file}
	got, err := file.Stat()
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	// A process that gives its place back removes the file. A lock on a removed file is worth nothing.
	want, _, err := fsys.LstatIfPossible(name)
	if err == nil && !os.SameFile(got, want) {
		err = fmt.Errorf("%s: %w", name, names.ErrDrift)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// Close releases the lock. A process that is just being started may hold the handle a little longer.
func (l *lock) Close() error { return errors.Join(unlock(l.Fd()), l.handled.Close()) }
