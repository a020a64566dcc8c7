//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package rootfs

import (
	"context"
	"errors"
	"io"

	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/poll"
)

// Lock implements [capability.Locker] by flock(2) on the directory itself, so that nothing is left in the tree and the
// system gives the lock back when the process dies. It also excludes other RootFs of the same directory in this
// process, but not those of a directory above or below. Where the mount cannot lock directories, as NFS, the error
// matches errors.ErrUnsupported. A ctx that is done already still gets a lock that is free.
//
// The lock is one for all programs: any that may open the directory for reading can hold a flock of it, shared or not,
// and keep all others from locking it. A program that is started by "flock DIR program" waits for its own parent.
func (r *FS) Lock(ctx context.Context) (io.Closer, error) {
	file, err := r.root.openDirectory(".")
	if err != nil {
		return nil, names.PathError("lock", ".", err)
	}
	if err := poll.Lock(ctx, func() error { return Flock(int(file.Fd())) }); err != nil {
		file.Close()
		return nil, names.PathError("lock", ".", err)
	}
	return poll.CloseOnce(func() error {
		// A child process that is just being started may hold the handle a little longer.
		err := unix.Flock(int(file.Fd()), unix.LOCK_UN)
		return errors.Join(err, file.Close())
	}), nil
}

// Flock locks an open file by flock(2) without waiting. The error is [capability.ErrLocked] if it has a lock already,
// and matches errors.ErrUnsupported if the mount cannot lock that: NFS makes a lock of byte ranges of it, which needs a
// file that is open for writing.
func Flock(fd int) error {
	err := retry(func() error { return unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) })
	if err == unix.EWOULDBLOCK {
		return capability.ErrLocked
	}
	return names.UnsupportedIf(err,
		unix.EBADF, unix.EISDIR, unix.EINVAL, unix.ENOLCK, unix.ENOTSUP, unix.EOPNOTSUPP, unix.ENOSYS)
}
