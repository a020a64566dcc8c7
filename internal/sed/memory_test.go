//go:build !race

// Under the race detector a sync.Pool randomly returns nothing, so the measured memory would prove nothing.

package sed_test

import (
	"runtime"
	"testing"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/sed"
)

// TestApplyHoldsAFewLines: the memory of a run does not grow with the text.
func TestApplyHoldsAFewLines(t *testing.T) {
	s := parse(t, sed.Options{}, `s/value/x/;2d;$s/^/end /`)
	size := fstest.ByItself(16<<20, 64<<20)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	changes := 0
	stats, err := s.Apply(t.Context(), &endless{"one value\n", size}, sed.Bounds{}, func(int64, int64, []byte) error { changes++; return nil })
	runtime.ReadMemStats(&after)
	if err != nil || stats.Lines < size/11 || changes != stats.Lines {
		t.Fatalf("%+v %d %v", stats, changes, err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 4<<20 {
		t.Errorf("it took %d bytes", took)
	}
}
