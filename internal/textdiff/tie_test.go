package textdiff_test

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/millrace-go/millrace/internal/textdiff"
)

// TestCoresKeepTheirRegions: whichever cores are chosen, as long as those with the same regions go together, their
// regions make of the old text what the cores themselves do; and every core has some.
func TestCoresKeepTheirRegions(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		old, new, regions := edits(t)
		hunks := textdiff.Hunks(old, new, regions, rapid.IntRange(0, 3).Draw(t, "context"))
		var byRegions, byCores []textdiff.Region
		last, chosen := -1, false
		for _, h := range hunks {
			for _, c := range h.Cores {
				if c.From >= c.To || c.From < last || c.To > len(regions) {
					t.Fatalf("regions %d to %d of %d, after %d", c.From, c.To, len(regions), last)
				}
				if c.From != last {
					chosen = rapid.Bool().Draw(t, "chosen")
				}
				if chosen {
					byCores = append(byCores, textdiff.Region{
						OldOff: c.OldOff, OldLen: c.OldEnd - c.OldOff, NewOff: c.NewOff, NewLen: c.NewEnd - c.NewOff,
					})
					if c.From != last {
						byRegions = append(byRegions, regions[c.From:c.To]...)
					}
				}
				last = c.From
			}
		}
		if a, b := applied(old, new, byRegions), applied(old, new, byCores); !bytes.Equal(a, b) {
			t.Fatalf("the regions give %q, the cores %q", a, b)
		}
	})
}

// applied returns the old text with some regions made new.
func applied(old, new []byte, regions []textdiff.Region) []byte {
	var out []byte
	at := 0
	for _, r := range regions {
		out = append(append(out, old[at:r.OldOff]...), new[r.NewOff:r.NewOff+r.NewLen]...)
		at = r.OldOff + r.OldLen
	}
	return append(out, old[at:]...)
}

// TestCoresOfRegionsThatDoNotHold have all that were given.
func TestCoresOfRegionsThatDoNotHold(t *testing.T) {
	t.Parallel()
	lies := []textdiff.Region{{OldOff: 0, OldLen: 1}, {OldOff: 2, OldLen: 1}}
	for _, h := range textdiff.Hunks([]byte("a\nb\n"), []byte("b\nc\n"), lies, 3) {
		for _, c := range h.Cores {
			if c.From != 0 || c.To != len(lies) {
				t.Errorf("core %+v", c)
			}
		}
	}
}
