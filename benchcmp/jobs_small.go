package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// smallJobs measure the cost of a run that has almost nothing to do.
func smallJobs() []job {
	return []job{
		{"small/pipeline", nil, smallPipeline}, {"small/dry-run", nil, smallDryRun},
		{"small/allocations", nil, smallAllocations},
	}
}

// inProcess runs the hidden sub-command small in a process of its own, and reads its output.
func (b *bench) inProcess(ctx context.Context, what string, n int, answer any) error {
	c := command{dir: b.dir, out: b.out("small-" + what), args: []string{b.self, "small", what, fmt.Sprint(n)}}
	if _, err := b.run(ctx, c); err != nil {
		return err
	}
	data, err := os.ReadFile(c.out)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, answer)
}

func smallPipeline(ctx context.Context, b *bench) (Outcome, error) {
	return b.smallTimes(ctx, "times", "decode and run search, edit, count of 10 files in memory", 0.5, 1500)
}

func smallDryRun(ctx context.Context, b *bench) (Outcome, error) {
	return b.smallTimes(ctx, "dry-run", "decode and plan search, edit, count of 10 files in memory", 0.25, 700)
}

// smallTimes is the time and the allocations of something small.
func (b *bench) smallTimes(ctx context.Context, do, what string, goal, goalAllocs float64) (Outcome, error) {
	var got smallTimes
	if err := b.inProcess(ctx, do, b.scale.smallRuns, &got); err != nil {
		return Outcome{}, err
	}
	ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	note := fmt.Sprintf("median of %d; %.2f to %.2f ms; %.2f ms of user time, with making the files", got.Runs,
		ms(got.Min), ms(got.Max), ms(got.CPU))
	return Outcome{Figures: []Figure{
		{What: what, Value: ms(got.Median), Unit: "ms", Goal: goal, Note: note},
		{What: "the same", Value: float64(got.Allocs), Unit: "allocations", Goal: goalAllocs,
			Note: fmt.Sprintf("%.0f KiB", float64(got.Bytes)/1024)},
	}}, nil
}

func smallAllocations(ctx context.Context, b *bench) (Outcome, error) {
	var got smallAllocs
	if err := b.inProcess(ctx, "allocations", b.scale.allocFiles, &got); err != nil {
		return Outcome{}, err
	}
	row := func(what string, value float64, note string) Figure {
		return Figure{What: what, Value: value, Unit: "allocations", Goal: 1, Note: note}
	}
	n := b.scale.allocFiles
	span := fmt.Sprintf("%s to %s files; ", thousands(n), thousands(4*n))
	return Outcome{Figures: []Figure{
		row("dry run, for each file that does not match, in memory", got.UnmatchedMemory,
			span+"those of afero's MemMapFs included"),
		row("dry run, for each file that does not match, on disk", got.UnmatchedDisk, span+"the name of a file is one"),
		row("dry run, for each step and file", got.StepFile,
			fmt.Sprintf("2 to 8 counting steps, 10 to %s files on disk", thousands(n))),
	}}, nil
}
