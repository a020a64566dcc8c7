package stage_test

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

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"
	"pgregory.net/rapid"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/stage"
)

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
		s := stage.New(base)
		defer s.Close()
		stage.SetLimits(s, rapid.SampledFrom([]int64{0, 200_000, 1 << 30}).Draw(t, "spill"), rapid.SampledFrom([]int64{0, 1 << 30}).Draw(t, "cache"))
		f, err := s.OpenFile("f", os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		type save struct {
			point stage.Savepoint
			data  []byte
		}
		var saves []save
		for range rapid.IntRange(1, 12).Draw(t, "ops") {
			off := rapid.IntRange(0, 500_000).Draw(t, "off")
			switch rapid.SampledFrom([]string{"write", "write", "truncate", "save", "rollback", "edit", "whole",
				"close"}).Draw(t, "op") {
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
					if err := s.Edit("f", []change.Splice{{Off: int64(at), Len: 1, Text: []byte("edited")}}); err != nil {
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
			if c.New.Hash != change.HashOf(model) {
				t.Fatal("wrong hash")
			}
		}
	})
}

func TestSpill(t *testing.T) {
	t.Parallel()
	s := stage.New(afero.NewMemMapFs())
	stage.SetLimits(s, 100_000, 0)
	for i := range 50 {
		fstest.Must(t, afero.WriteFile(s, fmt.Sprintf("f%02d", i), bytes.Repeat([]byte{byte(i)}, 10_000), 0o644))
	}
	if n := stage.Spilled(s); n < 390_000 || n > 410_000 {
		t.Errorf("%d bytes are in the temporary file, want about 400,000 of 500,000", n)
	}
	changes := changesOf(t, s)
	for i, c := range changes {
		if c.New.Hash != change.HashOf(bytes.Repeat([]byte{byte(i)}, 10_000)) {
			t.Errorf("%s: wrong bytes", c.Path)
		}
	}
	fstest.Must(t, s.Close())
	fstest.Must(t, s.Close())
	if r, err := changes[49].OpenNew(); err == nil {
		if _, err := io.ReadAll(r); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("error = %v, want ErrClosed", err)
		}
	}
}

func TestChangesKeepTheirBytes(t *testing.T) {
	t.Parallel()
	s := stage.New(fstest.Plant(t, "f"))
	f, err := s.OpenFile("f", os.O_RDWR, 0)
	fstest.Must(t, err)
	_, err = f.WriteString("first")
	fstest.Must(t, err)
	c := changesOf(t, s)[0]
	held, err := s.ReadFile("f")
	fstest.Must(t, err)
	_, err = f.WriteAt([]byte("FIRST and more"), 0)
	fstest.Must(t, err)
	r, err := c.OpenNew()
	fstest.Must(t, err)
	got, err := io.ReadAll(r)
	fstest.Must(t, err)
	if string(got) != "firstnt of f\n" || change.HashOf(got) != c.New.Hash {
		t.Errorf("the change now reads %q", got)
	}
	if !strings.HasPrefix(string(held), "first") {
		t.Errorf("returned bytes became %q", held)
	}
}

func TestRollbackGivesMemoryBack(t *testing.T) {
	t.Parallel()
	s := stage.New(fstest.Plant(t, "f"))
	stage.SetLimits(s, 100_000, 0)
	for range 50 {
		point := s.Savepoint()
		fstest.Must(t, afero.WriteFile(s, "f", bytes.Repeat([]byte("f"), 30_000), 0o644))
		fstest.Must(t, afero.WriteFile(s, "new", bytes.Repeat([]byte("n"), 30_000), 0o644))
		fstest.Must(t, s.Rename("new", "newer"))
		fstest.Must(t, s.Remove("newer"))
		fstest.Must(t, s.Remove("f"))
		fstest.Must(t, afero.WriteFile(s, "f", bytes.Repeat([]byte("g"), 30_000), 0o644))
		s.Rollback(point)
	}
	if n := stage.Spilled(s); n > 0 {
		t.Errorf("%d bytes were spilled although at no time more than 90,000 were staged", n)
	}
}

func TestCopiesAreApart(t *testing.T) {
	t.Parallel()
	s := stage.New(fstest.Plant(t, "f"))
	f, err := s.Create("new")
	fstest.Must(t, err)
	_, err = f.WriteString("first")
	fstest.Must(t, err)
	fstest.Must(t, s.Copy("new", "copy"))
	_, err = f.WriteAt([]byte("FIRST"), 0)
	fstest.Must(t, err)
	if got, err := s.ReadFile("copy"); err != nil || string(got) != "first" {
		t.Errorf("the copy became %q, %v", got, err)
	}
	if got, err := s.ReadFile("new"); err != nil || string(got) != "FIRST" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestHandlesSeeLaterEdits(t *testing.T) {
	t.Parallel()
	s := stage.New(fstest.Plant(t, "d/f"))
	read := func(f afero.File) string {
		p := make([]byte, 100)
		n, err := f.ReadAt(p, 0)
		if err != nil && err != io.EOF {
			t.Error(err)
		}
		return string(p[:n])
	}
	f, err := s.Open("d/f")
	fstest.Must(t, err)
	defer f.Close()
	if got := read(f); got != "content of d/f\n" {
		t.Errorf("before: %q", got)
	}
	fstest.Must(t, s.Rename("d", "e"))
	fstest.Must(t, s.Edit("e/f", []change.Splice{cut(0, 7, "CONTENT")}))
	if got := read(f); got != "CONTENT of d/f\n" {
		t.Errorf("after an edit: %q", got)
	}
	fstest.Must(t, afero.WriteFile(s, "e/f", []byte("whole"), 0o644))
	fstest.Must(t, s.RemoveAll("e"))
	if got := read(f); got != "whole" {
		t.Errorf("after it was removed: %q", got)
	}
}

func TestWritersAreAllNamed(t *testing.T) {
	t.Parallel()
	s := stage.New(afero.NewMemMapFs())
	f, err := s.For("first", false).Create("f")
	fstest.Must(t, err)
	_, err = f.WriteString("one")
	fstest.Must(t, err)
	fstest.Must(t, s.For("clock", false).Chtimes("f", time.Time{}, time.Unix(1, 0)))
	g, err := s.For("second", false).OpenFile("f", os.O_WRONLY|os.O_APPEND, 0)
	fstest.Must(t, err)
	_, err = g.WriteString("two")
	fstest.Must(t, err)
	c := changesOf(t, s)[0]
	want := []change.Origin{{Step: "first"}, {Step: "clock"}, {Step: "second"}}
	if diff := cmp.Diff(want, c.By); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if c.New.ModTime.Equal(time.Unix(1, 0)) {
		t.Error("the file still has the time that was set before the write")
	}
}

// TestTruncatedPagesAreNotHeld: truncated bytes no longer count as held in memory, so a file that is rewritten many
// times does not go to the temporary file.
func TestTruncatedPagesAreNotHeld(t *testing.T) {
	t.Parallel()
	s := stage.New(afero.NewMemMapFs())
	defer s.Close()
	stage.SetLimits(s, 1<<20, 0)
	f, err := s.Create("f")
	fstest.Must(t, err)
	defer f.Close()
	data := bytes.Repeat([]byte("x"), 300<<10)
	for _, size := range []int64{0, 1, 128 << 10, 200 << 10} {
		for range 20 {
			_, err := f.WriteAt(data, 0)
			fstest.Must(t, err)
			fstest.Must(t, f.Truncate(size))
		}
		if n := stage.Spilled(s); n > 0 {
			t.Fatalf("truncated to %d bytes: %d bytes were spilled", size, n)
		}
	}
}
