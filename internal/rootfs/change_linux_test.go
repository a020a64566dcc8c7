package rootfs_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/rootfs"
)

// openTo makes a directory that other users may enter.
func openTo(t *testing.T, perm os.FileMode) (dir string) {
	t.Helper()
	dir = t.TempDir()
	fstest.Must(t, os.Chmod(filepath.Dir(dir), 0o755))
	fstest.Must(t, os.Chmod(dir, perm))
	return dir
}

// TestRootFs_MayChange: the answer is that of the system, for the user of the thread.
func TestRootFs_MayChange(t *testing.T) {
	dir := openTo(t, 0o755)
	for name, perm := range map[string]os.FileMode{"foreign": 0o755, "shared": 0o777, "unentered": 0o666} {
		fstest.Must(t, os.Mkdir(filepath.Join(dir, name), 0o755))
		fstest.Must(t, os.Chmod(filepath.Join(dir, name), perm))
	}
	open := map[string]func(string) (*rootfs.FS, error){"fast": rootfs.Open, "slow": rootfs.OpenSlowRoot}
	for way, open := range open {
		root, err := open(dir)
		fstest.Must(t, err)
		defer root.Close()
		asUser(t, nobody, nil, func() {
			if !root.Owns(capability.Identity{UID: nobody}) || root.Owns(capability.Identity{}) {
				t.Errorf("%s: the user owns the files of root, or not its own files", way)
			}
			for name, want := range map[string]error{
				"shared": nil, "foreign": fs.ErrPermission, "unentered": fs.ErrPermission, ".": fs.ErrPermission,
				"missing": fs.ErrNotExist, "../x": names.ErrEscape,
			} {
				if err := root.MayChange(name); !errors.Is(err, want) {
					t.Errorf("%s: %s: got %v, want %v", way, name, err, want)
				}
			}
		})
		if err := root.MayChange("foreign"); err != nil {
			t.Errorf("%s: as root: %v", way, err)
		}
	}
}

// TestRootFs_LockFile_asUser: a file that the user may only read can be locked; a file that the user may not open
// cannot.
func TestRootFs_LockFile_asUser(t *testing.T) {
	dir := openTo(t, 0o755)
	fstest.Must(t, os.WriteFile(filepath.Join(dir, "read"), nil, 0o644))
	fstest.Must(t, os.WriteFile(filepath.Join(dir, "closed"), nil, 0o600))
	root := fstest.OpenRoot(t, dir)
	asUser(t, nobody, nil, func() {
		if held, err := root.TryLockFile("read"); err != nil {
			t.Errorf("a readable file: %v", err)
		} else if err := held.Close(); err != nil {
			t.Error(err)
		}
		if _, err := root.TryLockFile("closed"); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("a closed file: %v", err)
		}
	})
}

// TestRootReader_CopyTo: the system copies the rest of a file, in pieces of the requested size.
func TestRootReader_CopyTo(t *testing.T) {
	dir := t.TempDir()
	root := fstest.OpenRoot(t, dir)
	fstest.Write(t, root, "from", "0123456789")
	from, err := root.Open("from")
	fstest.Must(t, err)
	defer from.Close()
	copier, ok := from.(interface {
		CopyTo(to interface{ Fd() uintptr }, most int64) (int64, error)
	})
	if !ok {
		t.Skip("files are opened without the fast path here")
	}
	to, err := os.Create(filepath.Join(dir, "to"))
	fstest.Must(t, err)
	defer to.Close()
	for _, want := range []int64{4, 4, 2, 0} {
		n, err := copier.CopyTo(to, 4)
		if errors.Is(err, errors.ErrUnsupported) {
			t.Skip(err)
		}
		if n != want || err != nil {
			t.Fatalf("copied %d bytes, want %d: %v", n, want, err)
		}
	}
	if got, err := os.ReadFile(to.Name()); string(got) != "0123456789" || err != nil {
		t.Errorf("the copy has %q: %v", got, err)
	}
	device, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	fstest.Must(t, err)
	defer device.Close()
	if _, err := from.Seek(0, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := copier.CopyTo(device, 4); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("to a device: %v", err)
	}
}

// TestTraceName: links are followed one by one, and a cycle ends with an error.
func TestTraceName(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	fstest.Must(t, err)
	link := func(target, name string) string {
		fstest.Must(t, os.Symlink(target, filepath.Join(dir, name)))
		return filepath.Join(dir, name)
	}
	fstest.Must(t, os.Mkdir(filepath.Join(dir, "d"), 0o755))
	relative, absolute, circle := link("d/../d", "relative"), link(filepath.Join(dir, "relative"), "absolute"), link("circle", "circle")
	dangling := link("d/none", "dangling")

	for name, want := range map[string]struct {
		end   string
		links []string
	}{
		relative:                     {"d", []string{relative}},
		absolute:                     {"d", []string{absolute, relative}},
		dangling:                     {"d/none", []string{dangling}},
		filepath.Join(absolute, "x"): {"d/x", []string{absolute, relative}},
	} {
		got, err := rootfs.TraceName(name)
		if err != nil || got.End != filepath.Join(dir, want.end) || len(got.Links) != len(want.links) {
			t.Errorf("%s: got %+v, %v, want %+v", name, got, err, want)
		}
	}
	if _, err := rootfs.TraceName(circle); err == nil {
		t.Error("a link to itself has a target")
	}
}

// TestRootFs_directoryIsGone: a removed directory has no name and contains nothing.
func TestRootFs_directoryIsGone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tree")
	fstest.Must(t, os.Mkdir(dir, 0o755))
	root := fstest.OpenRoot(t, dir)
	fstest.Must(t, os.Remove(dir))
	if got := root.Dir(); got != "" {
		t.Errorf("the directory is %q", got)
	}
	if got := root.Inside("/elsewhere/f"); got != "" {
		t.Errorf("another directory's file is inside as %q", got)
	}
	if _, err := root.Stat("/elsewhere/f"); err == nil {
		t.Error("a file elsewhere was found")
	}
}
