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
