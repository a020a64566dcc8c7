package textdiff_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// randomEdit returns a text of n lines, each one of kinds different ones, and the text with a share of the lines changed:
// removed, replaced, or with one inserted behind.
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
