package textdiff_test

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/splice"
	"github.com/millrace-go/millrace/internal/textdiff"
)

// TestCoresKeepTheirSplices: for any choice of cores that keeps cores of the same splices together, their splices
// change the old text like the cores themselves; and every core has a splice.
func TestCoresKeepTheirSplices(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		old, new, splices := edits(t)
		var chosenSplices []change.Splice
		var chosenCores []textdiff.Core
		last, chosen := -1, false
		for _, c := range coresOf(hunksOf(old, new, splices, rapid.IntRange(0, 3).Draw(t, "context"))) {
			if c.From >= c.To || c.From < last || c.To > len(splices) {
				t.Fatalf("splices %d to %d of %d, after %d", c.From, c.To, len(splices), last)
			}
			if c.From != last {
				chosen = rapid.Bool().Draw(t, "chosen")
			}
			if chosen {
				chosenCores = append(chosenCores, c)
				if c.From != last {
					chosenSplices = append(chosenSplices, splices[c.From:c.To]...)
				}
			}
			last = c.From
		}
		bySplices, err := splice.Apply(old, chosenSplices)
		if err != nil {
			t.Fatal(err)
		}
		if byCores := applied(old, new, chosenCores); !bytes.Equal(bySplices, byCores) {
			t.Fatalf("the splices give %q, the cores %q", bySplices, byCores)
		}
	})
}

// TestCoresOfSplicesThatDoNotFit: each core has all splices.
func TestCoresOfSplicesThatDoNotFit(t *testing.T) {
	t.Parallel()
	lies := []change.Splice{{Off: 0, Len: 1}, {Off: 2, Len: 1}}
	for _, c := range coresOf(hunksOf([]byte("a\nb\n"), []byte("b\nc\n"), lies, 3)) {
		if c.From != 0 || c.To != len(lies) {
			t.Errorf("core %+v", c)
		}
	}
}
