package rootfs_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/rootfs"
)

// TestBulk_CreateNear: the file has its name at once, has no other name, and inherits from its directory only
// attributes that CopyMeta replaces.
func TestBulk_CreateNear(t *testing.T) {
	t.Parallel()
	root, fast, base := bulk(t)
	fstest.Must(t, root.Mkdir("user", 0o755))
	fstest.Write(t, root, "user/f", "old")
	if err := unix.Setxattr(filepath.Join(base, "user"), "system.posix_acl_default", aclOf(1234), 0); err != nil {
		t.Skipf("this mount has no access control lists: %v", err)
	}
	fstest.Must(t, unix.Setxattr(filepath.Join(base, "user/f"), "user.note", []byte("kept"), 0))
	if os.Getuid() == 0 {
		fstest.Must(t, os.Chown(filepath.Join(base, "user"), 4321, 4321))
		fstest.Must(t, os.Chmod(filepath.Join(base, "user"), 0o755|fs.ModeSetgid))
	}
	f, err := fast.CreateNear("user/f", "d/new", 0o600)
	fstest.Must(t, err)
	if s, id := described(t, fast, "d/new"); s.Mode() != 0o600 || s.Size() != 0 || id.Nlink != 1 {
		t.Errorf("%+v, %+v", s, id)
	}
	if names := listed(t, filepath.Join(base, "user")); !slices.Equal(names, []string{"f"}) {
		t.Error("something is left beside the file:", names)
	}
	if n, err := f.Write([]byte("new bytes")); n != 9 || err != nil {
		t.Error(n, err)
	}
	fstest.Must(t, f.CopyMeta("user/f"))
	fstest.Must(t, f.Chmod(0o754|fs.ModeSetgid))
	at := time.Unix(1_000_000_000, 123_000_000)
	fstest.Must(t, f.Chtimes(at, at))
	fstest.Must(t, f.Sync())
	fstest.Must(t, f.Close())
	if err := f.Close(); !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
	for _, attr := range []string{"system.posix_acl_access", "system.posix_acl_default"} {
		if n, err := unix.Getxattr(filepath.Join(base, "d/new"), attr, nil); err == nil {
			t.Errorf("%s was inherited: %d bytes", attr, n)
		}
	}
	if n, err := unix.Getxattr(filepath.Join(base, "d/new"), "user.note", nil); n != 4 || err != nil {
		t.Error("the attribute was not copied:", n, err)
	}
	_, old := described(t, fast, "user/f")
	s, id := described(t, fast, "d/new")
	if s.Size() != 9 || s.Mode() != 0o754|fs.ModeSetgid || !s.ModTime().Equal(at) || id.UID != old.UID || id.GID != old.GID {
		t.Errorf("%+v, %+v, want the owner of %+v", s, id, old)
	}
	if _, err := fast.CreateNear("user/f", "d/new", 0o600); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
}

func listed(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	fstest.Must(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestBulk_CreateNear_elsewhere: if a file without a name cannot be made, or cannot be linked, a named file is made.
func TestBulk_CreateNear_elsewhere(t *testing.T) {
	t.Parallel()
	root, fast, base := bulk(t)
	fstest.Must(t, root.SymlinkIfPossible("d", "way"))
	fstest.Must(t, root.SymlinkIfPossible("/", "out"))
	fstest.Write(t, root, "file", "x")
	for i, near := range []string{"", "no/f", "file/f", "way/f", "out/tmp/f"} {
		name := filepath.Join("d", string(rune('a'+i)))
		f, err := fast.CreateNear(near, name, 0o640)
		if err != nil {
			t.Errorf("near %q: %v", near, err)
			continue
		}
		_, err = f.Write([]byte("y"))
		fstest.Must(t, err)
		fstest.Must(t, f.Close())
		if data, err := os.ReadFile(filepath.Join(base, name)); err != nil || string(data) != "y" {
			t.Errorf("near %q: %q, %v", near, data, err)
		}
	}
	for name, want := range map[string]error{
		"no/f": fs.ErrNotExist, "file/f": names.ErrNotDir, "way/f": names.ErrLinkLoop, "out/tmp/f": names.ErrLinkLoop, "d/a": fs.ErrExist,
	} {
		if f, err := fast.CreateNear("", name, 0o600); !errors.Is(err, want) {
			t.Errorf("%s: %v, %v", name, f, err)
		}
	}
}

// TestBulk_CreateNear_asUser uses the way that needs no privilege, with a file that may not be read.
func TestBulk_CreateNear_asUser(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can become another user")
	}
	base, err := os.MkdirTemp("/dev/shm", "millrace-test-")
	if err != nil {
		t.Skipf("no file system in memory: %v", err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	fstest.Must(t, os.Chmod(base, 0o777))
	root := fstest.OpenRoot(t, base)
	fstest.Write(t, root, "secret", "x")
	fstest.Must(t, root.Chmod("secret", 0o600))
	asUser(t, 1234, nil, func() {
		fast := rootfs.NewBulk(root)
		if fast == nil {
			t.Error("this kernel has no openat2")
			return
		}
		defer fast.Close()
		for _, name := range []string{"one", "two"} {
			f, err := fast.CreateNear("secret", name, 0o600)
			if err != nil {
				t.Error(err)
				return
			}
			if err := f.CopyMeta("secret"); !errors.Is(err, fs.ErrPermission) {
				t.Error("the owner was copied:", err)
			}
			if err := f.Chown(-1, 0); !errors.Is(err, fs.ErrPermission) {
				t.Error(err)
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
			if _, id := described(t, fast, name); id.UID != 1234 || id.Nlink != 1 {
				t.Errorf("%+v", id)
			}
		}
	})
}

// TestNewFile_fails: errors of a file name the file.
func TestNewFile_fails(t *testing.T) {
	t.Parallel()
	_, fast, _ := bulk(t)
	f, err := fast.CreateNear("", "d/f", 0o600)
	fstest.Must(t, err)
	fstest.Must(t, f.Close())
	_, werr := f.Write([]byte("x"))
	for op, err := range map[string]error{
		"write": werr, "chmod": f.Chmod(0o600), "sync": f.Sync(), "copymeta": f.CopyMeta("no"), "chown": f.Chown(0, 0),
	} {
		var e *fs.PathError
		if !errors.As(err, &e) || e.Op != op || e.Path != "d/f" && e.Path != "no" {
			t.Errorf("%s: %v", op, err)
		}
	}
	fstest.Must(t, f.Chtimes(time.Unix(1, 0), time.Unix(1, 0))) // sets the times by name
}

// described returns the FileInfo and the identity of a file.
func described(t *testing.T, bulk *rootfs.Bulk, name string) (fs.FileInfo, capability.Identity) {
	t.Helper()
	info, err := bulk.Lstat(name)
	fstest.Must(t, err)
	id, _ := new(rootfs.FS).IdentityOf(info)
	return info, id
}
