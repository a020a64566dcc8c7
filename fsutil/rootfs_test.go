package fsutil_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/fstest"
)

func TestOpenRoot_errors(t *testing.T) {
	dir := t.TempDir()
	if _, err := fsutil.OpenRoot(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing directory: %v", err)
	}
	file := filepath.Join(dir, "f")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := fsutil.OpenRoot(file); err == nil {
		t.Error("a file was opened as a directory")
	}
}

func TestRootFs_Close(t *testing.T) {
	root := openRoot(t, t.TempDir())
	file, err := root.Create("f")
	if err != nil {
		t.Fatal(err)
	}
	if err := root.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := root.Stat("f"); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Stat = %v, want fs.ErrClosed", err)
	}
	if _, err := file.Write([]byte("x")); err != nil {
		t.Errorf("a file opened before: %v", err)
	}
	file.Close()
}

// The error that package os has no name for must be known by its text.
func TestRootFs_escape(t *testing.T) {
	outside := t.TempDir()
	dir := filepath.Join(outside, "root")
	if err := os.MkdirAll(dir+"/d", 0o755); err != nil {
		t.Fatal(err)
	}
	secret := filepath.Join(outside, "root-evil")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	root := openRoot(t, dir)
	write(t, root, "d/f", "inside")
	for name, target := range map[string]string{
		"up": "../root-evil", "abs": secret, "in": filepath.Join(dir, "d/f"), "back": "../root/d/f", "proc": "/proc/self/root",
	} {
		if err := root.SymlinkIfPossible(target, name); err != nil {
			t.Skip(err)
		}
		if _, err := root.Open(name); !errors.Is(err, fsutil.ErrEscape) {
			t.Errorf("Open of a link to %q = %v, want ErrEscape", target, err)
		}
		if _, err := root.OpenDir(name); !errors.Is(err, fsutil.ErrEscape) {
			t.Errorf("OpenDir of a link to %q = %v, want ErrEscape", target, err)
		}
		if err := root.Chmod(name, 0o777); !errors.Is(err, fsutil.ErrEscape) {
			t.Errorf("Chmod of a link to %q = %v, want ErrEscape", target, err)
		}
	}
	if info, err := os.Stat(secret); err != nil || info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		t.Errorf("the file outside has changed: %v, %v", info, err)
	}
	// A chain of more than eight links is a loop.
	for i, name := range strings.Fields("l1 l2 l3 l4 l5 l6 l7 l8 l9") {
		if err := root.SymlinkIfPossible(append([]string{"d/f"}, strings.Fields("l1 l2 l3 l4 l5 l6 l7 l8")...)[i], name); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := root.Open("l9"); !errors.Is(err, fsutil.ErrLinkLoop) || !errors.Is(err, syscall.ELOOP) {
		t.Errorf("a chain of nine links = %v, want ErrLinkLoop", err)
	}
}

func TestRootFs_errorsMatchBoth(t *testing.T) {
	root := openRoot(t, t.TempDir())
	write(t, root, "f", "x")
	_, err := root.Stat("f/x")
	var pathErr *fs.PathError
	if !errors.Is(err, fsutil.ErrNotDir) || !errors.As(err, &pathErr) || pathErr.Path != "f/x" || pathErr.Op != "stat" {
		t.Errorf("error %#v", err)
	}
	if runtime.GOOS != "windows" && !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("error %v does not match ENOTDIR", err)
	}
	_, err = root.Stat("./none")
	if !os.IsNotExist(err) || err.Error() != "stat ./none: "+syscall.ENOENT.Error() {
		t.Errorf("error %q", err)
	}
	err = root.Rename("none", "x")
	if linkErr := new(os.LinkError); !errors.As(err, &linkErr) || linkErr.Old != "none" || !os.IsNotExist(err) {
		t.Errorf("error %#v", err)
	}
}

// It goes by handles: the directory may be moved while it is open.
func TestRootFs_movedDirectory(t *testing.T) {
	parent := t.TempDir()
	if err := os.Mkdir(parent+"/old", 0o755); err != nil {
		t.Fatal(err)
	}
	root := openRoot(t, parent+"/old")
	write(t, root, "f", "x")
	if err := os.Rename(parent+"/old", parent+"/new"); err != nil {
		t.Skip(err)
	}
	write(t, root, "g", "y")
	if err := root.Rename("g", "h"); err != nil {
		t.Error(err)
	}
	if data, err := os.ReadFile(parent + "/new/h"); err != nil || string(data) != "y" {
		t.Errorf("read %q, %v", data, err)
	}
	if _, err := os.Stat(parent + "/old"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the old directory is back: %v", err)
	}
}

func TestRootFs_specialBits(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no such bits")
	}
	root := openRoot(t, t.TempDir())
	has := func(name string, want fs.FileMode) {
		t.Helper()
		info, err := root.Stat(name)
		if err != nil || info.Mode()&fsutil.PermBits != want {
			t.Errorf("%q: %v, %v, want %v", name, info.Mode(), err, want)
		}
	}
	open := func(name string, flag int, mode fs.FileMode) {
		t.Helper()
		f, err := root.OpenFile(name, flag, mode)
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	open("f", os.O_WRONLY|os.O_CREATE, 0o700|fs.ModeSetuid)
	has("f", 0o700|fs.ModeSetuid)
	open("g", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o700|fs.ModeSticky)
	has("g", 0o700|fs.ModeSticky)
	write(t, root, "h", "kept")
	if err := root.Chmod("h", 0o600); err != nil {
		t.Fatal(err)
	}
	open("h", os.O_WRONLY|os.O_CREATE, 0o700|fs.ModeSetuid)
	has("h", 0o600)
	if got := read(t, root, "h"); got != "kept" {
		t.Errorf("the file has %q", got)
	}
	if _, err := root.OpenFile("h", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o700|fs.ModeSetuid); !errors.Is(err, fs.ErrExist) {
		t.Errorf("O_EXCL = %v, want fs.ErrExist", err)
	}
	if err := root.Mkdir("d", 0o700|fs.ModeSticky); err != nil {
		t.Fatal(err)
	}
	has("d", 0o700|fs.ModeSticky)
	if err := root.MkdirAll("e/f", 0o700|fs.ModeSticky); err != nil {
		t.Fatal(err)
	}
	has("e", 0o700)
	has("e/f", 0o700|fs.ModeSticky)
	if err := root.MkdirAll("e", 0o755|fs.ModeSetuid); err != nil {
		t.Fatal(err)
	}
	has("e", 0o700)
}

func TestRootFs_Link(t *testing.T) {
	root := openRoot(t, t.TempDir())
	write(t, root, "f", "x")
	write(t, root, "g", "y")
	if err := root.Link("f", "h"); errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	write(t, root, "h", "through the other name")
	if got := read(t, root, "f"); got != "through the other name" {
		t.Errorf("the file has %q", got)
	}
	if err := root.Link("f", "g"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Link over a file = %v, want fs.ErrExist", err)
	}
	if err := root.Link("none", "i"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Link of nothing = %v, want fs.ErrNotExist", err)
	}
	if err := root.Link("f", "none/i"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Link into a missing directory = %v, want fs.ErrNotExist", err)
	}
	if err := root.Link("f", "../i"); !errors.Is(err, fsutil.ErrEscape) {
		t.Errorf("Link to the outside = %v, want ErrEscape", err)
	}
	if err := root.Mkdir("d", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := root.Link("d", "e"); !errors.Is(err, errors.ErrUnsupported) || !errors.Is(err, fs.ErrPermission) {
		t.Errorf("Link of a directory = %v, want errors.ErrUnsupported", err)
	}
	if err := root.SymlinkIfPossible("f", "l"); err != nil {
		t.Fatal(err)
	}
	if err := root.Link("l", "m"); err != nil {
		t.Fatal(err)
	}
	if target, err := root.ReadlinkIfPossible("m"); err != nil || target != "f" {
		t.Errorf("Readlink = %q, %v: the link was followed", target, err)
	}
}

func TestRootFs_Exchange(t *testing.T) {
	root := openRoot(t, t.TempDir())
	if _, ok := afero.Fs(root).(fsutil.Exchanger); !ok {
		t.Skip("not on this system")
	}
	exchangeTest(t, root)
}

func TestRootFs_RenameNoReplace(t *testing.T) {
	root := openRoot(t, t.TempDir())
	if _, ok := afero.Fs(root).(fsutil.NoReplacer); !ok {
		t.Skip("not on this system")
	}
	noReplaceTest(t, root)
}

func TestRootFs_Lock(t *testing.T) {
	dir := t.TempDir()
	if _, ok := afero.Fs(openRoot(t, dir)).(fsutil.Locker); !ok {
		t.Skip("not on this system")
	}
	if runtime.GOOS == "windows" {
		if err := os.Mkdir(dir+"/.millrace", 0o700); err != nil { // so that the listing stays the same
			t.Fatal(err)
		}
	}
	lockTest(t, func() afero.Fs { return openRoot(t, dir) })
}

func openDir(t *testing.T, fsys fsutil.DirOpener, name string) fsutil.DirHandle {
	t.Helper()
	dir, err := fsys.OpenDir(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	return dir
}

func TestRootFs_OpenDir(t *testing.T) {
	base := t.TempDir()
	root := openRoot(t, base)
	if err := root.MkdirAll("d/sub", 0o755); err != nil {
		t.Fatal(err)
	}
	var want []string
	for i := range 1500 { // more than one block of the listing
		name := strings.Repeat("n", i%50) + string(rune('a'+i%26)) + strings.Repeat("x", i/26)
		write(t, root, "d/"+name, "x")
		want = append(want, name+" ----------")
	}
	want = append(want, "sub d---------")
	if err := root.SymlinkIfPossible("sub", "d/link"); err == nil {
		want = append(want, "link L---------")
	}
	dir := openDir(t, root, "d")
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
	root := openRoot(t, base)
	write(t, root, "f", "abc")
	if err := root.Mkdir("d", 0o700|fs.ModeSticky); err != nil {
		t.Fatal(err)
	}
	_ = root.SymlinkIfPossible("f", "l")
	_ = root.Chmod("f", 0o640|fs.ModeSetuid|fs.ModeSetgid)
	dir := openDir(t, root, ".")
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
			if ident, ok := afero.Fs(root).(fsutil.Identifier); ok {
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
	root := openRoot(t, t.TempDir())
	write(t, root, "f", "x")
	for name, want := range map[string]func(error) bool{
		"none": fstest.IsNotExist, "f": fstest.IsNotDir, "f/d": fstest.IsNotDir, "../d": fstest.IsEscape, "/": fstest.IsAbsolute,
	} {
		if _, err := root.OpenDir(name); err == nil || !want(err) {
			t.Errorf("OpenDir(%q) = %v", name, err)
		}
	}
	dir := openDir(t, root, ".")
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
	root := openRoot(t, t.TempDir())
	if err := root.MkdirAll("d/sub", 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, root, "d/f", "abc")
	write(t, root, "up", "not in d")
	hasLinks := root.SymlinkIfPossible("f", "d/l") == nil
	dir := openDir(t, root, "d")
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
		"sub": fsutil.ErrNotRegular, "none": fs.ErrNotExist, "../up": fsutil.ErrEscape, "sub/x": fsutil.ErrEscape,
		"..": fsutil.ErrIsDir, ".": fsutil.ErrIsDir, "": fsutil.ErrEmptyPath, "a\x00b": fsutil.ErrBadName,
		strings.Repeat("n", 256): fsutil.ErrNameTooLong,
	}
	if hasLinks {
		refused["l"] = fsutil.ErrNotRegular
	}
	for name, want := range refused {
		if _, err := dir.OpenFile(name); !errors.Is(err, want) {
			t.Errorf("OpenFile(%q) = %v, want %v", name, err, want)
		}
	}
}

// A handle that is closed while others use it must not lead them to another file.
func TestRootFs_OpenDir_concurrentClose(t *testing.T) {
	root := openRoot(t, t.TempDir())
	for _, dir := range []string{"a", "b"} {
		if err := root.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, root, dir+"/f", dir)
	}
	for range 200 {
		dir := openDir(t, root, "a")
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
			other := openDir(t, root, "b") // may well get the number of the handle that was closed
			other.Close()
		})
		wg.Wait()
	}
}

// No name leads out while somebody else swaps a directory for a link to the outside and back.
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
	root := openRoot(t, base)
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
		if x, ok := afero.Fs(root).(fsutil.Exchanger); ok {
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
	if diff := cmp.Diff([]string{"f"}, names(t, afero.NewOsFs(), parent+"/out")); diff != "" {
		t.Errorf("outside (-want +got):\n%s", diff)
	}
	if info, err := os.Stat(parent + "/out/f"); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("the file outside is %v, %v", info, err)
	}
}
