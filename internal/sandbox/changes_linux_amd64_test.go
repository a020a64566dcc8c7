package sandbox_test

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// oldChanges are calls that arm64 does not have. Some libraries still use them.
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

// old makes a call with a path and a number.
func old(call uintptr, name string, value uintptr) error {
	path, err := unix.BytePtrFromString(name)
	if err != nil {
		return err
	}
	_, _, errno := unix.Syscall(call, uintptr(unsafe.Pointer(path)), value, ^uintptr(0))
	return failed(errno)
}

// oldTimes makes a call with a path and times.
func oldTimes(call uintptr, name string, times ...int64) error {
	path, err := unix.BytePtrFromString(name)
	if err != nil {
		return err
	}
	_, _, errno := unix.Syscall(call, uintptr(unsafe.Pointer(path)), uintptr(unsafe.Pointer(&times[0])), 0)
	return failed(errno)
}

// more makes the calls that only amd64 has, and a new one.
func more(call func(string, uintptr, ...uintptr), path func(string) uintptr, times func(...int64) uintptr) {
	for _, name := range []string{"new", "missing", "", "link", "a"} {
		call("chmod "+name, unix.SYS_CHMOD, path(name), 0o754)
		call("chown "+name, unix.SYS_CHOWN, path(name), minus(1), minus(1))
		call("lchown "+name, unix.SYS_LCHOWN, path(name), minus(1), minus(1))
		for kind, value := range map[string]uintptr{"now": 0, "times": times(1, 2, 3, 4), "bad": times(1, -1, 2, 1000000), "wrong": 8} {
			call("utime "+kind+name, unix.SYS_UTIME, path(name), value)
			call("utimes "+kind+name, unix.SYS_UTIMES, path(name), value)
			call("futimesat "+kind+name, unix.SYS_FUTIMESAT, minus(100), path(name), value)
		}
	}
	call("utimes at last", unix.SYS_UTIMES, path("new"), times(1, 2, 3, 4))
	for _, flags := range []uintptr{0, unix.AT_SYMLINK_NOFOLLOW, unix.AT_EMPTY_PATH, 7} {
		call(fmt.Sprint("fchmodat2 ", flags), unix.SYS_FCHMODAT2, minus(100), path("new"), 0o655, flags)
		call(fmt.Sprint("fchmodat2 of a link ", flags), unix.SYS_FCHMODAT2, minus(100), path("link"), 0o655, flags)
		call(fmt.Sprint("fchmodat2 of nothing ", flags), unix.SYS_FCHMODAT2, minus(100), path(""), 0o711, flags)
	}
}
