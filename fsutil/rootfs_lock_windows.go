package fsutil

import (
	"context"
	"errors"
	"io"

	"golang.org/x/sys/windows"
)

var _ Locker = (*RootFs)(nil)

// Lock implements [Locker] by LockFileEx on the file .millrace/lock, which is made if need be and stays: directories cannot
// be locked here. The system gives the lock back when the process dies. A ctx that is done already still gets a lock that
// is free.
func (r *RootFs) Lock(ctx context.Context) (io.Closer, error) {
	file, err := r.openLockFile()
	if err != nil {
		return nil, err
	}
	handle := windows.Handle(file.Fd())
	err = pollLock(ctx, func() (bool, error) {
		const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
		err := windows.LockFileEx(handle, flags, 0, 1, 0, new(windows.Overlapped))
		if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
			return false, nil
		}
		return err == nil, err
	})
	if err != nil {
		file.Close()
		return nil, rootPathError("lock", lockFile, err)
	}
	return newOnceCloser(func() error {
		err := windows.UnlockFileEx(handle, 0, 1, 0, new(windows.Overlapped))
		return errors.Join(err, file.Close())
	}), nil
}
