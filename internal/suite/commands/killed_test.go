package commands_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/internal/suite"
)

// asHost makes the test binary act as a host that is killed.
const asHost = "MILLRACE_TEST_HOST"

// TestBeHost is such a host: it prints the output of its command, and does not end.
func TestBeHost(t *testing.T) {
	where := os.Getenv(asHost)
	if where == "" {
		t.Skip("only TestHostIsKilled starts this test")
	}
	dir, scratch, _ := strings.Cut(where, "|")
	x := millrace.Executor{
		State:    millrace.State{NoSync: true},
		Commands: command.Policy{Shell: true, Sandbox: command.Off, Scratch: scratch},
		Observe: func(e millrace.Event) {
			if e, ok := e.(millrace.StepOutput); ok {
				fmt.Print("said ", e.Text)
			}
		},
	}
	fsys := afero.NewBasePathFs(afero.NewOsFs(), dir)
	_, _ = x.Run(t.Context(), fsys, suite.One(script(`
		while :; do echo late >> "$PWD/late.txt"; sleep 0.01; done &
		echo $! $$; wait`)))
}

// When a host is killed while a command runs, the next run on the tree is free of that command's remains.
func TestHostIsKilled(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has /proc, which is needed to find the remains")
	}
	dir, fsys := suite.Rooted(t, "a.txt", "one\n")
	x := host(t)
	host := exec.Command(os.Args[0], "-test.run=^TestBeHost$")
	host.Env = append(os.Environ(), asHost+"="+dir+"|"+x.Commands.Scratch)
	out, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	var child, shell int
	for lines := bufio.NewScanner(out); shell == 0 && lines.Scan(); {
		_, _ = fmt.Sscanf(lines.Text(), "said %d %d", &child, &shell)
	}
	_ = host.Process.Kill()
	_ = host.Wait()
	if child == 0 || shell == 0 {
		t.Fatal("the host has run no command")
	}
	for range 10_000 { // the shell ends after its host
		if !lives(shell) {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if !lives(child) || lives(shell) {
		t.Fatalf("the child lives: %v, the shell lives: %v", lives(child), lives(shell))
	}
	res := run(t, x, fsys, suite.One(script("ls; echo x >> a.txt")))
	if got := exit(t, res, 0)["stdout"]; got != "a.txt\n" {
		t.Errorf("the tree has %q", got)
	}
	if lives(child) {
		t.Error("the child is still running")
		if p, err := os.FindProcess(child); err == nil {
			_ = p.Kill()
		}
	}
	wantText(t, fsys, "a.txt", "one\nx\n")
	wantText(t, fsys, "late.txt", "")
	empty(t, x)
}

// lives reports whether a process runs.
func lives(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	_, rest, _ := strings.Cut(string(stat), ") ")
	return err == nil && rest != "" && rest[0] != 'Z' && rest[0] != 'X'
}
