package crashfs_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/crashfs"
	"github.com/millrace-go/millrace/internal/fstest"
)

// crashfs passes the tests for all file systems.
func TestConformance(t *testing.T) {
	t.Parallel()
	fstest.Run(t, func(*testing.T) afero.Fs { return crashfs.New() }, fstest.Options{})
}

func write(t *testing.T, f *crashfs.Fs, name, text string, sync bool) {
	t.Helper()
	file, err := f.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if sync {
		if err := file.Sync(); err != nil {
			t.Fatal(err)
		}
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}

func read(f *crashfs.Fs, name string) string {
	data, err := afero.ReadFile(f, name)
	if err != nil {
		return "no file"
	}
	return string(data)
}

// outcomes returns how often each description was met after many power cuts.
func outcomes(f *crashfs.Fs, describe func(f *crashfs.Fs) string) map[string]int {
	seen := make(map[string]int)
	for seed := range uint64(400) {
		seen[describe(f.PowerCut(rand.New(rand.NewPCG(seed, 1)), 0.5))]++
	}
	return seen
}

func TestPowerCut(t *testing.T) {
	t.Parallel()
	const long = "sixteen bytes, twice: sixteen!! and the rest"
	tests := map[string]struct {
		do     func(t *testing.T, f *crashfs.Fs)
		show   func(f *crashfs.Fs) string
		always string // if there is only one outcome
		some   []string
	}{
		"nothing synced": {
			do:   func(t *testing.T, f *crashfs.Fs) { write(t, f, "n", "new", false) },
			show: func(f *crashfs.Fs) string { return read(f, "n") },
			some: []string{"no file", "new", "", "\x00\x00\x00"},
		},
		"bytes synced": {
			do:   func(t *testing.T, f *crashfs.Fs) { write(t, f, "n", "new", true) },
			show: func(f *crashfs.Fs) string { return read(f, "n") },
			some: []string{"no file", "new"},
		},
		"all synced": {
			do: func(t *testing.T, f *crashfs.Fs) {
				write(t, f, "n", "new", true)
				if err := f.SyncDir("."); err != nil {
					t.Fatal(err)
				}
			},
			show:   func(f *crashfs.Fs) string { return read(f, "n") },
			always: "new",
		},
		"overwritten": {
			do: func(t *testing.T, f *crashfs.Fs) { write(t, f, "a", long, false) },
			show: func(f *crashfs.Fs) string {
				text := read(f, "a")
				if text != "" && text != "old" && text != long {
					return "torn"
				}
				return text
			},
			some: []string{"old", long, "torn"},
		},
		"renamed over without syncing bytes": {
			do: func(t *testing.T, f *crashfs.Fs) {
				write(t, f, "n", "new", false)
				if err := f.Rename("n", "a"); err != nil {
					t.Fatal(err)
				}
			},
			show: func(f *crashfs.Fs) string { return read(f, "a") },
			some: []string{"old", "new", ""},
		},
		"one of two renames": {
			do: func(t *testing.T, f *crashfs.Fs) {
				if err := errors.Join(f.Rename("a", "x"), f.Rename("b", "y")); err != nil {
					t.Fatal(err)
				}
			},
			show: func(f *crashfs.Fs) string { return read(f, "x") + read(f, "y") },
			some: []string{"no fileno file", "oldother", "oldno file", "no fileother"},
		},
		"a directory is not removed before its contents": {
			do: func(t *testing.T, f *crashfs.Fs) {
				if err := errors.Join(f.Rename("d/f", "f"), f.Remove("d")); err != nil {
					t.Fatal(err)
				}
			},
			show: func(f *crashfs.Fs) string {
				if read(f, "d/f") == "in d" || read(f, "f") == "in d" {
					return "there"
				}
				return "lost"
			},
			always: "there",
		},
		"parents that a sync needs are synced": {
			do: func(t *testing.T, f *crashfs.Fs) {
				if err := errors.Join(f.Mkdir("e", 0o755), f.Rename("a", "e/a"), f.Rename("e/a", "d/a"), f.SyncDir("d")); err != nil {
					t.Fatal(err)
				}
			},
			show:   func(f *crashfs.Fs) string { return read(f, "a") + ", " + read(f, "e/a") + ", " + read(f, "d/a") },
			always: "no file, no file, old",
		},
		"mode": {
			do: func(t *testing.T, f *crashfs.Fs) {
				if err := f.Chmod("a", 0o600); err != nil {
					t.Fatal(err)
				}
			},
			show: func(f *crashfs.Fs) string {
				info, err := f.Stat("a")
				if err != nil {
					return err.Error()
				}
				return info.Mode().String()
			},
			some: []string{"-rw-rw-rw-", "-rw-------"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := crashfs.New()
			write(t, f, "a", "old", false)
			write(t, f, "b", "other", false)
			if err := f.Mkdir("d", 0o755); err != nil {
				t.Fatal(err)
			}
			write(t, f, "d/f", "in d", false)
			f.Settle()
			test.do(t, f)
			seen := outcomes(f, test.show)
			if test.always != "" && (len(seen) != 1 || seen[test.always] == 0) {
				t.Errorf("outcomes %v, want only %q", seen, test.always)
			}
			for _, want := range test.some {
				if seen[want] == 0 {
					t.Errorf("outcomes %q, want some %q", fmt.Sprint(seen), want)
				}
			}
			if got := test.show(f.Kill()); got != test.show(f) {
				t.Errorf("killed: %q, want %q", got, test.show(f))
			}
		})
	}
}

// Changes of a copy must not appear in the original, and vice versa.
func TestKill_isACopy(t *testing.T) {
	t.Parallel()
	f := crashfs.New()
	write(t, f, "a", "one", false)
	file, err := f.OpenFile("a", 2, 0)
	if err != nil {
		t.Fatal(err)
	}
	k := f.Kill()
	if _, err := file.WriteAt([]byte("X"), 1); err != nil {
		t.Fatal(err)
	}
	write(t, k, "b", "two", false)
	if got := []string{read(f, "a"), read(f, "b"), read(k, "a"), read(k, "b")}; fmt.Sprint(got) != "[oXe no file one two]" {
		t.Errorf("got %q", got)
	}
}

// Another sync does not repair a failed one.
func TestSync_failed(t *testing.T) {
	t.Parallel()
	f := crashfs.New()
	write(t, f, "a", "old", true)
	f.Settle()
	f.Before(func(op crashfs.Op) error {
		if op.Name == "sync" && op.N < 4 {
			return errors.New("no")
		}
		return nil
	})
	file, err := f.OpenFile("a", 2, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString("new"); err != nil {
		t.Fatal(err)
	}
	if err := file.Sync(); err == nil {
		t.Fatal("no error")
	}
	if err := file.Sync(); err != nil {
		t.Fatal(err)
	}
	if got := read(f.PowerCut(rand.New(rand.NewPCG(1, 1)), 1), "a"); got == "new" {
		t.Errorf("the disk has %q", got)
	}
}

// The number of a removed inode is given to the next file, but not while it may still come back.
func TestNumbers(t *testing.T) {
	t.Parallel()
	f := crashfs.New()
	number := func(name string) uint64 {
		info, err := f.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		id, ok := f.IdentityOf(info)
		if !ok {
			t.Fatal("no identity")
		}
		return id.Ino
	}
	write(t, f, "a", "", false)
	first := number("a")
	f.Settle()
	if err := f.Remove("a"); err != nil {
		t.Fatal(err)
	}
	write(t, f, "b", "", false)
	if number("b") == first {
		t.Error("used again, though the removal is not certain")
	}
	f.Settle()
	write(t, f, "c", "", false)
	if number("c") != first {
		t.Errorf("number %d, want %d again", number("c"), first)
	}
}

func TestWithout(t *testing.T) {
	t.Parallel()
	f := crashfs.New().Without(crashfs.Exchanges | crashfs.NoReplaces | crashfs.Links | crashfs.Identities)
	write(t, f, "a", "a", false)
	write(t, f, "b", "b", false)
	for name, err := range map[string]error{
		"exchange": f.Exchange("a", "b"), "noreplace": f.RenameNoReplace("a", "c"), "link": f.Link("a", "c"),
	} {
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
	info, err := f.Stat("a")
	if _, ok := f.IdentityOf(info); ok || err != nil {
		t.Errorf("identity is known; %v", err)
	}
}

// Half of a torn write is done.
func TestTorn(t *testing.T) {
	t.Parallel()
	f := crashfs.New()
	file, err := f.Create("a")
	if err != nil {
		t.Fatal(err)
	}
	f.Before(func(crashfs.Op) error { return crashfs.ErrTorn })
	n, err := file.Write(bytes.Repeat([]byte("x"), 10))
	if n != 5 || !errors.Is(err, crashfs.ErrTorn) {
		t.Errorf("wrote %d, %v", n, err)
	}
	f.Before(nil)
	if got := read(f, "a"); got != "xxxxx" {
		t.Errorf("file has %q", got)
	}
}

var _ interface {
	afero.Fs
	afero.Symlinker
	capability.Linker
	capability.Exchanger
	capability.NoReplacer
	capability.DirSyncer
	capability.Locker
	capability.FileLocker
	capability.Identifier
	capability.MetaCopier
	capability.LinkTimer
} = (*crashfs.Fs)(nil)
