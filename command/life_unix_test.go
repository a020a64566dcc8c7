//go:build unix

package command_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/millrace-go/millrace/command"
)

// alive reports whether a process really runs, not only whether its number exists.
func alive(pid int) bool {
	if runtime.GOOS == "linux" {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		_, rest, _ := bytes.Cut(stat, []byte(") "))
		return err == nil && len(rest) > 0 && rest[0] != 'Z' && rest[0] != 'X'
	}
	return syscall.Kill(pid, 0) == nil
}

// marked returns the pids in a file.
func marked(t testing.TB, file string) []int {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for line := range strings.Lines(string(text)) {
		pid, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil {
			t.Fatalf("%q", text)
		}
		pids = append(pids, pid)
	}
	return pids
}

// gone fails the test if any of the processes is alive.
func gone(t testing.TB, file string) {
	t.Helper()
	for _, pid := range marked(t, file) {
		if alive(pid) {
			t.Errorf("process %d is left", pid)
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// TestNothingIsLeft: when Run has returned, no process that the command has started runs any more, however it was
// started.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		ways  string
		linux bool // found only with /proc
	}{
		{"in the group", "", false},
		{"with the output open", "o", false},
		{"in a group of its own", "g", true},
		{"in a session of its own", "s", true},
		{"in a session of its own, with the output open", "so", true},
		{"in the group, without an environment", "e", false},
		{"in a group of its own, without an environment", "ge", true},
	}
	for _, tt := range tests {
		for _, stays := range []string{"linger", "deaf", "mute"} {
			t.Run(tt.name+"/"+stays, func(t *testing.T) {
				t.Parallel()
				if tt.linux && runtime.GOOS != "linux" {
					t.Skip("only Linux has /proc, by which what has left the group is found")
				}
				file := filepath.Join(t.TempDir(), "pids")
				exit := run(t, acting(t), an(t, "leave", tt.ways, file, stays, file))
				if exit.Code != 0 || exit.Signal != "" {
					t.Errorf("it ended with %+v", exit)
				}
				gone(t, file)
			})
		}
	}
	// A process whose parent has exited as well: a daemon.
	t.Run("a daemon", func(t *testing.T) {
		t.Parallel()
		if runtime.GOOS != "linux" {
			t.Skip("only Linux has /proc, by which what has left the group is found")
		}
		file := filepath.Join(t.TempDir(), "pids")
		run(t, acting(t), an(t, "leave", "s", file, "leave", "s", file, "mute", file))
		gone(t, file)
	})
	t.Run("many that start many", func(t *testing.T) {
		t.Parallel()
		if runtime.GOOS != "linux" {
			t.Skip("only Linux has /proc, by which what has left the group is found")
		}
		file := filepath.Join(t.TempDir(), "pids")
		run(t, acting(t), an(t, "leave", "s", file, "bomb", "4", file))
		gone(t, file)
	})
}

// ending runs a command that does not end alone, and ends its context after its first output.
func ending(t *testing.T, p command.Policy, c command.Command) (command.Exit, error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c.OnOutput = func(string, string) { cancel() }
	return p.Run(ctx, c)
}

func TestContextEnds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ stays, signal string }{{"linger", "SIGTERM"}, {"deaf", "SIGKILL"}, {"mute", "SIGTERM"}} {
		t.Run(tt.stays, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "pids")
			exit, err := ending(t, acting(t), an(t, tt.stays, file))
			if !errors.Is(err, context.Canceled) || exit.Signal != tt.signal || exit.Code != -1 || exit.Stdout.Text != "there\n" {
				t.Errorf("it ended with %+v, %v; want %s", exit, err, tt.signal)
			}
			gone(t, file)
		})
	}
	t.Run("children too", func(t *testing.T) {
		t.Parallel()
		file := filepath.Join(t.TempDir(), "pids")
		program, _ := self(t)
		// The script waits for both, so that their parent exists when the context ends.
		text := fmt.Sprintf("'%[1]s' act deaf '%[2]s' & '%[1]s' act linger '%[2]s' & wait", program, file)
		_, err := ending(t, acting(t), script(text))
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		gone(t, file)
	})
	t.Run("those of a host in it", func(t *testing.T) {
		t.Parallel()
		if runtime.GOOS != "linux" {
			t.Skip("only Linux has /proc, by which what has left the group is found")
		}
		file := filepath.Join(t.TempDir(), "pids")
		_, err := ending(t, acting(t), an(t, "host", t.TempDir(), "father", file))
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		gone(t, file)
	})
	t.Run("before", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := acting(t).Run(ctx, script("exit 0")); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	t.Run("a clean end is not a success", func(t *testing.T) {
		t.Parallel()
		exit, err := ending(t, acting(t), script("trap 'exit 0' TERM; echo there; while :; do sleep 0.01; done"))
		if !errors.Is(err, context.Canceled) || exit.Code != 0 {
			t.Errorf("%+v, %v", exit, err)
		}
	})
	t.Run("the policy's time", func(t *testing.T) {
		t.Parallel()
		p := acting(t)
		p.MaxTimeout = time.Millisecond
		_, err := p.Run(t.Context(), script("while :; do :; done"))
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(fmt.Sprint(err), "longer than the host allows, which is 1ms") {
			t.Error(err)
		}
	})
}

// host runs the test binary as a host.
func host(dir string, words []string) int {
	program, _ := os.Executable()
	p := command.Policy{Allow: []string{command.Pattern(program) + " *"}, Sandbox: command.Off, Scratch: dir}
	_, _ = p.Run(context.Background(), command.Command{
		Words: append([]string{program, "act"}, words...), Root: dir,
		OnOutput: func(_, text string) { fmt.Print(text) },
	})
	return 0
}

// TestHostIsKilled: when the host is killed, its command dies too.
func TestHostIsKilled(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux kills a process when its father dies")
	}
	file := filepath.Join(t.TempDir(), "pids")
	cmd := again(false, os.Environ(), "act", "host", t.TempDir(), "deaf", file)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "there\n" {
		t.Fatalf("%q, %v", line, err)
	}
	pids := marked(t, file)
	if len(pids) != 1 || !alive(pids[0]) {
		t.Fatalf("pids %v", pids)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	for range 10_000 {
		if !alive(pids[0]) {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Error("the command lives on without its host")
	gone(t, file)
}

// TestReap: processes left by the command of a killed host are found by their tree, and no other processes are.
func TestReap(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has /proc, by which what is left is found")
	}
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "pids")
	cmd := again(false, os.Environ(), "act", "host", dir, "father", file)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "there\n" {
		t.Fatalf("%q, %v", line, err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	// A process without a command, and a process of a command with another directory.
	none := again(true, append(os.Environ(), "ROOT="+dir), "act", "linger", filepath.Join(dir, "none"))
	other := again(true, append(os.Environ(), "ROOT="+dir, "MILLRACE_EXEC=x-0123456789abcdef"), "act", "linger", filepath.Join(dir, "other"))
	for _, stays := range []*exec.Cmd{none, other} {
		out, err := stays.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := stays.Start(); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(out).ReadString('\n'); line != "there\n" {
			t.Fatalf("%q, %v", line, err)
		}
		defer func() { _ = stays.Process.Kill(); _ = stays.Wait() }()
	}
	left := marked(t, file)
	if len(left) != 1 || !alive(left[0]) {
		t.Fatalf("left is %v", left)
	}
	if err := command.Reap(dir); err != nil {
		t.Fatal(err)
	}
	gone(t, file)
	if !alive(none.Process.Pid) || !alive(other.Process.Pid) {
		t.Error("a process of no command was killed")
	}
}

// TestEscaped: a process that has left the group, has no environment and holds the output open is not found, and the
// error reports that.
func TestEscaped(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pids")
	exit, err := acting(t).Run(t.Context(), an(t, "leave", "seo", file, "linger", file))
	if err == nil || !strings.Contains(err.Error(), "holds its output open") || exit.Stdout.Text != "there\n" {
		t.Errorf("%+v, %v", exit, err)
	}
	for _, pid := range marked(t, file) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

func TestSignals(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		script, signal string
		code           int
	}{{"exit 0", "", 0}, {"exit 7", "", 7}, {"exit 255", "", 255}, {"kill -9 $$", "SIGKILL", -1}, {"kill -SEGV $$", "SIGSEGV", -1}} {
		if exit := run(t, acting(t), script(tt.script)); exit.Code != tt.code || exit.Signal != tt.signal {
			t.Errorf("%s ended with %+v", tt.script, exit)
		}
	}
}

// TestBusy: a program that was just written may still be open in a process that another goroutine has just started.
// That passes, so Run waits.
func TestBusy(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere a program may be written while it runs")
	}
	program, err := exec.LookPath("true")
	if err != nil {
		t.Skip("no program could be copied")
	}
	text, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	p := acting(t)
	p.Allow = []string{"./*"}
	name := func(i int) string { return fmt.Sprintf("true%d", i) }
	t.Run("many at once", func(t *testing.T) {
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				for j := range 20 {
					file := name(100*i + j)
					if err := os.WriteFile(filepath.Join(root, file), text, 0o700); err != nil {
						t.Error(err)
					}
					exit, err := p.Run(t.Context(), command.Command{Words: []string{"./" + file}, Root: root})
					if err != nil || exit.Code != 0 {
						t.Errorf("%+v, %v", exit, err)
					}
				}
			})
		}
		wg.Wait()
	})
	held, err := os.OpenFile(filepath.Join(root, "held"), os.O_CREATE|os.O_WRONLY, 0o700)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := held.Write(text); err != nil {
		t.Fatal(err)
	}
	c := command.Command{Words: []string{"./held"}, Root: root}
	_, err = p.Run(t.Context(), c)
	if err == nil {
		t.Skip("this kernel lets a program be written while it runs")
	}
	if !errors.Is(err, syscall.ETXTBSY) {
		t.Errorf("a program that is held open came as %v", err)
	}
	time.AfterFunc(20*time.Millisecond, func() { _ = held.Close() })
	if exit := run(t, p, c); exit.Code != 0 {
		t.Errorf("%+v", exit)
	}
}
