package preview

import (
	"bytes"
	"hash/maphash"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/textdiff"
)

// mostCompared limits the size, of both sides together in bytes, for which changed lines are counted by a diff. Larger
// files are only compared as sets of lines, in time linear in their size: moved lines do not count.
const mostCompared = 4 << 20

// linesWritten counts the lines in which the two sides of a change differ, on the side with more such lines. It counts
// the lines of binary files too: a NUL byte must not make a change look smaller.
func (v View) linesWritten(c change.Change) int {
	if c.Old.Size+c.New.Size > mostCompared {
		if n, ok := v.linesOfEither(c); ok {
			return n
		}
	}
	list, _, err := v.compare(c, 0, true)
	if err != nil {
		return 0
	}
	n := 0
	for _, h := range list {
		n += max(h.OldLines, h.NewLines)
	}
	return n
}

// linesOfEither counts the lines that only one side has, on the side with more such lines.
func (v View) linesOfEither(c change.Change) (int, bool) {
	t, err := v.open(sidesOf(c), true)
	if err != nil {
		return 0, false
	}
	defer t.close()
	old, isBytes := t.old.(textdiff.Bytes)
	made, areBytes := t.new.(textdiff.Bytes)
	if !isBytes || !areBytes {
		return 0, false
	}
	seed, counts := maphash.MakeSeed(), make(map[uint64]int)
	for line := range bytes.Lines(old) {
		counts[maphash.Bytes(seed, line)]--
	}
	for line := range bytes.Lines(made) {
		counts[maphash.Bytes(seed, line)]++
	}
	gone, come := 0, 0
	for _, n := range counts {
		gone, come = gone+max(-n, 0), come+max(n, 0)
	}
	return max(gone, come), true
}
