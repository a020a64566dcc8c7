package sandbox

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Versions of Landlock's interface that added a needed feature.
const (
	versionRefer    = 2 // moving files between directories, Linux 5.19; in earlier versions it is always refused
	versionTruncate = 3 // Linux 6.2
	versionTCP      = 4 // Linux 6.7
	versionIoctl    = 5 // Linux 6.10
	versionScope    = 6 // signals and abstract sockets, Linux 6.12
)

// Rights that a rule can grant on files of any kind; all others are for directories.
const (
	readFile  = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_EXECUTE
	writeFile = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	anyFile   = readFile | writeFile
)

// readTree has the rights on a tree that is only read.
const readTree = readFile | unix.LANDLOCK_ACCESS_FS_READ_DIR

// writeTree has the rights on a tree that may be changed: everything except making devices, which would allow an
// escape.
const writeTree = readTree | writeFile | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
	unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
	unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_REFER

// handled returns the rights on files of a version: all of them are removed, and rules grant them again.
func handled(version int) uint64 {
	rights := uint64(writeTree | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK)
	if version < versionRefer {
		rights &^= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if version < versionTruncate {
		rights &^= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if version < versionIoctl {
		rights &^= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	return rights
}

// landlock is the kernel's answer about Landlock.
type landlock struct {
	version int // 0 without Landlock
	err     error
}

// landlockVersion asks the kernel each time, because that is cheap.
func landlockVersion() landlock {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	switch errno {
	case 0:
		return landlock{version: int(v)}
	case unix.ENOSYS:
		return landlock{err: errors.New(
			"the kernel has no Landlock: it needs Linux 5.13 or later, built with CONFIG_SECURITY_LANDLOCK")}
	case unix.EOPNOTSUPP:
		return landlock{err: errors.New("the kernel has turned Landlock off: add landlock to its parameter lsm=")}
	default:
		return landlock{err: fmt.Errorf("the kernel's Landlock cannot be used here, perhaps a container forbids it: %w",
			errno)}
	}
}

// ruleset is a set of rules in the kernel that does not apply to a thread yet.
type ruleset struct {
	fd     int
	rights uint64   // the handled rights
	roots  []string // real paths that may be written
}

// newRuleset makes the rules for a command.
func newRuleset(version int, rules *Rules) (*ruleset, error) {
	attributes := unix.LandlockRulesetAttr{Handled_access_fs: handled(version)}
	if version >= versionTCP && !rules.Network {
		attributes.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if version >= versionScope {
		attributes.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	// The kernel accepts a structure that is longer than its own if the rest is zero.
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attributes)),
		unsafe.Sizeof(attributes), 0)
	if errno != 0 {
		return nil, fmt.Errorf("sandbox: landlock_create_ruleset: %w", errno)
	}
	set := &ruleset{fd: int(fd), rights: attributes.Handled_access_fs}
	if err := set.addAll(rules); err != nil {
		set.close()
		return nil, err
	}
	return set, nil
}

// allow grants rights on the file of a descriptor, and on everything below it.
func (s *ruleset) allow(fd int, directory bool, rights uint64) error {
	if !directory {
		rights &= anyFile
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights & s.rights, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(s.fd), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// restrict puts the calling thread under the rules, irreversibly.
func (s *ruleset) restrict() error {
	_, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(s.fd), 0, 0)
	if errno == unix.E2BIG {
		return fmt.Errorf("sandbox: too many sandboxes within each other: %w", errno)
	}
	if errno != 0 {
		return fmt.Errorf("sandbox: landlock_restrict_self: %w", errno)
	}
	return nil
}

// close releases the set; a thread with its rules keeps them.
func (s *ruleset) close() { _ = unix.Close(s.fd) }

// realPaths returns the real paths that may be written.
func (s *ruleset) realPaths() []string {
	if s == nil {
		return nil
	}
	return s.roots
}
