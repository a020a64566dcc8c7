package rootfs_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/rootfs"
)

// Every method refuses a name that leads out, with an error that has the name, and does nothing.
func TestRootFs_namesRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fstest.Must(t, os.MkdirAll(filepath.Join(dir, "in"), 0o755))
	fstest.Must(t, os.WriteFile(filepath.Join(dir, "out"), []byte("x"), 0o600))
	root := fstest.OpenRoot(t, filepath.Join(dir, "in"))
	fstest.Write(t, root, "f", "y")
	before := fstest.Snapshot(t, root, ".")
	for op, do := range map[string]func(bad string) error{
		"readlink":  func(bad string) error { _, err := root.ReadlinkIfPossible(bad); return err },
		"link from": func(bad string) error { return root.Link(bad, "new") },
		"link to":   func(bad string) error { return root.Link("f", bad) },
		"exchange a": func(bad string) error {
			return root.Exchange(bad, "f")
		},
		"exchange b":    func(bad string) error { return root.Exchange("f", bad) },
		"sync":          func(bad string) error { return root.SyncDir(bad) },
		"chtimes":       func(bad string) error { return root.LinkTimes(bad, 1) },
		"copymeta from": func(bad string) error { return root.CopyMeta(bad, "f") },
		"copymeta to":   func(bad string) error { return root.CopyMeta("f", bad) },
		"opendir":       func(bad string) error { _, err := root.OpenDir(bad); return err },
	} {
		err := do("../out")
		if !errors.Is(err, names.ErrEscape) || !strings.Contains(err.Error(), "../out") {
			t.Errorf("%s of a name that leads out: %v", op, err)
		}
	}
	if after := fstest.Snapshot(t, root, "."); after != before {
		t.Errorf("before:\n%safter:\n%s", before, after)
	}
	if info, err := os.Stat(filepath.Join(dir, "out")); err != nil || info.Mode() != 0o600 {
		t.Errorf("outside: %v, %v", info, err)
	}
}

// An error that the system returns under names of its own matches the errors of this package, and still those of the
// system.
func TestRootFs_errorNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root := fstest.OpenRoot(t, dir)
	fstest.Must(t, os.Symlink("loop", filepath.Join(dir, "loop")))
	check := func(what string, err, want error, errno syscall.Errno) {
		t.Helper()
		if !errors.Is(err, want) || !errors.Is(err, errno) {
			t.Errorf("%s: %v, want %v and %v", what, err, want, error(errno))
		}
	}
	long := strings.Repeat("x", 5000)
	check("a target that is too long", root.SymlinkIfPossible(long, "l"), names.ErrNameTooLong, syscall.ENAMETOOLONG)
	_, err := root.Stat("loop/")
	check("a loop with a slash at its end", err, names.ErrLinkLoop, syscall.ELOOP)

	bound := filepath.Join(dir, "bound")
	fstest.Must(t, os.Mkdir(bound, 0o755))
	if err := unix.Mount(dir, bound, "", unix.MS_BIND, ""); err != nil {
		t.Skipf("this process cannot mount: %v", err)
	}
	t.Cleanup(func() { fstest.Must(t, unix.Unmount(bound, 0)) })
	fstest.Must(t, unix.Mount("", bound, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""))
	check("a mount that is read-only", root.Mkdir("bound/d", 0o755), names.ErrReadOnly, syscall.EROFS)
}

func TestRootFs_noLock(t *testing.T) {
	dir := t.TempDir()
	closed, err := rootfs.Open(dir)
	fstest.Must(t, err)
	fstest.Must(t, closed.Close())
	if _, err := closed.Lock(context.Background()); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Lock of a closed root: %v", err)
	}
}

// A file that another user may not read or change is reported; a file that the user may change is changed.
func TestRootFs_CopyMeta_asUser(t *testing.T) {
	dir := t.TempDir()
	fstest.Must(t, os.Chmod(filepath.Dir(dir), 0o755))
	fstest.Must(t, os.Chmod(dir, 0o777))
	root := fstest.OpenRoot(t, dir)
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"from", "secret", "mine", "theirs", "same"} {
		fstest.Write(t, root, name, name)
	}
	const user, group = 4711, 4712
	set := func(name, attr, value string) {
		t.Helper()
		if err := unix.Setxattr(at(name), attr, []byte(value), 0); err != nil {
			t.Skipf("this mount has no extended attributes: %v", err)
		}
	}
	set("from", "user.a", "1")
	set("same", "user.a", "1")
	set("theirs", "user.stale", "2")
	for _, name := range []string{"from", "secret"} {
		if err := os.Chown(at(name), user, group); err != nil {
			t.Skipf("this process cannot give files away: %v", err)
		}
	}
	fstest.Must(t, os.Chown(at("mine"), user, user))
	fstest.Must(t, os.Chown(at("same"), user, group))
	fstest.Must(t, os.Chmod(at("secret"), 0))
	fstest.Must(t, os.Chown(at("secret"), 0, 0))
	fstest.Must(t, os.Chown(at("from"), 0, group))
	fstest.Must(t, os.Chown(at("same"), 0, group))

	copyAs := func(from, to string) (err error) {
		asUser(t, user, []uint32{group}, func() { err = root.CopyMeta(from, to) })
		return err
	}
	owner := func(name string) (uid, gid uint32) {
		info, err := os.Stat(at(name))
		fstest.Must(t, err)
		stat := info.Sys().(*syscall.Stat_t)
		return stat.Uid, stat.Gid
	}
	open := len(fstest.Opened(t, dir))
	if err := copyAs("from", "mine"); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a file was given away by a user: %v", err)
	}
	if uid, gid := owner("mine"); uid != user || gid != group {
		t.Errorf("the group is %d, want %d, a group of the user; the owner is %d", gid, group, uid)
	}
	buf := make([]byte, 8)
	if n, err := unix.Getxattr(at("mine"), "user.a", buf); err != nil || !bytes.Equal(buf[:n], []byte("1")) {
		t.Errorf("the attribute was not copied: %q, %v", buf[:max(n, 0)], err)
	}
	if err := copyAs("secret", "mine"); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("from an unreadable file: %v", err)
	}
	if err := copyAs("mine", "secret"); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("to an unreadable file: %v", err)
	}
	err := copyAs("from", "theirs")
	if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "user.stale") || !strings.Contains(err.Error(), "user.a") {
		t.Errorf("to a file without write permission: %v, want both attributes named", err)
	}
	if err := copyAs("from", "same"); err != nil {
		t.Errorf("nothing needs a change, but: %v", err)
	}
	if files := fstest.Opened(t, dir); len(files) != open {
		t.Errorf("open: %v, want %d", files, open)
	}
}

// A file of /proc is a regular file, and some of these files cannot be read at their beginning.
func TestRootFs_readError(t *testing.T) {
	root := fstest.OpenRoot(t, "/proc/self")
	d := fstest.OpenDir(t, root, ".")
	before := len(fstest.Opened(t, "/proc"))
	f, err := d.OpenFile("mem")
	if err != nil {
		t.Skip(err)
	}
	want, wantErr := os.Open("/proc/self/mem")
	fstest.Must(t, wantErr)
	defer want.Close()
	_, wantErr = want.Read(make([]byte, 1))
	n, err := f.Read(make([]byte, 1))
	if !errors.Is(err, syscall.EIO) || !errors.Is(wantErr, syscall.EIO) || n != 0 {
		t.Errorf("Read = %d, %v, package os returns %v", n, err, wantErr)
	}
	if n, err := f.Read(nil); n != 0 || err != nil {
		t.Errorf("Read of nothing = %d, %v", n, err)
	}
	fstest.Must(t, f.Close())
	for op, err := range map[string]error{
		"read": fstest.ErrOf(f.Read(make([]byte, 1))), "stat": fstest.ErrOf(f.Stat()), "close": f.Close(),
	} {
		if !errors.Is(err, fs.ErrClosed) || err == io.EOF {
			t.Errorf("%s after Close: %v", op, err)
		}
	}
	fstest.Must(t, want.Close())
	if files := fstest.Opened(t, "/proc"); len(files) != before {
		t.Errorf("open: %v, want %d", files, before)
	}
}
