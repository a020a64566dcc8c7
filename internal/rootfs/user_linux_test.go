package rootfs_test

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// becomeUser changes the user and the groups of this thread only. The functions of package syscall would change all
// threads.
func becomeUser(uid int, groups []uint32) error {
	if _, _, errno := syscall.RawSyscall(unix.SYS_SETGROUPS, uintptr(len(groups)), uintptr(unsafe.Pointer(unsafe.SliceData(groups))), 0); errno != 0 {
		return errno
	}
	if _, _, errno := syscall.RawSyscall(unix.SYS_SETRESGID, uintptr(uid), uintptr(uid), uintptr(uid)); errno != 0 {
		return errno
	}
	if _, _, errno := syscall.RawSyscall(unix.SYS_SETRESUID, uintptr(uid), uintptr(uid), uintptr(uid)); errno != 0 {
		return errno
	}
	return nil
}
