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

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/textdiff"
)

// paged returns both texts to be read page by page.
func paged(old, new []byte, page int) textdiff.Paged {
	return textdiff.Paged{Old: bytes.NewReader(old), New: bytes.NewReader(new), OldSize: len(old), NewSize: len(new), Page: page}
}

// randomRegions returns a text of lines that repeat, and random splices in it, sometimes far apart.
func randomRegions(r *rand.Rand) (old, new []byte, regions []textdiff.Region) {
	lines := []string{"a\n", "a\n", "b\n", "\n", "\ta\n", "  cc\n", "\r\n", "}\n", "long line "}[:2+r.IntN(8)]
	for range r.IntN([]int{10, 40, 1200}[r.IntN(3)]) {
		old = append(old, lines[r.IntN(len(lines))]...)
	}
	if len(old) > 0 && r.IntN(2) == 0 {
		old = old[:len(old)-1]
	}
	regions = []textdiff.Region{}
	at, far := 0, 1+r.IntN(len(old)/2+2)
	for range r.IntN(7) {
		off := at + r.IntN(min(far, len(old)-at)+1)
		n := r.IntN(min([]int{1, 6, 40}[r.IntN(3)], len(old)-off) + 1)
		var text []byte
		for range r.IntN(4) {
			text = append(text, append(lines, "x", "a")[r.IntN(len(lines)+2)]...)
		}
		if r.IntN(4) == 0 {
			text = append(text, old[off:off+n]...) // a part that stays
		}
		new = append(new, old[at:off]...)
		regions = append(regions, textdiff.Region{OldOff: off, OldLen: n, NewOff: len(new), NewLen: len(text)})
		new = append(new, text...)
		at = off + n
	}
	return old, append(new, old[at:]...), regions
}

// TestPagedProperty holds the hunks of texts that are read page by page against those of the same texts in memory.
func TestPagedProperty(t *testing.T) {
	t.Parallel()
	seed := fstest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 4))
	rounds, hunks := fstest.Runs(1_000, 6_000, 100_000), 0
	for round := range rounds {
		old, new, regions := randomRegions(r)
		context := r.IntN(5)
		want := textdiff.Hunks(old, new, regions, context)
		p := paged(old, new, 1+r.IntN(40))
		var all bytes.Buffer
		if r.IntN(2) == 0 {
			p.Tee = &all
		}
		got, err := p.Hunks(regions, context)
		if err != nil {
			t.Fatalf("seed %d, round %d: %v", seed, round, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("seed %d, round %d: %q -> %q, regions %v, pages of %d\n%s", seed, round, old, new, regions, p.Page, diff)
		}
		if p.Tee != nil && !bytes.Equal(all.Bytes(), old) {
			t.Fatalf("seed %d, round %d: the old text passed on is %q, want %q", seed, round, all.Bytes(), old)
		}
		hunks += len(got)
	}
	fstest.Countf(t, "%d random texts with %d hunks", rounds, hunks)
}

// readCounter counts what is read of a text.
type readCounter struct {
	io.ReaderAt
	n int
}

func (c *readCounter) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(p, off)
	c.n += n
	return n, err
}

// TestPagedReadsLittle: of the new text nothing is read but what is around the regions.
func TestPagedReadsLittle(t *testing.T) {
	t.Parallel()
	old := []byte(strings.Repeat("a line like all others\n", 100_000))
	new := append(bytes.Clone(old[:1_150_000]), old[1_150_023:]...)
	p := paged(old, new, 4<<10)
	read := &readCounter{ReaderAt: p.New}
	p.New = read
	hunks, err := p.Hunks([]textdiff.Region{{OldOff: 1_150_000, OldLen: 23, NewOff: 1_150_000}}, 3)
	if err != nil || len(hunks) != 1 || read.n > 100<<10 {
		t.Errorf("%d hunks, %v, %d bytes read", len(hunks), err, read.n)
	}
}

type failingReader struct{ err error }

func (f failingReader) ReadAt([]byte, int64) (int, error) { return 0, f.err }

func (f failingReader) Write([]byte) (int, error) { return 0, f.err }

func TestPagedErrors(t *testing.T) {
	t.Parallel()
	old := []byte(strings.Repeat("0123456789\n", 100))
	new := append([]byte("x"), old...)
	regions := []textdiff.Region{{NewLen: 1}}
	broken := errors.New("broken")
	for name, test := range map[string]struct {
		change func(p *textdiff.Paged)
		want   error
	}{
		"old":   {func(p *textdiff.Paged) { p.Old = failingReader{broken} }, broken},
		"new":   {func(p *textdiff.Paged) { p.New = failingReader{broken} }, broken},
		"tee":   {func(p *textdiff.Paged) { p.Tee = failingReader{broken} }, broken},
		"less":  {func(p *textdiff.Paged) { p.NewSize = 3 }, io.ErrUnexpectedEOF},
		"short": {func(p *textdiff.Paged) { p.Old = bytes.NewReader(old[:5]) }, io.ErrUnexpectedEOF},
	} {
		p := paged(old, new, 0)
		test.change(&p)
		if list, err := p.Hunks(regions, 3); !errors.Is(err, test.want) || list != nil {
			t.Errorf("%s: %v, %v", name, list, err)
		}
	}
	// Compared are 11 and 12 bytes, shown the same and 33 of context.
	for limit, fits := range map[int64]bool{79: true, 78: false, 5: false} {
		p := paged(old, new, 0)
		p.Limit = limit
		_, err := p.Hunks(regions, 3)
		if over, ok := errors.AsType[*textdiff.LimitError](err); fits != (err == nil) || ok == fits || ok && over.Limit != limit {
			t.Errorf("limit %d: %v", limit, err)
		}
	}
}

func BenchmarkPaged(b *testing.B) {
	old := []byte(strings.Repeat("a line like all others\n", 3<<20))
	for _, n := range []int{1, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var new []byte
			var regions []textdiff.Region
			at := 0
			for i := range n {
				off := len(old) / n * i
				new = append(new, old[at:off]...)
				regions = append(regions, textdiff.Region{OldOff: off, OldLen: 1, NewOff: len(new), NewLen: 2})
				new = append(new, "xy"...)
				at = off + 1
			}
			new = append(new, old[at:]...)
			b.SetBytes(int64(len(old)))
			for b.Loop() {
				if _, err := paged(old, new, 0).Hunks(regions, 3); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
