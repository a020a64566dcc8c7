package rootfs

import (
	"syscall"

	"golang.org/x/sys/unix"
)

const largeFile = 0

// leaveTime returns UTIME_OMIT of <sys/stat.h>, for which x/sys/unix has no name on this system.
func leaveTime(unix.Timespec) unix.Timespec { return unix.Timespec{Nsec: -2} }

func changeTime(stat *syscall.Stat_t) int64 { return stat.Ctimespec.Nano() }

func renameExchange(aDir int, a string, bDir int, b string) error {
	return unix.RenameatxNp(aDir, a, bDir, b, unix.RENAME_SWAP)
}

func renameNoReplace(aDir int, a string, bDir int, b string) error {
	return unix.RenameatxNp(aDir, a, bDir, b, unix.RENAME_EXCL)
}
