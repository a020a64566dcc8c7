package actions

import (
	"cmp"

	"github.com/millrace-go/millrace/internal/match"
)

// SetPieces sets from which size on files are read piece by piece, in pieces of what size, and how long a line is
// with which that is given up.
func SetPieces(c *Call, from int64, window, line int) {
	c.sizes = match.Sizes{Whole: cmp.Or(from-1, -1), Window: window, Line: line}
}
