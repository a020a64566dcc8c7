package sandbox

import "golang.org/x/sys/unix"

// architecture is the architecture whose call numbers the filter uses.
const architecture = unix.AUDIT_ARCH_AARCH64

// openings are the calls that open files by name, with the index of the argument for their flags.
var openings = map[uint32]uint32{unix.SYS_OPENAT: 2}

// otherNumbers refuses nothing: there is only one numbering.
func otherNumbers() []unix.SockFilter { return nil }

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
}

// listedHere are the listed calls that other architectures do not have: none.
var listedHere = []uint32{}
