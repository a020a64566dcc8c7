package sandbox

import "golang.org/x/sys/unix"

// architecture is the architecture whose call numbers the filter uses.
const architecture = unix.AUDIT_ARCH_X86_64

// openings are the calls that open files by name, with the index of the argument for their flags.
var openings = map[uint32]uint32{unix.SYS_OPEN: 1, unix.SYS_OPENAT: 2}

// otherNumbers refuses calls of x32 programs: the same calls, with a bit set in their numbers.
func otherNumbers() []unix.SockFilter {
	const x32 = 0x40000000
	return []unix.SockFilter{{Code: opAtLeast, K: x32, Jf: 1}, returns(refuse(unix.EPERM))}
}

// none is the index of an argument that a call does not have.
const none = -1

// shapes are the calls that change modes, owners and times.
var shapes = map[uint32]shape{
	unix.SYS_FCHMOD:    {dir: 0, path: none, flags: none, value: 1, what: theMode},
	unix.SYS_FCHMODAT:  {dir: 0, path: 1, flags: none, value: 2, what: theMode},
	unix.SYS_FCHMODAT2: {dir: 0, path: 1, flags: 3, value: 2, what: theMode},
	unix.SYS_FCHOWN:    {dir: 0, path: none, flags: none, value: 1, what: theOwner},
	unix.SYS_FCHOWNAT:  {dir: 0, path: 1, flags: 4, value: 2, what: theOwner},
	unix.SYS_UTIMENSAT: {dir: 0, path: 1, flags: 3, value: 2, what: theTimes},
	unix.SYS_CHMOD:     {dir: none, path: 0, flags: none, value: 1, what: theMode},
	unix.SYS_CHOWN:     {dir: none, path: 0, flags: none, value: 1, what: theOwner},
	unix.SYS_LCHOWN:    {dir: none, path: 0, flags: none, value: 1, what: theOwner, link: true},
	unix.SYS_UTIME:     {dir: none, path: 0, flags: none, value: 1, what: fullTimes},
	unix.SYS_UTIMES:    {dir: none, path: 0, flags: none, value: 1, what: microTimes},
	unix.SYS_FUTIMESAT: {dir: 0, path: 1, flags: none, value: 2, what: microTimes},
}

// listedHere are the listed calls that other architectures do not have.
var listedHere = []uint32{
	unix.SYS_OPEN, unix.SYS_CREAT, unix.SYS_ACCESS, unix.SYS_STAT, unix.SYS_LSTAT, unix.SYS_POLL, unix.SYS_SELECT,
	unix.SYS_PIPE, unix.SYS_DUP2, unix.SYS_ALARM, unix.SYS_PAUSE, unix.SYS_GETPGRP, unix.SYS_FORK, unix.SYS_VFORK,
	unix.SYS_MKDIR, unix.SYS_RMDIR, unix.SYS_UNLINK, unix.SYS_RENAME, unix.SYS_LINK, unix.SYS_SYMLINK,
	unix.SYS_READLINK, unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_UTIME, unix.SYS_UTIMES,
	unix.SYS_FUTIMESAT, unix.SYS_MKNOD, unix.SYS_EVENTFD, unix.SYS_EPOLL_CREATE, unix.SYS_EPOLL_WAIT,
	unix.SYS_INOTIFY_INIT, unix.SYS_SIGNALFD, unix.SYS_ARCH_PRCTL, unix.SYS_TIME, unix.SYS_GETDENTS,
}
