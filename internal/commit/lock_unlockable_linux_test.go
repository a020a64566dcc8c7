package commit_test

import (
	"errors"

	"github.com/spf13/afero"
	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace/internal/errorfs"
)

var errNoSuchHandle = errors.New("no handle that cannot be locked")

// pathFile is a directory with a handle that can only identify it.
type pathFile struct {
	afero.File
	fd int
}

func (f pathFile) Fd() uintptr  { return uintptr(f.fd) }
func (f pathFile) Close() error { return errors.Join(unix.Close(f.fd), f.File.Close()) }

// unlockable is a mount that cannot lock directories, like NFS.
func unlockable(root afero.Fs) afero.Fs {
	return errorfs.Wrap(errorfs.Plain(root), func(op *errorfs.Op, do func() error) error {
		err := do()
		op.Bare = true
		if err != nil || op.Kind != "open" || op.Name != "." {
			return err
		}
		fd, err := unix.Openat(int(op.File.(interface{ Fd() uintptr }).Fd()), ".", unix.O_PATH|unix.O_CLOEXEC, 0)
		if err != nil {
			op.File.Close()
			return err
		}
		op.File = pathFile{op.File, fd}
		return nil
	})
}
