package sandbox

import "golang.org/x/sys/unix"

// architecture is the one whose numbers the filter knows.
const architecture = unix.AUDIT_ARCH_AARCH64

// openings are the calls that open files by name, and which argument has their flags.
var openings = map[uint32]uint32{unix.SYS_OPENAT: 2}

// otherNumbers refuses nothing: there is one numbering.
func otherNumbers() []unix.SockFilter { return nil }
