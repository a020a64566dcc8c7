package scratch

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/windows"

	"github.com/millrace-go/millrace/capability"
)

func tryLock(fd uintptr) error {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(fd), flags, 0, 1, 0, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return capability.ErrLocked
	}
	return err
}

func unlock(fd uintptr) error {
	return windows.UnlockFileEx(windows.Handle(fd), 0, 1, 0, new(windows.Overlapped))
}

// isOurs returns true, because access lists of the system protect the user's directories.
func isOurs(fs.FileInfo) bool { return true }
