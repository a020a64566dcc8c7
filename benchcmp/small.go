package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fsutil"
)

// smallTimes are the times of the small pipeline.
type smallTimes struct {
	Runs             int
	Median, Min, Max time.Duration
	CPU              time.Duration // user time of the process for each run, with new files for the run
	Allocs, Bytes    int           // of one run
}

// smallAllocs are numbers of allocations.
type smallAllocs struct {
	UnmatchedMemory, UnmatchedDisk float64 // for each more file in which nothing is found
	StepFile                       float64 // for each more file in each more step
}

// small is the hidden sub-command that measures within its own process.
func small(ctx context.Context, args []string, stdout io.Writer) error {
	if len(args) != 2 {
		return errors.New("usage: small times|dry-run|allocations N")
	}
	n, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	var answer any
	switch args[0] {
	case "times":
		answer, err = timeSmall(ctx, n, decodeAndRun)
	case "dry-run":
		answer, err = timeSmall(ctx, n, decodeAndPlan)
	default:
		answer, err = countAllocs(ctx, n)
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(stdout).Encode(answer)
}

// hayLine is the line of small files without a needle.
const hayLine = "a line of hay that is like all the others\n"

// plant writes n small files, of which the first few have a needle.
func plant(fsys afero.Fs, n, matching int) error {
	for i := range n {
		text := strings.Repeat(hayLine, 50)
		if i < matching {
			text += "the " + needle + "\n"
		}
		if i < 10 {
			if err := fsys.MkdirAll(fmt.Sprintf("d%d", i), 0o755); err != nil {
				return err
			}
		}
		if err := afero.WriteFile(fsys, fmt.Sprintf("d%d/f%d.txt", i%10, i), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// smallRun decodes a pipeline and does something with it.
type smallRun func(ctx context.Context, fsys afero.Fs, text []byte) error

// timeSmall repeats a run, each time on new files in memory. Its allocations are counted in separate
// runs: counting stops the world, and slows the runs after it.
func timeSmall(ctx context.Context, runs int, do smallRun) (smallTimes, error) {
	text := []byte(replacing(needle, thread))
	var took []time.Duration
	warm := runs/10 + 1
	var began time.Duration
	for i := range runs + warm {
		if i == warm {
			began = userTime()
		}
		d, err := timed(ctx, text, do)
		if err != nil {
			return smallTimes{}, err
		}
		if i >= warm {
			took = append(took, d)
		}
	}
	used := userTime() - began
	var allocs, size []uint64
	for range warm {
		var before, after runtime.MemStats
		fsys, err := plantSmall()
		if err != nil {
			return smallTimes{}, err
		}
		runtime.ReadMemStats(&before)
		if err := do(ctx, fsys, text); err != nil {
			return smallTimes{}, err
		}
		runtime.ReadMemStats(&after)
		allocs, size = append(allocs, after.Mallocs-before.Mallocs), append(size, after.TotalAlloc-before.TotalAlloc)
	}
	mean := func(a, b uint64) uint64 { return (a + b) / 2 }
	return smallTimes{
		Runs: runs, Median: median(took, meanDuration), Min: slices.Min(took), Max: slices.Max(took),
		CPU: used / time.Duration(runs), Allocs: int(median(allocs, mean)), Bytes: int(median(size, mean)),
	}, nil
}

const smallFiles = 10

func plantSmall() (afero.Fs, error) {
	fsys := afero.NewMemMapFs()
	return fsys, plant(fsys, smallFiles, smallFiles)
}

// timed returns how long something took on new files.
func timed(ctx context.Context, text []byte, do smallRun) (time.Duration, error) {
	fsys, err := plantSmall()
	if err != nil {
		return 0, err
	}
	start := time.Now()
	err = do(ctx, fsys, text)
	return time.Since(start), err
}

func decodeAndRun(ctx context.Context, fsys afero.Fs, text []byte) error {
	p, err := millrace.Decode(text)
	if err != nil {
		return err
	}
	res, err := millrace.Run(ctx, fsys, p)
	if err == nil && res.TotalEdits != smallFiles {
		err = fmt.Errorf("%d edits, not %d", res.TotalEdits, smallFiles)
	}
	return err
}

// decodeAndPlan makes a dry run and prints nothing.
func decodeAndPlan(ctx context.Context, fsys afero.Fs, text []byte) error {
	p, err := millrace.Decode(text)
	if err != nil {
		return err
	}
	plan, err := millrace.Executor{}.Plan(ctx, fsys, p)
	if err != nil {
		return err
	}
	if edits := plan.Result().TotalEdits; edits != smallFiles {
		err = fmt.Errorf("%d edits, not %d", edits, smallFiles)
	}
	return errors.Join(err, plan.Close())
}

// countAllocs measures the growth of the allocations of a dry run: from n files to four times as many, and with more
// steps.
func countAllocs(ctx context.Context, n int) (got smallAllocs, err error) {
	dir, err := os.MkdirTemp("", "benchcmp-")
	if err != nil {
		return got, err
	}
	defer os.RemoveAll(dir)
	onDisk := func(n, matching int) (afero.Fs, error) {
		place := filepath.Join(dir, fmt.Sprintf("%d-%d", n, matching))
		if err := os.MkdirAll(place, 0o755); err != nil {
			return nil, err
		}
		fsys, err := fsutil.OpenRoot(place)
		if err != nil {
			return nil, err
		}
		return fsys, plant(fsys, n, matching)
	}
	inMemory := func(n, matching int) (afero.Fs, error) {
		fsys := afero.NewMemMapFs()
		return fsys, plant(fsys, n, matching)
	}
	few, many := n, 4*n
	slope := func(open func(n, matching int) (afero.Fs, error)) (float64, error) {
		a, err := allocations(ctx, open, few, 10, replacing(needle, thread))
		if err != nil {
			return 0, err
		}
		b, err := allocations(ctx, open, many, 10, replacing(needle, thread))
		return (b - a) / float64(many-few), err
	}
	if got.UnmatchedMemory, err = slope(inMemory); err != nil {
		return got, err
	}
	if got.UnmatchedDisk, err = slope(onDisk); err != nil {
		return got, err
	}
	// The remainder after steps alone and files alone are subtracted is the cost of each file in each step.
	const steps, moreSteps, files = 2, 8, 10
	moreFiles := n
	var all [4]float64
	for i, k := range []struct{ steps, files int }{{steps, files}, {steps, moreFiles}, {moreSteps, files},
		{moreSteps, moreFiles}} {
		if all[i], err = allocations(ctx, onDisk, k.files, k.files, counting(k.steps)); err != nil {
			return got, err
		}
	}
	got.StepFile = (all[3] - all[2] - all[1] + all[0]) / float64((moreSteps-steps)*(moreFiles-files))
	return got, nil
}

// counting returns a pipeline with a search, and steps that count in the found files.
func counting(steps int) string {
	all := []object{searching(needle, "literal", false, true)}
	for i := range steps {
		all = append(all, object{"id": fmt.Sprintf("count%d", i), "action": "count_occurrences", "input_from": "find",
			"params": object{"pattern": needle}})
	}
	return encode(all...)
}

// allocations returns the median number of allocations of a dry run.
func allocations(ctx context.Context, open func(n, matching int) (afero.Fs, error), n, matching int,
	pipeline string) (float64, error) {
	fsys, err := open(n, matching)
	if err != nil {
		return 0, err
	}
	if c, ok := fsys.(io.Closer); ok {
		defer c.Close()
	}
	p, err := millrace.Decode([]byte(pipeline))
	if err != nil {
		return 0, err
	}
	var all []float64
	for range 5 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		plan, err := millrace.Executor{}.Plan(ctx, fsys, p)
		runtime.ReadMemStats(&after)
		if err != nil {
			return 0, err
		}
		if found := len(plan.Result().FilesAffected); found != matching {
			return 0, fmt.Errorf("%d files, not %d", found, matching)
		}
		all = append(all, float64(after.Mallocs-before.Mallocs))
	}
	return median(all, meanFloat), nil
}
