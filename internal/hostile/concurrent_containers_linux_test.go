package hostile_test

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/capability"
)

// contained makes the process the first one of its own pid namespace, as in a container with the host's name.
func contained(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID, Pdeathsig: syscall.SIGKILL}
}

// inContainers runs the test with the kinds of file system that have their lock in the tree.
func inContainers(t *testing.T, test func(t *testing.T, b *backend)) {
	t.Helper()
	probe := exec.CommandContext(t.Context(), "true")
	contained(probe)
	if err := probe.Run(); err != nil {
		t.Skipf("a pid namespace cannot be made: %v", err)
	}
	for _, name := range []string{"root", "plain", "hiding"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, backendOver(t, newBackend(t, "plain"), name))
		})
	}
}

// runContained increments the counter in its own container, and returns its output.
func runContained(t *testing.T, b *backend, wait time.Duration) string {
	t.Helper()
	cmd := command(t, "run", b.name, b.dir, wait.String())
	contained(cmd)
	out, err := cmd.Output()
	if err != nil {
		t.Error(err)
	}
	return strings.TrimSpace(string(out))
}

// Two containers on one machine have one host name, and each has its own process 1. A living process in one container
// is not mistaken for dead in the other.
func TestHostile_a_lock_held_in_another_container(t *testing.T) {
	t.Parallel()
	inContainers(t, func(t *testing.T, b *backend) {
		h := startHolder(t, b, "step", contained)
		if got := runContained(t, b, 30*time.Millisecond); got != "locked" {
			t.Errorf("in another container: %q", got)
		}
		impatient := host()
		impatient.State.LockWait = 30 * time.Millisecond
		if _, err := impatient.Run(t.Context(), b.fs, countUp(t)); !errors.Is(err, capability.ErrLocked) {
			t.Errorf("outside of the container: %v", err)
		}
		h.release(t)
		if got := b.content(t, "a.txt"); got != "+alpha needle\n" {
			t.Errorf("a.txt is %q", got)
		}
	})
}

// A container is killed and restarted: the run in it has the process number of the previous one. It continues if the
// system releases the locks of the dead. If not, a dead run cannot be distinguished from a living run in another
// container, so the error names the file to remove.
func TestHostile_a_container_started_again_with_the_same_process_number(t *testing.T) {
	t.Parallel()
	inContainers(t, func(t *testing.T, b *backend) {
		h := startHolder(t, b, "apply", contained)
		h.kill(t)
		if b.name == "hiding" {
			impatient := host()
			impatient.State.LockWait = 30 * time.Millisecond
			_, err := impatient.Run(t.Context(), b.fs, countUp(t))
			if !errors.Is(err, capability.ErrLocked) || !strings.Contains(err.Error(), "process 1 on") || !strings.Contains(err.Error(), "remove .millrace/lock") {
				t.Errorf("error is %v", err)
			}
			if err := b.fs.RemoveAll(".millrace/lock"); err != nil {
				t.Fatal(err)
			}
		}
		if got := runContained(t, b, patience); got != "done" {
			t.Errorf("the container prints %q", got)
		}
		if got := b.content(t, "a.txt"); got != "+alpha needle\n" {
			t.Errorf("a.txt is %q", got)
		}
		if found, err := (millrace.Executor{}).Inspect(t.Context(), b.fs); err != nil || !found.Clean() {
			t.Errorf("left over: %+v, %v", found, err)
		}
	})
}

// The holder is killed before it has recorded its name, at each moment.
func TestHostile_a_holder_that_dies_while_it_takes_the_lock(t *testing.T) {
	t.Parallel()
	for what, plantIt := range map[string]func(b *backend) error{
		"a mark without a name": func(b *backend) error { return b.fs.MkdirAll(".millrace/lock", 0o700) },
		"half a name":           func(b *backend) error { return plantOwner(b, ".millrace/lock", `{"host": "x`) },
		"an empty name beside it": func(b *backend) error {
			return errors.Join(b.fs.MkdirAll(".millrace/lock", 0o700), plantOwner(b, ".millrace/lock-x.owner", ""))
		},
		"a mark moved aside": func(b *backend) error { return plantOwner(b, ".millrace/lock-x", `{}`) },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			for _, name := range []string{"root", "plain", "hiding"} {
				b := backendOver(t, newBackend(t, "plain"), name)
				if err := plantIt(b); err != nil {
					t.Fatal(err)
				}
				within(t, patience, func(ctx context.Context) {
					if _, err := host().Run(ctx, b.fs, countUp(t)); err != nil {
						t.Errorf("%s: %v", name, err)
					}
				})
			}
		})
	}
}

// plantOwner writes the owner of a mark: into the directory of the mark, or into the file if the name ends in .owner.
func plantOwner(b *backend, name, text string) error {
	if strings.HasSuffix(name, ".owner") {
		return afero.WriteFile(b.fs, name, []byte(text), 0o600)
	}
	return errors.Join(b.fs.MkdirAll(name, 0o700), afero.WriteFile(b.fs, name+"/owner", []byte(text), 0o600))
}
