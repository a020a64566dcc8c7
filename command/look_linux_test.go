package command

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/millrace-go/millrace/internal/fstest"
)

// TestLooksWhileItBecomesAnother: a process that executes one program after another is always found or examined again,
// and never taken for a process of another command. Its environment is longer than the first read.
func TestLooksWhileItBecomesAnother(t *testing.T) {
	t.Parallel()
	again := filepath.Join(t.TempDir(), "again")
	fstest.Must(t, os.WriteFile(again, []byte("#!/bin/sh\nexec \"$0\"\n"), 0o700))
	const token = "LOOKED_FOR=7f3b"
	cmd := exec.Command(again)
	cmd.Env = []string{"LONG=" + strings.Repeat("x", 20_000), token}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Skip("no script can be run: ", err)
	}
	defer cmd.Wait()         //nolint:errcheck // it is killed
	defer cmd.Process.Kill() //nolint:errcheck // it may have failed alone
	var found [3]int
	looks := fstest.Runs(2000, 20_000, 1_000_000)
	for range looks {
		h := hunt{is: func(_ string, env []byte, _, _ int) bool { return bytes.Contains(env, []byte(token)) }, known: make(map[int]bool)}
		found[h.look(cmd.Process.Pid)]++
	}
	fstest.Countf(t, "%d looks: %d times the program, %d times one to be looked at again", looks, found[ours], found[gone])
	if found[others] > 0 || found[ours] == 0 {
		t.Errorf("%d times one of others, %d times the program", found[others], found[ours])
	}
}

// TestLooksWhileItEnds: a process that is ending is not taken for a process of another command, because it may have
// left a child just before. Its end takes a while, because it frees much memory, and during that time it does not show
// its environment.
func TestLooksWhileItEnds(t *testing.T) {
	t.Parallel()
	const token = "LOOKED_FOR=2c91"
	var found [3]int
	for range 20 {
		cmd := exec.Command("dd", "if=/dev/zero", "of=/dev/null", "bs=64M", "count=1")
		cmd.Env = []string{token}
		if err := cmd.Start(); err != nil {
			t.Skip("dd is missing, which takes as much memory as the test wants: ", err)
		}
		dir := filepath.Join("/proc", strconv.Itoa(cmd.Process.Pid))
		for stat(dir).state == alive {
			h := hunt{is: func(_ string, env []byte, _, _ int) bool { return bytes.Contains(env, []byte(token)) }, known: make(map[int]bool)}
			found[h.look(cmd.Process.Pid)]++
		}
		fstest.Must(t, cmd.Wait())
	}
	fstest.Countf(t, "%d times the program, %d times one to be looked at again", found[ours], found[gone])
	if found[others] > 0 || found[ours] == 0 || found[gone] == 0 {
		t.Errorf("%d times one of others, %d times the program, %d times one to be looked at again", found[others], found[ours], found[gone])
	}
}
