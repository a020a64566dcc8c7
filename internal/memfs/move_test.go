package memfs_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/fstest"
)

// moves are the ways to move the file "d/a" to "d/b".
var moves = map[string]func(fsys afero.Fs) error{
	"Rename":          func(fsys afero.Fs) error { return fsys.Rename("d/a", "d/b") },
	"RenameNoReplace": func(fsys afero.Fs) error { return fsys.(capability.NoReplacer).RenameNoReplace("d/a", "d/b") },
	"Exchange": func(fsys afero.Fs) error {
		return errors.Join(afero.WriteFile(fsys, "d/b", []byte("other"), 0o600), fsys.(capability.Exchanger).Exchange("d/a", "d/b"))
	},
}

// A file keeps bytes, mode and time under its new name, whether it is small enough to be rewritten or not.
func TestMemFs_moveKeeps(t *testing.T) {
	when := time.Date(2001, 2, 3, 4, 5, 6, 7, time.UTC)
	for name, move := range moves {
		for _, size := range []int{0, 1, 1 << 20, 1<<20 + 1} {
			plain := afero.NewMemMapFs()
			want := bytes.Repeat([]byte("x"), size)
			if err := errors.Join(afero.WriteFile(plain, "d/a", want, 0o640), plain.Chtimes("d/a", when, when)); err != nil {
				t.Fatal(err)
			}
			fsys := fstest.Raise(t, plain)
			if err := move(fsys); err != nil {
				t.Fatal(err)
			}
			info, err := plain.Stat("d/b")
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			got, _ := afero.ReadFile(plain, "d/b")
			if !bytes.Equal(got, want) || info.Mode() != 0o640 || !info.ModTime().Equal(when) {
				t.Errorf("%s of %d bytes: %d bytes, mode %v, time %v", name, size, len(got), info.Mode(), info.ModTime())
			}
			if name == "Exchange" {
				if got := fstest.Read(t, plain, "d/a"); got != "other" {
					t.Errorf("%s of %d bytes: the other one has %q", name, size, got)
				}
			} else if _, err := plain.Stat("d/a"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s of %d bytes: the old name still exists: %v", name, size, err)
			}
		}
	}
}

// A process with an open file also writes to it after a rename, as in POSIX.
func TestMemFs_moveOpen(t *testing.T) {
	for name, move := range moves {
		fsys := fstest.Raise(t, afero.NewMemMapFs())
		if err := fsys.Mkdir("d", 0o755); err != nil {
			t.Fatal(err)
		}
		fstest.Write(t, fsys, "d/a", "begun")
		f, err := fsys.OpenFile("d/a", os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := move(fsys); err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(" and done"); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if got := fstest.Read(t, fsys, "d/b"); got != "begun and done" {
			t.Errorf("%s: the file has %q", name, got)
		}
	}
}

// A reader that has read half of a file reads the other half of the same file.
func TestMemFs_exchangeWhileRead(t *testing.T) {
	plain := afero.NewMemMapFs()
	fstest.Write(t, plain, "a", "old text")
	fstest.Write(t, plain, "b", "new text")
	f, err := plain.Open("a")
	if err != nil {
		t.Fatal(err)
	}
	half := make([]byte, 4)
	if _, err := f.Read(half); err != nil {
		t.Fatal(err)
	}
	if err := fstest.Raise(t, plain).(capability.Exchanger).Exchange("a", "b"); err != nil {
		t.Fatal(err)
	}
	rest := make([]byte, 4)
	if _, err := f.Read(rest); err != nil {
		t.Fatal(err)
	}
	if got := string(half) + string(rest); got != "old text" {
		t.Errorf("read %q", got)
	}
	if got := fstest.Read(t, plain, "a"); got != "new text" {
		t.Errorf("the name now has %q", got)
	}
}

// The cost of an operation on a file must not grow with the number of files.
func TestMemFs_oneOfMany(t *testing.T) {
	cost := func(files int, do func(fsys afero.Fs)) float64 {
		plain := afero.NewMemMapFs()
		for i := range files {
			fstest.Write(t, plain, fmt.Sprintf("a directory with quite a long name/%d", i), "x")
		}
		fsys := fstest.Raise(t, plain)
		fstest.Write(t, fsys, "a", "one")
		fstest.Write(t, fsys, "b", "two")
		return testing.AllocsPerRun(10, func() { do(fsys) })
	}
	for name, do := range map[string]func(fsys afero.Fs){
		"Stat":     func(fsys afero.Fs) { fsys.Stat("a") },
		"Exchange": func(fsys afero.Fs) { fsys.(capability.Exchanger).Exchange("a", "b") },
		"Rename":   func(fsys afero.Fs) { fsys.Rename("a", "b"); fsys.Rename("b", "a") },
		"Remove": func(fsys afero.Fs) {
			afero.WriteFile(fsys, "c", nil, 0o644)
			fsys.Remove("c")
		},
		"Mkdir": func(fsys afero.Fs) { fsys.Mkdir("new", 0o755); fsys.Remove("new") },
	} {
		if few, many := cost(10, do), cost(1000, do); many > few+5 {
			t.Errorf("%s: %v allocations among 10 files, %v among 1000", name, few, many)
		}
	}
}
