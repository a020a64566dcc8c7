package sandboxed_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/millrace-go/millrace/internal/suite"
)

// address returns the address of bytes for the kernel.
func address(b []byte) uintptr { return uintptr(unsafe.Pointer(&b[0])) }

// world is a tree, a host that runs this program on it as a command, and the resources that the command must not reach.
type world struct {
	host     millrace.Executor
	fsys     *rootfs.FS
	tree     string // path of the real tree
	secret   string // a directory of the user
	process  string
	tcp, udp string
	unix     string
	abstract string
}

// newWorld makes a world. It skips on systems without a sandbox.
func newWorld(t *testing.T) world {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w := world{secret: t.TempDir(), process: strconv.Itoa(os.Getpid())}
	w.tree, w.fsys = suite.Rooted(t, "a.txt", "one\n", "d/b.txt", "two\n", "run.sh", "#!/bin/sh\n")
	w.host = millrace.Executor{State: millrace.State{NoSync: true}, Commands: command.Policy{
		Allow: []string{command.Pattern(self) + " *"}, StepEnv: []string{"SANDBOXED_ACT"}, Scratch: t.TempDir(),
		Env: map[string]string{"GORACE": os.Getenv("GORACE")},
	}}
	if err := w.host.Commands.Supported(); err != nil {
		t.Skipf("NOT TESTED: %v", err)
	}
	if err := os.WriteFile(filepath.Join(w.secret, "key"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.unix, w.abstract = filepath.Join(w.secret, "socket"), "@millrace-suite-"+filepath.Base(filepath.Dir(w.secret))+filepath.Base(w.secret)
	w.tcp = w.listen(t, "tcp", "127.0.0.1:0")
	w.listen(t, "unix", w.unix)
	w.listen(t, "unix", w.abstract)
	packets, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = packets.Close() })
	w.udp = packets.LocalAddr().String()
	return w
}

func (w world) listen(t *testing.T, network, address string) string {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().String()
}

// step returns a command that does an act.
func step(act string, args ...string) actions.Exec {
	self, _ := os.Executable() // checked before
	return actions.Exec{Command: self, Args: args, Env: map[string]string{"SANDBOXED_ACT": act}, OKCodes: []int{0, 3}}
}

// do runs an act in a pipeline, and returns its exit status and the sandbox that was in force.
func (w world) do(t *testing.T, x millrace.Executor, act string, args ...string) (int, map[string]any) {
	t.Helper()
	res, err := x.Run(t.Context(), w.fsys, suite.One(step(act, args...)))
	if err != nil {
		t.Fatalf("%s %q: %v, %+v", act, args, err, res)
	}
	data := res.Results[0].Data.(map[string]any)
	if code := fmt.Sprint(data["exit_code"]); code == "3" {
		return 3, data["sandbox"].(map[string]any)
	}
	return 0, data["sandbox"].(map[string]any)
}

// escape is an act with its arguments.
type escape []string

// escapes returns acts that must fail, and change nothing.
func (w world) escapes() []escape {
	tree := func(name string) string { return filepath.Join(w.tree, name) }
	return []escape{
		{"read", tree("a.txt")}, {"list", w.tree}, {"read", "/proc/self/root" + tree("a.txt")},
		{"read", "/proc/" + w.process + "/root" + tree("a.txt")},
		{"write", tree("a.txt")}, {"create", w.tree}, {"create", filepath.Dir(w.tree)}, {"cut", tree("a.txt")},
		{"chmod", tree("a.txt")}, {"chmod", w.tree}, {"times", tree("a.txt")}, {"chown", tree("a.txt")},
		{"link", tree("a.txt"), "linked"}, {"rename", tree("a.txt"), "taken"}, {"remove", tree("a.txt")},
		{"read", filepath.Join(w.secret, "key")}, {"list", w.secret}, {"create", w.secret}, {"chmod", filepath.Join(w.secret, "key")},
		{"list", w.host.Commands.Scratch}, {"create", w.host.Commands.Scratch}, {"create", "../.."},
		{"read", "/proc/" + w.process + "/environ"}, {"read", "/proc/" + w.process + "/maps"},
		{"readlink", "/proc/" + w.process + "/cwd"}, {"signal", w.process}, {"trace", w.process},
		{"dial", "tcp", w.tcp}, {"listen", "tcp", "127.0.0.1:0"}, {"dial", "udp", w.udp}, {"dial", "unix", w.unix},
		{"dial", "unix", w.abstract}, {"uring"},
	}
}

// needsFilter reports whether only a filter of system calls refuses an act, on a system without such a filter.
func needsFilter(e escape) bool {
	if runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64" {
		return false
	}
	return slices.Contains([]string{"chmod", "times", "chown", "listen", "uring"}, e[0]) || e[0] == "dial" && e[1] != "tcp"
}

// state returns everything that an escape could have changed.
func (w world) state(t *testing.T) (all string) {
	t.Helper()
	for _, name := range []string{w.tree, filepath.Join(w.tree, "a.txt"), w.secret, filepath.Join(w.secret, "key")} {
		info, err := os.Lstat(name)
		if err != nil {
			t.Fatal(err)
		}
		all += fmt.Sprint(info.Mode(), " ", info.ModTime(), "\n")
		if text, err := os.ReadFile(name); err == nil {
			all += string(text)
		}
	}
	return all
}

// A command cannot reach anything beyond its copy of the tree, and the result names the sandbox that was in force.
func TestEscapes(t *testing.T) {
	w := newWorld(t)
	before := w.state(t)
	for _, e := range w.escapes() {
		if needsFilter(e) {
			continue
		}
		if e[0] == "signal" && !scoped(t) {
			t.Log("NOT TESTED: signals stay inside from Linux 6.12")
			continue
		}
		code, in := w.do(t, w.host, e[0], e[1:]...)
		if code == 0 {
			t.Errorf("done inside: %s", e)
		}
		files, _ := in["files"].(string)
		if !strings.HasPrefix(files, "landlock ") || in["network"] == "" || in["network"] == nil {
			t.Errorf("the sandbox was %v", in)
		}
		if after := w.state(t); after != before {
			t.Fatalf("%s:\n%s\nbefore:\n%s", e, after, before)
		}
	}
}

// Each of these acts succeeds without the sandbox, so the sandbox refuses them.
func TestEscapes_off(t *testing.T) {
	for i := range newWorld(t).escapes() {
		w := newWorld(t) // a new world, because acts damage what others need
		w.host.Commands.Sandbox = command.Off
		e := w.escapes()[i]
		if code, in := w.do(t, w.host, e[0], e[1:]...); code != 0 || len(in) != 0 {
			t.Errorf("without a sandbox, %s ends with %d under %v", e, code, in)
		}
	}
}

// While a command is confined, the program that runs the pipeline can do every act.
func TestEscapes_ofTheHost(t *testing.T) {
	w := newWorld(t)
	done := filepath.Join(t.TempDir(), "done")
	began := make(chan struct{})
	w.host.Observe = func(e millrace.Event) {
		if e, ok := e.(millrace.StepOutput); ok && strings.HasPrefix(e.Text, "ready") {
			close(began)
		}
	}
	ended := make(chan int)
	go func() {
		code, _ := w.do(t, w.host, "wait", done)
		ended <- code
	}()
	<-began
	for _, e := range w.escapes() {
		switch e[0] {
		case "trace", "rename", "remove", "write", "cut":
			continue // a process does not trace itself, and the pipeline needs its tree
		case "link":
			e[2] = filepath.Join(w.secret, "linked")
		case "create":
			e[1] = w.secret
		}
		if err := acts[e[0]](e[1:]); err != nil {
			t.Errorf("outside, during the run: %s: %v", e, err)
		}
	}
	if err := os.WriteFile(done, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if code := <-ended; code != 0 {
		t.Errorf("the command has ended with %d", code)
	}
}

// Every change of a command to its copy is staged.
func TestWork(t *testing.T) {
	w := newWorld(t)
	if code, in := w.do(t, w.host, "work"); code != 0 {
		t.Fatalf("refused under %v", in)
	}
	for name, want := range map[string]string{"d/new/dir/file": "through a pipe", "d/new/b.txt": "two\n", "link": "one\n"} {
		if text, err := os.ReadFile(filepath.Join(w.tree, name)); err != nil || string(text) != want {
			t.Errorf("%s has %q, %v", name, text, err)
		}
	}
	if info, err := os.Stat(filepath.Join(w.tree, "run.sh")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("run.sh: %v, %v", info, err)
	}
}

// Only the paths that the policy opens are open.
func TestOpened(t *testing.T) {
	w := newWorld(t)
	w.host.Commands.Read, w.host.Commands.Network = []string{w.secret}, true
	more := t.TempDir()
	w.host.Commands.Write = []string{more}
	for _, c := range []struct {
		act  escape
		done bool
	}{
		{escape{"read", filepath.Join(w.secret, "key")}, true},
		{escape{"create", w.secret}, false},
		{escape{"chmod", filepath.Join(w.secret, "key")}, false},
		{escape{"create", more}, true},
		{escape{"dial", "tcp", w.tcp}, true},
		{escape{"dial", "udp", w.udp}, true},
		{escape{"listen", "tcp", "127.0.0.1:0"}, true},
		{escape{"dial", "unix", w.unix}, false},
		{escape{"read", filepath.Join(w.tree, "a.txt")}, false},
	} {
		if needsFilter(c.act) {
			continue
		}
		if code, _ := w.do(t, w.host, c.act[0], c.act[1:]...); (code == 0) != c.done {
			t.Errorf("%s ends with %d", c.act, code)
		}
	}
}

// scoped reports whether signals are confined.
func scoped(t *testing.T) bool {
	t.Helper()
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		t.Fatal(errno)
	}
	return v >= 6
}
