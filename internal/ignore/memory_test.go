package ignore_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/ignore"
)

// A file of the shortest special patterns keeps a bounded multiple of its size in memory.
func TestParse_memory(t *testing.T) {
	const size, most = 1 << 20, 100 << 20
	for _, unit := range []string{"?", "?\n", "?a", "[a]", "[a]\n", "*a", "*?"} {
		data := []byte(strings.Repeat(unit, size/len(unit)))
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		file := ignore.Parse(data, ".")
		runtime.GC()
		runtime.ReadMemStats(&after)
		if kept := int64(after.HeapAlloc) - int64(before.HeapAlloc); kept > most {
			t.Errorf("1 MiB of %q keeps %d MiB", unit, kept>>20)
		} else {
			t.Logf("1 MiB of %q keeps %d MiB", unit, kept>>20)
		}
		runtime.KeepAlive(file)
		runtime.KeepAlive(data)
	}
}
