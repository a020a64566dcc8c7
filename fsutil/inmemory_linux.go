//go:build linux && (amd64 || arm64)

package fsutil

import (
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Go's scheduler is told of each system call, because it may wait: whoever waits for longer than some microseconds loses
// its processor to another thread, which is woken for that. A search makes four calls for each small file, and nearly all of
// them are answered from the system's memory, so that there the telling and the waking cost more than the waiting. The calls
// in this file leave it out. They are for what cannot wait: the system is asked to refuse where it would have to, and then
// the ordinary call is made.

// resolveCached is RESOLVE_CACHED of openat2(2), since Linux 5.12: only what is known without asking the disk.
const resolveCached = 0x20

// inMemory says for a tree whether its system knows these calls. The zero value tries them.
type inMemory struct{ noOpen, noRead atomic.Bool }

// onLocalDisk reports whether a directory is of a file system that asks neither another machine nor another process for
// anything: there, what is in memory is had at once, and closing what was only read does nothing else.
func onLocalDisk(dir int) bool {
	var stat unix.Statfs_t
	if unix.Fstatfs(dir, &stat) != nil {
		return false
	}
	switch uint32(stat.Type) {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC, unix.TMPFS_MAGIC:
		return true
	}
	return false
}

// open opens a file in a directory that is on a local disk, with a name that has a NUL behind it. It is false for whatever
// speaks against that; in particular nothing on another file system is opened.
func (m *inMemory) open(dir int, terminated string, flags int) (fd int, ok bool) {
	if m.noOpen.Load() {
		return -1, false
	}
	how := unix.OpenHow{Flags: uint64(flags), Resolve: resolveCached | unix.RESOLVE_NO_XDEV}
	r, _, errno := unix.RawSyscall6(unix.SYS_OPENAT2, uintptr(dir), uintptr(unsafe.Pointer(unsafe.StringData(terminated))),
		uintptr(unsafe.Pointer(&how)), unsafe.Sizeof(how), 0, 0)
	switch errno {
	case 0:
		return int(r), true
	case unix.ENOSYS, unix.EINVAL, unix.EPERM, unix.E2BIG: // an old kernel, or a sandbox
		m.noOpen.Store(true)
	}
	return -1, false
}

// read is read(2) for a file that open has opened. It is false where there is nothing in memory, and for all errors.
func (m *inMemory) read(fd int, p []byte) (n int, ok bool) {
	if m.noRead.Load() {
		return 0, false
	}
	vec := unix.Iovec{Base: unsafe.SliceData(p)}
	vec.SetLen(len(p))
	const here = ^uintptr(0) // -1 is for where the last read has ended
	r, _, errno := unix.RawSyscall6(unix.SYS_PREADV2, uintptr(fd), uintptr(unsafe.Pointer(&vec)), 1, here, here, unix.RWF_NOWAIT)
	switch errno {
	case 0:
		return int(r), true
	case unix.ENOSYS, unix.EINVAL, unix.EPERM, unix.EOPNOTSUPP:
		m.noRead.Store(true)
	}
	return 0, false
}

// statInMemory is fstat(2) for a file that open has opened.
func statInMemory(fd int, stat *syscall.Stat_t) error {
	if _, _, errno := unix.RawSyscall(unix.SYS_FSTAT, uintptr(fd), uintptr(unsafe.Pointer(stat)), 0); errno != 0 {
		return errno
	}
	return nil
}

// closeInMemory is close(2) for a regular file that open has opened.
func closeInMemory(fd int) error {
	if _, _, errno := unix.RawSyscall(unix.SYS_CLOSE, uintptr(fd), 0, 0); errno != 0 {
		return errno
	}
	return nil
}
