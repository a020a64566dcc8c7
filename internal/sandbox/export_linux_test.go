package sandbox

import (
	"os/exec"

	"golang.org/x/sys/unix"
)

// RunAs is Run on a system that has at most a version of Landlock, and a filter of calls or none.
func RunAs(landlock int, calls bool, cmd *exec.Cmd, rules *Rules) (Status, error) {
	s := present()
	s.landlock, s.calls = min(s.landlock, landlock), s.calls && calls
	return s.run(cmd, rules, nil)
}

// Features are the versions of Landlock that added a feature.
var Features = []int{1, versionRefer, versionTruncate, versionTCP, versionIoctl, versionScope}

// VersionScope is the first version that keeps signals inside, and VersionTCP the first that keeps TCP inside.
const (
	VersionScope = versionScope
	VersionTCP   = versionTCP
)

// OnThread runs on a thread that ends.
var OnThread = onThread

// LandlockCalls are the calls that a kernel without Landlock does not have.
var LandlockCalls = []uint32{unix.SYS_LANDLOCK_CREATE_RULESET, unix.SYS_LANDLOCK_ADD_RULE, unix.SYS_LANDLOCK_RESTRICT_SELF}
