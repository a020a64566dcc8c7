package sandbox_test

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/millrace-go/millrace/internal/sandbox"
)

// place is where an act runs: a writable tree, and others next to it that are not.
type place struct {
	tree, beside string
	shown        string // a readable tree
	victim       string // number of a process outside
	memory       string // an address in it
	tcp, udp     string // where that process, or the test, listens
	unix         string
	abstract     string
	datagrams    string

	run func(*exec.Cmd, *sandbox.Rules) (sandbox.Status, error) // for a system with fewer features; nil is this system
}

// memory is the data that acts try to read from a process outside.
var memory = [1]byte{1}

// protected skips a test if this system has no sandbox.
func protected(t *testing.T) sandbox.Status {
	t.Helper()
	status, err := sandbox.Supported()
	if err != nil {
		t.Skipf("NOT TESTED: %v", err)
	}
	return status
}

// newPlace makes a place, and servers for it. The victim is the process of the test itself, the first that a sandbox
// must protect.
func newPlace(t *testing.T) place {
	t.Helper()
	p := place{tree: t.TempDir(), beside: t.TempDir(), shown: t.TempDir(), victim: strconv.Itoa(os.Getpid())}
	p.memory = strconv.FormatUint(uint64(uintptr(unsafe.Pointer(&memory[0]))), 10)
	for _, dir := range []string{p.tree, p.beside, p.shown} {
		put(t, filepath.Join(dir, "file"), "there")
		put(t, filepath.Join(dir, "a", "one"), "1")
		put(t, filepath.Join(dir, "b", "two"), "2")
	}
	p.unix, p.datagrams = filepath.Join(p.beside, "stream"), filepath.Join(p.beside, "datagrams")
	p.abstract = "@millrace-" + filepath.Base(filepath.Dir(p.beside)) + filepath.Base(p.beside)
	p.tcp = listen(t, "tcp", "127.0.0.1:0")
	listen(t, "unix", p.unix)
	listen(t, "unix", p.abstract)
	p.udp = receive(t, "udp", "127.0.0.1:0")
	receive(t, "unixgram", p.datagrams)
	return p
}

func listen(t *testing.T, network, address string) string {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().String()
}

func receive(t *testing.T, network, address string) string {
	t.Helper()
	l, err := net.ListenPacket(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() { // a sender stops if nobody reads
		for b := make([]byte, 16); ; {
			if _, _, err := l.ReadFrom(b); err != nil {
				return
			}
		}
	}()
	return l.LocalAddr().String()
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// rules permit an act in the tree, by this program.
func (p place) rules(t *testing.T) *sandbox.Rules {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &sandbox.Rules{Write: []string{p.tree}, Read: []string{self, p.shown}}
}

// command returns this program, with an act to perform.
func (p place) command(act string, args ...string) (*exec.Cmd, *bytes.Buffer) {
	cmd := exec.Command("/proc/self/exe", args...)
	if self, err := os.Executable(); err == nil {
		cmd.Path = self
	}
	cmd.Dir = p.tree
	cmd.Env = []string{"SANDBOX_ACT=" + act, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + filepath.Join(p.tree, "a"), "HOME=" + p.tree,
		"GOCACHE=" + filepath.Join(p.tree, "cache"), "GOFLAGS=-mod=mod", "GOPROXY=off",
		"GORACE=" + os.Getenv("GORACE")}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	return cmd, &out
}

// outcome returns the result of an act: nil if it was done, an error if it was refused.
func outcome(t *testing.T, err error, out *bytes.Buffer) error {
	t.Helper()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &exit) && exit.ExitCode() == 3:
		return errors.New(strings.TrimSpace(out.String()))
	case errors.As(err, &exit) && !exit.Exited():
		return fmt.Errorf("killed: %w", err)
	}
	t.Fatalf("the act could not be tried: %v\n%s", err, out)
	return nil
}

// do runs an act under rules.
func (p place) do(t *testing.T, rules *sandbox.Rules, act string, args ...string) error {
	t.Helper()
	cmd, out := p.command(act, args...)
	run := p.run
	if run == nil || rules == nil {
		run = func(cmd *exec.Cmd, rules *sandbox.Rules) (sandbox.Status, error) { return sandbox.Run(cmd, rules, nil) }
	}
	_, err := run(cmd, rules)
	return outcome(t, err, out)
}
