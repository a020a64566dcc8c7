package splice_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"testing"
	"testing/iotest"

	"github.com/spf13/afero"
	"pgregory.net/rapid"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/splice"
	"github.com/millrace-go/millrace/internal/stage"
)

// TestSpliceReadersProperty compares both readers with ApplySplices.
func TestSpliceReadersProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		data := []byte(rapid.StringOfN(rapid.SampledFrom([]rune("ab\n")), 0, 30, -1).Draw(rt, "data"))
		splices := drawSplices(rt, len(data), "s")
		want, err := splice.Apply(data, splices)
		fstest.Must(t, err)
		r := splice.Splicing(iotest.HalfReader(bytes.NewReader(data)), splices)
		if got, err := io.ReadAll(iotest.HalfReader(r)); err != nil || !bytes.Equal(got, want) {
			rt.Fatalf("in one pass: %q, %v, want %q", got, err, want)
		}
		at := splice.Spliced(bytes.NewReader(data), int64(len(data)), splices)
		off := rapid.IntRange(0, len(want)).Draw(rt, "off")
		got := make([]byte, rapid.IntRange(0, len(want)-off).Draw(rt, "length"))
		if n, err := at.ReadAt(got, int64(off)); n != len(got) || err != nil && err != io.EOF || !bytes.Equal(got, want[off:off+len(got)]) {
			rt.Fatalf("at %d: %q, %v, want %q", off, got[:n], err, want[off:])
		}
		if len(splices) > 0 {
			// A base shorter than the splices require.
			short := data[:max(0, splices[len(splices)-1].Off+splices[len(splices)-1].Len-1)]
			if len(short) == len(data) || splices[len(splices)-1].Off+splices[len(splices)-1].Len == 0 {
				return
			}
			r := splice.Splicing(bytes.NewReader(short), splices)
			if _, err := io.ReadAll(r); !errors.Is(err, names.ErrDrift) {
				rt.Fatalf("of %d bytes in place of %d: %v", len(short), len(data), err)
			}
		}
	})
}

func TestCheckRefuses(t *testing.T) {
	t.Parallel()
	for _, splices := range [][]change.Splice{{part(3, 1, "")}, {part(-1, 0, "")}, {part(0, -1, "")}, {part(1, 1, ""), part(1, 1, "")}, {part(2, 0, ""), part(1, 0, "")}} {
		if _, err := splice.Check(splices, 3); err == nil {
			t.Errorf("Check takes %v", splices)
		}
	}
}

func TestHashFile(t *testing.T) {
	t.Parallel()
	base := afero.NewMemMapFs()
	fstest.Must(t, afero.WriteFile(base, "d/f", []byte("abc"), 0o644))
	s := stage.New(base)
	s.SetMaxRead(2)
	hash := func(want string) {
		t.Helper()
		if h, err := hashFile(s, "d/f"); err != nil || h != change.HashOf([]byte(want)) {
			t.Errorf("of %q: %v, %v", want, h, err)
		}
	}
	hash("abc")
	s.SetMaxRead(0)
	fstest.Must(t, s.Edit("d/f", []change.Splice{part(1, 1, "xyz")}))
	s.SetMaxRead(2)
	hash("axyzc")
	fstest.Must(t, afero.WriteFile(s, "d/f", []byte("new"), 0o644))
	hash("new")
	if _, err := hashFile(s, "d"); !errors.Is(err, names.ErrIsDir) {
		t.Errorf("of a directory: %v", err)
	}
	if _, err := hashFile(s, "none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of nothing: %v", err)
	}
}

func part(off, n int64, text string) change.Splice {
	return change.Splice{Off: off, Len: n, Text: []byte(text)}
}

// reads counts the calls to a base.
type reads struct {
	io.ReaderAt
	calls int
}

func (r *reads) ReadAt(p []byte, off int64) (int, error) {
	r.calls++
	return r.ReaderAt.ReadAt(p, off)
}

// TestManyShortSplices: the base is read once for splices that are close together, not once for each.
func TestManyShortSplices(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	data := make([]byte, 20_000)
	for i := range data {
		data[i] = byte(rng.UintN(256))
	}
	var splices []change.Splice
	for off := int64(1); off < 19_000; off += 1 + rng.Int64N(6) {
		n := rng.Int64N(2)
		if rng.UintN(500) == 0 {
			n = 600 // a part too long to be worth reading
		}
		splices = append(splices, part(off, n, "abcd"[:rng.UintN(4)]))
		off += n
	}
	want, err := splice.Apply(data, splices)
	if err != nil {
		t.Fatal(err)
	}
	base := &reads{ReaderAt: bytes.NewReader(data)}
	r := splice.Spliced(base, int64(len(data)), splices)
	for range 2000 {
		from := rng.IntN(len(want))
		buf := make([]byte, rng.IntN(400))
		n, err := r.ReadAt(buf, int64(from))
		if end := min(len(want), from+len(buf)); !bytes.Equal(buf[:n], want[from:end]) || (err != nil) != (n < len(buf)) {
			t.Fatalf("%d bytes at %d: %d, %v", len(buf), from, n, err)
		}
	}
	if base.calls > 10_000 {
		t.Errorf("the base was read %d times for 2000 reads", base.calls)
	}
}

func hashFile(s *stage.Stage, name string) (change.Hash, error) {
	text, err := s.Content(name)
	if err != nil {
		return change.Hash{}, err
	}
	return text.Hash()
}
