package filelock

import (
	"errors"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/disk"
)

// Held reports whether the lock of [File] is held for the regular file of that name. It writes nothing. If the system
// has locks for single files, Held takes a shared lock for a moment: a process that locks the file at that moment has
// to try again. A mark counts as held unless its owner is known to be gone.
func Held(d *disk.Disk, name string) (bool, error) {
	if locker, ok := d.FS.(capability.FileLocker); ok {
		lock, err := locker.TryLockFile(name)
		switch {
		case errors.Is(err, capability.ErrLocked):
			return true, nil
		case err == nil:
			if err := lock.Close(); err != nil {
				return false, err
			}
		case !errors.Is(err, errors.ErrUnsupported):
			return false, err
		}
	}
	m := NewMark(d, name+markEnd, nil)
	if s, err := d.Look(m.name); err != nil || s.Kind != change.Dir {
		return false, err
	}
	holder, _, err := m.holder()
	return err == nil && holder != nil && !holder.gone(&m.me), err
}
