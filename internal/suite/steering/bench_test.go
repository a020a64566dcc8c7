package steering_test

import (
	"fmt"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/suite/drawn"
)

// manyFiles returns a tree of small files.
func manyFiles(b *testing.B, n int) afero.Fs {
	b.Helper()
	fsys := afero.NewMemMapFs()
	for i := range n {
		if err := afero.WriteFile(fsys, fmt.Sprintf("d%d/f%d.txt", i%50, i), []byte("one two three four five\n"), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	return fsys
}

func benchPlan(b *testing.B, fsys afero.Fs, p millrace.Pipeline) *millrace.Result {
	b.Helper()
	plan, err := millrace.Executor{}.Plan(b.Context(), fsys, p)
	if err != nil {
		b.Fatal(err)
	}
	return plan.Result()
}

// BenchmarkJumps measures twenty steps that each have a next step, a step for failures and two ways back. It compares
// them with the same steps in plain order.
func BenchmarkJumps(b *testing.B) {
	for _, jumps := range []bool{false, true} {
		b.Run(fmt.Sprintf("jumps=%t", jumps), func(b *testing.B) {
			next := millrace.New("twenty").Options(millrace.Options{Force: true})
			for i := range millrace.MaxSteps {
				var files []string
				for k := range 20 {
					files = append(files, fmt.Sprintf("d%d/f%d.txt", (i*20+k)%50, i*20+k))
				}
				s := next.Step(fmt.Sprintf("s%d", i), actions.Edit{Files: files, OldText: "two", NewText: "2"})
				if jumps {
					s = s.RetryIf("s0", "never").RetryIf(fmt.Sprintf("s%d", i), "nor this")
					if i < millrace.MaxSteps-1 {
						s = s.Next(fmt.Sprintf("s%d", i+1)).OnFail(fmt.Sprintf("s%d", millrace.MaxSteps-1))
					}
				}
				next = s.Builder
			}
			p, fsys := next.MustBuild(), manyFiles(b, 400)
			b.ReportAllocs()
			for b.Loop() {
				if res := benchPlan(b, fsys, p); res.TotalEdits != 400 {
					b.Fatal(res)
				}
			}
		})
	}
}

// BenchmarkVisits measures visits while 3,000 files are staged: each visit costs the same, however many there are.
func BenchmarkVisits(b *testing.B) {
	for _, restart := range []bool{false, true} {
		for _, visits := range []int{2, 50, 100, 198} {
			b.Run(fmt.Sprintf("restart=%t/visits=%d", restart, visits), func(b *testing.B) {
				all := make([]string, 3000)
				for i := range all {
					all[i] = fmt.Sprintf("d%d/f%d.txt", i%50, i)
				}
				sayings := []string{"ok"}
				for range visits/2 - 1 {
					sayings = append([]string{"say again"}, sayings...)
				}
				p := millrace.New("visits").Options(millrace.Options{Force: true}).
					Step("all", actions.Edit{Files: all, OldText: "one", NewText: "1"}).
					Step("some", actions.Edit{Files: all[:10], OldText: `(\w+) (\w+)`, NewText: "$2 $1", Mode: "regex"}).MaxVisits(100).
					Step("check", drawn.Play{Words: sayings}).Retry(millrace.Retry{Step: "some", Keyword: "again", Restart: restart}).
					MustBuild()
				fsys := manyFiles(b, len(all))
				b.ReportAllocs()
				for b.Loop() {
					ctx, _ := drawn.Taped(b.Context())
					plan, err := millrace.Executor{}.Plan(ctx, fsys, p)
					if err != nil {
						b.Fatal(err)
					}
					if got := len(plan.Result().History); visits > 2 && got != visits+1 {
						b.Fatalf("%d visits", got)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(visits), "µs/visit")
			})
		}
	}
}
