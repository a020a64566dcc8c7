package rootfs

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// openNoWait are the flags with which everything is opened: not waiting for a pipe's other end or a modem, not making a
// terminal the controlling one, and taking files beyond 2 GiB on 32-bit systems.
const openNoWait = unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_LARGEFILE

func leaveTime(unix.Timespec) unix.Timespec { return unix.Timespec{Nsec: unix.UTIME_OMIT} }

func changeTime(stat *syscall.Stat_t) int64 { return stat.Ctim.Nano() }

func renameExchange(aDir int, a string, bDir int, b string) error {
	return unix.Renameat2(aDir, a, bDir, b, unix.RENAME_EXCHANGE)
}

func renameNoReplace(aDir int, a string, bDir int, b string) error {
	return unix.Renameat2(aDir, a, bDir, b, unix.RENAME_NOREPLACE)
}
