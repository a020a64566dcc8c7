//go:build !linux

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
)

// errNone is the reason why commands have no sandbox.
var errNone = errors.New("there is no sandbox for commands on this system: it needs Linux 5.13 or later")

// supported always returns an empty Status.
func supported() (Status, error) { return Status{}, fmt.Errorf("%s: %w", runtime.GOOS, errNone) }

// run starts the command without any restriction, and reports that by an empty Status.
func run(cmd *exec.Cmd, _ *Rules, started func(*os.Process)) (Status, error) {
	detach(cmd)
	return Status{}, start(cmd, started)
}

// start starts the command, calls started, and waits.
func start(cmd *exec.Cmd, started func(*os.Process)) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	if started != nil {
		started(cmd.Process)
	}
	return cmd.Wait()
}
