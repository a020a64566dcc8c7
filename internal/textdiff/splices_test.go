package textdiff_test

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/textdiff"
)

// edits draws a text, splices in it, and the result. The splices are exact or a little wider than necessary.
func edits(t *rapid.T) (old, new []byte, splices []change.Splice) {
	old = []byte(strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "\n", "cc\n", "\r\n"}), 0, 40).Draw(t, "lines"), ""))
	if rapid.Bool().Draw(t, "cut") && len(old) > 0 {
		old = old[:len(old)-1]
	}
	splices = []change.Splice{}
	at := 0
	for range rapid.IntRange(0, 6).Draw(t, "edits") {
		off := at + rapid.IntRange(0, min(12, len(old)-at)).Draw(t, "skip")
		n := rapid.IntRange(0, min(5, len(old)-off)).Draw(t, "length")
		text := rapid.SampledFrom([]string{"", "a", "x", "\n", "b\n", "a\nx\n"}).Draw(t, "text")
		new = append(new, old[at:off]...)
		splices = append(splices, change.Splice{Off: int64(off), Len: int64(n), Text: []byte(text)})
		new = append(new, text...)
		at = off + n
	}
	new = append(new, old[at:]...)
	return old, new, splices
}

func TestSplices(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		old, new, splices := edits(t)
		context := rapid.IntRange(0, 3).Draw(t, "context")
		check(t, old, new, hunksOf(old, new, splices, context), context)
	})
}

// TestSplicesFollowed passes splices that made the new text, and some that cannot have made it.
func TestSplicesFollowed(t *testing.T) {
	t.Parallel()
	old, new := []byte("a\nb\nc\na\nb\nc\n"), []byte("b\nc\na\nb\nc\n")
	splice := func(off, n int64, text string) change.Splice {
		return change.Splice{Off: off, Len: n, Text: []byte(text)}
	}
	for _, tt := range []struct {
		splices []change.Splice
		want    string
	}{
		{nil, "-a|\n"},
		// Replacing "a\nb\nc\n" with "b\nc\n" is the same; the lines common to both are found again.
		{[]change.Splice{splice(0, 6, "b\nc\n")}, "-a|\n"},
		// A list that ends too early, or has a wrong middle, does not help and is not trusted.
		{[]change.Splice{}, "-a|\n"},
		{[]change.Splice{splice(0, 1, "")}, "-a|\n"},
		{[]change.Splice{splice(4, 2, "  ")}, "-a|\n"},
		{[]change.Splice{splice(0, 100, strings.Repeat("x", 98))}, "-a|\n"},
		{[]change.Splice{splice(-1, 3, "  ")}, "-a|\n"},
		{[]change.Splice{splice(0, 2, ""), splice(1, 0, "")}, "-a|\n"},
		{[]change.Splice{splice(0, 2, "  "), splice(4, -2, "")}, "-a|\n"},
		{[]change.Splice{splice(0, math.MaxInt, "x"), splice(0, 0, "x")}, "-a|\n"},
	} {
		hunks := hunksOf(old, new, tt.splices, 0)
		check(t, old, new, hunks, 0)
		if got := format(hunks); got != tt.want {
			t.Errorf("%v: got %q, want %q", tt.splices, got, tt.want)
		}
	}

	// Two equal changes far apart: each is found at its splice, and the part between them is never compared.
	same := strings.Repeat("x\n", 50)
	old, new = []byte("a\n"+same+"a\n"), []byte("b\n"+same+"b\n")
	hunks := hunksOf(old, new, []change.Splice{splice(0, 1, "b"), splice(102, 1, "b")}, 1)
	if diff := cmp.Diff([][4]int{{1, 2, 1, 2}, {51, 2, 51, 2}}, lineNumbers(hunks)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestSplicesCost measures memory: with splices it must not grow with the text.
func TestSplicesCost(t *testing.T) {
	var allocs [2]float64
	for i, n := range []int{1000, 100000} {
		// Changes at both ends, so that without splices every line between them is numbered.
		text := numbered(n)
		old := []byte("first\n" + text + "last\n")
		new := []byte("erste\n" + text + "letzte\n")
		splices := []change.Splice{{Len: 5, Text: []byte("erste")}, {Off: int64(len(old) - 5), Len: 4, Text: []byte("letzte")}}
		var hunks []textdiff.Hunk
		allocs[i] = testing.AllocsPerRun(5, func() { hunks = hunksOf(old, new, splices, 3) })
		if len(hunks) != 2 {
			t.Fatalf("%d hunks, want 2", len(hunks))
		}
	}
	if allocs[0] != allocs[1] {
		t.Errorf("%v allocations for 1,000 lines, %v for 100,000", allocs[0], allocs[1])
	}
}

// TestSplicesPatch prints a file with its splices.
func TestSplicesPatch(t *testing.T) {
	t.Parallel()
	needTool(t, "git")
	old, new := map[string]entry{}, map[string]entry{}
	var patch bytes.Buffer
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		o, nw, splices := edits(t)
		name := fmt.Sprintf("f%d", n)
		n++
		p := textdiff.FilePatch{
			OldName: name, NewName: name, OldMode: textdiff.ModeFile, NewMode: textdiff.ModeFile,
			Old: textdiff.Bytes(o), New: textdiff.Bytes(nw), Splices: splices,
		}
		if err := p.Print(&patch); err != nil {
			t.Fatal(err)
		}
		old[name], new[name] = file(string(o)), file(string(nw))
	})
	dir := makeTree(t, old)
	run(t, dir, patch.Bytes(), "git", "apply", "--whitespace=nowarn")
	sameTree(t, "applied", new, readTree(t, dir))
	run(t, dir, patch.Bytes(), "git", "apply", "--whitespace=nowarn", "-R")
	sameTree(t, "taken back", old, readTree(t, dir))
}
