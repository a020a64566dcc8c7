package filelock

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/windows"

	"github.com/millrace-go/millrace/capability"
)

// handleID identifies the locked file, by its name in the directory of the mark. Directories cannot be locked.
func handleID(_ handled, info fs.FileInfo) (string, error) {
	if !info.Mode().IsRegular() {
		return "", errors.ErrUnsupported
	}
	return info.Name(), nil
}

func handleIdentity(handled, fs.FileInfo) (capability.Identity, error) {
	return capability.Identity{}, ErrNoHandle
}

// tryHandle locks the file with LockFileEx.
func tryHandle(h handled) error {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(h.Fd()), flags, 0, 1, 0, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return capability.ErrLocked
	}
	return err
}

func unlockHandle(h handled) error {
	return windows.UnlockFileEx(windows.Handle(h.Fd()), 0, 1, 0, new(windows.Overlapped))
}
