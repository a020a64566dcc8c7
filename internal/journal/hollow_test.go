package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/journal"
)

// TestHollow reads plans that consist of line ends, which a small archive can contain in very large numbers: they take
// no more memory than their own size, whether their sums are right or not. It counts allocations, so nothing runs in
// parallel.
func TestHollow(t *testing.T) {
	const lines = 1 << 20
	header := strings.Replace(goodHeader, `"paths":1`, fmt.Sprintf(`"paths":%d`, lines), 1)
	body, _, _ := bytes.Cut(forge(nil, header), []byte("sum "))
	whole := seal(nil, append(bytes.Clone(body), bytes.Repeat([]byte("\n"), lines)...))
	broken := bytes.Replace(whole, []byte("\nsum "), []byte("\nsum 0"), 1)
	for want, data := range map[journal.Reason][]byte{journal.BadFormat: whole, journal.BadChecksum: broken} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := journal.Decode(data, nil)
		runtime.ReadMemStats(&after)
		if e, ok := errors.AsType[*journal.Error](err); !ok || e.Reason != want || e.Line != 3 {
			t.Errorf("%v: %v", want, err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 8*lines {
			t.Errorf("%v: %d bytes were allocated to read %d", want, took, len(data))
		}
	}
}
