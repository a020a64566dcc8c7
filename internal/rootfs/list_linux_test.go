package rootfs_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/millrace-go/millrace/internal/walk"
)

// everyKind makes a file of each kind, and returns the listing of package os.
func everyKind(t *testing.T, dir string) map[string]string {
	t.Helper()
	fstest.Must(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o644))
	fstest.Must(t, os.Mkdir(filepath.Join(dir, "dir"), 0o755))
	fstest.Must(t, os.Symlink("file", filepath.Join(dir, "link")))
	for name, mode := range map[string]uint32{"pipe": unix.S_IFIFO, "socket": unix.S_IFSOCK, "char": unix.S_IFCHR, "block": unix.S_IFBLK} {
		if err := unix.Mknod(filepath.Join(dir, name), mode|0o600, int(unix.Mkdev(7, 99))); err != nil {
			t.Logf("no %s: %v", name, err) // a container may not make devices
		}
	}
	list, err := os.ReadDir(dir)
	fstest.Must(t, err)
	want := make(map[string]string)
	for _, e := range list {
		info, err := e.Info()
		fstest.Must(t, err)
		want[e.Name()] = fmt.Sprint(e, e.Type(), e.IsDir(), info.Mode())
	}
	return want
}

func listedKinds(t *testing.T, dir string) map[string]string {
	t.Helper()
	d := fstest.OpenDir(t, fstest.OpenRoot(t, dir), ".")
	list, err := d.ReadDir()
	fstest.Must(t, err)
	got := make(map[string]string)
	for _, e := range list {
		info, err := e.Info()
		fstest.Must(t, err)
		got[e.Name()] = fmt.Sprint(e, e.Type(), e.IsDir(), info.Mode())
	}
	return got
}

func TestRootFs_OpenDir_everyKind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	want := everyKind(t, dir)
	if diff := cmp.Diff(want, listedKinds(t, dir)); diff != "" {
		t.Errorf("(-os +listed):\n%s", diff)
	}
}

// On a file system whose directories do not list the kinds of entries, like early ext2, each entry needs a stat.
func TestRootFs_OpenDir_kindsNotListed(t *testing.T) {
	work := t.TempDir()
	image, dir := filepath.Join(work, "image"), filepath.Join(work, "mount")
	fstest.Must(t, os.WriteFile(image, nil, 0o600))
	fstest.Must(t, os.Truncate(image, 1<<20))
	fstest.Must(t, os.Mkdir(dir, 0o755))
	if out, err := exec.Command("mkfs.ext2", "-q", "-O", "^filetype", image).CombinedOutput(); err != nil {
		t.Skipf("mkfs.ext2 is missing: %v %s", err, out)
	}
	if out, err := exec.Command("mount", "-o", "loop", image, dir).CombinedOutput(); err != nil {
		t.Skipf("this process cannot mount: %v %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("%v %s", err, out)
		}
	})
	want := everyKind(t, dir)
	root, err := rootfs.Open(dir)
	fstest.Must(t, err)
	d, err := root.OpenDir(".")
	fstest.Must(t, err)
	list, err := d.ReadDir()
	fstest.Must(t, err)
	got := make(map[string]string)
	for _, e := range list {
		info, err := e.Info()
		fstest.Must(t, err)
		got[e.Name()] = fmt.Sprint(e, e.Type(), e.IsDir(), info.Mode())
	}
	fstest.Must(t, d.Close())
	fstest.Must(t, root.Close())
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-os +listed):\n%s", diff)
	}
}

// A file that was removed before its turn is missing: in a listing, for its entry, and in a walk, which goes on.
func TestRootFs_OpenDir_removed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root := fstest.OpenRoot(t, dir)
	fstest.Must(t, os.Mkdir(filepath.Join(dir, "d"), 0o755))
	fstest.Must(t, os.WriteFile(filepath.Join(dir, "d", "f"), nil, 0o644))
	d := fstest.OpenDir(t, root, "d")
	list, err := d.ReadDir()
	fstest.Must(t, err)
	fstest.Must(t, os.RemoveAll(filepath.Join(dir, "d")))
	if _, err := list[0].Info(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Info of a file that is gone: %v", err)
	}
	if list, err := d.ReadDir(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("ReadDir of a directory that is gone: %v, %v", list, err)
	}
}

func TestWalk_directoryRemoved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fstest.Must(t, os.MkdirAll(filepath.Join(dir, "a"), 0o755))
	fstest.Must(t, os.WriteFile(filepath.Join(dir, "f"), nil, 0o644))
	fstest.Must(t, os.WriteFile(filepath.Join(dir, "a", "g"), nil, 0o644))
	var seen []string
	// A single worker visits the files of a directory before it reads the subdirectories.
	err := walk.Walk(context.Background(), fstest.OpenRoot(t, dir), ".", walk.Options{Workers: 1}, func(e walk.Entry) error {
		seen = append(seen, e.Path())
		fstest.Must(t, os.Remove(filepath.Join(dir, "f")))
		if _, err := e.Info(); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Info of a file that is gone: %v", err)
		}
		return os.RemoveAll(filepath.Join(dir, "a"))
	})
	if err != nil || len(seen) != 1 || seen[0] != "f" {
		t.Errorf("seen are %q, %v, want only f", seen, err)
	}
}
