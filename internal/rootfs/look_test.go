package rootfs_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/rootfs"
)

// statOnly is an open file that has only Stat.
type statOnly struct{ f *os.File }

func (s statOnly) Stat() (fs.FileInfo, error) { return s.f.Stat() }

// refusing is an entry, and an open file, that refuses every question.
type refusing struct{ fs.DirEntry }

func (refusing) Info() (fs.FileInfo, error) { return nil, fs.ErrPermission }
func (refusing) Stat() (fs.FileInfo, error) { return nil, fs.ErrPermission }

// All ways to look at a file agree; a field that a way does not report is zero.
func TestLooksAgree(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, err := range []error{
		os.WriteFile(filepath.Join(dir, "a"), []byte("text"), 0o640), os.Link(filepath.Join(dir, "a"), filepath.Join(dir, "b")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	r, err := rootfs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	want, err := r.Look("a")
	if err != nil || want.Size != 4 || want.Mode.Perm() != 0o640 && runtime.GOOS != "windows" || want.MTime == 0 {
		t.Fatalf("%+v, %v", want, err)
	}
	if runtime.GOOS == "linux" && (want.Nlink != 2 || want.Ino == 0 || want.CTime == 0) {
		t.Errorf("%+v", want)
	}
	agrees := func(what string, got rootfs.Look, err error) {
		t.Helper()
		if got.BTime == 0 {
			got.BTime = want.BTime // only some ways report it
		}
		if got != want || err != nil {
			t.Errorf("%s: %+v, %v; want %+v", what, got, err, want)
		}
	}
	opened, err := r.OpenDir(".")
	if err != nil {
		t.Fatal(err)
	}
	items, err := opened.ReadDir()
	if err != nil || len(items) != 2 {
		t.Fatalf("%v, %v", items, err)
	}
	slices.SortFunc(items, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	got, err := rootfs.LookAt(items[0])
	agrees("an entry", got, err)
	reader, err := opened.OpenFile("a")
	if err != nil {
		t.Fatal(err)
	}
	got, err = rootfs.LookInto(reader)
	agrees("a file of a directory", got, err)
	file, err := r.Open("a")
	if err != nil {
		t.Fatal(err)
	}
	got, err = rootfs.LookInto(file)
	agrees("a file", got, err)
	plain, err := os.Open(filepath.Join(dir, "a"))
	if err != nil {
		t.Fatal(err)
	}
	got, err = rootfs.LookInto(plain)
	agrees("a file of the system", got, err)
	got, err = rootfs.LookInto(statOnly{plain})
	agrees("a file that has only Stat", got, err)
	foreign, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	got, err = rootfs.LookAt(foreign[0])
	agrees("an entry of the system", got, err)

	if _, err := rootfs.LookAt(refusing{}); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("an entry that refuses: %v", err)
	}
	if _, err := rootfs.LookInto(refusing{}); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a file that refuses: %v", err)
	}
	if root, err := r.Look("."); err != nil || !root.Mode.IsDir() {
		t.Errorf("the root: %+v, %v", root, err)
	}
	if _, err := r.Look("missing"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "b")); err != nil {
		t.Fatal(err)
	}
	if _, err := rootfs.LookAt(items[1]); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an entry that is gone: %v", err)
	}
	for _, c := range []interface{ Close() error }{reader, file, plain, opened} {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	if now, err := rootfs.LookAt(items[0]); err == nil && now.Size != 4 {
		t.Errorf("after the directory was closed: %+v", now)
	}
}

// Dir is the directory itself, through whatever links its name led.
func TestDir(t *testing.T) {
	t.Parallel()
	real, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(real, link); err != nil {
		t.Skipf("symbolic links are not supported here: %v", err)
	}
	r, err := rootfs.Open(link)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got := r.Rooted().Dir(); got != real {
		t.Errorf("%s, want %s", got, real)
	}
	if err := os.Rename(real, real+"-moved"); err != nil {
		t.Skipf("an open directory cannot be moved here: %v", err)
	}
	if got := r.Dir(); got == real {
		t.Errorf("a moved directory is still %s", got)
	}
}
