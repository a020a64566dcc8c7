package textdiff_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/textdiff"
)

// paged returns both texts for reading page by page.
func paged(old, new []byte, page int) textdiff.Paged {
	return textdiff.Paged{Old: bytes.NewReader(old), New: bytes.NewReader(new), OldSize: len(old), NewSize: len(new), Page: page}
}

// pagedHunks compares such texts.
func pagedHunks(p textdiff.Paged, splices []change.Splice, context int) ([]textdiff.Hunk, error) {
	old, new := p.Texts()
	return textdiff.Hunks(old, new, splices, context)
}

// randomSplices returns a text of repeated lines, and random splices in it, some far apart.
func randomSplices(r *rand.Rand) (old, new []byte, splices []change.Splice) {
	lines := []string{"a\n", "a\n", "b\n", "\n", "\ta\n", "  cc\n", "\r\n", "}\n", "long line "}[:2+r.IntN(8)]
	for range r.IntN([]int{10, 40, 1200}[r.IntN(3)]) {
		old = append(old, lines[r.IntN(len(lines))]...)
	}
	if len(old) > 0 && r.IntN(2) == 0 {
		old = old[:len(old)-1]
	}
	splices = []change.Splice{}
	at, far := 0, 1+r.IntN(len(old)/2+2)
	for range r.IntN(7) {
		off := at + r.IntN(min(far, len(old)-at)+1)
		n := r.IntN(min([]int{1, 6, 40}[r.IntN(3)], len(old)-off) + 1)
		var text []byte
		for range r.IntN(4) {
			text = append(text, append(lines, "x", "a")[r.IntN(len(lines)+2)]...)
		}
		if r.IntN(4) == 0 {
			text = append(text, old[off:off+n]...) // an unchanged part
		}
		new = append(new, old[at:off]...)
		splices = append(splices, change.Splice{Off: int64(off), Len: int64(n), Text: text})
		new = append(new, text...)
		at = off + n
	}
	return old, append(new, old[at:]...), splices
}

// tee keeps the data that it is given.
type tee struct {
	bytes.Buffer
	closed bool
}

func (t *tee) Close() error { t.closed = true; return nil }

// TestPagedProperty compares the hunks of texts that are read page by page with those of the same texts in memory.
func TestPagedProperty(t *testing.T) {
	t.Parallel()
	seed := fstest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 4))
	rounds, hunks := fstest.Runs(1_000, 6_000, 100_000), 0
	for round := range rounds {
		old, new, splices := randomSplices(r)
		context := r.IntN(5)
		want := hunksOf(old, new, splices, context)
		p := paged(old, new, 1+r.IntN(40))
		var all tee
		if r.IntN(2) == 0 {
			p.Tee = &all
		}
		got, err := pagedHunks(p, splices, context)
		if err != nil {
			t.Fatalf("seed %d, round %d: %v", seed, round, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("seed %d, round %d: %q -> %q, splices %v, pages of %d\n%s", seed, round, old, new, splices, p.Page, diff)
		}
		if p.Tee != nil && (!bytes.Equal(all.Bytes(), old) || !all.closed) {
			t.Fatalf("seed %d, round %d: the old text passed on is %q, want %q", seed, round, all.Bytes(), old)
		}
		hunks += len(got)
	}
	fstest.Countf(t, "%d random texts with %d hunks", rounds, hunks)
}

// readCounter counts the bytes that are read of a text.
type readCounter struct {
	io.ReaderAt
	n int
}

func (c *readCounter) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(p, off)
	c.n += n
	return n, err
}

// TestPagedReadsLittle: only the text around the splices is read of the new text.
func TestPagedReadsLittle(t *testing.T) {
	t.Parallel()
	old := []byte(strings.Repeat("a line like all others\n", 100_000))
	new := append(bytes.Clone(old[:1_150_000]), old[1_150_023:]...)
	p := paged(old, new, 4<<10)
	read := &readCounter{ReaderAt: p.New}
	p.New = read
	hunks, err := pagedHunks(p, []change.Splice{{Off: 1_150_000, Len: 23}}, 3)
	if err != nil || len(hunks) != 1 || read.n > 100<<10 {
		t.Errorf("%d hunks, %v, %d bytes read", len(hunks), err, read.n)
	}
}

type failingReader struct{ err error }

func (f failingReader) ReadAt([]byte, int64) (int, error) { return 0, f.err }

func (f failingReader) Write([]byte) (int, error) { return 0, f.err }

func (f failingReader) Close() error { return f.err }

type failingAtEnd struct {
	io.Writer
	failingReader
}

func (f failingAtEnd) Write(p []byte) (int, error) { return f.Writer.Write(p) }

func TestPagedErrors(t *testing.T) {
	t.Parallel()
	old := []byte(strings.Repeat("0123456789\n", 100))
	new := append([]byte("x"), old...)
	splices := []change.Splice{{Text: []byte("x")}}
	broken := errors.New("broken")
	for name, test := range map[string]struct {
		change func(p *textdiff.Paged)
		want   error
	}{
		"old":   {func(p *textdiff.Paged) { p.Old = failingReader{broken} }, broken},
		"new":   {func(p *textdiff.Paged) { p.New = failingReader{broken} }, broken},
		"tee":   {func(p *textdiff.Paged) { p.Tee = failingReader{broken} }, broken},
		"end":   {func(p *textdiff.Paged) { p.Tee = failingAtEnd{io.Discard, failingReader{broken}} }, broken},
		"short": {func(p *textdiff.Paged) { p.Old = bytes.NewReader(old[:5]) }, io.ErrUnexpectedEOF},
	} {
		p := paged(old, new, 0)
		test.change(&p)
		if list, err := pagedHunks(p, splices, 3); !errors.Is(err, test.want) || list != nil {
			t.Errorf("%s: %v, %v", name, list, err)
		}
	}
	// 11 and 12 bytes are compared, and the same bytes and 33 of context are shown.
	for limit, fits := range map[int64]bool{79: true, 78: false, 5: false} {
		p := paged(old, new, 0)
		p.Limit = limit
		_, err := pagedHunks(p, splices, 3)
		if over, ok := errors.AsType[*textdiff.LimitError](err); fits != (err == nil) || ok == fits || ok && over.Limit != limit {
			t.Errorf("limit %d: %v", limit, err)
		}
	}
}

// TestPagedSplicesThatDoNotFit: texts that cannot be the result of the splices are compared as a whole.
func TestPagedSplicesThatDoNotFit(t *testing.T) {
	t.Parallel()
	old := []byte(strings.Repeat("0123456789\n", 3))
	got, err := pagedHunks(paged(old, old[:3], 2), []change.Splice{{Text: []byte("x")}}, 3)
	if err != nil {
		t.Fatal(err)
	}
	check(t, old, old[:3], got, 3)
}

func BenchmarkPaged(b *testing.B) {
	old := []byte(strings.Repeat("a line like all others\n", 3<<20))
	for _, n := range []int{1, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var new []byte
			var splices []change.Splice
			at := 0
			for i := range n {
				off := len(old) / n * i
				new = append(new, old[at:off]...)
				splices = append(splices, change.Splice{Off: int64(off), Len: 1, Text: []byte("xy")})
				new = append(new, "xy"...)
				at = off + 1
			}
			new = append(new, old[at:]...)
			b.SetBytes(int64(len(old)))
			for b.Loop() {
				if _, err := pagedHunks(paged(old, new, 0), splices, 3); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
