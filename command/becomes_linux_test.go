package command_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/internal/fstest"
)

// eachRound calls test several times, for a command that leaves eight processes in new sessions.
func eachRound(t *testing.T, test func(p command.Policy, i int)) {
	t.Helper()
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("setsid is missing")
	}
	p := acting(t)
	rounds := fstest.Runs(5, 20, 2000)
	for i := range rounds {
		test(p, i)
	}
	fstest.Countf(t, "%d commands that leave eight processes", rounds)
}

// TestBecomesAnother: a process in a new session that is executing a new program does not show its environment for a
// moment. It does not escape.
func TestBecomesAnother(t *testing.T) {
	t.Parallel()
	eachRound(t, func(p command.Policy, i int) {
		mark := fmt.Sprintf("3%d.%d", i, os.Getpid())
		run(t, p, script("for i in 1 2 3 4 5 6 7 8; do setsid sleep "+mark+" > /dev/null 2>&1 & done"))
		lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, line := range lines {
			if text, err := os.ReadFile(line); err == nil && bytes.Contains(text, []byte(mark)) {
				t.Fatalf("round %d: %s is %q", i, line, text)
			}
		}
	})
}

// TestKilledTogether: a script that a command has left does not continue when the program that it waits for is killed
// first.
func TestKilledTogether(t *testing.T) {
	t.Parallel()
	eachRound(t, func(p command.Policy, i int) {
		c := script("for i in 1 2 3 4 5 6 7 8; do setsid sh -c 'sleep 600; echo on >> went' > /dev/null 2>&1 & done; sleep 0.05")
		c.Root = t.TempDir()
		run(t, p, c)
		if text, err := os.ReadFile(filepath.Join(c.Root, "went")); err == nil {
			t.Fatalf("round %d: scripts went on: %q", i, text)
		}
	})
}
