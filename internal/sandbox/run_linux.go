package sandbox

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// supported asks the kernel.
func supported() (Status, error) {
	l, c := landlockVersion(), callsFiltered()
	status := system{landlock: l.version, calls: c == nil}.status(false)
	files, network := error(nil), error(nil)
	if l.err != nil {
		files = fmt.Errorf("files cannot be protected: %w", l.err)
	}
	if status.Network == "" {
		network = fmt.Errorf("the network cannot be closed: %w", c)
	}
	if files != nil && network != nil {
		return status, fmt.Errorf("%w; %w", files, network)
	}
	return status, cmp.Or(files, network)
}

// system describes the means of this system for a sandbox.
type system struct {
	landlock int  // version of the interface, 0 for none
	calls    bool // system calls can be filtered
}

// present returns the means of the running system.
func present() system {
	return system{landlock: landlockVersion().version, calls: callsFiltered() == nil}
}

// status returns the protection that the system supports.
func (s system) status(network bool) Status {
	var status Status
	if s.landlock > 0 {
		status.Files = fmt.Sprintf("landlock %d", s.landlock)
	}
	switch {
	case network:
	case s.calls:
		status.Network = "seccomp"
	case s.landlock >= versionTCP:
		status.Network = "landlock"
	}
	return status
}

// run starts the command from a thread that is restricted.
func run(cmd *exec.Cmd, rules *Rules, started func(*os.Process)) (Status, error) {
	return present().run(cmd, rules, started)
}

// run is Run for a system with only the means in s.
func (s system) run(cmd *exec.Cmd, rules *Rules, started func(*os.Process)) (Status, error) {
	// The signal comes when the thread that has started the command ends: it must not end early.
	detach(cmd).Pdeathsig = syscall.SIGKILL
	var status Status
	var set *ruleset
	if rules != nil {
		status = s.status(rules.Network)
		if s.landlock > 0 {
			var err error
			if set, err = newRuleset(s.landlock, rules); err != nil {
				return Status{}, err
			}
			defer set.close()
		}
	}
	begun, ended := make(chan error, 1), make(chan error, 1)
	onItsThread := func() {
		var answers *answering
		if rules != nil {
			var err error
			if answers, err = s.restrict(set, rules); err != nil {
				begun <- err
				return
			}
		}
		err := cmd.Start()
		begun <- err
		if err == nil {
			err = cmd.Wait()
		}
		answers.close()
		ended <- err
	}
	start := func() error {
		onThread(onItsThread)
		return <-begun
	}
	var err error
	if rules != nil {
		err = rules.Mark.put(start)
	} else {
		err = start()
	}
	if err != nil {
		return Status{}, err
	}
	if started != nil {
		started(cmd.Process)
	}
	return status, <-ended
}

// restrict restricts the calling thread to the rules, irreversibly.
func (s system) restrict(set *ruleset, rules *Rules) (*answering, error) {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("sandbox: no_new_privs: %w", err)
	}
	if set != nil {
		if err := set.restrict(); err != nil {
			return nil, err
		}
	}
	if err := dropCapabilities(); err != nil {
		return nil, err
	}
	if s.calls {
		return filterCalls(s.landlock, rules, set.realPaths())
	}
	return nil, nil
}
