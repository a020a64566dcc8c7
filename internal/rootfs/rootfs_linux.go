package rootfs

import (
	"syscall"

	"golang.org/x/sys/unix"
)

const largeFile = unix.O_LARGEFILE

func leaveTime(unix.Timespec) unix.Timespec { return unix.Timespec{Nsec: unix.UTIME_OMIT} }

func changeTime(stat *syscall.Stat_t) int64 { return stat.Ctim.Nano() }

func renameExchange(aDir int, a string, bDir int, b string) error {
	return unix.Renameat2(aDir, a, bDir, b, unix.RENAME_EXCHANGE)
}

func renameNoReplace(aDir int, a string, bDir int, b string) error {
	return unix.Renameat2(aDir, a, bDir, b, unix.RENAME_NOREPLACE)
}
