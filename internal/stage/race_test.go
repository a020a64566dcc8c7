package stage_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/stage"
)

// TestStageConcurrently is for the race detector, and checks what must hold for any order of the goroutines.
func TestStageConcurrently(t *testing.T) {
	t.Parallel()
	const workers, rounds = 8, 40
	var names []string
	for i := range workers {
		names = append(names, fmt.Sprintf("d%d/own", i), fmt.Sprintf("d%d/sub/other", i))
	}
	base := locked(fstest.Plant(t, append(names, "shared", "counter")...))
	s := stage.New(base)
	stage.SetLimits(s, 1000, 1000)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			view := s.For(fmt.Sprintf("w%d", w), false)
			dir := fmt.Sprintf("d%d", w)
			for i := range rounds {
				own := dir + "/own"
				errs := []error{
					view.Edit(own, []change.Splice{cut(0, 0, "x")}),
					view.Edit("counter", []change.Splice{cut(0, 0, "+")}),
					view.Copy(own, fmt.Sprintf("%s/copy%d", dir, i)),
					view.Rename(dir+"/sub", dir+"/moved"),
					view.Rename(dir+"/moved", dir+"/sub"),
					afero.WriteFile(view, dir+"/written", bytes.Repeat([]byte{byte(i)}, 300), 0o644),
				}
				if err := errors.Join(errs...); err != nil {
					t.Error(err)
				}
				readAll(t, view, "shared", "counter", own, fmt.Sprintf("d%d/own", (w+1)%workers))
				switch i % 10 {
				case 3:
					if _, err := view.Changes(); err != nil {
						t.Error(err)
					}
				case 6:
					view.ChangedSince(view.Savepoint())
					view.ChangedSince(stage.Savepoint{})
				case 9:
					if err := listAll(view, "."); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	got, err := s.ReadFile("counter")
	fstest.Must(t, err)
	if n := bytes.Count(got, []byte("+")); n != workers*rounds {
		t.Errorf("%d of %d edits of one file are left", n, workers*rounds)
	}
	for w := range workers {
		got, err := s.ReadFile(fmt.Sprintf("d%d/own", w))
		fstest.Must(t, err)
		if n := bytes.Count(got, []byte("x")); n != rounds {
			t.Errorf("worker %d: %d of %d edits are left", w, n, rounds)
		}
	}
	changes := changesOf(t, s)
	if want := workers*(rounds+2) + 1; len(changes) != want {
		t.Errorf("%d changes, want %d", len(changes), want)
	}
	s.Rollback(stage.Savepoint{})
	if changes := changesOf(t, s); len(changes) > 0 {
		t.Errorf("%d changes are left after the rollback", len(changes))
	}
}

// locked makes opening and stat of afero's file system in memory safe for concurrent use.
func locked(fsys afero.Fs) afero.Fs {
	var mu sync.Mutex
	return errorfs.Wrap(errorfs.Only(fsys), func(op *errorfs.Op, do func() error) error {
		switch op.Kind {
		case "open", "stat", "lstat":
			mu.Lock()
			defer mu.Unlock()
		}
		return do()
	})
}

func readAll(t *testing.T, s *stage.Stage, names ...string) {
	for _, name := range names {
		if _, err := s.ReadFile(name); err != nil {
			t.Error(err)
		}
		f, err := s.Open(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if _, err := io.Copy(io.Discard, f); err != nil {
			t.Error(err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// listAll reads every file of a tree through OpenDir. It skips files that have disappeared.
func listAll(s *stage.Stage, name string) error {
	dir, err := s.OpenDir(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	entries, err := dir.ReadDir()
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() {
			if err := listAll(s, name+"/"+e.Name()); err != nil {
				return err
			}
			continue
		}
		f, err := dir.OpenFile(e.Name())
		if err != nil {
			return err
		}
		_, err = io.ReadAll(f)
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// TestContentNeverChanges: a content that was used for reading does not change, even if nothing was read yet and a
// handle continues to write.
func TestContentNeverChanges(t *testing.T) {
	t.Parallel()
	s := stage.New(afero.NewMemMapFs())
	f, err := s.Create("f")
	fstest.Must(t, err)
	write := func() {
		t.Helper()
		_, err := f.WriteString("text")
		fstest.Must(t, err)
	}
	write()
	fstest.Must(t, s.View("f", 1<<20, func(text *stage.Content) error {
		write()
		size := text.Size()
		write()
		if data, err := text.Bytes(1 << 20); err != nil || size != 4 || string(data) != "text" {
			t.Errorf("%d bytes, then %q, %v", size, data, err)
		}
		return nil
	}))
	fstest.Must(t, f.Close())
	if data, err := s.ReadFile("f"); err != nil || string(data) != "texttexttext" {
		t.Errorf("in the end: %q, %v", data, err)
	}
}

// opened counts the files of a base that are open.
type opened struct {
	afero.Fs
	n int
}

type openedFile struct {
	afero.File
	of *opened
}

func (o *opened) Open(name string) (afero.File, error) {
	f, err := o.Fs.Open(name)
	if err == nil {
		o.n++
		f = openedFile{f, o}
	}
	return f, err
}

func (f openedFile) Close() error {
	f.of.n--
	return f.File.Close()
}

// TestUpdateThatPanics leaves no file of the base open.
func TestUpdateThatPanics(t *testing.T) {
	t.Parallel()
	base := &opened{Fs: fstest.Plant(t, "f")}
	s := stage.New(base)
	defer func() {
		if recover() == nil || base.n != 0 {
			t.Errorf("%d files are open", base.n)
		}
	}()
	_ = s.Update("f", 1<<20, func(text *stage.Content) ([]change.Splice, error) {
		r, err := text.Open()
		fstest.Must(t, err)
		fstest.Must(t, r.Close())
		panic("find")
	})
}

// TestStageReadsWhatGrows is for the race detector: one handle appends to a file that others read.
func TestStageReadsWhatGrows(t *testing.T) {
	t.Parallel()
	s := stage.New(fstest.Plant(t, "log"))
	const lines = 300
	w, err := s.OpenFile("log", os.O_WRONLY|os.O_TRUNC, 0)
	fstest.Must(t, err)
	var wg sync.WaitGroup
	wg.Go(func() {
		for range lines {
			if _, err := io.WriteString(w, "a line\n"); err != nil {
				t.Error(err)
			}
		}
	})
	for range 2 {
		wg.Go(func() {
			for range lines {
				got, err := afero.ReadFile(s, "log")
				if err != nil || len(got)%len("a line\n") != 0 {
					t.Errorf("%d bytes, %v", len(got), err)
				}
			}
		})
	}
	wg.Wait()
	fstest.Must(t, w.Close())
	if got, err := s.ReadFile("log"); err != nil || string(got) != strings.Repeat("a line\n", lines) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}
