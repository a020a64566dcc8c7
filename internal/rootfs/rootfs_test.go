package rootfs_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/modes"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/rootfs"
)

func TestOpenRoot_errors(t *testing.T) {
	dir := t.TempDir()
	if _, err := rootfs.Open(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing directory: %v", err)
	}
	file := filepath.Join(dir, "f")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := rootfs.Open(file); err == nil {
		t.Error("a file was opened as a directory")
	}
}

func TestRootFs_Close(t *testing.T) {
	root := fstest.OpenRoot(t, t.TempDir())
	file, err := root.Create("f")
	if err != nil {
		t.Fatal(err)
	}
	if err := root.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := root.Stat("f"); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Stat = %v, want fs.ErrClosed", err)
	}
	if _, err := file.Write([]byte("x")); err != nil {
		t.Errorf("a file opened before: %v", err)
	}
	file.Close()
}

// The error for which package os exports no value must be recognized by its text.
func TestRootFs_escape(t *testing.T) {
	outside := t.TempDir()
	dir := filepath.Join(outside, "root")
	if err := os.MkdirAll(dir+"/d", 0o755); err != nil {
		t.Fatal(err)
	}
	secret := filepath.Join(outside, "root-evil")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	root := fstest.OpenRoot(t, dir)
	fstest.Write(t, root, "d/f", "inside")
	for name, target := range map[string]string{
		"up": "../root-evil", "abs": secret, "in": filepath.Join(dir, "d/f"), "back": "../root/d/f", "proc": "/proc/self/root",
	} {
		if err := root.SymlinkIfPossible(target, name); err != nil {
			t.Skip(err)
		}
		if _, err := root.Open(name); !errors.Is(err, names.ErrEscape) {
			t.Errorf("Open of a link to %q = %v, want ErrEscape", target, err)
		}
		if _, err := root.OpenDir(name); !errors.Is(err, names.ErrEscape) {
			t.Errorf("OpenDir of a link to %q = %v, want ErrEscape", target, err)
		}
		if err := root.Chmod(name, 0o777); !errors.Is(err, names.ErrEscape) {
			t.Errorf("Chmod of a link to %q = %v, want ErrEscape", target, err)
		}
	}
	if info, err := os.Stat(secret); err != nil || info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		t.Errorf("the file outside has changed: %v, %v", info, err)
	}
	// A chain of more than eight links is a loop.
	for i, name := range strings.Fields("l1 l2 l3 l4 l5 l6 l7 l8 l9") {
		if err := root.SymlinkIfPossible(append([]string{"d/f"}, strings.Fields("l1 l2 l3 l4 l5 l6 l7 l8")...)[i], name); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := root.Open("l9"); !errors.Is(err, names.ErrLinkLoop) || !errors.Is(err, syscall.ELOOP) {
		t.Errorf("a chain of nine links = %v, want ErrLinkLoop", err)
	}
}

func TestRootFs_errorsMatchBoth(t *testing.T) {
	root := fstest.OpenRoot(t, t.TempDir())
	fstest.Write(t, root, "f", "x")
	_, err := root.Stat("f/x")
	var pathErr *fs.PathError
	if !errors.Is(err, names.ErrNotDir) || !errors.As(err, &pathErr) || pathErr.Path != "f/x" || pathErr.Op != "stat" {
		t.Errorf("error %#v", err)
	}
	if runtime.GOOS != "windows" && !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("error %v does not match ENOTDIR", err)
	}
	_, err = root.Stat("./none")
	if !os.IsNotExist(err) || err.Error() != "stat ./none: "+syscall.ENOENT.Error() {
		t.Errorf("error %q", err)
	}
	err = root.Rename("none", "x")
	if linkErr := new(os.LinkError); !errors.As(err, &linkErr) || linkErr.Old != "none" || !os.IsNotExist(err) {
		t.Errorf("error %#v", err)
	}
}

// A RootFs works with handles: the directory may be moved while it is open.
func TestRootFs_movedDirectory(t *testing.T) {
	parent := t.TempDir()
	if err := os.Mkdir(parent+"/old", 0o755); err != nil {
		t.Fatal(err)
	}
	root := fstest.OpenRoot(t, parent+"/old")
	fstest.Write(t, root, "f", "x")
	if err := os.Rename(parent+"/old", parent+"/new"); err != nil {
		t.Skip(err)
	}
	fstest.Write(t, root, "g", "y")
	if err := root.Rename("g", "h"); err != nil {
		t.Error(err)
	}
	if data, err := os.ReadFile(parent + "/new/h"); err != nil || string(data) != "y" {
		t.Errorf("read %q, %v", data, err)
	}
	if _, err := os.Stat(parent + "/old"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the old directory is back: %v", err)
	}
}

func TestRootFs_specialBits(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("not on this system")
	}
	root := fstest.OpenRoot(t, t.TempDir())
	has := func(name string, want fs.FileMode) {
		t.Helper()
		info, err := root.Stat(name)
		if err != nil || info.Mode()&modes.PermBits != want {
			t.Errorf("%q: %v, %v, want %v", name, info.Mode(), err, want)
		}
	}
	open := func(name string, flag int, mode fs.FileMode) {
		t.Helper()
		f, err := root.OpenFile(name, flag, mode)
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	open("f", os.O_WRONLY|os.O_CREATE, 0o700|fs.ModeSetuid)
	has("f", 0o700|fs.ModeSetuid)
	open("g", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o700|fs.ModeSticky)
	has("g", 0o700|fs.ModeSticky)
	fstest.Write(t, root, "h", "kept")
	if err := root.Chmod("h", 0o600); err != nil {
		t.Fatal(err)
	}
	open("h", os.O_WRONLY|os.O_CREATE, 0o700|fs.ModeSetuid)
	has("h", 0o600)
	if got := fstest.Read(t, root, "h"); got != "kept" {
		t.Errorf("the file has %q", got)
	}
	if _, err := root.OpenFile("h", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o700|fs.ModeSetuid); !errors.Is(err, fs.ErrExist) {
		t.Errorf("O_EXCL = %v, want fs.ErrExist", err)
	}
	if err := root.Mkdir("d", 0o700|fs.ModeSticky); err != nil {
		t.Fatal(err)
	}
	has("d", 0o700|fs.ModeSticky)
	if err := root.MkdirAll("e/f", 0o700|fs.ModeSticky); err != nil {
		t.Fatal(err)
	}
	has("e", 0o700)
	has("e/f", 0o700|fs.ModeSticky)
	if err := root.MkdirAll("e", 0o755|fs.ModeSetuid); err != nil {
		t.Fatal(err)
	}
	has("e", 0o700)
}

func TestRootFs_Link(t *testing.T) {
	root := fstest.OpenRoot(t, t.TempDir())
	fstest.Write(t, root, "f", "x")
	fstest.Write(t, root, "g", "y")
	if err := root.Link("f", "h"); errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	fstest.Write(t, root, "h", "through the other name")
	if got := fstest.Read(t, root, "f"); got != "through the other name" {
		t.Errorf("the file has %q", got)
	}
	if err := root.Link("f", "g"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Link over a file = %v, want fs.ErrExist", err)
	}
	if err := root.Link("none", "i"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Link of nothing = %v, want fs.ErrNotExist", err)
	}
	if err := root.Link("f", "none/i"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Link into a missing directory = %v, want fs.ErrNotExist", err)
	}
	if err := root.Link("f", "../i"); !errors.Is(err, names.ErrEscape) {
		t.Errorf("Link to the outside = %v, want ErrEscape", err)
	}
	if err := root.Mkdir("d", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := root.Link("d", "e"); !errors.Is(err, errors.ErrUnsupported) || !errors.Is(err, fs.ErrPermission) {
		t.Errorf("Link of a directory = %v, want errors.ErrUnsupported", err)
	}
	if err := root.SymlinkIfPossible("f", "l"); err != nil {
		t.Fatal(err)
	}
	if err := root.Link("l", "m"); err != nil {
		t.Fatal(err)
	}
	if target, err := root.ReadlinkIfPossible("m"); err != nil || target != "f" {
		t.Errorf("Readlink = %q, %v: the link was followed", target, err)
	}
}

func TestRootFs_Exchange(t *testing.T) {
	root := fstest.OpenRoot(t, t.TempDir())
	if _, ok := afero.Fs(root).(capability.Exchanger); !ok {
		t.Skip("not on this system")
	}
	fstest.CheckExchange(t, root)
}

func TestRootFs_RenameNoReplace(t *testing.T) {
	root := fstest.OpenRoot(t, t.TempDir())
	if _, ok := afero.Fs(root).(capability.NoReplacer); !ok {
		t.Skip("not on this system")
	}
	fstest.CheckNoReplace(t, root)
}

func TestRootFs_Lock(t *testing.T) {
	dir := t.TempDir()
	if _, ok := afero.Fs(fstest.OpenRoot(t, dir)).(capability.Locker); !ok {
		t.Skip("not on this system")
	}
	fstest.CheckLock(t, func() afero.Fs { return fstest.OpenRoot(t, dir) })
}
