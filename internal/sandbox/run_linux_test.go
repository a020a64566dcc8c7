package sandbox_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace/internal/sandbox"
)

// The protection of an older kernel also works, except for signals before version 6: each escape fails, and the
// reported status is in force.
func TestRun_olderKernels(t *testing.T) {
	filtered(t)
	versions := sandbox.Features
	if testing.Short() {
		versions = versions[:1]
	}
	for _, version := range versions {
		t.Run(strconv.Itoa(version), func(t *testing.T) {
			p := newPlace(t).prepare(t)
			p.run = func(cmd *exec.Cmd, rules *sandbox.Rules) (sandbox.Status, error) {
				return sandbox.RunAs(version, true, cmd, rules)
			}
			for _, e := range escapes() {
				err := p.do(t, p.rules(t), e.act, e.args(p)...)
				if open := version < sandbox.VersionScope && (e.act == "signal" || e.act == "pidfd"); open != (err == nil) {
					t.Errorf("%s: %v", e.name, err)
				}
			}
			err := p.do(t, p.rules(t), "rename", filepath.Join(p.tree, "a", "one"), filepath.Join(p.tree, "b", "one"))
			if (err == nil) != (version > 1) || err != nil && !strings.Contains(err.Error(), "cross-device") {
				t.Errorf("rename between directories: %v", err)
			}
			err = p.do(t, p.rules(t), "openat2", filepath.Join(p.tree, "file"))
			if (err == nil) != (version > 2) || err != nil && !strings.Contains(err.Error(), "not implemented") {
				t.Errorf("openat2: %v", err)
			}
			cmd, _ := p.command("list", p.tree)
			got, err := p.run(cmd, p.rules(t))
			if want := (sandbox.Status{Files: fmt.Sprintf("landlock %d", version), Network: "seccomp"}); err != nil || got != want {
				t.Errorf("%+v, %v, want %+v", got, err, want)
			}
		})
	}
}

// If calls are not filtered, Landlock forbids TCP, and the status names Landlock; UDP stays open.
func TestRun_landlockAlone(t *testing.T) {
	protected(t)
	p := newPlace(t)
	for version, want := range map[int]sandbox.Status{
		sandbox.VersionTCP - 1: {Files: "landlock 3"}, sandbox.VersionTCP: {Files: "landlock 4", Network: "landlock"},
	} {
		var got sandbox.Status
		p.run = func(cmd *exec.Cmd, rules *sandbox.Rules) (status sandbox.Status, err error) {
			got, err = sandbox.RunAs(version, false, cmd, rules)
			return got, err
		}
		if err := p.do(t, p.rules(t), "dial", "tcp", p.tcp); (err == nil) != (want.Network == "") {
			t.Errorf("version %d: TCP: %v", version, err)
		}
		if got != want {
			t.Errorf("version %d: %+v, want %+v", version, got, want)
		}
		if err := p.do(t, p.rules(t), "read", filepath.Join(p.beside, "file")); err == nil {
			t.Error("a file was read")
		}
		if err := p.do(t, p.rules(t), "dial", "udp", p.udp); err != nil {
			t.Errorf("UDP, which nothing forbids: %v", err)
		}
	}
}

// With Network, a program can connect to the internet and listen; a socket of the system, which could start programs
// outside, is still refused.
func TestRun_network(t *testing.T) {
	filtered(t)
	p := newPlace(t)
	rules := p.rules(t)
	rules.Network = true
	for _, args := range [][]string{
		{"dial", "tcp", p.tcp}, {"listen", "tcp", "127.0.0.1:0"}, {"dial", "udp", p.udp}, {"socketpair"},
		{"socket", strconv.Itoa(unix.AF_NETLINK), strconv.Itoa(unix.SOCK_RAW)}, {"read", "/etc/hosts"},
	} {
		if err := p.do(t, rules, args[0], args[1:]...); err != nil {
			t.Errorf("%s: %v", args, err)
		}
	}
	for _, args := range [][]string{
		{"dial", "unix", p.unix}, {"dial", "unix", p.abstract}, {"dial", "unixgram", p.datagrams}, {"sendto", p.datagrams},
		{"uring"}, {"read", filepath.Join(p.beside, "file")}, {"signal", p.victim},
	} {
		if err := p.do(t, rules, args[0], args[1:]...); err == nil {
			t.Errorf("done inside: %s", args)
		}
	}
	cmd, _ := p.command("list", p.tree)
	if status, err := sandbox.Run(cmd, rules, nil); err != nil || status.Network != "" {
		t.Errorf("%+v, %v", status, err)
	}
}

// Invalid rules are found before anything is started.
func TestRun_rules(t *testing.T) {
	protected(t)
	p := newPlace(t)
	link := filepath.Join(p.tree, "link")
	if err := os.Symlink(p.beside, link); err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(p.tree, "missing")
	for name, c := range map[string]struct {
		rules sandbox.Rules
		want  string
	}{
		"missing to write": {sandbox.Rules{Write: []string{missing}}, "sandbox: a path that the command may write: open " + missing},
		"missing to read":  {sandbox.Rules{Read: []string{missing}}, "sandbox: a path that the command may read: open " + missing},
		"relative":         {sandbox.Rules{Read: []string{"lib"}}, `sandbox: the path "lib" is not absolute`},
		"empty":            {sandbox.Rules{Write: []string{""}}, `sandbox: the path "" is not absolute`},
	} {
		cmd := exec.Command("/bin/sh", "-c", "echo ran > "+filepath.Join(p.tree, "ran"))
		_, err := sandbox.Run(cmd, &c.rules, func(*os.Process) { t.Errorf("%s: started", name) })
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
		if strings.HasPrefix(name, "missing") && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v is not about a missing file", name, err)
		}
	}
	self := p.rules(t).Read[0]
	for _, c := range []struct {
		name    string
		rules   sandbox.Rules
		allowed bool
	}{
		{"a file", sandbox.Rules{Read: []string{self, filepath.Join(p.beside, "file")}}, true},
		{"a link to the tree", sandbox.Rules{Read: []string{self, link}}, true},
		{"a link below a writable directory", sandbox.Rules{Write: []string{p.tree}, Read: []string{self, link}}, false},
		{"a link below a writable directory, to write", sandbox.Rules{Write: []string{link, p.tree}, Read: []string{self}}, false},
		{"above", sandbox.Rules{Read: []string{filepath.Dir(p.beside), p.beside + "/a/..", self}}, true},
	} {
		if err := p.do(t, &c.rules, "read", filepath.Join(p.beside, "file")); (err == nil) != c.allowed {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// Run returns an error for a program that cannot be started. Successful and failed starts leave no open files and no
// restricted threads.
func TestRun_leavesNothing(t *testing.T) {
	protected(t)
	p := newPlace(t)
	count := func() int {
		open, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(open)
	}
	if _, err := sandbox.Run(exec.Command("/bin/true"), p.rules(t), nil); err != nil { // opens what the runtime keeps
		t.Fatal(err)
	}
	before := count()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 25 {
				if _, err := sandbox.Run(exec.Command("/bin/true"), p.rules(t), nil); err != nil {
					t.Error(err)
				}
				if _, err := sandbox.Run(exec.Command("/bin/missing"), p.rules(t), nil); !errors.Is(err, fs.ErrNotExist) {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	settle(t)
	if after := count(); after != before {
		t.Errorf("%d files are open, %d were", after, before)
	}
	if status, err := os.ReadFile("/proc/self/status"); err != nil || !strings.Contains(string(status), "NoNewPrivs:\t0\n") {
		t.Errorf("the first thread is restricted: %v\n%s", err, status)
	}
}

// A command leads a session and a group, and is reported while it runs.
func TestRun_session(t *testing.T) {
	p := newPlace(t)
	for _, rules := range []*sandbox.Rules{nil, p.rules(t)} {
		cmd, _ := p.command("wait")
		cmd.SysProcAttr = &unix.SysProcAttr{Setpgid: true}
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		var pid int
		_, err = sandbox.Run(cmd, rules, func(process *os.Process) {
			pid = process.Pid
			group, _ := unix.Getpgid(pid)
			session, _ := unix.Getsid(pid)
			if group != pid || session != pid {
				t.Errorf("process %d has group %d and session %d", pid, group, session)
			}
			_ = stdin.Close()
		})
		if err != nil || pid == 0 {
			t.Errorf("process %d: %v", pid, err)
		}
	}
}

// A command ends with the program that started it, however that ends.
func TestRun_endsWithTheProgram(t *testing.T) {
	for _, act := range []string{"host", "host-free"} {
		p := newPlace(t)
		cmd, out := p.command(act, p.tree)
		ready, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		reader, writer, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stdout = writer
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		_ = writer.Close()
		line := make([]byte, 32)
		n, err := reader.Read(line)
		pid, conversion := strconv.Atoi(strings.TrimSpace(string(line[:n])))
		if err != nil || conversion != nil {
			t.Fatal(err, conversion, out)
		}
		if err := unix.Kill(pid, 0); err != nil {
			t.Fatal("the command does not run: ", err)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = ready.Close()
		for unix.Kill(pid, 0) == nil { // until its new parent has collected it
			if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil && bytes.Contains(stat, []byte(") Z ")) {
				break
			}
		}
		_ = reader.Close()
	}
}

// A kernel without Landlock is reported as such, and everything else still works.
func TestSupported_without(t *testing.T) {
	for errno, want := range map[unix.Errno]string{
		unix.ENOSYS:     `{Files: Network:seccomp} files cannot be protected: the kernel has no Landlock`,
		unix.EOPNOTSUPP: `{Files: Network:seccomp} files cannot be protected: the kernel has turned Landlock off`,
		unix.EPERM:      `{Files: Network:seccomp} files cannot be protected: the kernel's Landlock cannot be used here`,
	} {
		p := newPlace(t)
		cmd, out := p.command("supported", p.tree, p.tcp, filepath.Join(p.beside, "file"))
		refused := make(chan error)
		sandbox.OnThread(func() {
			err := sandbox.Without(sandbox.LandlockCalls, errno)
			if err == nil {
				err = cmd.Run()
			}
			refused <- err
		})
		if err := <-refused; err != nil {
			t.Skipf("NOT TESTED: %v\n%s", err, out)
		}
		if !strings.HasPrefix(out.String(), want) || !strings.Contains(out.String(), "landlock-free: read, no TCP") {
			t.Errorf("%v: %s", errno, out)
		}
	}
}

// A sandbox inside a sandbox enforces the rules of both. Only the outer one can answer calls about modes, so the inner
// one refuses them.
func TestRun_nested(t *testing.T) {
	filtered(t)
	p := newPlace(t)
	if err := p.do(t, p.rules(t), "nested", filepath.Join(p.tree, "a"), p.tree, p.beside); err != nil {
		t.Error(err)
	}
}

// nested are acts that run commands themselves.
var nested = map[string]func(args []string) error{
	"host": func(args []string) error {
		_, err := sandbox.Run(exec.Command("/bin/sleep", "1000"), &sandbox.Rules{Write: args}, tell)
		return err
	},
	"host-free": func([]string) error { _, err := sandbox.Run(exec.Command("/bin/sleep", "1000"), nil, tell); return err },
	"nested": func(args []string) error {
		p := place{tree: args[0]}
		for _, c := range []struct {
			act, path string
			code      int
		}{
			{"create", args[0], 0}, {"create", args[1], 3}, {"create", args[2], 3}, {"read", args[1] + "/file", 3},
			{"chmod", args[0] + "/one", 3}, {"chmod", args[1] + "/file", 3},
		} {
			cmd, out := p.command(c.act, c.path)
			if code := exitCode(cmd, args[0]); code != c.code {
				return fmt.Errorf("%s %s ends with %d: %s", c.act, c.path, code, out)
			}
		}
		cmd, out := p.command("chmod", args[1]+"/file")
		if err := cmd.Run(); err != nil { // the sandbox outside still answers
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	},
	"supported": func(args []string) error {
		status, err := sandbox.Supported()
		fmt.Printf("%+v %v\n", status, err)
		p := place{tree: args[0]}
		if cmd, _ := p.command("dial", "tcp", args[1]); exitCode(cmd, args[0]) != 3 {
			return errors.New("TCP was open")
		}
		if cmd, _ := p.command("read", args[2]); exitCode(cmd, args[0]) != 0 {
			return errors.New("a file was protected")
		}
		fmt.Println("landlock-free: read, no TCP")
		return nil
	},
}

// exitCode runs a command under rules.
func exitCode(cmd *exec.Cmd, tree string) int {
	self, _ := os.Executable()
	_, err := sandbox.Run(cmd, &sandbox.Rules{Write: []string{tree}, Read: []string{self}}, nil)
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		return ended.ExitCode()
	}
	if err != nil {
		return -1
	}
	return 0
}

// tell reports which process was started.
func tell(process *os.Process) { fmt.Println(process.Pid) }

// BenchmarkRun measures the cost to start a command, with the sandbox and without.
func BenchmarkRun(b *testing.B) {
	tree := b.TempDir()
	for _, c := range []struct {
		name  string
		rules *sandbox.Rules
	}{{"sandbox", &sandbox.Rules{Write: []string{tree}}}, {"none", nil}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := sandbox.Run(exec.Command("/bin/true"), c.rules, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
