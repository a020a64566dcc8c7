//go:build linux && (amd64 || arm64)

package sandbox

import (
	"maps"
	"slices"

	"golang.org/x/sys/unix"
)

// around are calls that bypass Landlock and a closed network: io_uring makes calls that no filter sees; keys, shared
// memory, queues and semaphores belong to all processes of a user.
var around = []uint32{
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL,
	unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL,
	unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP, unix.SYS_SEMCTL,
	unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL,
	unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK,
}

// extended are calls that change extended attributes, and attributes of the file system. Landlock does not cover them.
// Programs expect this error from a file system without such attributes.
var extended = []uint32{
	unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_SETXATTRAT,
	unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR, unix.SYS_REMOVEXATTRAT,
	unix.SYS_FILE_SETATTR,
}

// whole is the mask of an argument whose 32 bits all count.
const whole = ^uint32(0)

// rules returns the rules for the calls that are neither simply allowed nor missing. changes is the verdict on calls
// that change modes, owners and times.
func rules(landlock int, network bool, changes verdict) []rule {
	eperm := refuse(unix.EPERM)
	list := []rule{
		socket(network),
		// A pair of sockets for datagrams can send them elsewhere by name; the others cannot.
		{call: unix.SYS_SOCKETPAIR, then: allow, other: eperm, tests: []test{
			{arg: 0, mask: whole, values: []uint32{unix.AF_UNIX}},
			{arg: 1, mask: 0xf, values: []uint32{unix.SOCK_STREAM, unix.SOCK_SEQPACKET}},
		}},
		{call: unix.SYS_IOCTL, then: allow, other: eperm, tests: []test{{arg: 1, mask: whole, values: requests}}},
		// A lease can block other programs from opening the file for up to a minute, even if the command may only read the
		// file.
		{call: unix.SYS_FCNTL, then: eperm, other: allow, tests: []test{{arg: 1, mask: whole, values: []uint32{unix.F_SETLEASE}}}},
		// A changed limit could end another process of the user, and the limit of locks carries the mark.
		{call: unix.SYS_PRLIMIT64, then: allow, other: eperm, tests: []test{
			{arg: 0, mask: whole, values: []uint32{0}}, {arg: 1, mask: whole, values: limits},
		}},
		{call: unix.SYS_SETRLIMIT, then: allow, other: eperm, tests: []test{{arg: 0, mask: whole, values: limits}}},
	}
	list = append(append(list, others(eperm)...), children(eperm)...)
	for _, call := range slices.Concat(around, closed) {
		list = append(list, rule{call: call, then: eperm})
	}
	if landlock == 0 {
		return list // no file is protected, so these calls need no rule
	}
	for _, call := range slices.Sorted(maps.Keys(shapes)) {
		list = append(list, rule{call: call, then: changes})
	}
	for _, call := range extended {
		list = append(list, rule{call: call, then: refuse(unix.EOPNOTSUPP)})
	}
	if landlock < versionTruncate {
		list = append(list, truncating()...)
	}
	return list
}

// socket allows no sockets, or internet sockets and the socket with which programs read their own addresses.
func socket(network bool) rule {
	r := rule{call: unix.SYS_SOCKET, then: refuse(unix.EPERM)}
	if network {
		r.then, r.other = allow, r.then
		r.tests = []test{{arg: 0, mask: whole, values: []uint32{unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}}}
	}
	return r
}

// truncating replaces the missing truncation right of old Landlock versions: no file is truncated by name, or by
// opening it for reading. Programs that use openat2 can work without it.
func truncating() []rule {
	list := []rule{
		{call: unix.SYS_TRUNCATE, then: refuse(unix.EACCES)},
		{call: unix.SYS_OPENAT2, then: refuse(unix.ENOSYS)},
	}
	for call, flags := range openings {
		list = append(list, rule{call: call, then: refuse(unix.EACCES), other: allow, tests: []test{
			{arg: flags, mask: unix.O_TRUNC | unix.O_ACCMODE, values: []uint32{unix.O_TRUNC | unix.O_RDONLY}},
		}})
	}
	slices.SortFunc(list, func(a, b rule) int { return int(a.call) - int(b.call) })
	return list
}
