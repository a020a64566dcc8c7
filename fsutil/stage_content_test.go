package fsutil_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"pgregory.net/rapid"

	"github.com/millrace-go/millrace/fsutil"
)

func cut(off, n int64, text string) fsutil.Splice {
	return fsutil.Splice{Off: off, Len: n, Text: []byte(text)}
}

// must fails the test if err is not nil.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func changesOf(t testing.TB, s *fsutil.Stage) []fsutil.Change {
	t.Helper()
	changes, err := s.Changes()
	must(t, err)
	return changes
}

func TestEditLeavesTheRestAlone(t *testing.T) {
	t.Parallel()
	data := "\xef\xbb\xbfone\r\ntwo\nthree\r\xff\xfe\x80end without newline"
	base := afero.NewMemMapFs()
	must(t, afero.WriteFile(base, "f", []byte(data), 0o640))
	s := fsutil.NewStage(base)
	at := int64(strings.Index(data, "two"))
	must(t, s.Edit("f", []fsutil.Splice{cut(at, 3, "2")}))
	got, err := s.ReadFile("f")
	must(t, err)
	if want := strings.Replace(data, "two", "2", 1); string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
	old, err := base.Stat("f")
	must(t, err)
	info, err := s.Stat("f")
	must(t, err)
	if info.Mode() != old.Mode() || info.Size() != int64(len(got)) || !info.ModTime().After(old.ModTime()) {
		t.Errorf("mode %v, size %d, time %v; before %v, %v", info.Mode(), info.Size(), info.ModTime(), old.Mode(), old.ModTime())
	}
}

func TestEditThatChangesNothing(t *testing.T) {
	t.Parallel()
	s := fsutil.NewStage(plantFiles(t, "f"))
	before, err := s.Stat("f")
	must(t, err)
	point := s.Savepoint()
	must(t, s.Edit("f", nil))
	must(t, s.Edit("f", []fsutil.Splice{cut(0, 7, "content"), cut(9, 0, "")}))
	if got := s.ChangedSince(point); len(got) > 0 {
		t.Errorf("changed since: %q", got)
	}
	must(t, s.Edit("f", []fsutil.Splice{cut(0, 7, "CONTENT"), cut(9, 0, "x")}))
	if got := s.ChangedSince(point); len(got) != 1 {
		t.Errorf("changed since: %q", got)
	}
	must(t, s.Edit("f", []fsutil.Splice{cut(0, 7, "content"), cut(9, 1, "")}))
	if got := s.ChangedSince(point); len(got) > 0 {
		t.Errorf("changed since, but reverted: %q", got)
	}
	if got := changesOf(t, s); len(got) > 0 {
		t.Errorf("changes: %v", got)
	}
	after, err := s.Stat("f")
	must(t, err)
	if !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("time %v, want %v", after.ModTime(), before.ModTime())
	}
	// Writing the same bytes as a whole comes to the same, the mode stays too.
	must(t, afero.WriteFile(s, "f", []byte("content of f\n"), 0o600))
	if got := changesOf(t, s); len(got) > 0 {
		t.Errorf("changes: %v", got)
	}
}

func TestEditRefusesBadSplices(t *testing.T) {
	t.Parallel()
	s := fsutil.NewStage(plantFiles(t, "f", "d/"))
	for _, splices := range [][]fsutil.Splice{
		{cut(0, 1, "x"), cut(0, 1, "y")}, {cut(13, 1, "")}, {cut(14, 0, "x")}, {cut(-1, 0, "x")}, {cut(3, 1, ""), cut(0, 1, "")},
	} {
		err := s.Edit("f", splices)
		if pathErr, ok := errors.AsType[*fs.PathError](err); !ok || pathErr.Path != "f" || !strings.Contains(err.Error(), "splice") {
			t.Errorf("%v: error = %v", splices, err)
		}
	}
	if err := s.Edit("absent", nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error = %v, want ErrNotExist", err)
	}
	if err := s.Edit("d", nil); !errors.Is(err, fsutil.ErrIsDir) {
		t.Errorf("error = %v, want ErrIsDir", err)
	}
	if got := changesOf(t, s); len(got) > 0 {
		t.Errorf("changes: %v", got)
	}
}

func TestEditCopiesItsSplices(t *testing.T) {
	t.Parallel()
	s := fsutil.NewStage(plantFiles(t, "f"))
	splices := []fsutil.Splice{cut(0, 7, "CONTENT")}
	splices[0].By = []fsutil.Origin{{Step: "a"}}
	must(t, s.Edit("f", splices))
	copy(splices[0].Text, "xxxxxxx")
	splices[0].By[0].Step = "b"
	splices[0].Off = 3
	got, err := s.ReadFile("f")
	must(t, err)
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
	must(t, afero.WriteFile(base, "f", bytes.Repeat([]byte("ab"), 20_000), 0o644))
	s := fsutil.NewStage(base)
	var splices []fsutil.Splice
	for i := range int64(20_000) {
		splices = append(splices, cut(2*i, 1, "x"))
	}
	must(t, s.Edit("f", splices))
	c := changesOf(t, s)[0]
	if c.Splices != nil {
		t.Errorf("%d splices are kept", len(c.Splices))
	}
	if c.New.Hash != fsutil.HashOf(bytes.Repeat([]byte("xb"), 20_000)) {
		t.Error("wrong bytes")
	}
}

func TestDrift(t *testing.T) {
	t.Parallel()
	touch := func(t *testing.T, base afero.Fs, data string, mtime time.Time) {
		must(t, afero.WriteFile(base, "f", []byte(data), 0o644))
		must(t, base.Chtimes("f", mtime, mtime))
	}
	old := time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)
	tests := []struct {
		name   string
		change func(t *testing.T, base afero.Fs)
	}{
		{"size", func(t *testing.T, base afero.Fs) { touch(t, base, "longer", old) }},
		{"time", func(t *testing.T, base afero.Fs) { touch(t, base, "old", old.Add(time.Second)) }},
		{"bytes only", func(t *testing.T, base afero.Fs) { touch(t, base, "new", old) }},
		{"removed", func(t *testing.T, base afero.Fs) { must(t, base.Remove("f")) }},
		{"a directory now", func(t *testing.T, base afero.Fs) {
			must(t, base.Remove("f"))
			must(t, base.Mkdir("f", 0o755))
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			base := afero.NewMemMapFs()
			touch(t, base, "old", old)
			s := fsutil.NewStage(base)
			fsutil.SetLimits(s, 1<<20, 0) // nothing stays in the cache, so each read asks the base
			if _, err := s.ReadFile("f"); err != nil {
				t.Fatal(err)
			}
			tt.change(t, base)
			if data, err := s.ReadFile("f"); !errors.Is(err, fsutil.ErrDrift) {
				t.Errorf("got %q, %v, want ErrDrift", data, err)
			}
			if err := s.Edit("f", []fsutil.Splice{cut(0, 1, "x")}); !errors.Is(err, fsutil.ErrDrift) {
				t.Errorf("edit: error = %v, want ErrDrift", err)
			}
		})
	}
}

func TestNoMixtureAfterDrift(t *testing.T) {
	t.Parallel()
	base := plantFiles(t, "f")
	s := fsutil.NewStage(base)
	fsutil.SetLimits(s, 1<<20, 0)
	must(t, s.Edit("f", []fsutil.Splice{cut(0, 1, "C")}))
	c := changesOf(t, s)[0]
	must(t, afero.WriteFile(base, "f", []byte("other bytes of another length"), 0o644))
	for name, open := range map[string]func() (io.ReadCloser, error){"old": c.OpenOld, "new": c.OpenNew} {
		if _, err := open(); !errors.Is(err, fsutil.ErrDrift) {
			t.Errorf("%s: error = %v, want ErrDrift", name, err)
		}
	}
}

func TestSnapshotOfWhatWasRead(t *testing.T) {
	t.Parallel()
	base := plantFiles(t, "f")
	s := fsutil.NewStage(base)
	if _, err := s.ReadFile("f"); err != nil {
		t.Fatal(err)
	}
	must(t, afero.WriteFile(base, "f", []byte("changed behind the back of the run"), 0o644))
	if got, err := s.ReadFile("f"); err != nil || string(got) != "content of f\n" {
		t.Errorf("got %q, %v", got, err)
	}
}

// TestPagesLikeBuffer writes to files on a stage that spills all it can, and to plain buffers.
func TestPagesLikeBuffer(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		base := afero.NewMemMapFs()
		random := rand.New(rand.NewPCG(1, rapid.Uint64().Draw(t, "seed")))
		bytesOf := func(n int) []byte {
			data := make([]byte, n)
			for i := range data {
				data[i] = byte(random.Uint32())
			}
			return data
		}
		model := bytesOf(rapid.SampledFrom([]int{0, 10, 300_000}).Draw(t, "size"))
		if err := afero.WriteFile(base, "f", model, 0o644); err != nil {
			t.Fatal(err)
		}
		s := fsutil.NewStage(base)
		defer s.Close()
		fsutil.SetLimits(s, rapid.SampledFrom([]int64{0, 200_000, 1 << 30}).Draw(t, "spill"), rapid.SampledFrom([]int64{0, 1 << 30}).Draw(t, "cache"))
		f, err := s.OpenFile("f", os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		type save struct {
			point fsutil.Savepoint
			data  []byte
		}
		var saves []save
		for range rapid.IntRange(1, 12).Draw(t, "ops") {
			off := rapid.IntRange(0, 500_000).Draw(t, "off")
			switch rapid.SampledFrom([]string{"write", "write", "truncate", "save", "rollback", "edit", "whole", "close"}).Draw(t, "op") {
			case "write":
				data := bytesOf(rapid.SampledFrom([]int{1, 1000, 131_072, 200_000}).Draw(t, "n"))
				if n, err := f.WriteAt(data, int64(off)); err != nil || n != len(data) {
					t.Fatal(n, err)
				}
				grown := make([]byte, max(len(model), off+len(data)))
				copy(grown, model)
				copy(grown[off:], data)
				model = grown
			case "truncate":
				if err := f.Truncate(int64(off)); err != nil {
					t.Fatal(err)
				}
				cut := make([]byte, off)
				copy(cut, model)
				model = cut
			case "save":
				saves = append(saves, save{s.Savepoint(), model})
			case "rollback":
				if len(saves) > 0 {
					i := rapid.IntRange(0, len(saves)-1).Draw(t, "i")
					s.Rollback(saves[i].point)
					model, saves = saves[i].data, saves[:i+1]
				}
			case "edit":
				if len(model) > 0 {
					at := off % len(model)
					if err := s.Edit("f", []fsutil.Splice{{Off: int64(at), Len: 1, Text: []byte("edited")}}); err != nil {
						t.Fatal(err)
					}
					model = bytes.Join([][]byte{model[:at], []byte("edited"), model[at+1:]}, nil)
				}
			case "whole":
				got, err := s.ReadFile("f")
				if err != nil || !bytes.Equal(got, model) {
					t.Fatalf("%d bytes, %v, want %d", len(got), err, len(model))
				}
			case "close":
				if err := f.Close(); err != nil {
					t.Fatal(err)
				}
				if f, err = s.OpenFile("f", os.O_RDWR, 0); err != nil {
					t.Fatal(err)
				}
			}
		}
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(f)
		if err != nil || !bytes.Equal(got, model) {
			t.Fatalf("%d bytes, %v, want %d", len(got), err, len(model))
		}
		changes, err := s.Changes()
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range changes {
			if c.New.Hash != fsutil.HashOf(model) {
				t.Fatal("wrong hash")
			}
		}
	})
}

func TestSpill(t *testing.T) {
	t.Parallel()
	s := fsutil.NewStage(afero.NewMemMapFs())
	fsutil.SetLimits(s, 100_000, 0)
	for i := range 50 {
		must(t, afero.WriteFile(s, fmt.Sprintf("f%02d", i), bytes.Repeat([]byte{byte(i)}, 10_000), 0o644))
	}
	if n := fsutil.Spilled(s); n < 390_000 || n > 410_000 {
		t.Errorf("%d bytes are in the temporary file, want about 400,000 of 500,000", n)
	}
	changes := changesOf(t, s)
	for i, c := range changes {
		if c.New.Hash != fsutil.HashOf(bytes.Repeat([]byte{byte(i)}, 10_000)) {
			t.Errorf("%s: wrong bytes", c.Path)
		}
	}
	must(t, s.Close())
	must(t, s.Close())
	if r, err := changes[49].OpenNew(); err == nil {
		if _, err := io.ReadAll(r); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("error = %v, want ErrClosed", err)
		}
	}
}

func TestChangesKeepTheirBytes(t *testing.T) {
	t.Parallel()
	s := fsutil.NewStage(plantFiles(t, "f"))
	f, err := s.OpenFile("f", os.O_RDWR, 0)
	must(t, err)
	_, err = f.WriteString("first")
	must(t, err)
	c := changesOf(t, s)[0]
	held, err := s.ReadFile("f")
	must(t, err)
	_, err = f.WriteAt([]byte("FIRST and more"), 0)
	must(t, err)
	r, err := c.OpenNew()
	must(t, err)
	got, err := io.ReadAll(r)
	must(t, err)
	if string(got) != "firstnt of f\n" || fsutil.HashOf(got) != c.New.Hash {
		t.Errorf("the change now reads %q", got)
	}
	if !strings.HasPrefix(string(held), "first") {
		t.Errorf("bytes handed out became %q", held)
	}
}

func TestRollbackGivesMemoryBack(t *testing.T) {
	t.Parallel()
	s := fsutil.NewStage(plantFiles(t, "f"))
	fsutil.SetLimits(s, 100_000, 0)
	for range 50 {
		point := s.Savepoint()
		must(t, afero.WriteFile(s, "f", bytes.Repeat([]byte("f"), 30_000), 0o644))
		must(t, afero.WriteFile(s, "new", bytes.Repeat([]byte("n"), 30_000), 0o644))
		must(t, s.Rename("new", "newer"))
		must(t, s.Remove("newer"))
		s.Rollback(point)
	}
	if n := fsutil.Spilled(s); n > 0 {
		t.Errorf("%d bytes were spilled although at no time more than 60,000 were staged", n)
	}
}
