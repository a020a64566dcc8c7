package render_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/cmd/millrace/internal/render"
)

// large returns a plan that edits 3,085 files in three places each.
func large(b *testing.B) *millrace.Plan {
	var tree strings.Builder
	text := strings.Repeat(strings.Repeat("a line of the file, as long as most are\n", 40)+"to recieve is\n", 3)
	for i := range 3085 {
		fmt.Fprintf(&tree, "-- d%d/f%d.txt --\n%s", i%50, i, text)
	}
	return plan(b, tree.String(), millrace.New("large").
		Step("fix", actions.PatternReplace{FilePattern: "**/*.txt", SedPattern: []string{"s/recieve/receive/"}}).MustBuild())
}

// BenchmarkDiff measures the coloured diff and the plain diff of 3,085 files in turns, because other programs disturb
// both. The shortest time of the coloured diff should be at most 1.1 times the shortest time of the plain diff.
func BenchmarkDiff(b *testing.B) {
	p := large(b)
	for name, s := range map[string]render.Style{"color": {Color: true}, "terminal": {Color: true, Terminal: true}} {
		b.Run(name, func(b *testing.B) {
			least := func(best *time.Duration, write func() error) {
				start := time.Now()
				if err := write(); err != nil {
					b.Fatal(err)
				}
				*best = min(*best, time.Since(start))
			}
			plain, styled := time.Hour, time.Hour
			for b.Loop() {
				least(&plain, func() error { return p.WriteDiff(io.Discard) })
				least(&styled, func() error { return render.Diff(io.Discard, p, s) })
			}
			b.ReportMetric(float64(plain.Microseconds())/1000, "plain-ms")
			b.ReportMetric(float64(styled)/float64(plain), "ratio")
		})
	}
}
