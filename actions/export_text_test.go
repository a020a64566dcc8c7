package actions

import (
	"cmp"
	"context"

	"github.com/millrace-go/millrace/internal/lineedit"
	"github.com/millrace-go/millrace/internal/match"
)

// SetPieces sets the size from which files are read in pieces, the size of the pieces, and the longest line that is
// searched.
func SetPieces(c *Call, from int64, window, line int) {
	c.sizes = match.Sizes{Whole: cmp.Or(from-1, -1), Window: window, Line: line}
}

// CompareRanges compares all lines of a text that many times with a hash of edits.
func CompareRanges(ctx context.Context, c *Call, text []byte, times int) error {
	file, err := c.divide(context.WithoutCancel(ctx), match.Bytes(text))
	if err != nil {
		return err
	}
	w := &planning{filePlan: &filePlan{edits: make([]LineEdit, times)}}
	edits := make([]lineedit.Edit, times)
	for i := range edits {
		w.edits[i].RangeHash = "0"
		edits[i] = lineedit.Edit{ID: i, First: 1, Last: file.Lines}
	}
	_, err = w.compareRanges(ctx, file, edits)
	return err
}
