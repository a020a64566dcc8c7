package stage_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/afero"
	"pgregory.net/rapid"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/millrace-go/millrace/internal/splice"
	"github.com/millrace-go/millrace/internal/stage"
)

// emitAll returns a find function that reads everything and emits the splices.
func emitAll(t testing.TB, list []change.Splice, read *[]byte) findSplices {
	return func(r *stream, emit func(change.Splice)) error {
		t.Helper()
		var err error
		if _, err := io.CopyN(io.Discard, r, int64(len(list))); err != nil && err != io.EOF {
			return err
		}
		if err := r.rewind(); err != nil {
			return err
		}
		if *read, err = io.ReadAll(iotest.OneByteReader(r)); err != nil {
			return err
		}
		for _, sp := range list {
			emit(sp)
		}
		return nil
	}
}

// TestEditStreamProperty edits one stage with Edit and one piece by piece: after each edit both have the same bytes,
// changes, hashes and authors, whether the file is in the base, was edited before, or was written to the stage.
func TestEditStreamProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		base := afero.NewMemMapFs()
		content := []byte(rapid.StringOfN(rapid.SampledFrom([]rune("ab\n")), 1, 40, -1).Draw(rt, "content"))
		fstest.Must(t, afero.WriteFile(base, "f", content, 0o644))
		whole, streamed := stage.New(base), stage.New(base)
		spill, cache := rapid.SampledFrom([]int64{0, 5, 1 << 20}).Draw(rt,
			"spill"), rapid.SampledFrom([]int64{0, 1 << 20}).Draw(rt, "cache")
		stage.SetLimits(whole, spill, cache)
		stage.SetLimits(streamed, spill, cache)
		both := []*stage.Stage{whole, streamed}
		if rapid.Bool().Draw(rt, "written") {
			for _, s := range both {
				fstest.Must(t, afero.WriteFile(s.For("write", false), "f", content, 0o644))
			}
		}
		if rapid.Bool().Draw(rt, "read") {
			_, err := streamed.ReadFile("f")
			fstest.Must(t, err)
		}
		for i := range rapid.IntRange(1, 4).Draw(rt, "edits") {
			step := string(rune('a' + i))
			list := drawEdits(rt, len(content), step)
			for j := range list {
				if rapid.IntRange(0, 3).Draw(rt, "anonymous") == 0 {
					list[j].By = nil
				}
			}
			fstest.Must(t, whole.For(step, false).Edit("f", list))
			var read []byte
			fstest.Must(t, editStream(streamed.For(step, false), "f", emitAll(t, list, &read)))
			if !bytes.Equal(read, content) {
				rt.Fatalf("the reader gave %q, want %q", read, content)
			}
			var err error
			content, err = splice.Apply(content, list)
			fstest.Must(t, err)
			var changes [2][]change.Change
			for k, s := range both {
				if changes[k], err = s.Changes(); err != nil {
					rt.Fatal(err)
				}
				if got, err := afero.ReadFile(s, "f"); err != nil || !bytes.Equal(got, content) {
					rt.Fatalf("stage %d has %q, %v, want %q", k, got, err, content)
				}
			}
			opt := []cmp.Option{cmpopts.IgnoreUnexported(change.Change{}), cmpopts.EquateEmpty(),
				cmpopts.IgnoreFields(change.State{}, "ModTime")}
			if diff := cmp.Diff(changes[0], changes[1], opt...); diff != "" {
				rt.Fatal(diff)
			}
		}
	})
}

// Splices that need more memory than the file become pages, without holding the whole file.
func TestEditStreamManySplices(t *testing.T) {
	t.Parallel()
	base := afero.NewMemMapFs()
	content := bytes.Repeat([]byte("ab"), 100_000)
	fstest.Must(t, afero.WriteFile(base, "f", content, 0o644))
	s := stage.New(base)
	stage.SetLimits(s, 100<<10, 0)
	fstest.Must(t, editStream(s, "f", func(_ *stream, emit func(change.Splice)) error {
		for i := range 100_000 {
			emit(cut(int64(2*i), 1, "xyz"))
		}
		return nil
	}))
	got, err := afero.ReadFile(s, "f")
	if want := bytes.Repeat([]byte("xyzb"), 100_000); err != nil || !bytes.Equal(got, want) {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
	changes, err := s.Changes()
	fstest.Must(t, err)
	if len(changes) != 1 || changes[0].Splices != nil || changes[0].Old.Hash != change.HashOf(content) ||
		stage.Spilled(s) == 0 {
		t.Errorf("changes %v, spilled %d", changes, stage.Spilled(s))
	}
}

func TestEditStreamAgain(t *testing.T) {
	t.Parallel()
	base := afero.NewMemMapFs()
	fstest.Must(t, afero.WriteFile(base, "f", []byte("one two"), 0o644))
	s := stage.New(base)
	calls := 0
	fstest.Must(t, editStream(s, "f", func(r *stream, emit func(change.Splice)) error {
		if calls++; calls == 1 {
			fstest.Must(t, s.Edit("f", []change.Splice{cut(0, 0, "0 ")})) // another program
		}
		data, err := io.ReadAll(r)
		emit(cut(int64(bytes.Index(data, []byte("two"))), 3, "2"))
		return err
	}))
	if got, err := afero.ReadFile(s, "f"); string(got) != "0 one 2" || err != nil || calls != 2 {
		t.Errorf("%q, %v after %d calls", got, err, calls)
	}
}

func TestEditStreamErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fstest.Must(t, os.WriteFile(filepath.Join(dir, "f"), []byte("content"), 0o644))
	base, err := rootfs.Open(dir)
	fstest.Must(t, err)
	defer base.Close()
	s := stage.New(base)
	broken := errors.New("broken")
	nothing := func(*stream, func(change.Splice)) error { return nil }
	if err := editStream(s, "f", func(_ *stream, emit func(change.Splice)) error { emit(cut(0, 1, "x")); return broken }); err != broken {
		t.Errorf("the error of find: %v", err)
	}
	for _, list := range [][]change.Splice{{cut(7, 1, "")}, {cut(2, 1, ""), cut(1, 1, "")}} {
		var read []byte
		if err := editStream(s, "f", emitAll(t, list, &read)); err == nil {
			t.Errorf("splices %v were accepted", list)
		}
	}
	if err := editStream(s, "none", nothing); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	something := func(_ *stream, emit func(change.Splice)) error { emit(cut(0, 1, "x")); return nil }
	if err := editStream(s.For("look", true), "f", something); !errors.Is(err, names.ErrReadOnly) {
		t.Errorf("read only: %v", err)
	}
	s.SetMaxRead(6)
	if err := editStream(s, "f", nothing); !errors.Is(err, names.ErrTooLarge) {
		t.Errorf("too large: %v", err)
	}
	if changes, err := s.Changes(); len(changes) > 0 || err != nil {
		t.Errorf("changes %v, %v", changes, err)
	}
}

// TestEditStreamDrift: bytes that changed with the same size and time are not mistaken for the bytes that were read
// before, and a file that changes while it is read is refused.
func TestEditStreamDrift(t *testing.T) {
	t.Parallel()
	for name, touch := range map[string]func(t *testing.T, file string){
		"same size and time": func(t *testing.T, file string) {
			info, err := os.Stat(file)
			fstest.Must(t, err)
			fstest.Must(t, os.WriteFile(file, []byte("CONTENT"), 0o644))
			fstest.Must(t, os.Chtimes(file, info.ModTime(), info.ModTime()))
		},
		"longer":  func(t *testing.T, file string) { fstest.Must(t, os.WriteFile(file, []byte("content and more"), 0o644)) },
		"shorter": func(t *testing.T, file string) { fstest.Must(t, os.Truncate(file, 3)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file := filepath.Join(dir, "f")
			fstest.Must(t, os.WriteFile(file, []byte("content"), 0o644))
			base, err := rootfs.Open(dir)
			fstest.Must(t, err)
			defer base.Close()
			for _, when := range []string{"before", "meanwhile"} {
				s := stage.New(base)
				stage.SetLimits(s, 0, 0)
				fstest.Must(t, os.WriteFile(file, []byte("content"), 0o644))
				// Spliced: the second edit reads through the first one, which removes the beginning.
				var read []byte
				fstest.Must(t, editStream(s, "f", emitAll(t, []change.Splice{cut(0, 4, "x")}, &read)))
				if when == "before" {
					touch(t, file)
				}
				err := editStream(s, "f", func(_ *stream, emit func(change.Splice)) error {
					if when == "meanwhile" {
						touch(t, file)
					}
					emit(cut(1, 1, "y"))
					return nil
				})
				if !errors.Is(err, names.ErrDrift) {
					t.Errorf("%s: %v, want ErrDrift", when, err)
				}
			}
		})
	}
}

// drawEdits draws a valid list of splices for n bytes, each with its own origin in the step. Small alphabets and steps
// make overlaps and equal texts likely.
func drawEdits(t *rapid.T, n int, step string) []change.Splice {
	var list []change.Splice
	pos := int64(0)
	for i := range rapid.IntRange(0, 6).Draw(t, "splices") {
		off := pos + int64(rapid.IntRange(0, 4).Draw(t, "gap"))
		if off > int64(n) {
			break
		}
		length := int64(rapid.IntRange(0, min(4, n-int(off))).Draw(t, "length"))
		text := rapid.StringOfN(rapid.SampledFrom([]rune("ab\n")), 0, 4, -1).Draw(t, "text")
		list = append(list, change.Splice{Off: off, Len: length, Text: []byte(text),
			By: []change.Origin{{Step: step, Edit: i}}})
		pos = off + length
	}
	return list
}
