//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package rootfs

import (
	"os"

	"golang.org/x/sys/unix"
)

// tryLock locks an open file, for this handle alone or shared with others, by flock(2).
func tryLock(file *os.File, alone bool) error {
	how := unix.LOCK_SH
	if alone {
		how = unix.LOCK_EX
	}
	return flock(int(file.Fd()), how)
}

func unlock(file *os.File) error { return unix.Flock(int(file.Fd()), unix.LOCK_UN) }
