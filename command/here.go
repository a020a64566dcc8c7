package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"github.com/millrace-go/millrace/internal/sandbox"
)

const (
	grace    = 2 * time.Second // from SIGTERM to SIGKILL
	holding  = 2 * time.Second // for processes that hold the output open after all known processes are dead
	busyTill = 2 * time.Second // for a program that another process still has open for writing
)

// launch is a command ready to start.
type launch struct {
	Command
	program string // its file
	env     environment
}

// here runs a command in a process of this system. A program that was just written may still be open for writing in
// another process that this program is starting; that passes, so here retries.
func (p Policy) here(ctx context.Context, l launch) (Exit, error) {
	deadline := time.Now().Add(busyTill)
	for wait := time.Millisecond; ; wait = min(2*wait, 100*time.Millisecond) {
		exit, err := p.once(ctx, l)
		if !errors.Is(err, errTextBusy) || time.Now().After(deadline) {
			return exit, err
		}
		select {
		case <-ctx.Done():
			return exit, ctx.Err()
		case <-time.After(wait):
		}
	}
}

// once starts a command, watches it, and returns when all its processes have ended.
func (p Policy) once(ctx context.Context, l launch) (exit Exit, err error) {
	out := p.printer(l.Command)
	ends, err := connect(l.Stdin, out)
	if err != nil {
		return Exit{}, fmt.Errorf("the command '%s' cannot be started: %w", p.shown(l.Words[:1]), err)
	}
	group, err := newGroup(l.Root)
	if err != nil {
		ends.close()
		return Exit{}, fmt.Errorf("the command '%s' cannot be started: %w", p.shown(l.Words[:1]), err)
	}
	defer group.close()
	l.env.set(cookie, group.cookie())
	cmd := &exec.Cmd{Path: l.program, Args: l.Words, Dir: l.Dir, Env: l.env.list(), Stdout: ends.stdout,
		Stderr: ends.stderr}
	if ends.stdin != nil {
		cmd.Stdin = ends.stdin
	}
	group.prepare(cmd)

	guard := guard{group: group, out: out, ended: make(chan struct{}), left: make(chan struct{})}
	status, err := sandbox.Run(cmd, group.marked(p.rules(l)), func(process *os.Process) {
		ends.started()
		guard.begin(ctx, process)
	})
	guard.end()
	ends.started() // if they are still open
	if cmd.Process == nil {
		ends.close()
		return Exit{}, p.unstarted(l, err)
	}
	leftErr := group.sweep()
	held := ends.finish()
	exit = Exit{Stdout: out.stdout.close(), Stderr: out.stderr.close(), Sandbox: inForce(status)}
	exit.Code, exit.Signal = ending(cmd.ProcessState)
	if exit.Code != 0 && exit.Sandbox["files"] != "" {
		exit.Refused = p.refused(l, exit)
	}
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		err = nil
	}
	switch {
	case out.err() != nil:
		return exit, out.err()
	case guard.err != nil:
		return exit, guard.err
	case err != nil:
		return exit, fmt.Errorf("the command '%s': %w", p.shown(l.Words[:1]), err)
	case leftErr != nil:
		return exit, leftErr
	case held:
		return exit, errHeld
	}
	return exit, nil
}

// rules returns the sandbox of a command, nil for none. The program itself may be read anywhere.
func (p Policy) rules(l launch) *sandbox.Rules {
	if p.Sandbox == Off {
		return nil
	}
	given := func(dir string) bool { return dir == "" }
	return &sandbox.Rules{
		Write:   slices.DeleteFunc(slices.Concat([]string{l.Root, l.Temp, l.Home, l.Shared}, p.Write), given),
		Read:    slices.Concat([]string{l.program}, p.Read),
		Network: p.Network,
	}
}

// inForce returns the active confinement.
func inForce(status sandbox.Status) map[string]string {
	parts := make(map[string]string)
	if status.Files != "" {
		parts["files"] = status.Files
	}
	if status.Network != "" {
		parts["network"] = status.Network
	}
	if len(parts) == 0 {
		return nil
	}
	return parts
}

// unstarted returns the reason why a command did not start, with advice.
func (p Policy) unstarted(l launch, err error) error {
	name := p.shown(l.Words[:1])
	var path *fs.PathError
	if !errors.As(err, &path) || path.Path != l.program && path.Path != l.Dir {
		return fmt.Errorf("the command '%s' cannot be started: %w", name, err)
	}
	switch err := path.Err; {
	case errors.Is(err, errTooLong):
		return fmt.Errorf(
			"the command '%s' cannot be started: its arguments and environment are longer than this system takes, "+
				"or one of them is: hand long lists over by stdin: %w", name, err)
	case errors.Is(err, syscall.EACCES) && p.Sandbox != Off:
		return fmt.Errorf(
			"the command '%s' cannot be started: %w: if its file can be executed, then what runs it cannot be read "+
				"in the sandbox, and the host adds that to Read", name, err)
	case errors.Is(err, syscall.ENOEXEC):
		return fmt.Errorf("the command '%s' cannot be started: %w: a script has to begin with #! and what runs it",
			name, err)
	default:
		return fmt.Errorf("the command '%s' cannot be started: %w", name, err)
	}
}
