package sandbox_test

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// oldChanges are calls that arm64 does not have. Libraries make some of them to this day.
var oldChanges = map[string]func(args []string) error{
	"old-chmod":  func(args []string) error { return old(unix.SYS_CHMOD, args[0], 0o751) },
	"old-chown":  func(args []string) error { return old(unix.SYS_CHOWN, args[0], uintptr(os.Getuid())) },
	"old-utime":  func(args []string) error { return oldTimes(unix.SYS_UTIME, args[0], 5, 7) },
	"old-utimes": func(args []string) error { return oldTimes(unix.SYS_UTIMES, args[0], 5, 6, 7, 8) },
	"old-futimesat": func(args []string) error {
		path, err := unix.BytePtrFromString(args[0])
		if err != nil {
			return err
		}
		times, here := []int64{5, 6, 7, 8}, unix.AT_FDCWD
		_, _, errno := unix.Syscall(unix.SYS_FUTIMESAT, uintptr(here), uintptr(unsafe.Pointer(path)),
			uintptr(unsafe.Pointer(&times[0])))
		return failed(errno)
	},
}

// old makes a call about a path, and a number.
func old(call uintptr, name string, value uintptr) error {
	path, err := unix.BytePtrFromString(name)
	if err != nil {
		return err
	}
	_, _, errno := unix.Syscall(call, uintptr(unsafe.Pointer(path)), value, ^uintptr(0))
	return failed(errno)
}

// oldTimes makes a call about a path, and times.
func oldTimes(call uintptr, name string, times ...int64) error {
	path, err := unix.BytePtrFromString(name)
	if err != nil {
		return err
	}
	_, _, errno := unix.Syscall(call, uintptr(unsafe.Pointer(path)), uintptr(unsafe.Pointer(&times[0])), 0)
	return failed(errno)
}
