package filelock

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/panics"
	"github.com/millrace-go/millrace/internal/poll"
)

// markEnd is the suffix that makes the name of the mark from a locked file's name.
const markEnd = ".lock"

// File locks the regular file of that name, which must exist, and waits until ctx is done. Then the error is
// [capability.ErrLocked], and names the holder if it is known. File uses the lock of the operating system, if the file
// system is a [capability.FileLocker] or has handles. If the file system is not a FileLocker, File also makes a mark in
// the same directory, which other processes respect. Closing the result releases the lock; the error matches [ErrLost]
// if the mark was taken away before.
func File(ctx context.Context, d *disk.Disk, name string) (io.Closer, error) {
	l := &fileLock{mark: NewMark(d, name+markEnd, func() error { return nil })}
	if err := l.take(ctx, d, name); err != nil {
		return nil, errors.Join(err, l.close())
	}
	return poll.CloseOnce(l.close), nil
}

// fileLock is the lock that File returns.
type fileLock struct {
	unlock func() error // nil if the system has no lock
	mark   *Mark
	marked bool
}

func (l *fileLock) take(ctx context.Context, d *disk.Disk, name string) error {
	switch s, err := d.Look(name); {
	case err != nil:
		return err
	case s.Kind == change.Absent:
		return names.PathError("lock", name, fs.ErrNotExist)
	case s.Kind != change.File:
		return names.PathError("lock", name, names.ErrNotRegular)
	}
	if locker, ok := d.FS.(capability.FileLocker); ok {
		system, err := locker.LockFile(ctx, name)
		if err == nil {
			l.unlock = system.Close
			return l.mark.Respect(ctx, func() (bool, error) { return true, nil }, l.idOf(d, name))
		}
		if !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
	}
	open := func(name string) (afero.File, error) { return d.FS.OpenFile(name, os.O_RDWR, 0) }
	unlock, id, err := Handle(ctx, d.FS, name, open)
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	l.unlock = unlock
	l.mark.Claim(id)
	err = l.mark.Make(ctx)
	l.marked = err == nil
	return err
}

// idOf returns a function that returns the id of the file locked by a FileLocker, in the form of [Handle].
func (l *fileLock) idOf(d *disk.Disk, name string) func() (string, error) {
	return func() (string, error) {
		s, err := d.Look(name)
		if err != nil || s.ID.Ino == 0 {
			return "", err
		}
		return FileID(s.ID.Dev, s.ID.Ino), nil
	}
}

// close releases the lock.
func (l *fileLock) close() (err error) {
	if l.marked {
		err = panics.Protect(l.release)
	}
	if l.unlock != nil {
		err = errors.Join(err, panics.Protect(l.unlock))
	}
	return err
}

func (l *fileLock) release() error {
	err := l.mark.StillMine()
	if errors.Is(err, ErrLost) {
		return err
	}
	// A mark that cannot be read is removed too: the mark of a living process would block all others.
	return errors.Join(err, l.mark.Sweep(), l.mark.Remove())
}
