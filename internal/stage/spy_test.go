package stage_test

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/stage"
)

// spyFs is a base that counts the calls to it, and fails the test on a write.
type spyFs struct {
	afero.Fs
	below afero.Fs
	t     testing.TB
	mu    sync.Mutex
	stats map[string]int
	opens map[string]int
}

func newSpy(t testing.TB, fsys afero.Fs) *spyFs {
	s := &spyFs{below: fsys, t: t, stats: make(map[string]int), opens: make(map[string]int)}
	s.Fs = errorfs.Wrap(errorfs.Only(fsys), s.around)
	return s
}

func (s *spyFs) count(m map[string]int, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m[name]++
}

func (s *spyFs) total(m map[string]int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, k := range m {
		n += k
	}
	return n
}

var errWrite = errors.New("the base was written to")

func (s *spyFs) around(op *errorfs.Op, do func() error) error {
	switch op.Kind {
	case "stat", "lstat":
		s.count(s.stats, op.Name)
	case "open":
		if op.Flag == os.O_RDONLY {
			s.count(s.opens, op.Name)
			return do()
		}
		return s.refuse(op)
	}
	if op.Writes && op.Kind != "close" {
		return s.refuse(op)
	}
	return do()
}

func (s *spyFs) refuse(op *errorfs.Op) error {
	s.t.Errorf("%s %s: the base was written to", op.Kind, op.Name)
	return errWrite
}

func (s *spyFs) SymlinkIfPossible(_, newname string) error {
	return s.refuse(&errorfs.Op{Kind: "symlink", Name: newname})
}
func (s *spyFs) ReadlinkIfPossible(string) (string, error) { return "", afero.ErrNoReadlink }
func (s *spyFs) LstatIfPossible(n string) (fs.FileInfo, bool, error) {
	return s.Fs.(afero.Lstater).LstatIfPossible(n)
}

func TestStageNeverWritesToBase(t *testing.T) {
	t.Parallel()
	names := []string{"ok/file", "dir/a", "dir/sub/b", "top", "other"}
	for _, name := range []string{"top", "dir/a", "dir", "dir/sub", "new", "ok", "."} {
		for _, a := range attempts {
			spy := newSpy(t, fstest.Plant(t, names...))
			s := stage.New(spy)
			point := s.Savepoint()
			_ = a.do(s, name) // whether this is possible does not matter here
			if f, err := s.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644); err == nil {
				_, err = f.WriteString("text")
				_, err2 := f.WriteAt([]byte("more"), 2)
				if err := errors.Join(err, err2, f.Truncate(3), f.Close()); err != nil {
					t.Errorf("%s, then write %s: %v", a.name, name, err)
				}
			}
			if _, err := s.Changes(); err != nil {
				t.Errorf("%s %s: %v", a.name, name, err)
			}
			s.Rollback(point)
			if changes, err := s.Changes(); err != nil || len(changes) > 0 {
				t.Errorf("%s %s: after the rollback %v, %v", a.name, name, changes, err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestStageAsksTheBaseLittle(t *testing.T) {
	t.Parallel()
	spy := newSpy(t, fstest.Plant(t, "d/e/a", "d/e/b", "d/e/c", "d/e/f/x", "d/e/f/y"))
	s := stage.New(spy)
	for range 3 {
		for _, name := range []string{"d/e/a", "d/e/b", "./d/e/a", "d/e/c"} {
			if _, err := s.ReadFile(name); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, name := range []string{"d/e/a", "d/e/b", "d/e/c"} {
		// It is checked when it is found, and again before it is opened, because it may be a pipe by then.
		if spy.opens[name] != 1 || spy.stats[name] != 2 {
			t.Errorf("%s: opened %d times, %d stats; want 1 and 2", name, spy.opens[name], spy.stats[name])
		}
	}
	if spy.stats["d"] != 1 || spy.stats["d/e"] != 1 {
		t.Errorf("stats of directories: %v", spy.stats)
	}

	// Renaming and removing a directory does not read its files.
	before := spy.total(spy.stats) + spy.total(spy.opens)
	if err := s.Rename("d", "moved"); err != nil {
		t.Fatal(err)
	}
	if err := s.RemoveAll("moved"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"d/e/f/x", "d/e/f/y"} {
		if n := spy.stats[name] + spy.opens[name]; n > 0 {
			t.Errorf("%s: asked for %d times", name, n)
		}
	}
	if n := spy.total(spy.stats) + spy.total(spy.opens) - before; n > 20 {
		t.Errorf("%d calls for three directories", n)
	}
}

func TestRememberSavesReading(t *testing.T) {
	t.Parallel()
	spy := newSpy(t, fstest.Plant(t, "d/a", "d/b"))
	s := stage.New(spy)
	info, err := spy.below.Stat("d/a")
	if err != nil {
		t.Fatal(err)
	}
	s.Remember("d/a", []byte("content of d/a\n"), info)
	s.Remember("d/b", []byte("too short"), info)
	for _, name := range []string{"d/a", "d/b"} {
		got, err := s.ReadFile(name)
		if err != nil || string(got) != "content of "+name+"\n" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if spy.opens["d/a"] != 0 || spy.opens["d/b"] != 1 {
		t.Errorf("opened %v", spy.opens)
	}
	// The base never replaces a staged file.
	if err := afero.WriteFile(s, "d/a", []byte("staged"), 0o644); err != nil {
		t.Fatal(err)
	}
	s.Remember("d/a", []byte("content of d/a\n"), info)
	if got, err := s.ReadFile("d/a"); err != nil || string(got) != "staged" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	spy := newSpy(t, fstest.Plant(t, "a", "b", "c"))
	s := stage.New(spy)
	stage.SetLimits(s, 1<<20, 30) // two of the files, 13 bytes each
	for _, name := range []string{"a", "b", "a", "c", "a", "b"} {
		if got, err := s.ReadFile(name); err != nil || string(got) != "content of "+name+"\n" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if spy.opens["a"] != 1 || spy.opens["b"] != 2 || spy.opens["c"] != 1 {
		t.Errorf("opened %v", spy.opens)
	}
}

func TestChangesReadOnce(t *testing.T) {
	t.Parallel()
	spy := newSpy(t, fstest.Plant(t, "a", "d/b"))
	s := stage.New(spy)
	stage.SetLimits(s, 1<<20, 0)
	fstest.Must(t, s.Remove("a"))
	fstest.Must(t, s.Rename("d", "e"))
	for range 3 {
		if changes := changesOf(t, s); len(changes) != 3 {
			t.Errorf("changes %v", changes)
		}
	}
	if spy.opens["a"] != 1 || spy.opens["d/b"] != 1 {
		t.Errorf("opened %v", spy.opens)
	}
}
