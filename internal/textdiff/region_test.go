package textdiff_test

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/millrace-go/millrace/internal/textdiff"
)

// edits draws a text, splices in it, and what comes of them, the regions exact or a little wider than need be.
func edits(t *rapid.T) (old, new []byte, regions []textdiff.Region) {
	old = []byte(strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "\n", "cc\n", "\r\n"}), 0, 40).Draw(t, "lines"), ""))
	if rapid.Bool().Draw(t, "cut") && len(old) > 0 {
		old = old[:len(old)-1]
	}
	regions = []textdiff.Region{}
	at := 0
	for range rapid.IntRange(0, 6).Draw(t, "edits") {
		off := at + rapid.IntRange(0, min(12, len(old)-at)).Draw(t, "skip")
		n := rapid.IntRange(0, min(5, len(old)-off)).Draw(t, "length")
		text := rapid.SampledFrom([]string{"", "a", "x", "\n", "b\n", "a\nx\n"}).Draw(t, "text")
		new = append(new, old[at:off]...)
		regions = append(regions, textdiff.Region{OldOff: off, OldLen: n, NewOff: len(new), NewLen: len(text)})
		new = append(new, text...)
		at = off + n
	}
	new = append(new, old[at:]...)
	return old, new, regions
}

func TestRegions(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		old, new, regions := edits(t)
		context := rapid.IntRange(0, 3).Draw(t, "context")
		check(t, old, new, textdiff.Hunks(old, new, regions, context), context)
	})
}

// TestRegionsFollowed gives regions that hold and some that do not.
func TestRegionsFollowed(t *testing.T) {
	t.Parallel()
	old, new := []byte("a\nb\nc\na\nb\nc\n"), []byte("b\nc\na\nb\nc\n")
	for _, tt := range []struct {
		regions []textdiff.Region
		want    string
	}{
		{nil, "-a|\n"},
		// Removing "a\nb\nc\n" and putting "b\nc\n" there is the same; the lines common to both are found again.
		{[]textdiff.Region{{0, 6, 0, 4}}, "-a|\n"},
		// A list that ends too early, or lies about the middle, is no help and is not believed.
		{[]textdiff.Region{}, "-a|\n"},
		{[]textdiff.Region{{0, 1, 0, 0}}, "-a|\n"},
		{[]textdiff.Region{{4, 2, 2, 2}}, "-a|\n"},
		{[]textdiff.Region{{0, 100, 0, 98}}, "-a|\n"},
		{[]textdiff.Region{{-1, 3, 0, 2}}, "-a|\n"},
		{[]textdiff.Region{{0, 2, 0, 0}, {1, 0, 0, 0}}, "-a|\n"},
		{[]textdiff.Region{{0, math.MaxInt, 0, 1}, {0, 0, 1, 1}}, "-a|\n"},
	} {
		hunks := textdiff.Hunks(old, new, tt.regions, 0)
		check(t, old, new, hunks, 0)
		if got := format(hunks); got != tt.want {
			t.Errorf("%v: got %q, want %q", tt.regions, got, tt.want)
		}
	}

	// Two equal changes far apart: each is found in its own region, and the part between them is never looked at.
	same := strings.Repeat("x\n", 50)
	old, new = []byte("a\n"+same+"a\n"), []byte("b\n"+same+"b\n")
	hunks := textdiff.Hunks(old, new, []textdiff.Region{{0, 1, 0, 1}, {102, 1, 102, 1}}, 1)
	if diff := cmp.Diff([][4]int{{1, 2, 1, 2}, {51, 2, 51, 2}}, lineNumbers(hunks)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestRegionsCost counts memory: with regions it must not grow with the text.
func TestRegionsCost(t *testing.T) {
	var allocs [2]float64
	for i, n := range []int{1000, 100000} {
		// Changes at both ends, so that without regions every line between them is numbered.
		text := numbered(n)
		old := []byte("first\n" + text + "last\n")
		new := []byte("erste\n" + text + "letzte\n")
		regions := []textdiff.Region{{0, 5, 0, 5}, {len(old) - 5, 4, len(new) - 7, 6}}
		var hunks []textdiff.Hunk
		allocs[i] = testing.AllocsPerRun(5, func() { hunks = textdiff.Hunks(old, new, regions, 3) })
		if len(hunks) != 2 {
			t.Fatalf("%d hunks, want 2", len(hunks))
		}
	}
	if allocs[0] != allocs[1] {
		t.Errorf("%v allocations for 1,000 lines, %v for 100,000", allocs[0], allocs[1])
	}
}

// TestRegionsPatch prints a file by its regions, and by hunks made before.
func TestRegionsPatch(t *testing.T) {
	t.Parallel()
	needTool(t, "git")
	old, new := map[string]entry{}, map[string]entry{}
	var patch bytes.Buffer
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		o, nw, regions := edits(t)
		name := fmt.Sprintf("f%d", n)
		n++
		p := textdiff.FilePatch{
			OldName: name, NewName: name, OldMode: textdiff.ModeFile, NewMode: textdiff.ModeFile,
			Old: o, New: nw, Regions: regions,
		}
		if n%2 == 0 {
			// What is left after every other hunk has been rejected.
			p.Hunks = textdiff.Keep(textdiff.Hunks(o, nw, regions, 3), func(i int) bool { return i%2 == 0 })
			p.Regions = nil
			applied, err := textdiff.Apply(o, p.Hunks)
			if err != nil {
				t.Fatal(err)
			}
			p.New = applied
		}
		if _, err := p.WriteTo(&patch); err != nil {
			t.Fatal(err)
		}
		old[name], new[name] = file(string(o)), file(string(p.New))
	})
	dir := makeTree(t, old)
	run(t, dir, patch.Bytes(), "git", "apply", "--whitespace=nowarn")
	sameTree(t, "applied", new, readTree(t, dir))
	run(t, dir, patch.Bytes(), "git", "apply", "--whitespace=nowarn", "-R")
	sameTree(t, "taken back", old, readTree(t, dir))
}
