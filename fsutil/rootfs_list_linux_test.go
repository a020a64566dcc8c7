package fsutil_test

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

	"github.com/millrace-go/millrace/fsutil"
)

// everyKind makes one of each kind of file, and returns what package os lists there.
func everyKind(t *testing.T, dir string) map[string]string {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o644))
	must(t, os.Mkdir(filepath.Join(dir, "dir"), 0o755))
	must(t, os.Symlink("file", filepath.Join(dir, "link")))
	for name, mode := range map[string]uint32{"pipe": unix.S_IFIFO, "socket": unix.S_IFSOCK, "char": unix.S_IFCHR, "block": unix.S_IFBLK} {
		if err := unix.Mknod(filepath.Join(dir, name), mode|0o600, int(unix.Mkdev(7, 99))); err != nil {
			t.Logf("no %s: %v", name, err) // a container may not make devices
		}
	}
	list, err := os.ReadDir(dir)
	must(t, err)
	want := make(map[string]string)
	for _, e := range list {
		info, err := e.Info()
		must(t, err)
		want[e.Name()] = fmt.Sprint(e, e.Type(), e.IsDir(), info.Mode())
	}
	return want
}

func listedKinds(t *testing.T, dir string) map[string]string {
	t.Helper()
	d := openDir(t, openRoot(t, dir), ".")
	list, err := d.ReadDir()
	must(t, err)
	got := make(map[string]string)
	for _, e := range list {
		info, err := e.Info()
		must(t, err)
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

// A file system whose directories do not say of what kind an entry is, as ext2 was at first: each has to be asked.
func TestRootFs_OpenDir_kindsNotListed(t *testing.T) {
	work := t.TempDir()
	image, dir := filepath.Join(work, "image"), filepath.Join(work, "mount")
	must(t, os.WriteFile(image, nil, 0o600))
	must(t, os.Truncate(image, 1<<20))
	must(t, os.Mkdir(dir, 0o755))
	if out, err := exec.Command("mkfs.ext2", "-q", "-O", "^filetype", image).CombinedOutput(); err != nil {
		t.Skipf("no mkfs.ext2: %v %s", err, out)
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
	root, err := fsutil.OpenRoot(dir)
	must(t, err)
	d, err := root.OpenDir(".")
	must(t, err)
	list, err := d.ReadDir()
	must(t, err)
	got := make(map[string]string)
	for _, e := range list {
		info, err := e.Info()
		must(t, err)
		got[e.Name()] = fmt.Sprint(e, e.Type(), e.IsDir(), info.Mode())
	}
	must(t, d.Close())
	must(t, root.Close())
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-os +listed):\n%s", diff)
	}
}

// What is gone when its turn comes is gone: for a listing, for an entry of it, and for a walk, which goes on.
func TestRootFs_OpenDir_removed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root := openRoot(t, dir)
	must(t, os.Mkdir(filepath.Join(dir, "d"), 0o755))
	must(t, os.WriteFile(filepath.Join(dir, "d", "f"), nil, 0o644))
	d := openDir(t, root, "d")
	list, err := d.ReadDir()
	must(t, err)
	must(t, os.RemoveAll(filepath.Join(dir, "d")))
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
	must(t, os.MkdirAll(filepath.Join(dir, "a"), 0o755))
	must(t, os.WriteFile(filepath.Join(dir, "f"), nil, 0o644))
	must(t, os.WriteFile(filepath.Join(dir, "a", "g"), nil, 0o644))
	var seen []string
	// One worker visits the files of a directory before it reads those in it.
	err := fsutil.Walk(context.Background(), openRoot(t, dir), ".", fsutil.WalkOptions{Workers: 1}, func(e fsutil.Entry) error {
		seen = append(seen, e.Path())
		must(t, os.Remove(filepath.Join(dir, "f")))
		if _, err := e.Info(); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Info of a file that is gone: %v", err)
		}
		return os.RemoveAll(filepath.Join(dir, "a"))
	})
	if err != nil || len(seen) != 1 || seen[0] != "f" {
		t.Errorf("seen are %q, %v, want f alone", seen, err)
	}
}
