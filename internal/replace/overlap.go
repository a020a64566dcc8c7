package replace

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/millrace-go/millrace/internal/match"
)

// OverlapError says that two edits of one step want the same bytes.
type OverlapError struct {
	First, Second int // indices of the edits, from 0; the first one begins further left
	Line          int // where the second one begins
}

// Error names the edits and the line.
func (e *OverlapError) Error() string {
	if e.First == e.Second {
		return fmt.Sprintf("matches of edit %d overlap in line %d", e.First, e.Line)
	}
	return fmt.Sprintf("edits %d and %d overlap in line %d; in mode 'sequential' each sees what the one before has left", e.First, e.Second, e.Line)
}

// span is the match of one rule.
type span struct {
	start, end int64
	rule       int
}

// overlap returns an *OverlapError if two of the spans share a byte of the text.
func overlap(ctx context.Context, text match.Content, sizes match.Sizes, spans []span) error {
	slices.SortFunc(spans, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end), cmp.Compare(a.rule, b.rule))
	})
	for i := 1; i < len(spans); i++ {
		if a, b := spans[i-1], spans[i]; b.start < a.end {
			line, err := lineAt(ctx, text, sizes, b.start)
			return cmp.Or(err, error(&OverlapError{First: a.rule, Second: b.rule, Line: line}))
		}
	}
	return nil
}

// lineAt returns the number of the line that an offset is in, from 1.
func lineAt(ctx context.Context, text match.Content, sizes match.Sizes, off int64) (line int, err error) {
	line = 1
	err = match.Pass(ctx, text, sizes, func(data []byte) bool {
		data = data[:min(int64(len(data)), off)]
		line += bytes.Count(data, []byte{'\n'})
		off -= int64(len(data))
		return off > 0
	})
	return line, err
}
