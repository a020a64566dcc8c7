package fsutil_test

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace/fsutil"
)

// fastPath returns that of a new directory, in which "d" is held, and the directory.
func fastPath(t *testing.T) (*fsutil.RootFs, fsutil.FastPath, string) {
	t.Helper()
	base := t.TempDir()
	root := openRoot(t, base)
	must(t, root.Mkdir("d", 0o755))
	fast := root.FastPath()
	if fast == nil {
		t.Skip("this kernel has no openat2")
	}
	fast.Hold("d")
	t.Cleanup(func() { must(t, fast.Close()) })
	return root, fast, base
}

// TestFastPath_Look: it says what lstat does, of names in directories that are held and others.
func TestFastPath_Look(t *testing.T) {
	t.Parallel()
	root, fast, base := fastPath(t)
	must(t, root.Mkdir("e", 0o711))
	for _, dir := range []string{"d", "e"} {
		write(t, root, dir+"/file", "some bytes")
		must(t, root.Chmod(dir+"/file", 0o640|fs.ModeSetuid))
		must(t, root.Mkdir(dir+"/sub", 0o700))
		must(t, root.SymlinkIfPossible("file", dir+"/link"))
		must(t, root.SymlinkIfPossible("sub", dir+"/dirlink"))
		must(t, unix.Mkfifo(filepath.Join(base, dir, "pipe"), 0o600))
		for name, kind := range map[string]fsutil.Kind{
			"file": fsutil.File, "sub": fsutil.Dir, "link": fsutil.Symlink, "dirlink": fsutil.Symlink, "pipe": fsutil.Other,
			"none": fsutil.Absent, "file/below": fsutil.Absent, "none/below": fsutil.Absent, ".": fsutil.Dir,
		} {
			name = filepath.Join(dir, name)
			got, err := fast.Look(name)
			if err != nil || got.Kind != kind {
				t.Errorf("%s: %v, %v", name, got, err)
			}
			if kind == fsutil.Absent {
				continue
			}
			info, _, err := root.LstatIfPossible(name)
			must(t, err)
			id, _ := root.IdentityOf(info)
			if got.Mode != info.Mode()&fsutil.PermBits || !got.ModTime.Equal(info.ModTime()) || got.ID != id ||
				kind == fsutil.File && got.Size != info.Size() {
				t.Errorf("%s: %+v, lstat says %v, %v, %+v", name, got, info.Mode(), info.ModTime(), id)
			}
		}
		if s, err := fast.Look(dir + "/link"); err != nil || s.Target != "file" {
			t.Errorf("%+v, %v", s, err)
		}
	}
	// What leads through a link is what the RootFs makes of it.
	write(t, root, "d/sub/x", "x")
	if s, err := fast.Look("d/dirlink/x"); err != nil || s.Kind != fsutil.File {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := fast.Look("d/" + strings.Repeat("n", 300)); !errors.Is(err, fsutil.ErrNameTooLong) {
		t.Error(err)
	}
}

// TestFastPath_sameErrors: what fails fails with the error of the RootFs.
func TestFastPath_sameErrors(t *testing.T) {
	t.Parallel()
	root, fast, _ := fastPath(t)
	write(t, root, "d/f", "f")
	write(t, root, "g", "g")
	must(t, root.Mkdir("d/full", 0o755))
	write(t, root, "d/full/x", "x")
	must(t, root.SymlinkIfPossible("/", "out"))
	for _, tt := range []struct {
		what       string
		fast, slow func() error
		want       error
	}{
		{"link to what is there", func() error { return fast.Link("g", "d/f") }, func() error { return root.Link("g", "d/f") }, fs.ErrExist},
		{"link of nothing", func() error { return fast.Link("no", "d/h") }, func() error { return root.Link("no", "d/h") }, fs.ErrNotExist},
		{"link of a directory", func() error { return fast.Link("d/full", "d/h") }, func() error { return root.Link("d/full", "d/h") }, errors.ErrUnsupported},
		{"exchange with nothing", func() error { return fast.Exchange("d/f", "no") }, func() error { return root.Exchange("d/f", "no") }, fs.ErrNotExist},
		{"exchange below nothing", func() error { return fast.Exchange("no/f", "d/f") }, func() error { return root.Exchange("no/f", "d/f") }, fs.ErrNotExist},
		{"exchange outside", func() error { return fast.Exchange("d/f", "out/tmp") }, func() error { return root.Exchange("d/f", "out/tmp") }, fsutil.ErrEscape},
		{"remove nothing", func() error { return fast.Remove("d/no") }, func() error { return root.Remove("d/no") }, fs.ErrNotExist},
		{"remove what is full", func() error { return fast.Remove("d/full") }, func() error { return root.Remove("d/full") }, fsutil.ErrNotEmpty},
		{"sync nothing", func() error { return fast.SyncDir("no") }, func() error { return root.SyncDir("no") }, fs.ErrNotExist},
		{"sync a file", func() error { return fast.SyncDir("g") }, func() error { return root.SyncDir("g") }, fsutil.ErrNotDir},
	} {
		err, slow := tt.fast(), tt.slow()
		if !errors.Is(err, tt.want) || !errors.Is(slow, tt.want) || err.Error() != slow.Error() {
			t.Errorf("%s: %v, RootFs says %v", tt.what, err, slow)
		}
	}
	if err := fast.SyncDir("out"); !errors.Is(err, errors.ErrUnsupported) {
		t.Error("synced through a link:", err)
	}
	must(t, fast.SyncDir("d/full"))
}

// TestFastPath_OpenRegular: it opens regular files, and neither waits for others nor follows links.
func TestFastPath_OpenRegular(t *testing.T) {
	t.Parallel()
	root, fast, base := fastPath(t)
	write(t, root, "d/f", "the bytes")
	must(t, root.SymlinkIfPossible("f", "d/link"))
	must(t, root.SymlinkIfPossible("d", "way"))
	must(t, unix.Mkfifo(filepath.Join(base, "pipe"), 0o600))
	f, err := fast.OpenRegular("d/f")
	must(t, err)
	if data, err := io.ReadAll(f); err != nil || string(data) != "the bytes" {
		t.Errorf("%q, %v", data, err)
	}
	must(t, f.Close())
	for name, want := range map[string]error{
		"d/link": fsutil.ErrNotRegular, "pipe": fsutil.ErrNotRegular, "d": fsutil.ErrNotRegular, "no": fs.ErrNotExist,
		"way/f": errors.ErrUnsupported, "d/f/x": fsutil.ErrNotDir,
	} {
		if f, err := fast.OpenRegular(name); !errors.Is(err, want) {
			t.Errorf("%s: %v, %v", name, f, err)
		}
	}
}

// TestFastPath_Hold: a directory that is held is the same one under another name, and one that is not is found by name.
func TestFastPath_Hold(t *testing.T) {
	t.Parallel()
	root, fast, _ := fastPath(t)
	must(t, root.Mkdir("e", 0o755))
	for _, dir := range []string{"d", "e", "no"} {
		fast.Hold(dir)
		fast.Hold(dir)
	}
	must(t, root.Rename("d", "moved"))
	must(t, root.Mkdir("d", 0o755))
	f, err := fast.CreateNear("", "d/f", 0o600)
	must(t, err)
	must(t, f.Close())
	if ok, _ := exists(root, "moved/f"); !ok {
		t.Error("the directory was looked up again")
	}
	must(t, root.Mkdir("no", 0o755))
	f, err = fast.CreateNear("", "no/f", 0o600)
	must(t, err)
	must(t, f.Close())
	if ok, _ := exists(root, "no/f"); !ok {
		t.Error("there is no file where it should be")
	}
	for i := range 300 {
		dir := "no/" + strings.Repeat("x", i%200+1)
		if i < 200 {
			must(t, root.Mkdir(dir, 0o755))
		}
		fast.Hold(dir)
	}
	must(t, fast.Link("no/f", "no/x/f"))
}

func exists(root *fsutil.RootFs, name string) (bool, error) {
	_, err := root.Stat(name)
	return err == nil, err
}

// TestFastPath_closed: after the RootFs is closed nothing works any more, and nothing crashes.
func TestFastPath_closed(t *testing.T) {
	t.Parallel()
	root := openRoot(t, t.TempDir())
	fast := root.FastPath()
	if fast == nil {
		t.Skip("this kernel has no openat2")
	}
	must(t, root.Close())
	fast.Hold("d")
	if _, err := fast.Look("f"); !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
	if _, err := fast.CreateNear("g", "f", 0o600); !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
	if err := fast.Link("f", "g"); !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
	must(t, fast.Close())
}
