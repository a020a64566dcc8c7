package rootfs

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// openatTerminated is unix.Openat for a name that has a NUL behind it already. The other one makes a copy of each name
// for that, which is most of the memory that reading a file takes.
func openatTerminated(dir int, name string, flags int) (fd int, err error) {
	for {
		r, _, errno := unix.Syscall6(unix.SYS_OPENAT, uintptr(dir), uintptr(unsafe.Pointer(unsafe.StringData(name))), uintptr(flags), 0, 0, 0)
		switch errno {
		case 0:
			return int(r), nil
		case unix.EINTR:
		default:
			return -1, errno
		}
	}
}
