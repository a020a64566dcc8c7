package main

import (
	"context"
	"fmt"
	"os"
	"strings"
)

// growthJobs measure how the time of the processor grows with the work.
func growthJobs() []job {
	return []job{
		{"growth/search", nil, growthFiles("growth/search", encode(searching(needle, "literal", false, true)), false)},
		{"growth/plan", nil, growthFiles("growth/plan", replacing(needle, thread), false)},
		{"growth/run", nil, growthFiles("growth/run", "", true)},
		{"growth/edits", nil, growthEdits},
		{"growth/edits-one-file", nil, growthOneFile},
		{"growth/steps", nil, growthSteps},
	}
}

const growthGoal = 1.05

// generated returns a tree of generated files, and makes a missing tree.
func (b *bench) generated(files, size, places int, all bool) (string, error) {
	dir := b.work(fmt.Sprintf("generated-%d-%d-%d-%t", files, size, places, all))
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	b.logf("generating %s", dir)
	return dir, generateTree(dir, files, size, places, all, 11)
}

// grown makes a row from sizes and their times.
func grown(what string, x []float64, all []Usage) Outcome {
	var y []float64
	var took, slopes []string
	for i, u := range all {
		y = append(y, u.CPU.Seconds())
		took = append(took, fmt.Sprintf("%.3g s", u.CPU.Seconds()))
		if i > 0 {
			slopes = append(slopes, fmt.Sprintf("%.2f", exponent(x[i-1:i+1], y[i-1:i+1])))
		}
	}
	note := fmt.Sprintf("cpu %s; piece by piece %s", strings.Join(took, ", "), strings.Join(slopes, ", "))
	return Outcome{Figures: []Figure{{What: what, Value: exponent(x, y), Unit: "exponent", Goal: growthGoal, Note: note}}}
}

// expect looks at the sum that a command has printed.
func (b *bench) expect(out string, want int) error {
	data, err := os.ReadFile(out)
	if err != nil {
		return err
	}
	if got := strings.TrimSpace(string(data)); got != fmt.Sprint(want) {
		return wrong("%s: %s places, not %d", out, got, want)
	}
	return nil
}

// growthFiles is the growth with the number of files. With turns, the pipeline replaces and commits, forth and back.
func growthFiles(name, pipeline string, turns bool) func(ctx context.Context, b *bench) (Outcome, error) {
	return func(ctx context.Context, b *bench) (Outcome, error) {
		var x []float64
		var all []Usage
		var sizes []string
		for _, files := range b.scale.growth {
			dir, err := b.generated(files, 4<<10, 1, false)
			if err != nil {
				return Outcome{}, err
			}
			rounds := b.scale.growthRuns + b.warm
			s := always(b.ours(name, dir, pipeline, "-print", "total"))
			if turns {
				rounds += rounds % 2
				s = side{
					prepare: func(ctx context.Context, _ int) error { return b.settle(ctx) },
					command: func(round int) command {
						return b.ours(name, dir, replacing(direction(round, needle, thread)), "-do", "run", "-print",
							"total")
					},
				}
			}
			u, err := b.least(ctx, rounds, s)
			if err == nil {
				err = b.expect(b.out(name), (files+9)/10)
			}
			if err != nil {
				return Outcome{}, err
			}
			x, all, sizes = append(x, float64(files)), append(all, u), append(sizes, thousands(files))
		}
		what := map[string]string{"growth/search": "search", "growth/plan": "dry run of search, edit, count",
			"growth/run": "the same, committed"}[name]
		return grown(what+", by files: "+strings.Join(sizes, ", "), x, all), nil
	}
}

// growthEdits is the growth with the number of edits in files of the same size.
func growthEdits(ctx context.Context, b *bench) (Outcome, error) {
	const places = 4
	files := b.scale.editFiles
	return b.growthBy(ctx, "growth/edits", "dry run, by edits in each of "+thousands(files)+" files: ", places,
		func(n int) (string, string, int, error) {
			dir, err := b.generated(files, 16<<10, n, true)
			return dir, replacing(needle, thread), files * n, err
		})
}

// growthOneFile is the growth with the number of edits in one file.
func growthOneFile(ctx context.Context, b *bench) (Outcome, error) {
	const places = 4_000
	return b.growthBy(ctx, "growth/edits-one-file", "dry run, by edits in one file of 4 MiB: ", places,
		func(n int) (string, string, int, error) {
			dir, err := b.generated(1, 4<<20, n, true)
			return dir, replacing(needle, thread), n, err
		})
}

// growthSteps is the growth with the number of steps that edit all files.
func growthSteps(ctx context.Context, b *bench) (Outcome, error) {
	const places = 4
	files := b.scale.editFiles
	return b.growthBy(ctx, "growth/steps", "dry run, by steps that edit "+thousands(files)+" files: ", 1,
		func(n int) (string, string, int, error) {
			dir, err := b.generated(files, 16<<10, places, true)
			return dir, turns(needle, thread, n), files * places, err
		})
}

// growthBy measures with one times, four times, ... a number. The function returns the tree, the pipeline and the sum
// that the last step prints.
func (b *bench) growthBy(ctx context.Context, name, what string, unit int,
	at func(n int) (dir, pipeline string, want int, err error)) (Outcome, error) {
	var x []float64
	var all []Usage
	var sizes []string
	for _, factor := range b.scale.factors {
		n := unit * factor
		dir, pipeline, want, err := at(n)
		if err != nil {
			return Outcome{}, err
		}
		u, err := b.least(ctx, b.warm+b.scale.growthRuns, always(b.ours(name, dir, pipeline, "-print", "total")))
		if err == nil {
			err = b.expect(b.out(name), want)
		}
		if err != nil {
			return Outcome{}, err
		}
		x, all, sizes = append(x, float64(n)), append(all, u), append(sizes, thousands(n))
	}
	return grown(what+strings.Join(sizes, ", "), x, all), nil
}
