package hostile_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/rootfs"
)

// holder is another process in the middle of a run that increments a counter in a.txt.
type holder struct {
	cmd *exec.Cmd
	in  io.WriteCloser
}

// startHolder starts a run in another process and returns when it has reached the place: "step", or a phase of the
// commit.
func startHolder(t *testing.T, b *backend, at string, prepare ...func(cmd *exec.Cmd)) *holder {
	t.Helper()
	h := &holder{cmd: command(t, "hold", b.name, b.dir, at)}
	h.cmd.Env = append(h.cmd.Env, "HOME="+os.Getenv("HOME"))
	for _, p := range prepare {
		p(h.cmd)
	}
	out, err := h.cmd.StdoutPipe()
	if err == nil {
		h.in, err = h.cmd.StdinPipe()
	}
	if err == nil {
		err = h.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.cmd.Process.Kill() }) // if it has not ended yet
	within(t, patience, func(context.Context) {
		line, err := bufio.NewReader(out).ReadString('\n')
		if line != "holding\n" {
			t.Errorf("the other process prints %q, %v", line, err)
		}
	})
	return h
}

// release lets the other process continue, and waits for it.
func (h *holder) release(t *testing.T) {
	t.Helper()
	if err := errors.Join(h.in.Close(), h.cmd.Wait()); err != nil {
		t.Errorf("the other process: %v", err)
	}
}

// kill ends it without a warning.
func (h *holder) kill(t *testing.T) {
	t.Helper()
	if err := h.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = h.cmd.Wait() // the error is that it was killed
}

// holdChild is the other process.
func holdChild(args []string) error {
	name, dir, at := args[0], args[1], args[2]
	fsys, err := opened(name, dir)
	if err != nil {
		return err
	}
	p, err := millrace.Decode([]byte(`{"name": "hold", "steps": [
		{"id": "s", "action": "regex_transform", "params": {"files": ["a.txt"], "patterns": [{"pattern": "\\A", "replacement": "+"}]}},
		{"id": "c", "action": "copy", "params": {"files": ["b.txt"], "to": "dir/copied.txt"}},
		{"id": "d", "action": "delete", "params": {"files": ["dir/c.txt"]}}]}`))
	if err != nil {
		return err
	}
	x := host()
	x.Observe = func(e millrace.Event) {
		step, isStep := e.(millrace.StepStarted)
		phase, isPhase := e.(millrace.CommitPhase)
		if isStep && at == "step" && step.Index == 0 || isPhase && phase.Phase == at {
			fmt.Println("holding")
			_, _ = io.Copy(io.Discard, os.Stdin) // until the process that started this one closes it
		}
	}
	_, err = x.Run(context.Background(), fsys, p)
	return err
}

// opened returns the file system with that name over a directory, as a backend has it.
func opened(name, dir string) (afero.Fs, error) {
	below := afero.NewBasePathFs(afero.NewOsFs(), dir)
	switch name {
	case "os":
		return below, nil
	case "plain":
		return plain(below), nil
	case "hiding": // it does not expose the handles of the operating system
		return errorfs.Wrap(plain(below), nil), nil
	default:
		return rootfs.Open(dir)
	}
}

// runChild increments the counter once, and prints "done", or "locked" if another process holds the tree.
func runChild(args []string) error {
	fsys, err := opened(args[0], args[1])
	if err != nil {
		return err
	}
	x := host()
	if x.State.LockWait, err = time.ParseDuration(args[2]); err != nil {
		return err
	}
	p, err := millrace.Decode([]byte(`{"name": "count", "steps": [
		{"id": "s", "action": "regex_transform", "params": {"files": ["a.txt"], "patterns": [{"pattern": "\\A", "replacement": "+"}]}}]}`))
	if err != nil {
		return err
	}
	switch _, err = x.Run(context.Background(), fsys, p); {
	case errors.Is(err, capability.ErrLocked):
		fmt.Println("locked")
		return nil
	case err == nil:
		fmt.Println("done")
	}
	return err
}

// handlesChild prints the open handles that it inherited, and lives until its standard input is closed.
func handlesChild([]string) error {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return err
	}
	var open []string
	for _, e := range entries {
		if target, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil {
			open = append(open, target)
		}
	}
	fmt.Println(strings.Join(open, "\t"))
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}
