package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// Run starts the command in the sandbox that the rules describe, and waits for it. Rules that are nil are no
// restriction. The command gets a process group of its own, and on Unix a session, whose number is that of the
// process: it has no terminal. On Linux it is killed when the program ends, however that happens.
//
// Once the command runs, started is called with its process, by the goroutine that has called Run, while another one
// waits for the command; nil is not called. Run returns when the command has ended and its output has been read. It
// does not look for processes that the command has left: they stay in the sandbox.
//
// The Status is what was in force, which is less than asked for where the system has less: Supported reports it before.
// If a part that the system has cannot be had for this command, nothing is started. The error is that of the rules (a
// path that is missing or not absolute), of the system, or what cmd.Start or cmd.Wait returns. The command must be
// fresh, and is not to be used by others before Run returns. Run may be called by several goroutines at once.
func Run(cmd *exec.Cmd, rules *Rules, started func(*os.Process)) (Status, error) {
	if rules != nil {
		if err := rules.check(); err != nil {
			return Status{}, err
		}
	}
	return run(cmd, rules, started)
}

// Supported returns the most that this system can have in force. The error is nil if files and the network are both
// protected, and otherwise reports what is missing and where it would be found.
func Supported() (Status, error) { return supported() }

// check finds paths that mean something else in another directory.
func (r *Rules) check() error {
	for _, path := range slices.Concat(r.Write, r.Read) {
		if !filepath.IsAbs(path) {
			return fmt.Errorf("sandbox: the path %q is not absolute", path)
		}
	}
	return nil
}
