package rootfs_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/rootfs"
)

// bulk returns a RootFs of a new directory in which "d" is held, its Bulk, and the directory.
func bulk(t *testing.T) (*rootfs.FS, *rootfs.Bulk, string) {
	t.Helper()
	base := t.TempDir()
	root := fstest.OpenRoot(t, base)
	fstest.Must(t, root.Mkdir("d", 0o755))
	fast := rootfs.NewBulk(root)
	if fast == nil {
		t.Skip("this kernel has no openat2")
	}
	fast.Hold("d")
	t.Cleanup(func() { fstest.Must(t, fast.Close()) })
	return root, fast, base
}

// TestBulk_sameErrors: a failing operation has the error of the RootFs.
func TestBulk_sameErrors(t *testing.T) {
	t.Parallel()
	root, fast, _ := bulk(t)
	fstest.Write(t, root, "d/f", "f")
	fstest.Write(t, root, "g", "g")
	fstest.Must(t, root.Mkdir("d/full", 0o755))
	fstest.Write(t, root, "d/full/x", "x")
	fstest.Must(t, root.SymlinkIfPossible("/", "out"))
	for _, tt := range []struct {
		what       string
		fast, slow func() error
		want       error
	}{
		{"link to an existing name", func() error { return fast.Link("g", "d/f") }, func() error { return root.Link("g", "d/f") }, fs.ErrExist},
		{"link of nothing", func() error { return fast.Link("no", "d/h") }, func() error { return root.Link("no", "d/h") }, fs.ErrNotExist},
		{"link of a directory", func() error { return fast.Link("d/full", "d/h") }, func() error { return root.Link("d/full", "d/h") }, errors.ErrUnsupported},
		{"exchange with nothing", func() error { return fast.Exchange("d/f", "no") }, func() error { return root.Exchange("d/f", "no") }, fs.ErrNotExist},
		{"exchange below nothing", func() error { return fast.Exchange("no/f", "d/f") }, func() error { return root.Exchange("no/f", "d/f") }, fs.ErrNotExist},
		{"exchange outside", func() error { return fast.Exchange("d/f", "out/tmp") }, func() error { return root.Exchange("d/f", "out/tmp") }, names.ErrEscape},
		{"remove nothing", func() error { return fast.Remove("d/no") }, func() error { return root.Remove("d/no") }, fs.ErrNotExist},
		{"remove a full directory", func() error { return fast.Remove("d/full") }, func() error { return root.Remove("d/full") }, names.ErrNotEmpty},
		{"sync nothing", func() error { return fast.SyncDir("no") }, func() error { return root.SyncDir("no") }, fs.ErrNotExist},
		{"sync a file", func() error { return fast.SyncDir("g") }, func() error { return root.SyncDir("g") }, names.ErrNotDir},
	} {
		err, slow := tt.fast(), tt.slow()
		if !errors.Is(err, tt.want) || !errors.Is(slow, tt.want) || err.Error() != slow.Error() {
			t.Errorf("%s: %v, RootFs returns %v", tt.what, err, slow)
		}
	}
	if err := fast.SyncDir("out"); !errors.Is(err, names.ErrEscape) {
		t.Error("synced through a link:", err)
	}
	fstest.Must(t, fast.SyncDir("d/full"))
}

// TestBulk_Hold: a held directory stays the same under another name, and a directory that is not held is found by name.
func TestBulk_Hold(t *testing.T) {
	t.Parallel()
	root, fast, _ := bulk(t)
	fstest.Must(t, root.Mkdir("e", 0o755))
	for _, dir := range []string{"d", "e", "no"} {
		fast.Hold(dir)
		fast.Hold(dir)
	}
	fstest.Must(t, root.Rename("d", "moved"))
	fstest.Must(t, root.Mkdir("d", 0o755))
	f, err := fast.CreateNear("", "d/f", 0o600)
	fstest.Must(t, err)
	fstest.Must(t, f.Close())
	if ok, _ := exists(root, "moved/f"); !ok {
		t.Error("the directory was looked up again")
	}
	fstest.Must(t, root.Mkdir("no", 0o755))
	f, err = fast.CreateNear("", "no/f", 0o600)
	fstest.Must(t, err)
	fstest.Must(t, f.Close())
	if ok, _ := exists(root, "no/f"); !ok {
		t.Error("the file is not at its path")
	}
	for i := range 300 {
		dir := "no/" + strings.Repeat("x", i%200+1)
		if i < 200 {
			fstest.Must(t, root.Mkdir(dir, 0o755))
		}
		fast.Hold(dir)
	}
	fstest.Must(t, fast.Link("no/f", "no/x/f"))
}

func exists(root *rootfs.FS, name string) (bool, error) {
	_, err := root.Stat(name)
	return err == nil, err
}

// TestBulk_closed: after the RootFs is closed all operations fail, and nothing crashes.
func TestBulk_closed(t *testing.T) {
	t.Parallel()
	root := fstest.OpenRoot(t, t.TempDir())
	fast := rootfs.NewBulk(root)
	if fast == nil {
		t.Skip("this kernel has no openat2")
	}
	fstest.Must(t, root.Close())
	fast.Hold("d")
	if _, err := fast.Lstat("f"); !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
	if _, err := fast.CreateNear("g", "f", 0o600); !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
	if err := fast.Link("f", "g"); !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
	fstest.Must(t, fast.Close())
}
