package commit_test

import (
	"errors"

	"github.com/spf13/afero"
	"golang.org/x/sys/unix"
)

// unlockableFs is a mount that cannot lock directories, as NFS.
type unlockableFs struct{ plainFs }

var errNoSuchHandle = errors.New("no handle that cannot be locked")

// pathFile is a directory with a handle that is good for nothing but looking what it is of.
type pathFile struct {
	afero.File
	fd int
}

func (f pathFile) Fd() uintptr  { return uintptr(f.fd) }
func (f pathFile) Close() error { return errors.Join(unix.Close(f.fd), f.File.Close()) }

func (u unlockableFs) Open(n string) (afero.File, error) {
	f, err := u.plainFs.Open(n)
	if err != nil || n != "." {
		return f, err
	}
	fd, err := unix.Openat(int(f.(interface{ Fd() uintptr }).Fd()), ".", unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		f.Close()
		return nil, err
	}
	return pathFile{f, fd}, nil
}
