package command_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/millrace-go/millrace/command"
)

// confined returns a policy with a sandbox, on a system that has one.
func confined(t testing.TB) command.Policy {
	t.Helper()
	p := acting(t)
	p.Sandbox = command.Required
	if err := p.Supported(); err != nil {
		t.Skipf("this system has no sandbox: %v", err)
	}
	return p
}

// TestSandbox: a command can do what the policy allows, and nothing else.
func TestSandbox(t *testing.T) {
	t.Parallel()
	top := t.TempDir() // not only below /tmp: everything in it is closed
	root, outside, read, written, shared := filepath.Join(top, "root"), filepath.Join(top, "outside"), filepath.Join(top, "read"),
		filepath.Join(top, "write"), filepath.Join(top, "shared")
	for _, dir := range []string{root, outside, read, written, shared} {
		write(t, filepath.Join(dir, "file"), "text of "+filepath.Base(dir)+"\n")
	}
	p := confined(t)
	p.Read, p.Write = []string{read}, []string{written}
	for _, tt := range []struct {
		script string
		works  bool
	}{
		{"echo x > new && rm new && cat file", true},
		{"echo x > \"$TMPDIR\"/new && echo x > \"$HOME\"/new", true},
		{"echo x > \"$MILLRACE_SHARED\"/new", true},
		{"cat " + read + "/file", true},
		{"cat " + written + "/file && echo x > " + written + "/new", true},
		{"ls /usr/bin /etc /proc/self >/dev/null && echo x >/dev/null && head -c 1 /dev/urandom >/dev/null", true},
		{"echo x > " + read + "/new", false},
		{"cat " + outside + "/file", false},
		{"echo x > " + outside + "/new", false},
		{"rm " + outside + "/file", false},
		{"mv file " + outside + "/moved", false},
		{"ln -s " + outside + "/file link && cat link", false},
		{"ln " + outside + "/file hard", false},
		{fmt.Sprintf("cat /proc/%d/environ", os.Getpid()), false},
	} {
		c := script(tt.script)
		c.Root, c.Shared = root, shared
		exit := run(t, p, c)
		if (exit.Code == 0) != tt.works {
			t.Errorf("%s: %d, %s%s", tt.script, exit.Code, exit.Stdout.Text, exit.Stderr.Text)
		}
		if !strings.HasPrefix(exit.Sandbox["files"], "landlock ") {
			t.Errorf("in force was %v", exit.Sandbox)
		}
	}
	if text, err := os.ReadFile(filepath.Join(outside, "file")); string(text) != "text of outside\n" {
		t.Errorf("%q, %v", text, err)
	}
	for sandbox, want := range map[command.Sandbox]bool{command.Off: true, command.BestEffort: false} {
		p.Sandbox = sandbox
		c := script("cat " + outside + "/file")
		c.Root = root
		if exit := run(t, p, c); (exit.Code == 0) != want || (len(exit.Sandbox) == 0) != want {
			t.Errorf("with the sandbox %v: %+v", sandbox, exit)
		}
	}
}

// TestNetwork: commands have no network, unless the policy allows it.
func TestNetwork(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_ = conn.Close()
		}
	}()
	for _, network := range []bool{false, true} {
		p := confined(t)
		p.Network = network
		exit := run(t, p, an(t, "dial", listener.Addr().String()))
		if (exit.Code == 0) != network || (exit.Sandbox["network"] == "") != network {
			t.Errorf("with network %v: %+v", network, exit)
		}
	}
}

// TestNothingIsLeftInASandbox: the confinement of a process does not hide the process.
func TestNothingIsLeftInASandbox(t *testing.T) {
	t.Parallel()
	p := confined(t)
	for _, ways := range []string{"s", "g", "so", "ge"} {
		root := t.TempDir()
		file := filepath.Join(root, "pids")
		c := an(t, "leave", ways, file, "deaf", file)
		c.Root = root
		run(t, p, c)
		gone(t, file)
	}
	root := t.TempDir()
	c := an(t, "deaf", filepath.Join(root, "pids"))
	c.Root = root
	if exit, err := ending(t, p, c); exit.Signal != "SIGKILL" {
		t.Errorf("%+v, %v", exit, err)
	}
	gone(t, filepath.Join(root, "pids"))
}

// TestHostIsFree: while commands run in a sandbox, the rest of this program is not confined, and afterwards no thread
// is. It does not run in parallel with tests that run commands.
func TestHostIsFree(t *testing.T) {
	p := confined(t)
	outside := filepath.Join(t.TempDir(), "file")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 5 {
				run(t, p, script("exit 0"))
				if err := os.WriteFile(outside, nil, 0o600); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	var restricted []string
	for range 10_000 { // a thread that has done its work needs a moment to end
		restricted = nil
		threads, err := filepath.Glob("/proc/self/task/*/status")
		if err != nil || len(threads) == 0 {
			t.Fatal(threads, err)
		}
		for _, thread := range threads {
			status, err := os.ReadFile(thread)
			if err == nil && len(status) > 0 && !strings.Contains(string(status), "NoNewPrivs:\t0\n") {
				restricted = append(restricted, thread)
			}
		}
		if len(restricted) == 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("these threads are restricted: %q", restricted)
}

// TestProgramOutside: a program that the policy allows can be read in the sandbox anywhere; its other files must be in
// Read.
func TestProgramOutside(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program := filepath.Join(dir, "tool")
	write(t, program, "#!/bin/sh\ncat "+dir+"/data\n")
	write(t, filepath.Join(dir, "data"), "data\n")
	p := confined(t)
	p.Allow = []string{program}
	if exit := run(t, p, command.Command{Words: []string{program}}); exit.Code == 0 {
		t.Errorf("%+v", exit)
	}
	p.Read = []string{dir}
	if exit := run(t, p, command.Command{Words: []string{program}}); exit.Stdout.Text != "data\n" {
		t.Errorf("%+v", exit)
	}
	p.Read = []string{filepath.Join(dir, "none")}
	_, err := p.Run(t.Context(), command.Command{Words: []string{program}})
	if err == nil || !strings.Contains(err.Error(), "may read") || !strings.Contains(err.Error(), filepath.Join(dir, "none")) {
		t.Errorf("a path that is not there came as %v", err)
	}
	p.Read = nil
	write(t, program, "#!"+dir+"/data\n")
	_, err = p.Run(t.Context(), command.Command{Words: []string{program}})
	if err == nil || !strings.Contains(err.Error(), "the host adds that to Read") || strings.Contains(err.Error(), "fork") {
		t.Error(err)
	}
}
