package memfs_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/fstest"
)

func TestMemFs_worlds(t *testing.T) {
	plain := afero.NewMemMapFs()
	fstest.Write(t, plain, "/src/a", "absolute a")
	fstest.Write(t, plain, "src/b", "relative b")
	fstest.Write(t, plain, "/only/c", "c")
	fstest.Write(t, plain, "both", "relative")
	fstest.Write(t, plain, "/both", "absolute")
	fsys := fstest.Raise(t, plain)

	for name, want := range map[string]string{
		"src/a": "absolute a", "/src/a": "absolute a", "src/b": "relative b", "/src/b": "relative b", "both": "relative",
		"/both": "relative",
	} {
		if got := fstest.Read(t, fsys, name); got != want {
			t.Errorf("%q has %q, want %q", name, got, want)
		}
	}
	if diff := cmp.Diff([]string{"both", "only", "src"}, fstest.List(t, fsys, ".")); diff != "" {
		t.Errorf("root (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a", "b"}, fstest.List(t, fsys, "src")); diff != "" {
		t.Errorf("src (-want +got):\n%s", diff)
	}

	// The caller finds new files next to the existing ones.
	fstest.Write(t, fsys, "only/new", "1")
	if got := fstest.Read(t, plain, "/only/new"); got != "1" {
		t.Errorf("/only/new has %q", got)
	}
	fstest.Write(t, fsys, "src/a", "changed")
	if got := fstest.Read(t, plain, "/src/a"); got != "changed" {
		t.Errorf("/src/a has %q", got)
	}

	// A directory in both worlds is one directory, and moves as one.
	when := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	if err := fsys.Chtimes("src", when, when); err != nil {
		t.Fatal(err)
	}
	if err := fsys.Rename("src", "only/moved"); err != nil {
		t.Fatal(err)
	}
	if info, err := fsys.Stat("only/moved"); err != nil || !info.ModTime().Equal(when) {
		t.Errorf("the moved directory was modified at %v, %v, want %v", info.ModTime(), err, when)
	}
	if got := fstest.Read(t, plain, "/only/moved/a") + fstest.Read(t, plain, "/only/moved/b"); got != "changedrelative b" {
		t.Errorf("moved files have %q", got)
	}
	for _, old := range []string{"src", "/src", "src/b", "/src/a"} {
		if _, err := plain.Stat(old); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q still exists: %v", old, err)
		}
	}
	// A replacement takes effect in both worlds.
	fstest.Write(t, fsys, "by", "replaced")
	if err := fsys.Rename("by", "both"); err != nil {
		t.Fatal(err)
	}
	if _, err := plain.Stat("/both"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("/both still exists: %v", err)
	}
	fstest.Write(t, plain, "/both", "absolute")

	// A removed file is gone, and does not reveal the file of the other world.
	if err := fsys.Remove("both"); err != nil {
		t.Fatal(err)
	}
	if _, err := fsys.Stat("both"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a removed file still exists: %v", err)
	}
	if err := fsys.Rename("only", "src"); err != nil {
		t.Fatal(err)
	}
	if err := fsys.RemoveAll("src"); err != nil {
		t.Fatal(err)
	}
	if left := fstest.List(t, plain, "/"); len(left) > 0 {
		t.Errorf("left in the MemMapFs: %q", left)
	}
}

// A file in one world and a directory in the other: hidden entries must not appear when the rest is removed.
func TestMemFs_worldsOfTwoKinds(t *testing.T) {
	for _, files := range [][2]string{{"a", "/a/x"}, {"/a", "a/x"}} {
		for op, do := range map[string]func(fsys afero.Fs) error{
			"RemoveAll": func(fsys afero.Fs) error { return fsys.RemoveAll("a") },
			"Rename":    func(fsys afero.Fs) error { return fsys.Rename("a", "b") },
		} {
			plain := afero.NewMemMapFs()
			fstest.Write(t, plain, files[0], "file")
			fstest.Write(t, plain, files[1], "below")
			fsys := fstest.Raise(t, plain)
			info, err := fsys.Stat("a")
			if err != nil || info.IsDir() != (files[1] == "a/x") {
				t.Errorf("%q: Stat = %v, %v, want the entry of the relative world", files, info, err)
			}
			if err := do(fsys); err != nil {
				t.Errorf("%s with %q: %v", op, files, err)
			}
			for _, name := range []string{"a", "/a", "a/x", "/a/x"} {
				if _, err := plain.Stat(name); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%s with %q: %q still exists: %v", op, files, name, err)
				}
			}
		}
	}
}

func TestMemFs_placeInRoot(t *testing.T) {
	for _, test := range []struct {
		there []string
		want  string
	}{
		{nil, "new"}, {[]string{"a"}, "new"}, {[]string{"/a"}, "/new"}, {[]string{"/a", "/b/c"}, "/new"}, {[]string{"a", "/b"}, "new"},
	} {
		plain := afero.NewMemMapFs()
		for _, name := range test.there {
			fstest.Write(t, plain, name, "x")
		}
		fsys := fstest.Raise(t, plain)
		fstest.Write(t, fsys, "new", "made")
		if got := fstest.Read(t, plain, test.want); got != "made" {
			t.Errorf("beside %q: %q has %q", test.there, test.want, got)
		}
	}
}

func TestMemFs_keepsModesAndTimes(t *testing.T) {
	plain := afero.NewMemMapFs()
	when := time.Date(2020, 1, 2, 3, 4, 5, 678, time.UTC)
	if err := afero.WriteFile(plain, "/d/f", []byte("x"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := plain.Chtimes("/d/f", when, when); err != nil {
		t.Fatal(err)
	}
	fsys := fstest.Raise(t, plain)
	fstest.Read(t, fsys, "d/f")
	f, err := fsys.OpenFile("d/f", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if err := fsys.Rename("d", "e"); err != nil {
		t.Fatal(err)
	}
	info, err := plain.Stat("/e/f")
	if err != nil {
		t.Fatal(err)
	}
	if !info.ModTime().Equal(when) || info.Mode() != 0o640 {
		t.Errorf("mode %v, time %v, want %v, %v", info.Mode(), info.ModTime(), fs.FileMode(0o640), when)
	}
}

// Files whose directory was removed directly from the MemMapFs must not be visible, and must not make it panic.
func TestMemFs_orphans(t *testing.T) {
	plain := afero.NewMemMapFs()
	fstest.Write(t, plain, "/stays", "x") // so that everything is made in the absolute world
	fstest.Write(t, plain, "/d/sub/f", "x")
	if err := plain.Remove("/d/sub"); err != nil {
		t.Fatal(err)
	}
	fsys := fstest.Raise(t, plain)
	if _, err := fsys.Stat("d/sub/f"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Stat = %v, want fs.ErrNotExist", err)
	}
	if err := fsys.Remove("d/sub/f"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Remove = %v, want fs.ErrNotExist", err)
	}
	if err := fsys.RemoveAll("d"); err != nil {
		t.Error(err)
	}
	if err := fsys.MkdirAll("d/sub", 0o755); err != nil {
		t.Error(err)
	}
	if _, err := fsys.Stat("d/sub/f"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Stat = %v after RemoveAll, want fs.ErrNotExist", err)
	}
}

func TestMemFs_tooLarge(t *testing.T) {
	fsys := fstest.Raise(t, afero.NewMemMapFs())
	f, err := fsys.Create("f")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(1 << 50); err == nil {
		t.Error("Truncate to 1 PiB succeeded")
	}
	if _, err := f.WriteAt([]byte("x"), 1<<50); err == nil {
		t.Error("WriteAt at 1 PiB succeeded")
	}
}

func TestMemFs_Exchange(t *testing.T) {
	fstest.CheckExchange(t, fstest.Raise(t, afero.NewMemMapFs()))
	plain := afero.NewMemMapFs()
	fstest.Write(t, plain, "/a/1", "absolute")
	fstest.Write(t, plain, "a/2", "relative")
	fstest.Write(t, plain, "b/3", "b")
	fsys := fstest.Raise(t, plain)
	if err := fsys.(capability.Exchanger).Exchange("a", "b"); err != nil {
		t.Fatal(err)
	}
	if got := fstest.Read(t, fsys, "b/1") + fstest.Read(t, fsys, "b/2") + fstest.Read(t, fsys, "a/3"); got != "absoluterelativeb" {
		t.Errorf("after the exchange of directories of two worlds %q", got)
	}
}

func TestMemFs_RenameNoReplace(t *testing.T) {
	fstest.CheckNoReplace(t, fstest.Raise(t, afero.NewMemMapFs()))
}

func TestMemFs_Lock(t *testing.T) {
	plain := afero.NewMemMapFs()
	fstest.CheckLock(t, func() afero.Fs { return fstest.Raise(t, plain) })
	if diff := cmp.Diff([]string{"f"}, fstest.List(t, plain, "/")); diff != "" {
		t.Errorf("left in the MemMapFs (-want +got):\n%s", diff)
	}
}

// A MemMapFs alone panics or deadlocks in this test.
func TestMemFs_concurrent(t *testing.T) {
	fsys := fstest.Raise(t, afero.NewMemMapFs())
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(worker)))
			name := func() string { return fmt.Sprintf("%c/%c", 'a'+r.IntN(3), 'x'+r.IntN(3)) }
			for range 500 {
				switch r.IntN(7) {
				case 0:
					_ = fsys.Mkdir(path.Dir(name()), 0o755)
				case 1:
					_ = afero.WriteFile(fsys, name(), []byte("data"), 0o644)
				case 2:
					_ = fsys.Rename(name(), name())
				case 3:
					_ = fsys.Rename(path.Dir(name()), path.Dir(name()))
				case 4:
					_ = fsys.RemoveAll(path.Dir(name()))
				case 5:
					_ = fsys.Remove(name())
				case 6:
					if data, err := afero.ReadFile(fsys, name()); err == nil && len(data) > 4 {
						t.Errorf("read %q", data)
					}
				}
			}
		})
	}
	wg.Wait()
}
