package textdiff_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/millrace-go/millrace/internal/textdiff"
)

// format prints hunks in short form: their headers, and each of their lines.
func format(hunks []textdiff.Hunk) string {
	var b bytes.Buffer
	for _, h := range hunks {
		for _, l := range h.Lines {
			b.WriteByte(l.Op)
			b.WriteString(strings.TrimSuffix(string(l.Text), "\n"))
			b.WriteByte('|')
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// reporter is the common interface of tests, properties and fuzz targets.
type reporter interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// check fails the test unless the hunks are well formed and turn old into new.
func check(t reporter, old, new []byte, hunks []textdiff.Hunk, context int) {
	t.Helper()
	if got := applied(old, new, coresOf(hunks)); !bytes.Equal(got, new) {
		t.Fatalf("applied: got %q, want %q", got, new)
	}
	if bytes.Equal(old, new) && len(hunks) > 0 {
		t.Fatalf("%d hunks between equal texts", len(hunks))
	}
	oldLines, newLines := lines(old), lines(new)
	oldAt, newAt := 0, 0 // bytes after the previous hunk
	oldLine, newLine := 0, 0
	oldNext, newNext := 0, 0
	for _, h := range hunks {
		for _, c := range h.Cores {
			if !bytes.Equal(old[oldAt:c.Old], new[newAt:c.New]) {
				t.Fatalf("the texts differ before %+v", c)
			}
			oldLine += bytes.Count(old[oldAt:c.Old], []byte("\n"))
			newLine += bytes.Count(new[newAt:c.New], []byte("\n"))
			if c.OldLine != oldLine || c.NewLine != newLine {
				t.Fatalf("wrong lines of %+v", c)
			}
			oldLine += bytes.Count(old[c.Old:c.OldEnd], []byte("\n"))
			newLine += bytes.Count(new[c.New:c.NewEnd], []byte("\n"))
			oldAt, newAt = c.OldEnd, c.NewEnd
		}
		was, is := []string{}, []string{}
		before, after, changed := 0, 0, false
		for _, l := range h.Lines {
			switch l.Op {
			case ' ':
				was, is = append(was, string(l.Text)), append(is, string(l.Text))
				after++
				if !changed {
					before++
				}
			case '-':
				was = append(was, string(l.Text))
				changed, after = true, 0
			case '+':
				is = append(is, string(l.Text))
				changed, after = true, 0
			default:
				t.Fatalf("line with op %q", l.Op)
			}
		}
		if !changed {
			t.Fatalf("hunk %+v changes nothing", h)
		}
		from, to := at(h.OldStart, h.OldLines), at(h.NewStart, h.NewLines)
		if from < oldNext || to < newNext {
			t.Fatalf("hunk %+v overlaps the previous hunk", h)
		}
		oldNext, newNext = from+h.OldLines, to+h.NewLines
		if want := oldLines[from:oldNext]; !slices.Equal(want, was) {
			t.Fatalf("old lines of the hunk (-want +got):\n%s", cmp.Diff(want, was))
		}
		if want := newLines[to:newNext]; !slices.Equal(want, is) {
			t.Fatalf("new lines of the hunk (-want +got):\n%s", cmp.Diff(want, is))
		}
		if want := min(context, from+before); before != want {
			t.Fatalf("hunk has %d lines of context before, want %d", before, want)
		}
		if want := min(context, len(oldLines)-(oldNext-after)); after != want {
			t.Fatalf("hunk has %d lines of context after, want %d", after, want)
		}
	}
	if !bytes.Equal(old[oldAt:], new[newAt:]) {
		t.Fatal("the texts differ after the last hunk")
	}
}

// at converts a hunk's start to an index.
func at(start, n int) int {
	if n == 0 {
		return start
	}
	return start - 1
}

// lines splits a text in the simplest way; it is not nil.
func lines(text []byte) []string {
	return append([]string{}, slices.Collect(strings.Lines(string(text)))...)
}

// changed counts the changed lines.
func changed(hunks []textdiff.Hunk) (n int) {
	for _, h := range hunks {
		for _, l := range h.Lines {
			if l.Op != ' ' {
				n++
			}
		}
	}
	return n
}

func TestHunks(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, old, new string
		context        int
		want           string // as format prints it
	}{
		{"equal", "a\nb\n", "a\nb\n", 3, ""},
		{"empty", "", "", 3, ""},
		{"from empty", "", "a\nb", 3, "+a|+b|\n"},
		{"to empty", "a\n", "", 3, "-a|\n"},
		{"only a newline", "\n", "", 3, "-|\n"},
		{"final newline", "a\nb", "a\nb\n", 3, " a|-b|+b|\n"},
		{"insert first", "a\nb\n", "x\na\nb\n", 1, "+x| a|\n"},
		{"insert last", "a\nb\n", "a\nb\nx\n", 1, " b|+x|\n"},
		{"insert after a last line without newline", "a\nb", "a\nb\nx", 1, " a|-b|+b|+x|\n"},
		{"delete in the middle", "a\nb\nc\n", "a\nc\n", 0, "-b|\n"},
		{"negative context", "a\nb\nc\n", "a\nc\n", -5, "-b|\n"},
		{"CR is part of a line", "a\r\nb\n", "a\nb\n", 0, "-a\r|+a|\n"},
		{"part of a line", "one two\n", "one three\n", 3, "-one two|+one three|\n"},
		{"common line kept", "a\nb\nc\nd\n", "x\nb\nc\ny\n", 3, "-a|+x| b| c|-d|+y|\n"},
		{"near changes share a hunk", "a\n1\n2\nb\n", "A\n1\n2\nB\n", 1, "-a|+A| 1| 2|-b|+B|\n"},
		{"distant changes do not", "a\n1\n2\n3\nb\n", "A\n1\n2\n3\nB\n", 1, "-a|+A| 1|\n 3|-b|+B|\n"},
		{"one more in a row of equal lines", "x\nx\nx\n", "x\nx\nx\nx\n", 3, " x| x| x|+x|\n"},
		{
			"a function is added whole", "func a() {\n\ta\n}\n\nfunc c() {\n\tc\n}\n",
			"func a() {\n\ta\n}\n\nfunc b() {\n\tb\n}\n\nfunc c() {\n\tc\n}\n", 1,
			" |+func b() {|+\tb|+}|+| func c() {|\n",
		},
		{
			"and so is a block without a blank line around it", "f {\n  a\n}\ng {\n  c\n}\n", "f {\n  a\n}\ne {\n  b\n}\ng {\n  c\n}\n", 1,
			" }|+e {|+  b|+}| g {|\n",
		},
		{
			"and a block at the end", "func a() {\n\ta\n}\n", "func a() {\n\ta\n}\n\nfunc b() {\n\tb\n}\n", 1,
			" }|+|+func b() {|+\tb|+}|\n",
		},
		{"changes that can touch do", "a\nb\nb\nc\nd\n", "a\nb\nX\nd\n", 0, "-b|-c|+X|\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			hunks := hunksOf([]byte(tt.old), []byte(tt.new), nil, tt.context)
			check(t, []byte(tt.old), []byte(tt.new), hunks, max(tt.context, 0))
			if got := format(hunks); got != tt.want {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
		})
	}
}

// texts draws a pair of texts of few different lines, with all peculiarities of lines.
func texts(t *rapid.T) (old, new []byte) {
	line := rapid.SampledFrom([]string{"a", "b", "c", "", "\ta", "  b", "}", "a\r", "\x00", "\xff", "+a", "-a"})
	text := rapid.Custom(func(t *rapid.T) string {
		s := strings.Join(rapid.SliceOfN(line, 0, 20).Draw(t, "lines"), "\n")
		if s != "" && rapid.Bool().Draw(t, "newline") {
			s += "\n"
		}
		return s
	})
	o := text.Draw(t, "old")
	if rapid.Bool().Draw(t, "unrelated") {
		return []byte(o), []byte(text.Draw(t, "new"))
	}
	n := o
	for range rapid.IntRange(0, 4).Draw(t, "edits") {
		from := rapid.IntRange(0, len(n)).Draw(t, "from")
		to := rapid.IntRange(from, min(len(n), from+6)).Draw(t, "to")
		n = n[:from] + rapid.SampledFrom([]string{"", "a", "\n", "b\n", "x\na\nb\n"}).Draw(t, "text") + n[to:]
	}
	return []byte(o), []byte(n)
}

func TestHunksProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		old, new := texts(t)
		context := rapid.IntRange(0, 4).Draw(t, "context")
		hunks := hunksOf(old, new, nil, context)
		check(t, old, new, hunks, context)
		if got, want := changed(hunks), shortest(lines(old), lines(new)); got != want {
			t.Errorf("%d changed lines, the shortest script has %d", got, want)
		}
	})
}

// shortest returns the number of lines that a shortest edit script changes, computed with a plain quadratic table.
func shortest(a, b []string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range b {
			cost := min(row[j], row[j+1]) + 1
			if x == y {
				cost = min(cost, diagonal)
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}

// TestHunksShortest has texts of very different lengths, whose search reaches the sides of the box.
func TestHunksShortest(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(11, 12))
	for range 3000 {
		kinds := 2 + rng.IntN(4)
		a, _ := randomEdit(rng, rng.IntN(60), kinds, 0)
		b, _ := randomEdit(rng, rng.IntN(12), kinds, 0)
		if rng.IntN(2) == 0 {
			a, b = b, a
		}
		hunks := hunksOf([]byte(a), []byte(b), nil, 0)
		if got, want := changed(hunks), shortest(lines([]byte(a)), lines([]byte(b))); got != want {
			t.Fatalf("%d changed lines, the shortest script has %d, between %q and %q", got, want, a, b)
		}
	}
}

// TestHunksLongLines puts the only difference near every boundary of the blocks that are compared.
func TestHunksLongLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789", 110)
	for _, size := range []int{511, 512, 513, 1023, 1024, 1025} {
		for at := max(0, size-515); at < size; at++ {
			old := long[:at] + "\n" + long[at:size]
			for _, new := range []string{long[:at] + "\nx\n" + long[at:size], long[:at] + "x" + long[at:size], long[:size]} {
				for range 2 {
					check(t, []byte(old), []byte(new), hunksOf([]byte(old), []byte(new), nil, 0), 0)
					old, new = new, old
				}
			}
		}
	}
}

// TestHunksLarge exceeds the limit of the exact search, so that anchors and cuts are used.
func TestHunksLarge(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	for _, kinds := range []int{2, 12, 60, 1000, 1 << 30} {
		for _, share := range []float64{0.2, 0.9} {
			o, n := randomEdit(rng, 4000, kinds, share)
			moved := lines([]byte(n))
			moved = slices.Concat(moved[2500:], moved[:1000], moved[500:2500])
			for _, new := range []string{n, strings.Join(moved, "")} {
				a, b := []byte(o), []byte(new)
				first := hunksOf(a, b, nil, 3)
				check(t, a, b, first, 3)
				if format(first) != format(hunksOf(a, b, nil, 3)) {
					t.Errorf("%d kinds, %.0f%%: another run gave other hunks", kinds, 100*share)
				}
			}
		}
	}
}

// TestHunksNested has two parts with the same lines, each thoroughly changed, around a unique line: anchors are found
// in the middle first, and then in each part.
func TestHunksNested(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(13, 14))
	part := lines([]byte(numbered(4000)))
	edited := func() string {
		var b strings.Builder
		for _, l := range part {
			if rng.IntN(4) > 0 {
				b.WriteString(l)
			}
			if rng.IntN(4) == 0 {
				b.WriteString(part[rng.IntN(len(part))])
			}
		}
		return b.String()
	}
	middle := strings.ReplaceAll(numbered(3000), "line", "middle")
	old := []byte(strings.Join(part, "") + middle + strings.Join(part, ""))
	new := []byte(edited() + middle + edited())
	hunks := hunksOf(old, new, nil, 3)
	check(t, old, new, hunks, 3)
	if got := changed(hunks); got > 4200 {
		t.Errorf("%d changed lines, about 4000 were made", got)
	}
}

// lineNumbers returns the headers of hunks.
func lineNumbers(hunks []textdiff.Hunk) (out [][4]int) {
	for _, h := range hunks {
		out = append(out, [4]int{h.OldStart, h.OldLines, h.NewStart, h.NewLines})
	}
	return out
}

func FuzzHunks(f *testing.F) {
	for _, s := range []string{"", "a", "a\n", "a\nb\nc\n", "x\n\n\n}\n\n}\n", "a\r\n\x00\xff\n"} {
		f.Add([]byte(s), []byte("a\nx\nc"), 3)
		f.Add([]byte("a\nb\nc\n"), []byte(s), 0)
	}
	f.Fuzz(func(t *testing.T, old, new []byte, context int) {
		hunks := hunksOf(old, new, nil, context)
		check(t, old, new, hunks, max(context, 0))
	})
}
