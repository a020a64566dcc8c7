package revise_test

import (
	"math/rand/v2"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/fstest"
)

// TestSplitHunksAreTakenOneByOne: after any parts of hunks are rejected, the text equals the result of applying the
// lines of the other parts independently.
func TestSplitHunksAreTakenOneByOne(t *testing.T) {
	t.Parallel()
	split, first := 0, fstest.Seed(t)
	runs := uint64(fstest.Slowed(200, fstest.Runs(fstest.ByItself(400, 800), 5000, 50_000)))
	for seed := first; seed < first+runs; seed++ {
		rng := rand.New(rand.NewPCG(seed, 31))
		text, _, plan := randomEdited(t, rng)
		var left []millrace.Hunk
		var parts []millrace.Part
		for _, h := range hunksOf(t, plan) {
			pieces := h.Split()
			if len(pieces) > 1 {
				split++
			}
			for _, piece := range pieces {
				if got := piece.Split(); len(got) != 1 {
					t.Fatalf("seed %d: a part is split into %v", seed, got)
				}
				patched(t, text, []millrace.Hunk{piece}) // each part applies alone
				if rng.IntN(2) == 0 {
					parts = append(parts, millrace.Part{Hunk: piece})
				} else {
					left = append(left, withoutContext(piece))
				}
			}
		}
		if len(parts)+len(left) == 0 {
			continue
		}
		rng.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		less, err := plan.Revise("a.txt", parts...)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if got, want := planned(t, text, less), patched(t, text, left); got != want {
			t.Fatalf("seed %d: of %q the parts %v are rejected\n got %q\nwant %q", seed, text, parts, got, want)
		}
	}
	if split < int(runs)/8 {
		t.Errorf("only %d hunks were split in %d cases", split, runs)
	}
}

// withoutContext removes the unchanged lines, which parts of a hunk may share.
func withoutContext(h millrace.Hunk) millrace.Hunk {
	above := byte(' ')
	changed := false
	text := ""
	for _, l := range h.Lines() {
		note := l.Op == '\\'
		if !note {
			above = l.Op
		}
		switch {
		case above != ' ':
			changed = true
			text += string(l.Op) + l.Text + "\n"
		case !changed && !note:
			h.OldStart++
		}
	}
	h.Text, h.OldLines = text, max(h.OldLines, 1) // so that OldStart is the number of its own first line
	return h
}
