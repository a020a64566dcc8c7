package yamlform_test

import (
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/yamlform"
)

// worst returns the most expensive texts of about a MiB, each for another reason.
func worst() map[string]string {
	repeat := func(s string) string { return strings.Repeat(s, yamlform.MaxBytes/len(s)) }
	few := func(s string) string { return strings.Repeat(s, (yamlform.MaxMarks-10)/strings.Count(s, ",")) }
	var keys, strs, vars strings.Builder
	for i := 0; keys.Len() < yamlform.MaxBytes-100; i++ {
		fmt.Fprintf(&keys, "%x:\n", i)
	}
	vars.WriteString("name: n\nvariables:\n")
	for i := 0; vars.Len() < yamlform.MaxBytes-100; i++ {
		fmt.Fprintf(&vars, " v%x: &a 1\n", i)
	}
	strs.WriteString("name: n\nsteps:\n- id: a\n  action: multi_edit\n  params:\n    files: [x]\n    edits:\n")
	for strs.Len() < yamlform.MaxBytes-100 {
		strs.WriteString("    - {old_text: a, new_text: b}\n")
	}
	begin := "name: n\nsteps:\n"
	cut := func(s string) string { return s[:yamlform.MaxBytes-len(begin)-1] }
	return map[string]string{
		"flow list":     "[" + few("a,") + "]",
		"flow nulls":    "{" + few("a,") + "}",
		"flow pairs":    "[" + few("a: ,") + "]",
		"flow steps":    begin + "  [" + few("a,") + "]",
		"block":         repeat("- a\n"),
		"block nulls":   repeat("-\n"),
		"steps":         begin + cut(repeat("-\n")),
		"step lists":    begin + cut(repeat("- - - - - - - - - - a\n")),
		"keys":          keys.String(),
		"anchors":       vars.String(),
		"edits":         strs.String(),
		"explicit keys": strings.Repeat("? a\n", yamlform.MaxMarks-10),
		"same key":      repeat("a:\n"),
		"comments":      repeat("- a #x\n"),
		"comment lines": repeat("# a\n- a\n"),
		"mappings":      repeat("- a: b\n"),
		"dates":         repeat("- 2024-01-01\n"),
		"escapes":       `name: "` + cut(repeat(`\0`)) + `"`,
		"blank lines":   "name: |\n  x\n" + cut(repeat("\n")),
		"words":         "name: " + cut(repeat("x ")),
		"long key":      cut(repeat("k")) + ": 1",
		"block text":    "name: |\n" + cut(repeat("  x\n")),
	}
}

// BenchmarkWorst reports the time and, as MiB, the peak memory of the most expensive texts: at most 0.6 s and 200 MiB.
func BenchmarkWorst(b *testing.B) {
	for name, text := range worst() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			runtime.GC()
			var before runtime.MemStats
			runtime.ReadMemStats(&before)
			var most atomic.Uint64
			stop := make(chan struct{})
			go watchMemory(&most, stop)
			for b.Loop() {
				_, _ = yamlform.Decode(millrace.Decoder{}, []byte(text))
			}
			close(stop)
			b.ReportMetric(float64(most.Load()-before.HeapAlloc)/(1<<20), "MiB")
		})
	}
}

func watchMemory(most *atomic.Uint64, stop chan struct{}) {
	var now runtime.MemStats
	for {
		select {
		case <-stop:
			return
		case <-time.After(5 * time.Millisecond):
			runtime.ReadMemStats(&now)
			most.Store(max(most.Load(), now.HeapAlloc))
		}
	}
}
