//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package rootfs_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/spf13/afero"
	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/modes"
	"github.com/millrace-go/millrace/internal/names"
)

// inTime fails the test if do hangs, for example when it opens a pipe.
func inTime(t *testing.T, what string, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		t.Fatalf("%s hangs", what)
	}
}

func TestRootFs_specialFiles(t *testing.T) {
	// The path of a socket must be short.
	base, err := os.MkdirTemp("", "m")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	special := map[string]bool{"pipe": true}
	if err := unix.Mkfifo(filepath.Join(base, "pipe"), 0o666); err != nil {
		t.Fatal(err)
	}
	if listener, err := net.Listen("unix", filepath.Join(base, "socket")); err == nil {
		special["socket"] = true
		defer listener.Close()
	}
	if exec.Command("mknod", filepath.Join(base, "zero"), "c", "1", "5").Run() == nil { // needs root
		special["zero"] = true
	}
	root := fstest.OpenRoot(t, base)
	dir := fstest.OpenDir(t, root, ".")
	for name := range special {
		for _, flag := range []int{os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_RDWR | os.O_CREATE | os.O_TRUNC, os.O_WRONLY | os.O_APPEND} {
			inTime(t, name, func() {
				if f, err := root.OpenFile(name, flag, 0o644); !errors.Is(err, names.ErrNotRegular) {
					t.Errorf("OpenFile(%q, %#x) = %v, %v, want ErrNotRegular", name, flag, f, err)
				}
			})
		}
		inTime(t, name, func() {
			if _, err := dir.OpenFile(name); !errors.Is(err, names.ErrNotRegular) {
				t.Errorf("OpenFile(%q) in the directory = %v, want ErrNotRegular", name, err)
			}
			if _, err := root.OpenDir(name); !errors.Is(err, names.ErrNotDir) {
				t.Errorf("OpenDir(%q) = %v, want ErrNotDir", name, err)
			}
			if _, err := root.Stat(name + "/x"); !errors.Is(err, names.ErrNotDir) {
				t.Errorf("Stat(%q) = %v, want ErrNotDir", name+"/x", err)
			}
			if err := root.Rename(name+"/x", "y"); !errors.Is(err, names.ErrNotDir) {
				t.Errorf("Rename(%q) = %v, want ErrNotDir", name+"/x", err)
			}
			if info, err := root.Stat(name); err != nil || modes.KindOf(info.Mode()) != change.Other {
				t.Errorf("Stat(%q) = %v, %v", name, info, err)
			}
			if err := root.Rename(name, name+"2"); err != nil {
				t.Error(err)
			}
		})
	}
	entries, err := dir.ReadDir()
	if err != nil || len(entries) != len(special) {
		t.Errorf("%d entries, %v, want %d", len(entries), err, len(special))
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || modes.KindOf(e.Type()) != change.Other || info.Mode().Type() != e.Type() {
			t.Errorf("%q: type %v, info %v, %v", e.Name(), e.Type(), info, err)
		}
	}
}

func TestRootFs_SyncDir(t *testing.T) {
	root := fstest.OpenRoot(t, t.TempDir())
	if err := root.MkdirAll("d/e", 0o755); err != nil {
		t.Fatal(err)
	}
	fstest.Write(t, root, "f", "x")
	for _, name := range []string{".", "d", "d/e"} {
		if err := root.SyncDir(name); err != nil && !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("SyncDir(%q) = %v", name, err)
		}
	}
	if err := root.SyncDir("none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("SyncDir of nothing = %v", err)
	}
	if err := root.SyncDir("f"); !errors.Is(err, names.ErrNotDir) {
		t.Errorf("SyncDir of a file = %v", err)
	}
}

func TestRootFs_IdentityOf(t *testing.T) {
	root := fstest.OpenRoot(t, t.TempDir())
	fstest.Write(t, root, "f", "x")
	fstest.Write(t, root, "g", "y")
	if err := root.Link("f", "h"); err != nil {
		t.Skip(err)
	}
	identity := func(name string) capability.Identity {
		t.Helper()
		info, _, err := root.LstatIfPossible(name)
		if err != nil {
			t.Fatal(err)
		}
		id, ok := root.IdentityOf(info)
		if !ok {
			t.Fatal("not known")
		}
		return id
	}
	f, g, h := identity("f"), identity("g"), identity("h")
	if !f.SameFile(h) || f.SameFile(g) || f.Nlink != 2 || g.Nlink != 1 || int(f.UID) != os.Getuid() {
		t.Errorf("identities %+v, %+v, %+v", f, g, h)
	}
	handle, err := root.Open("f")
	if err != nil {
		t.Fatal(err)
	}
	defer handle.Close()
	info, err := handle.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if id, ok := root.IdentityOf(info); !ok || id != f {
		t.Errorf("identity by the handle %+v, %v, want %+v", id, ok, f)
	}
	if id, ok := root.IdentityOf(memoryInfo(t)); ok {
		t.Errorf("a file in memory has the identity %+v", id)
	}
}

func memoryInfo(t *testing.T) fs.FileInfo {
	t.Helper()
	info, err := fstest.Raise(t, afero.NewMemMapFs()).Stat(".")
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func TestRootFs_LinkTimes(t *testing.T) {
	root := fstest.OpenRoot(t, t.TempDir())
	fstest.Write(t, root, "f", "x")
	if err := root.SymlinkIfPossible("f", "l"); err != nil {
		t.Fatal(err)
	}
	before, err := root.Stat("f")
	if err != nil {
		t.Fatal(err)
	}
	when := time.Date(2003, 4, 5, 6, 7, 8, 123456000, time.UTC)
	if err := root.LinkTimes("l", when.UnixNano()); err != nil {
		t.Fatal(err)
	}
	if info, _, err := root.LstatIfPossible("l"); err != nil || !info.ModTime().Equal(when) {
		t.Errorf("the link was modified at %v, %v, want %v", info.ModTime(), err, when)
	}
	if after, err := root.Stat("f"); err != nil || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("the target was modified at %v, %v, want %v", after.ModTime(), err, before.ModTime())
	}
	if err := root.LinkTimes("none", 0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("LinkTimes of nothing = %v", err)
	}
}

func TestRootFs_CopyMeta_owner(t *testing.T) {
	root := fstest.OpenRoot(t, t.TempDir())
	fstest.Write(t, root, "f", "x")
	fstest.Write(t, root, "g", "y")
	if err := root.CopyMeta("f", "g"); err != nil {
		t.Errorf("of one owner: %v", err)
	}
	for _, pair := range [][2]string{{"none", "g"}, {"f", "none"}} {
		if err := root.CopyMeta(pair[0], pair[1]); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("CopyMeta(%q) = %v, want fs.ErrNotExist", pair, err)
		}
	}
	if os.Getuid() != 0 {
		t.Skip("only root may change the owner of files")
	}
	if err := root.Chown("f", 1234, 5678); err != nil {
		t.Fatal(err)
	}
	if err := root.SymlinkIfPossible("g", "l"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"l", "g"} {
		if err := root.CopyMeta("f", name); err != nil {
			t.Fatal(err)
		}
		info, _, err := root.LstatIfPossible(name)
		if err != nil {
			t.Fatal(err)
		}
		if id, _ := root.IdentityOf(info); id.UID != 1234 || id.GID != 5678 {
			t.Errorf("%q is owned by %d:%d", name, id.UID, id.GID)
		}
		if info, err := root.Stat("g"); err == nil && name == "l" {
			if id, _ := root.IdentityOf(info); id.UID == 1234 {
				t.Error("the link was followed")
			}
		}
	}
}

const lockHolder = "MILLRACE_TEST_LOCK_DIR"

// TestLockHolder is the other process of TestRootFs_Lock_otherProcess.
func TestLockHolder(t *testing.T) {
	dir := os.Getenv(lockHolder)
	if dir == "" {
		t.Skip("not started by the other test")
	}
	if _, err := fstest.OpenRoot(t, dir).Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	os.Stdout.WriteString("locked\n")
	_, _ = io.Copy(io.Discard, os.Stdin) // until it is killed
}

func TestRootFs_Lock_otherProcess(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestLockHolder$")
	cmd.Env = append(os.Environ(), lockHolder+"="+dir)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(stdout).ReadString('\n'); err != nil || line != "locked\n" {
		t.Fatalf("the other process printed %q, %v", line, err)
	}
	root := fstest.OpenRoot(t, dir)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := root.Lock(ctx); !errors.Is(err, capability.ErrLocked) {
		t.Errorf("Lock = %v, want ErrLocked", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	inTime(t, "the lock of a process that was killed", func() {
		lock, err := root.Lock(t.Context())
		if err != nil {
			t.Error(err)
			return
		}
		lock.Close()
	})
	if left := fstest.List(t, root, "."); len(left) > 0 {
		t.Errorf("left in the tree: %q", left)
	}
}
