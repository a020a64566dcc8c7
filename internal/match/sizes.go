package match

import (
	"cmp"
	"math"
)

// Sizes say how much of a text is looked at at once. A zero field has its default.
type Sizes struct {
	// Whole is the largest text that is one window, in bytes. The default is 8 MiB less one; negative means that there
	// is none.
	Whole int64
	// Window is how much of a larger text is looked at at once, in bytes. It grows where a line is longer. The default
	// is 2 MiB.
	Window int
	// Line is how long a line may be, in bytes, before the window grows to all that is left of the text. The default is
	// 16 MiB.
	Line int
}

func (s Sizes) withDefaults() Sizes {
	return Sizes{Whole: cmp.Or(s.Whole, 8<<20-1), Window: cmp.Or(s.Window, 2<<20), Line: cmp.Or(s.Line, 16<<20)}
}

// Fit reports whether a text of that size is one window, as one of which the size is not known is.
func (s Sizes) Fit(size int64) bool { return size <= s.Largest() }

// Largest returns the size of the largest text that is one window.
func (s Sizes) Largest() int64 { return max(0, s.withDefaults().Whole) }

// larger returns the size of a window that is to hold a longer line. have is what it holds, of a text of which so
// much is left; 0 if that is not known.
func (s Sizes) larger(have int, left int64) int {
	size := 2 * int64(have)
	if have >= s.Line {
		size = max(size, left+1) // a byte more than there is shows the end
	}
	return int(min(size, math.MaxInt))
}

// aligned returns the least multiple of the size of a page that is not below n.
func aligned(n int) int {
	const page = 4 << 10
	return (n + page - 1) &^ (page - 1)
}
