package bench_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
)

// smallPipeline returns a pipeline that searches, edits the files it found, and then counts in that many steps.
func smallPipeline(counts int) string {
	var b strings.Builder
	b.WriteString(`{"name":"small","steps":[{"id":"find","action":"search","params":{"pattern":"needle","mode":"literal"}},` +
		`{"id":"edit","action":"edit","input_from":"find","params":{"old_text":"needle","new_text":"thread"}}`)
	for i := range counts {
		fmt.Fprintf(&b, `,{"id":"left%d","action":"count_occurrences","input_from":"find","params":{"pattern":"needle"}}`, i)
	}
	b.WriteString(`],"force":true}`)
	return b.String()
}

// smallTree returns files of about 2 KiB in ten directories. The first of them have the needle.
func smallTree(tb testing.TB, files, matching int) afero.Fs {
	tb.Helper()
	fsys := afero.NewMemMapFs()
	hay := strings.Repeat("a line of hay that is like all the others\n", 50)
	for i := range files {
		text := hay
		if i < matching {
			text += "the needle\n"
		}
		if err := afero.WriteFile(fsys, fmt.Sprintf("d%d/f%d.txt", i%10, i), []byte(text), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	return fsys
}

// BenchmarkSmall measures the parts of a run that does next to nothing, in memory.
func BenchmarkSmall(b *testing.B) {
	for _, counts := range []int{1, 16} {
		text := []byte(smallPipeline(counts))
		b.Run(fmt.Sprintf("decode/steps=%d", counts+2), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, err := millrace.Decode(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	for _, k := range []struct{ files, matching, counts int }{{10, 10, 1}, {10, 10, 16}, {100, 10, 1}, {100, 100, 1}, {100, 100, 16}} {
		text := []byte(smallPipeline(k.counts))
		name := fmt.Sprintf("files=%d/matching=%d/steps=%d", k.files, k.matching, k.counts+2)
		b.Run("plan/"+name, func(b *testing.B) {
			benchSmallPlan(b, smallTree(b, k.files, k.matching), text, k.matching)
		})
		b.Run("run/"+name, func(b *testing.B) {
			benchSmallRun(b, func() afero.Fs { return smallTree(b, k.files, k.matching) }, text, k.matching)
		})
	}
}

// benchSmallPlan measures a dry run without its diff.
func benchSmallPlan(b *testing.B, fsys afero.Fs, text []byte, want int) {
	p, err := millrace.Decode(text)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		plan, err := millrace.Executor{}.Plan(b.Context(), fsys, p)
		if err != nil {
			b.Fatal(err)
		}
		if got := plan.Result().TotalEdits; got != want {
			b.Fatalf("%d edits, want %d", got, want)
		}
	}
}

// benchSmallRun decodes and runs, each time on a new tree.
func benchSmallRun(b *testing.B, tree func() afero.Fs, text []byte, want int) {
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		b.StopTimer()
		fsys := tree()
		b.StartTimer()
		p, err := millrace.Decode(text)
		if err != nil {
			b.Fatal(err)
		}
		res, err := millrace.Run(b.Context(), fsys, p)
		if err != nil {
			b.Fatal(err)
		}
		if got := res.TotalEdits; got != want {
			b.Fatalf("%d edits, want %d", got, want)
		}
	}
}
