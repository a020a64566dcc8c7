package actions

import (
	"cmp"
	"slices"

	"github.com/millrace-go/millrace/fsutil"
)

// span is the match of one edit in a file.
type span struct{ start, end, edit int }

// spans are the matches of several edits in the same content.
type spans struct{ list []span }

// overlap returns an error if two of the spans share a byte, nil otherwise, and where in the content that is. The error does
// not have the line yet.
func (s *spans) overlap() (err *OverlapError, off int) {
	slices.SortFunc(s.list, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end), cmp.Compare(a.edit, b.edit))
	})
	for i := 1; i < len(s.list); i++ {
		if a, b := s.list[i-1], s.list[i]; b.start < a.end {
			return &OverlapError{First: a.edit, Second: b.edit}, b.start
		}
	}
	return nil, 0
}

func sortSplices(list []fsutil.Splice) {
	slices.SortFunc(list, func(a, b fsutil.Splice) int { return cmp.Compare(a.Off, b.Off) })
}
