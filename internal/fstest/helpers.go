package fstest

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/raise"
	"github.com/millrace-go/millrace/internal/rootfs"
)

// Snapshot returns the contents of a file system as text: names, kinds, modes, times of files, bytes.
func Snapshot(t interface {
	Helper()
	Fatal(...any)
}, fsys afero.Fs, root string) string {
	t.Helper()
	var b strings.Builder
	err := afero.Walk(fsys, root, func(name string, info fs.FileInfo, err error) error {
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s %v", name, info.Mode())
		if info.Mode().IsRegular() {
			data, err := afero.ReadFile(fsys, name)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %v %q", info.ModTime().UnixNano(), data)
		}
		b.WriteByte('\n')
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Listing returns a line for each path below a directory of the system: its name, the result of facts, and the target
// of a link or the bytes of a file.
func Listing(t testing.TB, dir string, facts func(info fs.FileInfo) string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		text := ""
		switch {
		case e.Type() == fs.ModeSymlink:
			text, err = os.Readlink(name)
		case e.Type().IsRegular():
			var data []byte
			data, err = os.ReadFile(name)
			text = string(data)
		}
		fmt.Fprintf(&b, "%s %s %q\n", strings.TrimPrefix(name, dir), facts(info), text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func Write(t *testing.T, fsys afero.Fs, name, data string) {
	t.Helper()
	if err := afero.WriteFile(fsys, name, []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
}

func Read(t *testing.T, fsys afero.Fs, name string) string {
	t.Helper()
	data, err := afero.ReadFile(fsys, name)
	if err != nil {
		t.Error(err)
	}
	return string(data)
}

func List(t *testing.T, fsys afero.Fs, dir string) []string {
	t.Helper()
	f, err := fsys.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	list, err := f.Readdirnames(-1)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(list)
	return list
}

func Raise(t *testing.T, fsys afero.Fs) afero.Fs {
	t.Helper()
	raised, err := raise.FS(fsys)
	if err != nil {
		t.Fatal(err)
	}
	return raised
}

func OpenRoot(t *testing.T, dir string) *rootfs.FS {
	t.Helper()
	root, err := rootfs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root
}

func OpenDir(t *testing.T, fsys capability.DirOpener, name string) capability.DirHandle {
	t.Helper()
	dir, err := fsys.OpenDir(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	return dir
}

// Must fails the test if err is not nil.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Plant returns a file system in memory with the files; a name with a trailing slash is a directory.
func Plant(t testing.TB, names ...string) afero.Fs {
	t.Helper()
	base := afero.NewMemMapFs()
	for _, name := range names {
		var err error
		if dir, isDir := strings.CutSuffix(name, "/"); isDir {
			err = base.MkdirAll(dir, 0o755)
		} else if err = base.MkdirAll(path.Dir(name), 0o755); err == nil {
			err = afero.WriteFile(base, name, []byte("content of "+name+"\n"), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return base
}

// Opened returns the files below the directory that this process has open, from /proc, by descriptor. Files without a
// name count too.
func Opened(t *testing.T, dir string) map[int]string {
	t.Helper()
	found := make(map[int]string)
	list, err := os.ReadDir("/proc/self/fd")
	Must(t, err)
	for _, e := range list {
		target, err := os.Readlink("/proc/self/fd/" + e.Name())
		if fd, _ := strconv.Atoi(e.Name()); err == nil && strings.HasPrefix(target, dir+"/") {
			found[fd] = target
		}
	}
	return found
}

// RandomBytes returns bytes with few different lines, so that a random edit may change nothing.
func RandomBytes(random *rand.Rand, n int) []byte {
	data := make([]byte, n)
	for i := range data {
		data[i] = "ab\n"[random.IntN(3)]
	}
	return data
}

func WalkOsFs(t testing.TB) afero.Fs {
	t.Helper()
	return afero.NewBasePathFs(afero.NewOsFs(), t.TempDir())
}

func ErrOf[T any](_ T, err error) error { return err }

// ErrDisk is the error of a failing call to a faultyFs.
var ErrDisk = errors.New("the disk has a bad block")
