package rootfs

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"

	"github.com/millrace-go/millrace/capability"
)

var _ capability.FileLocker = (*FS)(nil)

// lockedByte is far after the end of every file, so readers of the file are not blocked.
func lockedByte() *windows.Overlapped { return &windows.Overlapped{OffsetHigh: 1 << 30} }

// tryLock locks a byte of an open file, for this handle alone or shared with others, by LockFileEx.
func tryLock(file *os.File, alone bool) error {
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if alone {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := windows.LockFileEx(windows.Handle(file.Fd()), flags, 0, 1, 0, lockedByte())
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return capability.ErrLocked
	}
	return err
}

func unlock(file *os.File) error {
	return windows.UnlockFileEx(windows.Handle(file.Fd()), 0, 1, 0, lockedByte())
}
