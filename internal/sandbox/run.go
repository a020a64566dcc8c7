package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// Run starts the command in the sandbox of the rules, and waits for it. Nil rules mean no restriction. The command gets
// its own process group, and on Unix its own session, whose number is the number of the process: it has no terminal. On
// Linux it is killed when the program ends, for any reason.
//
// Once the command runs, Run calls started with its process, in the same goroutine, while another goroutine waits for
// the command; a nil started is not called. Run returns when the command has ended and its output has been read. It
// does not look for processes that the command has left: they stay in the sandbox.
//
// The Status describes the active protection, which is less than requested if the system supports less: Supported
// reports it in advance. If a supported protection fails for this command, nothing is started. The error is from the
// rules (a path that is missing or not absolute), from the system, or from cmd.Start or cmd.Wait. The command must be
// new, and must not be used by others before Run returns. Run is safe for concurrent use.
func Run(cmd *exec.Cmd, rules *Rules, started func(*os.Process)) (Status, error) {
	if rules != nil {
		if err := rules.check(); err != nil {
			return Status{}, err
		}
	}
	return run(cmd, rules, started)
}

// Supported returns the strongest protection of this system. The error is nil if files and the network are both
// protected; otherwise it reports the missing part and the system that has it.
func Supported() (Status, error) { return supported() }

// check refuses relative paths, whose meaning depends on the working directory.
func (r *Rules) check() error {
	for _, path := range slices.Concat(r.Write, r.Read) {
		if !filepath.IsAbs(path) {
			return fmt.Errorf("sandbox: the path %q is not absolute", path)
		}
	}
	return nil
}
