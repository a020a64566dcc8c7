package rootfs_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/names"
)

func TestRootFs_OpenDir(t *testing.T) {
	base := t.TempDir()
	root := fstest.OpenRoot(t, base)
	if err := root.MkdirAll("d/sub", 0o755); err != nil {
		t.Fatal(err)
	}
	var want []string
	for i := range 1500 { // more than one block of the listing
		name := strings.Repeat("n", i%50) + string(rune('a'+i%26)) + strings.Repeat("x", i/26)
		fstest.Write(t, root, "d/"+name, "x")
		want = append(want, name+" ----------")
	}
	want = append(want, "sub d---------")
	if err := root.SymlinkIfPossible("sub", "d/link"); err == nil {
		want = append(want, "link L---------")
	}
	dir := fstest.OpenDir(t, root, "d")
	for range 2 {
		entries, err := dir.ReadDir()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range entries {
			got = append(got, e.Name()+" "+e.Type().String())
			if e.IsDir() != e.Type().IsDir() {
				t.Errorf("%q: IsDir %v", e.Name(), e.IsDir())
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("entries (-want +got):\n%s", diff)
		}
	}
}

func TestRootFs_OpenDir_info(t *testing.T) {
	base := t.TempDir()
	root := fstest.OpenRoot(t, base)
	fstest.Write(t, root, "f", "abc")
	if err := root.Mkdir("d", 0o700|fs.ModeSticky); err != nil {
		t.Fatal(err)
	}
	_ = root.SymlinkIfPossible("f", "l")
	_ = root.Chmod("f", 0o640|fs.ModeSetuid|fs.ModeSetgid)
	dir := fstest.OpenDir(t, root, ".")
	entries, err := dir.ReadDir()
	if err != nil {
		t.Fatal(err)
	}
	for _, closed := range []bool{false, true} {
		if closed {
			dir.Close()
		}
		for _, e := range entries {
			got, err := e.Info()
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.Lstat(filepath.Join(base, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			if got.Name() != want.Name() || got.Mode() != want.Mode() || got.Size() != want.Size() ||
				!got.ModTime().Equal(want.ModTime()) || got.IsDir() != want.IsDir() {
				t.Errorf("Info of %q = %v, want %v", e.Name(), got, want)
			}
			if ident, ok := afero.Fs(root).(capability.Identifier); ok {
				a, okA := ident.IdentityOf(got)
				b, okB := ident.IdentityOf(want)
				if !okA || !okB || a != b || !a.SameFile(b) {
					t.Errorf("identity of %q = %+v, want %+v", e.Name(), a, b)
				}
			}
		}
	}
}

func TestRootFs_OpenDir_errors(t *testing.T) {
	root := fstest.OpenRoot(t, t.TempDir())
	fstest.Write(t, root, "f", "x")
	for name, want := range map[string]func(error) bool{
		"none": fstest.IsNotExist, "f": fstest.IsNotDir, "f/d": fstest.IsNotDir, "../d": fstest.IsEscape, "/": fstest.IsAbsolute,
	} {
		if _, err := root.OpenDir(name); err == nil || !want(err) {
			t.Errorf("OpenDir(%q) = %v", name, err)
		}
	}
	dir := fstest.OpenDir(t, root, ".")
	if err := dir.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := dir.ReadDir(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("ReadDir = %v, want fs.ErrClosed", err)
	}
	if _, err := dir.OpenFile("f"); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("OpenFile = %v, want fs.ErrClosed", err)
	}
}

func TestRootFs_OpenDir_OpenFile(t *testing.T) {
	root := fstest.OpenRoot(t, t.TempDir())
	if err := root.MkdirAll("d/sub", 0o755); err != nil {
		t.Fatal(err)
	}
	fstest.Write(t, root, "d/f", "abc")
	fstest.Write(t, root, "up", "not in d")
	hasLinks := root.SymlinkIfPossible("f", "d/l") == nil
	dir := fstest.OpenDir(t, root, "d")
	f, err := dir.OpenFile("f")
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 2)
	var got []byte
	for {
		n, err := f.Read(buf)
		got = append(got, buf[:n]...)
		if err != nil {
			if err != io.EOF {
				t.Errorf("Read = %v, want io.EOF", err)
			}
			break
		}
	}
	if string(got) != "abc" {
		t.Errorf("read %q", got)
	}
	if info, err := f.Stat(); err != nil || info.Name() != "f" || info.Size() != 3 || !info.Mode().IsRegular() {
		t.Errorf("Stat = %v, %v", info, err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("a second Close = %v, want fs.ErrClosed", err)
	}
	if _, err := f.Read(buf); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Read after Close = %v, want fs.ErrClosed", err)
	}
	refused := map[string]error{
		"sub": names.ErrNotRegular, "none": fs.ErrNotExist, "../up": names.ErrEscape, "sub/x": names.ErrEscape,
		"..": names.ErrEscape, ".": names.ErrEscape, "": names.ErrEmptyPath, "a\x00b": names.ErrBadName,
		strings.Repeat("n", 256): names.ErrNameTooLong,
	}
	if hasLinks {
		refused["l"] = names.ErrNotRegular
	}
	for name, want := range refused {
		if _, err := dir.OpenFile(name); !errors.Is(err, want) {
			t.Errorf("OpenFile(%q) = %v, want %v", name, err, want)
		}
	}
}

// A handle that is closed while others use it must not give them another file.
func TestRootFs_OpenDir_concurrentClose(t *testing.T) {
	root := fstest.OpenRoot(t, t.TempDir())
	for _, dir := range []string{"a", "b"} {
		if err := root.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		fstest.Write(t, root, dir+"/f", dir)
	}
	for range 200 {
		dir := fstest.OpenDir(t, root, "a")
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				for range 5 {
					f, err := dir.OpenFile("f")
					if err != nil {
						if !errors.Is(err, fs.ErrClosed) {
							t.Error(err)
						}
						return
					}
					buf := make([]byte, 1)
					if _, err := f.Read(buf); err != nil || buf[0] != 'a' {
						t.Errorf("read %q, %v", buf, err)
					}
					f.Close()
				}
			})
		}
		wg.Go(func() {
			dir.Close()
			other := fstest.OpenDir(t, root, "b") // may get the number of the closed handle
			other.Close()
		})
		wg.Wait()
	}
}

// No name leads out while another program swaps a directory for a link to the outside and back.
func TestRootFs_swappedForLink(t *testing.T) {
	parent := t.TempDir()
	base := filepath.Join(parent, "root")
	if err := errors.Join(os.MkdirAll(base+"/d", 0o755), os.Mkdir(parent+"/out", 0o755),
		os.WriteFile(parent+"/out/f", []byte("secret"), 0o644), os.WriteFile(base+"/d/f", []byte("inside"), 0o644)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../out", base+"/l"); err != nil {
		t.Skip(err)
	}
	root := fstest.OpenRoot(t, base)
	var stop atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for !stop.Load() {
			_ = os.Rename(base+"/d", base+"/d2")
			_ = os.Rename(base+"/l", base+"/d")
			_ = os.Rename(base+"/d", base+"/l")
			_ = os.Rename(base+"/d2", base+"/d")
		}
	})
	for start := time.Now(); time.Since(start) < 200*time.Millisecond; {
		if data, err := afero.ReadFile(root, "d/f"); err == nil && string(data) == "secret" {
			t.Fatal("a file outside was read")
		}
		_ = afero.WriteFile(root, "d/new", []byte("x"), 0o644)
		_ = root.Rename("d/new", "d/newer")
		_ = root.Mkdir("d/made", 0o755)
		_ = root.Chmod("d/f", 0o666)
		_ = root.Link("d/f", "d/linked")
		if x, ok := afero.Fs(root).(capability.Exchanger); ok {
			_ = x.Exchange("d/f", "d/newer")
			_ = x.Exchange("d/f", "d/newer")
		}
		_ = root.RemoveAll("d/made")
		_ = root.Remove("d/linked")
		if dir, err := root.OpenDir("d"); err == nil {
			if f, err := dir.OpenFile("f"); err == nil {
				buf := make([]byte, 6)
				if n, _ := f.Read(buf); string(buf[:n]) == "secret" {
					t.Error("a file outside was read through a handle")
				}
				f.Close()
			}
			dir.Close()
		}
	}
	stop.Store(true)
	wg.Wait()
	if diff := cmp.Diff([]string{"f"}, fstest.List(t, afero.NewOsFs(), parent+"/out")); diff != "" {
		t.Errorf("outside (-want +got):\n%s", diff)
	}
	if info, err := os.Stat(parent + "/out/f"); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("the file outside is %v, %v", info, err)
	}
}
