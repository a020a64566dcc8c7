package sandbox

import (
	"os/exec"

	"golang.org/x/sys/unix"
)

// RunAs is Run on a system that has no more than a version of Landlock, and a filter for calls or none.
func RunAs(landlock int, calls bool, cmd *exec.Cmd, rules *Rules) (Status, error) {
	s := present()
	s.landlock, s.calls = min(s.landlock, landlock), s.calls && calls
	return s.run(cmd, rules, nil)
}

// Features are versions of Landlock that brought something.
var Features = []int{1, versionRefer, versionTruncate, versionTCP, versionIoctl, versionScope}

// VersionScope is the version from which signals stay inside, and VersionTCP that from which TCP does.
const (
	VersionScope = versionScope
	VersionTCP   = versionTCP
)

// OnThread runs on a thread that ends.
var OnThread = onThread

// LandlockCalls are those that a kernel without Landlock does not have.
var LandlockCalls = []uint32{unix.SYS_LANDLOCK_CREATE_RULESET, unix.SYS_LANDLOCK_ADD_RULE, unix.SYS_LANDLOCK_RESTRICT_SELF}
