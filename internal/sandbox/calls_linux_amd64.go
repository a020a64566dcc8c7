package sandbox

import "golang.org/x/sys/unix"

// architecture is the one whose numbers the filter knows.
const architecture = unix.AUDIT_ARCH_X86_64

// openings are the calls that open files by name, and which argument has their flags.
var openings = map[uint32]uint32{unix.SYS_OPEN: 1, unix.SYS_OPENAT: 2}

// otherNumbers refuses what x32 programs call: the same calls, with a bit set in their numbers.
func otherNumbers() []unix.SockFilter {
	const x32 = 0x40000000
	return []unix.SockFilter{{Code: opAtLeast, K: x32, Jf: 1}, returns(refuse(unix.EPERM))}
}

// none is the place of an argument that a call does not have.
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
