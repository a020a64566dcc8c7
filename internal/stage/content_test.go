package stage_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/stage"
)

func cut(off, n int64, text string) change.Splice {
	return change.Splice{Off: off, Len: n, Text: []byte(text)}
}

func changesOf(t testing.TB, s *stage.Stage) []change.Change {
	t.Helper()
	changes, err := s.Changes()
	fstest.Must(t, err)
	return changes
}

func TestEditLeavesTheRestAlone(t *testing.T) {
	t.Parallel()
	data := "\xef\xbb\xbfone\r\ntwo\nthree\r\xff\xfe\x80end without newline"
	base := afero.NewMemMapFs()
	fstest.Must(t, afero.WriteFile(base, "f", []byte(data), 0o640))
	s := stage.New(base)
	at := int64(strings.Index(data, "two"))
	fstest.Must(t, s.Edit("f", []change.Splice{cut(at, 3, "2")}))
	got, err := s.ReadFile("f")
	fstest.Must(t, err)
	if want := strings.Replace(data, "two", "2", 1); string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
	old, err := base.Stat("f")
	fstest.Must(t, err)
	info, err := s.Stat("f")
	fstest.Must(t, err)
	if info.Mode() != old.Mode() || info.Size() != int64(len(got)) || !info.ModTime().After(old.ModTime()) {
		t.Errorf("mode %v, size %d, time %v; before %v, %v", info.Mode(), info.Size(), info.ModTime(), old.Mode(), old.ModTime())
	}
}

func TestEditThatChangesNothing(t *testing.T) {
	t.Parallel()
	s := stage.New(fstest.Plant(t, "f"))
	before, err := s.Stat("f")
	fstest.Must(t, err)
	point := s.Savepoint()
	fstest.Must(t, s.Edit("f", nil))
	fstest.Must(t, s.Edit("f", []change.Splice{cut(0, 7, "content"), cut(9, 0, "")}))
	if got := s.ChangedSince(point); len(got) > 0 {
		t.Errorf("changed since: %q", got)
	}
	fstest.Must(t, s.Edit("f", []change.Splice{cut(0, 7, "CONTENT"), cut(9, 0, "x")}))
	if got := s.ChangedSince(point); len(got) != 1 {
		t.Errorf("changed since: %q", got)
	}
	fstest.Must(t, s.Edit("f", []change.Splice{cut(0, 7, "content"), cut(9, 1, "")}))
	if got := s.ChangedSince(point); len(got) > 0 {
		t.Errorf("changed since, but reverted: %q", got)
	}
	if got := changesOf(t, s); len(got) > 0 {
		t.Errorf("changes: %v", got)
	}
	after, err := s.Stat("f")
	fstest.Must(t, err)
	if !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("time %v, want %v", after.ModTime(), before.ModTime())
	}
	// Writing the same bytes to the whole file has the same result, and the mode stays.
	fstest.Must(t, afero.WriteFile(s, "f", []byte("content of f\n"), 0o600))
	if got := changesOf(t, s); len(got) > 0 {
		t.Errorf("changes: %v", got)
	}
}

func TestEditRefusesBadSplices(t *testing.T) {
	t.Parallel()
	s := stage.New(fstest.Plant(t, "f", "d/"))
	for _, splices := range [][]change.Splice{
		{cut(0, 1, "x"), cut(0, 1, "y")}, {cut(13, 1, "")}, {cut(14, 0, "x")}, {cut(-1, 0, "x")}, {cut(3, 1, ""), cut(0, 1, "")},
	} {
		err := s.Edit("f", splices)
		if pathErr, ok := errors.AsType[*fs.PathError](err); !ok || pathErr.Path != "f" ||
			!strings.Contains(err.Error(), "splice") {
			t.Errorf("%v: error = %v", splices, err)
		}
	}
	if err := s.Edit("absent", nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error = %v, want ErrNotExist", err)
	}
	if err := s.Edit("d", nil); !errors.Is(err, names.ErrIsDir) {
		t.Errorf("error = %v, want ErrIsDir", err)
	}
	if got := changesOf(t, s); len(got) > 0 {
		t.Errorf("changes: %v", got)
	}
}

func TestEditCopiesItsSplices(t *testing.T) {
	t.Parallel()
	s := stage.New(fstest.Plant(t, "f"))
	splices := []change.Splice{cut(0, 7, "CONTENT")}
	splices[0].By = []change.Origin{{Step: "a"}}
	fstest.Must(t, s.Edit("f", splices))
	copy(splices[0].Text, "xxxxxxx")
	splices[0].By[0].Step = "b"
	splices[0].Off = 3
	got, err := s.ReadFile("f")
	fstest.Must(t, err)
	if string(got) != "CONTENT of f\n" {
		t.Errorf("got %q", got)
	}
	if by := changesOf(t, s)[0].Splices[0].By; by[0].Step != "a" {
		t.Errorf("by %v", by)
	}
}

func TestManySplicesBecomeWhole(t *testing.T) {
	t.Parallel()
	base := afero.NewMemMapFs()
	fstest.Must(t, afero.WriteFile(base, "f", bytes.Repeat([]byte("ab"), 20_000), 0o644))
	s := stage.New(base)
	var splices []change.Splice
	for i := range int64(20_000) {
		splices = append(splices, cut(2*i, 1, "x"))
	}
	fstest.Must(t, s.Edit("f", splices))
	c := changesOf(t, s)[0]
	if c.Splices != nil {
		t.Errorf("%d splices are kept", len(c.Splices))
	}
	if c.New.Hash != change.HashOf(bytes.Repeat([]byte("xb"), 20_000)) {
		t.Error("wrong bytes")
	}
}

func TestDrift(t *testing.T) {
	t.Parallel()
	touch := func(t *testing.T, base afero.Fs, data string, mtime time.Time) {
		fstest.Must(t, afero.WriteFile(base, "f", []byte(data), 0o644))
		fstest.Must(t, base.Chtimes("f", mtime, mtime))
	}
	old := time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)
	tests := []struct {
		name   string
		change func(t *testing.T, base afero.Fs)
	}{
		{"size", func(t *testing.T, base afero.Fs) { touch(t, base, "longer", old) }},
		{"time", func(t *testing.T, base afero.Fs) { touch(t, base, "old", old.Add(time.Second)) }},
		{"bytes only", func(t *testing.T, base afero.Fs) { touch(t, base, "new", old) }},
		{"removed", func(t *testing.T, base afero.Fs) { fstest.Must(t, base.Remove("f")) }},
		{"a directory now", func(t *testing.T, base afero.Fs) {
			fstest.Must(t, base.Remove("f"))
			fstest.Must(t, base.Mkdir("f", 0o755))
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			base := afero.NewMemMapFs()
			touch(t, base, "old", old)
			s := stage.New(base)
			stage.SetLimits(s, 1<<20, 0) // nothing stays in the cache, so each read asks the base
			if _, err := s.ReadFile("f"); err != nil {
				t.Fatal(err)
			}
			tt.change(t, base)
			if data, err := s.ReadFile("f"); !errors.Is(err, names.ErrDrift) {
				t.Errorf("got %q, %v, want ErrDrift", data, err)
			}
			if err := s.Edit("f", []change.Splice{cut(0, 1, "x")}); !errors.Is(err, names.ErrDrift) {
				t.Errorf("edit: error = %v, want ErrDrift", err)
			}
		})
	}
}

func TestNoMixtureAfterDrift(t *testing.T) {
	t.Parallel()
	base := fstest.Plant(t, "f")
	s := stage.New(base)
	stage.SetLimits(s, 1<<20, 0)
	fstest.Must(t, s.Edit("f", []change.Splice{cut(0, 1, "C")}))
	c := changesOf(t, s)[0]
	fstest.Must(t, afero.WriteFile(base, "f", []byte("other bytes of another length"), 0o644))
	for name, open := range map[string]func() (io.ReadCloser, error){"old": c.OpenOld, "new": c.OpenNew} {
		if _, err := open(); !errors.Is(err, names.ErrDrift) {
			t.Errorf("%s: error = %v, want ErrDrift", name, err)
		}
	}
}

func TestSnapshotOfWhatWasRead(t *testing.T) {
	t.Parallel()
	base := fstest.Plant(t, "f")
	s := stage.New(base)
	if _, err := s.ReadFile("f"); err != nil {
		t.Fatal(err)
	}
	fstest.Must(t, afero.WriteFile(base, "f", []byte("changed behind the back of the run"), 0o644))
	if got, err := s.ReadFile("f"); err != nil || string(got) != "content of f\n" {
		t.Errorf("got %q, %v", got, err)
	}
}
