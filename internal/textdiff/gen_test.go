package textdiff_test

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/textdiff"
)

// hunksOf compares two texts in memory.
func hunksOf(old, new []byte, splices []change.Splice, context int) []textdiff.Hunk {
	hunks, err := textdiff.Hunks(textdiff.Bytes(old), textdiff.Bytes(new), splices, context)
	if err != nil {
		panic(err) // nothing here can fail
	}
	return hunks
}

// applied returns the old text with some of its cores replaced by their new lines.
func applied(old, new []byte, cores []textdiff.Core) []byte {
	var out []byte
	at := 0
	for _, c := range cores {
		out = append(append(out, old[at:c.Old]...), new[c.New:c.NewEnd]...)
		at = c.OldEnd
	}
	return append(out, old[at:]...)
}

// coresOf returns all runs of changed lines.
func coresOf(hunks []textdiff.Hunk) (cores []textdiff.Core) {
	for _, h := range hunks {
		cores = append(cores, h.Cores...)
	}
	return cores
}

// randomEdit returns a text of n lines, each of kinds different lines, and the text with a share of the lines changed:
// removed, replaced, or with a line inserted after it.
func randomEdit(rng *rand.Rand, n, kinds int, share float64) (old, new string) {
	line := func() string { return fmt.Sprintf("line %d\n", rng.IntN(kinds)) }
	var a, b strings.Builder
	for range n {
		l := line()
		a.WriteString(l)
		switch x := rng.Float64() / share; {
		case x < 1./3:
		case x < 2./3:
			b.WriteString(line())
		case x < 1:
			b.WriteString(l + line())
		default:
			b.WriteString(l)
		}
	}
	return a.String(), b.String()
}
