package ownbackend_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/millracetest"
)

// abilities are the methods of both file systems of TestCalls. A disk has all of them on Linux.
type abilities interface {
	afero.Fs
	capability.NoReplacer
	capability.Exchanger
}

// calls are tried on the tree of TestCalls. Each call returns its result as text.
var calls = map[string]func(fsys abilities) (string, error){
	"stat of a file":        func(fsys abilities) (string, error) { return stat(fsys, "d/b.txt") },
	"stat of a directory":   func(fsys abilities) (string, error) { return stat(fsys, "d") },
	"stat of nothing":       func(fsys abilities) (string, error) { return stat(fsys, "x") },
	"create over":           write("a.txt", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, "new"),
	"create anew":           write("d/n.txt", os.O_WRONLY|os.O_CREATE|os.O_EXCL, "new"),
	"exclusive over":        write("a.txt", os.O_WRONLY|os.O_CREATE|os.O_EXCL, "new"),
	"create in nothing":     write("x/n.txt", os.O_WRONLY|os.O_CREATE, "new"),
	"create in a file":      write("a.txt/n.txt", os.O_WRONLY|os.O_CREATE, "new"),
	"write to a directory":  write("d", os.O_WRONLY, "new"),
	"write within":          write("a.txt", os.O_WRONLY, "X"),
	"append":                write("a.txt", os.O_WRONLY|os.O_APPEND, "more\n"),
	"write while reading":   write("a.txt", os.O_RDONLY, "X"),
	"truncate at open":      write("a.txt", os.O_WRONLY|os.O_TRUNC, ""),
	"mkdir":                 does(func(fsys abilities) error { return fsys.Mkdir("n", 0o755) }),
	"mkdir over":            does(func(fsys abilities) error { return fsys.Mkdir("d", 0o755) }),
	"mkdir in nothing":      does(func(fsys abilities) error { return fsys.Mkdir("x/n", 0o755) }),
	"mkdirall":              does(func(fsys abilities) error { return fsys.MkdirAll("d/n/m", 0o755) }),
	"mkdirall over a file":  does(func(fsys abilities) error { return fsys.MkdirAll("a.txt/n", 0o755) }),
	"remove":                does(func(fsys abilities) error { return fsys.Remove("a.txt") }),
	"remove what is full":   does(func(fsys abilities) error { return fsys.Remove("d") }),
	"remove empty":          does(func(fsys abilities) error { return fsys.Remove("empty") }),
	"remove nothing":        does(func(fsys abilities) error { return fsys.Remove("x") }),
	"removeall":             does(func(fsys abilities) error { return fsys.RemoveAll("d") }),
	"removeall of nothing":  does(func(fsys abilities) error { return fsys.RemoveAll("x/y") }),
	"rename":                does(func(fsys abilities) error { return fsys.Rename("a.txt", "d/n.txt") }),
	"rename over":           does(func(fsys abilities) error { return fsys.Rename("a.txt", "d/b.txt") }),
	"rename to itself":      does(func(fsys abilities) error { return fsys.Rename("a.txt", "a.txt") }),
	"rename nothing":        does(func(fsys abilities) error { return fsys.Rename("x", "y") }),
	"rename into nothing":   does(func(fsys abilities) error { return fsys.Rename("a.txt", "x/a.txt") }),
	"rename a directory":    does(func(fsys abilities) error { return fsys.Rename("d", "n") }),
	"rename over empty":     does(func(fsys abilities) error { return fsys.Rename("d", "empty") }),
	"rename over full":      does(func(fsys abilities) error { return fsys.Rename("empty", "d") }),
	"rename into itself":    does(func(fsys abilities) error { return fsys.Rename("d", "d/n") }),
	"rename to a directory": does(func(fsys abilities) error { return fsys.Rename("a.txt", "empty") }),
	"rename to a file":      does(func(fsys abilities) error { return fsys.Rename("d", "a.txt") }),
	"noreplace":             does(func(fsys abilities) error { return fsys.RenameNoReplace("a.txt", "n.txt") }),
	"noreplace over":        does(func(fsys abilities) error { return fsys.RenameNoReplace("a.txt", "d/b.txt") }),
	"exchange":              does(func(fsys abilities) error { return fsys.Exchange("a.txt", "d/b.txt") }),
	"exchange nothing":      does(func(fsys abilities) error { return fsys.Exchange("x", "a.txt") }),
	"exchange for nothing":  does(func(fsys abilities) error { return fsys.Exchange("a.txt", "x") }),
	"chmod":                 does(func(fsys abilities) error { return fsys.Chmod("a.txt", 0o600) }),
	"chmod nothing":         does(func(fsys abilities) error { return fsys.Chmod("x", 0o600) }),
	"chtimes": func(fsys abilities) (string, error) {
		err := fsys.Chtimes("a.txt", time.Unix(1, 0), time.Unix(1_000_000, 0))
		info, _ := fsys.Stat("a.txt")
		return info.ModTime().UTC().String(), err
	},
	"handle of a file that is renamed": func(fsys abilities) (string, error) {
		f, err := fsys.OpenFile("a.txt", os.O_RDWR, 0)
		if err != nil {
			return "", err
		}
		defer f.Close()
		if err := fsys.Rename("a.txt", "n.txt"); err != nil {
			return "", err
		}
		_, err = f.WriteAt([]byte("Z"), 1)
		return "", errors.Join(err, f.Sync())
	},
	"handle": func(fsys abilities) (string, error) { return handle(fsys, "a.txt") },
	"list":   func(fsys abilities) (string, error) { return list(fsys, "d") },
	"list the root": func(fsys abilities) (string, error) {
		return list(fsys, ".")
	},
	"list a file": func(fsys abilities) (string, error) { return list(fsys, "a.txt") },
	"read a directory": func(fsys abilities) (string, error) {
		f, err := fsys.Open("d")
		if err != nil {
			return "", err
		}
		defer f.Close()
		n, err := f.Read(make([]byte, 1))
		return fmt.Sprint(n), err
	},
}

// Each call has the same effect, result and kind of error as on a disk.
func TestCalls(t *testing.T) {
	const tree = "-- a.txt --\nold\n-- d/b.txt --\nbytes\n-- d/b/c.txt --\nc\n-- d/b-1.txt --\n1\n-- d2.txt --\n2\n-- empty/ --\n"
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			disk, err := fsutil.OpenRoot(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			defer disk.Close()
			ours := open(t, filepath.Join(t.TempDir(), "files.db"))
			millracetest.Plant(t, disk, tree)
			millracetest.Plant(t, ours, tree)
			want, wantErr := call(disk)
			got, err := call(ours)
			if got != want {
				t.Errorf("the result differs from the disk (-disk +got):\n%s", cmp.Diff(want, got))
			}
			if kind(err) != kind(wantErr) {
				t.Errorf("error %v, on a disk %v", err, wantErr)
			}
			millracetest.Equal(t, ours, millracetest.Text(t, disk))
		})
	}
}

// kind returns the kind of an error that programs check.
func kind(err error) string {
	for _, k := range []error{fs.ErrNotExist, fs.ErrExist, fs.ErrClosed, syscall.ENOTDIR, syscall.EISDIR, io.EOF} {
		if errors.Is(err, k) {
			return k.Error()
		}
	}
	return fmt.Sprint(err != nil)
}

func does(do func(fsys abilities) error) func(fsys abilities) (string, error) {
	return func(fsys abilities) (string, error) { return "", do(fsys) }
}

func stat(fsys afero.Fs, name string) (string, error) {
	info, err := fsys.Stat(name)
	if err != nil {
		return "", err
	}
	return fmt.Sprint(info.Name(), info.IsDir(), info.Mode()), nil
}

func write(name string, flag int, text string) func(fsys abilities) (string, error) {
	return func(fsys abilities) (string, error) {
		f, err := fsys.OpenFile(name, flag, 0o644)
		if err != nil {
			return "", err
		}
		n, err := f.WriteString(text)
		return fmt.Sprint(n), errors.Join(err, f.Close())
	}
}

// handle makes each call of an open file.
func handle(fsys afero.Fs, name string) (string, error) {
	f, err := fsys.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return "", err
	}
	var seen strings.Builder
	part := make([]byte, 3)
	note := func(n any, err error) { fmt.Fprintln(&seen, n, string(part), kind(err)) }
	note(f.Read(part))
	note(f.Read(part))
	note(f.Read(part))
	note(f.ReadAt(part, 2))
	note(f.ReadAt(part, -1))
	note(f.Seek(-2, io.SeekEnd))
	note(f.Seek(1, io.SeekCurrent))
	note(f.Seek(-1, io.SeekStart))
	note(f.Write([]byte("long end")))
	note(f.WriteAt([]byte("far"), 20))
	note(f.WriteAt([]byte("far"), -1))
	note(0, f.Truncate(30))
	note(0, f.Truncate(22))
	note(0, f.Truncate(-1))
	info, err := f.Stat()
	note(info.Size(), err)
	note(0, f.Close())
	note(0, f.Close())
	note(f.Read(part))
	note(f.Write(part))
	return seen.String(), nil
}

// list lists a directory as a whole, and two entries at a time.
func list(fsys afero.Fs, name string) (string, error) {
	all, err := afero.ReadDir(fsys, name)
	if err != nil {
		return "", err
	}
	var seen strings.Builder
	for _, info := range all {
		fmt.Fprintln(&seen, info.Name(), info.IsDir())
	}
	f, err := fsys.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	for {
		names, err := f.Readdirnames(2)
		fmt.Fprintln(&seen, len(names), kind(err))
		if err != nil {
			return seen.String(), nil
		}
	}
}
