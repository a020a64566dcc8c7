//go:build freebsd || netbsd || openbsd || dragonfly

package rootfs

import (
	"syscall"

	"golang.org/x/sys/unix"
)

const largeFile = 0

func leaveTime(mtime unix.Timespec) unix.Timespec { return mtime }

// changeTime returns 0: the field has another name on each of these systems, and the size and the modification time are
// compared too.
func changeTime(*syscall.Stat_t) int64 { return 0 }
