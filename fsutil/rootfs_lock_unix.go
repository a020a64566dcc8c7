//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package fsutil

import (
	"context"
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// Lock implements [Locker] by flock(2) on the directory itself, so that nothing is left in the tree and the system gives
// the lock back when the process dies. It also excludes other RootFs of the same directory in this process, but not those
// of a directory above or below. On a mount that cannot lock directories it locks the file .millrace/lock, which stays. A
// ctx that is done already still gets a lock that is free.
func (r *RootFs) Lock(ctx context.Context) (io.Closer, error) {
	file, err := r.root.openDirectory(".")
	if err != nil {
		return nil, rootPathError("lock", ".", err)
	}
	err = flock(ctx, file)
	if isNoLock(err) {
		file.Close()
		if file, err = r.openLockFile(); err != nil {
			return nil, err
		}
		err = flock(ctx, file)
	}
	if err != nil {
		file.Close()
		return nil, rootPathError("lock", ".", err)
	}
	return newOnceCloser(func() error {
		// A child process that is just being started may hold the handle a little longer.
		err := unix.Flock(int(file.Fd()), unix.LOCK_UN)
		return errors.Join(err, file.Close())
	}), nil
}

func flock(ctx context.Context, file *os.File) error {
	return pollLock(ctx, func() (bool, error) {
		err := retry(func() error { return unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB) })
		if errors.Is(err, unix.EWOULDBLOCK) {
			return false, nil
		}
		return err == nil, err
	})
}

// isNoLock reports whether the mount cannot lock a directory. NFS makes a lock of byte ranges of it, which needs a file
// that is open for writing.
func isNoLock(err error) bool {
	for _, errno := range []error{unix.EBADF, unix.EISDIR, unix.EINVAL, unix.ENOLCK, unix.ENOTSUP, unix.EOPNOTSUPP, unix.ENOSYS} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}
