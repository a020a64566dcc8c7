//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly || windows

package rootfs

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/poll"
)

// LockFile implements [capability.FileLocker].
func (r *FS) LockFile(ctx context.Context, name string) (lock io.Closer, err error) {
	err = r.doLink("lock", name, func(clean string) error {
		file, err := r.openOwn(clean)
		if err == nil {
			lock, err = locked(file, poll.Lock(ctx, func() error { return tryLock(file, true) }))
		}
		return err
	})
	return lock, err
}

// TryLockFile implements [capability.FileLocker].
func (r *FS) TryLockFile(name string) (lock io.Closer, err error) {
	err = r.doLink("lock", name, func(clean string) error {
		file, err := r.openOwn(clean)
		if err == nil {
			lock, err = locked(file, tryLock(file, false))
		}
		return err
	})
	return lock, err
}

// locked returns a Closer that releases the lock of a file. If err is not nil, it closes the file and returns err.
func locked(file *os.File, err error) (io.Closer, error) {
	if err != nil {
		file.Close()
		return nil, err
	}
	return poll.CloseOnce(func() error {
		// A child process that is just being started may hold the handle a little longer.
		return errors.Join(unlock(file), file.Close())
	}), nil
}

// openOwn opens the regular file at the name itself, for writing if that is allowed: some file systems, as NFS, can
// only lock a file that is open for writing.
func (r *FS) openOwn(clean string) (*os.File, error) {
	was, err := r.root.Lstat(clean)
	if err != nil {
		return nil, err
	}
	if !was.Mode().IsRegular() {
		return nil, names.ErrNotRegular
	}
	file, err := r.open(clean, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrPermission) {
		file, err = r.open(clean, os.O_RDONLY, 0)
	}
	if err != nil {
		return nil, err
	}
	is, err := file.Stat()
	if err == nil && !os.SameFile(was, is) {
		err = names.ErrNotRegular // it was replaced in between
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}
