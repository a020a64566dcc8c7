package fsutil_test

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/fsutil"
)

func TestWriteFileAtomic(t *testing.T) {
	for name, fsys := range map[string]afero.Fs{
		"root": openRoot(t, t.TempDir()), "memory": raise(t, afero.NewMemMapFs()), "plain memory": afero.NewMemMapFs(),
	} {
		t.Run(name, func(t *testing.T) {
			if err := fsys.Mkdir("d", 0o755); err != nil {
				t.Fatal(err)
			}
			long := "d/" + strings.Repeat("n", 255)
			for _, file := range []string{"f", "d/f", long} {
				for _, data := range []string{"first", "the second, longer", ""} {
					if err := fsutil.WriteFileAtomic(fsys, file, []byte(data), 0o600); err != nil {
						t.Fatal(err)
					}
					if got := read(t, fsys, file); got != data {
						t.Errorf("%q has %q, want %q", file, got, data)
					}
					info, err := fsys.Stat(file)
					if err != nil || info.Mode().Perm() != 0o600 && runtime.GOOS != "windows" {
						t.Errorf("%q: %v, %v, want mode 0600", file, info.Mode(), err)
					}
				}
			}
			if diff := cmp.Diff([]string{"f", strings.Repeat("n", 255)}, names(t, fsys, "d")); diff != "" {
				t.Errorf("left (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWriteFileAtomic_nil(t *testing.T) {
	if err := fsutil.WriteFileAtomic(nil, "f", nil, 0o600); !errors.Is(err, fsutil.ErrNoFs) {
		t.Errorf("error %v, want ErrNoFs", err)
	}
}

// failing fails at the operation of one number. Where it fails at a write, half of it is done.
type failing struct {
	afero.Fs
	at   int
	next *int
}

var errInjected = errors.New("injected")

func (f failing) fails() bool {
	*f.next++
	return *f.next == f.at
}

func (f failing) OpenFile(name string, flag int, perm fs.FileMode) (afero.File, error) {
	if f.fails() {
		return nil, errInjected
	}
	file, err := f.Fs.OpenFile(name, flag, perm)
	return failingFile{file, f}, err
}

func (f failing) Rename(a, b string) error {
	if f.fails() {
		return errInjected
	}
	return f.Fs.Rename(a, b)
}

func (f failing) SyncDir(string) error {
	if f.fails() {
		return errInjected
	}
	return errors.ErrUnsupported
}

type failingFile struct {
	afero.File
	failing failing
}

func (f failingFile) Write(p []byte) (int, error) {
	if f.failing.fails() {
		n, _ := f.File.Write(p[:len(p)/2])
		return n, errInjected
	}
	return f.File.Write(p)
}

func (f failingFile) Sync() error {
	if f.failing.fails() {
		return errInjected
	}
	return f.File.Sync()
}

func (f failingFile) Close() error {
	if f.failing.fails() {
		f.File.Close()
		return errInjected
	}
	return f.File.Close()
}

func TestWriteFileAtomic_failures(t *testing.T) {
	const calls = 6 // open, write, sync, close, rename, sync of the directory
	for at := 1; at <= calls+1; at++ {
		fsys := raise(t, afero.NewMemMapFs())
		write(t, fsys, "f", "old")
		next := 0
		err := fsutil.WriteFileAtomic(failing{fsys, at, &next}, "f", []byte("new data"), 0o600)
		if at > calls {
			if err != nil || next != calls {
				t.Errorf("nothing injected: error %v after %d calls, want %d", err, next, calls)
			}
			continue
		}
		if !errors.Is(err, errInjected) {
			t.Errorf("call %d: error %v, want the one injected", at, err)
		}
		want := "old"
		if at == calls {
			want = "new data"
		}
		if got := read(t, fsys, "f"); got != want {
			t.Errorf("call %d: the file has %q, want %q", at, got, want)
		}
		if diff := cmp.Diff([]string{"f"}, names(t, fsys, ".")); diff != "" {
			t.Errorf("call %d left (-want +got):\n%s", at, diff)
		}
	}
}

func TestWriteFileAtomic_readersSeeOldOrNew(t *testing.T) {
	fsys := openRoot(t, t.TempDir())
	a, b := strings.Repeat("a", 1<<16), strings.Repeat("b", 1<<15)
	write(t, fsys, "f", a)
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			data, err := afero.ReadFile(fsys, "f")
			if s := string(data); err != nil || s != a && s != b {
				t.Errorf("read %d bytes, %v", len(data), err)
				return
			}
		}
	})
	for i := range 40 {
		if err := fsutil.WriteFileAtomic(fsys, "f", []byte([]string{b, a}[i%2]), 0o644); err != nil {
			t.Error(err)
		}
	}
	close(done)
	wg.Wait()
}

func TestWriteFileAtomic_replacesLink(t *testing.T) {
	dir := t.TempDir()
	fsys := openRoot(t, dir)
	write(t, fsys, "target", "kept")
	if err := fsys.SymlinkIfPossible("target", "l"); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	if err := fsutil.WriteFileAtomic(fsys, "l", []byte("new"), 0o644); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(dir + "/l"); err != nil || !info.Mode().IsRegular() {
		t.Errorf("Lstat = %v, %v, want a file", info, err)
	}
	if got := read(t, fsys, "target"); got != "kept" {
		t.Errorf("the target has %q", got)
	}
}
