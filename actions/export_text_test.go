package actions

import (
	"cmp"
	"context"

	"github.com/millrace-go/millrace/internal/match"
)

// SetPieces sets from which size on files are read piece by piece, in pieces of what size, and how long a line is
// with which that is given up.
func SetPieces(c *Call, from int64, window, line int) {
	c.sizes = match.Sizes{Whole: cmp.Or(from-1, -1), Window: window, Line: line}
}

// Sections goes over all of a text so many times and returns how often it was given any of it.
func Sections(ctx context.Context, c *Call, text []byte, times int, see func()) error {
	list := make([]section, times)
	for i := range list {
		list[i].to = int64(len(text))
	}
	return c.sections(ctx, match.Bytes(text), list, func(int, []byte) { see() })
}
