//go:build !race

package bench_test

import (
	"io"
	"runtime/debug"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
)

// allocsOf is testing.AllocsPerRun without the garbage collector, which empties each sync.Pool at random. The race
// detector makes a Pool drop a quarter of its items, so these tests do not run with it. Allocations are counted for the
// whole process: no other test may run at the same time.
func allocsOf(runs int, do func()) float64 {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	return testing.AllocsPerRun(runs, do)
}

// planAllocs returns the allocations of a dry run, without its diff.
func planAllocs(t *testing.T, files, matching, counts int) float64 {
	t.Helper()
	fsys := smallTree(t, files, matching)
	p, err := millrace.Decode([]byte(smallPipeline(counts)))
	if err != nil {
		t.Fatal(err)
	}
	return allocsOf(5, func() {
		plan, err := millrace.Executor{Workers: 1}.Plan(t.Context(), fsys, p)
		if err != nil {
			t.Fatal(err)
		}
		if got := plan.Result().TotalEdits; got != matching {
			t.Fatalf("%d edits, want %d", got, matching)
		}
	})
}

// runAllocs returns the allocations of decoding and running, commit and backup included.
func runAllocs(t *testing.T, files, matching, counts int) float64 {
	t.Helper()
	const runs = 3
	var trees []afero.Fs
	for range runs + 1 { // the first run warms up
		trees = append(trees, smallTree(t, files, matching))
	}
	text := []byte(smallPipeline(counts))
	return allocsOf(runs, func() {
		fsys := trees[0]
		trees = trees[1:]
		p, err := millrace.Decode(text)
		if err != nil {
			t.Fatal(err)
		}
		res, err := millrace.Executor{Workers: 1}.Run(t.Context(), fsys, p)
		if err != nil {
			t.Fatal(err)
		}
		if res.TotalEdits != matching {
			t.Fatalf("%d edits, want %d", res.TotalEdits, matching)
		}
	})
}

// memMapAllocs returns the allocations of afero's MemMapFs for listing all directories and reading all files.
func memMapAllocs(t *testing.T, files int) float64 {
	t.Helper()
	fsys := smallTree(t, files, 0)
	buf := make([]byte, 4096)
	open := func(name string) afero.File {
		f, err := fsys.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	return allocsOf(5, func() {
		dirs, err := open("/").Readdir(-1)
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range dirs {
			list, err := open(dir.Name()).Readdir(-1)
			if err != nil {
				t.Fatal(err)
			}
			for _, item := range list {
				f := open(dir.Name() + "/" + item.Name())
				if _, err := f.Read(buf); err != nil && err != io.EOF {
					t.Fatal(err)
				}
				f.Close()
			}
		}
	})
}

// A MemMapFs makes allocations to list and to read a file. A file without a match adds three: its name, its key in the
// MemMapFs, and the handle with the rules of POSIX. A commit renames one directory, for which a MemMapFs makes a string
// of the name of each file.
func TestAllocs_unmatchedFiles(t *testing.T) {
	const few, many, matching = 100, 400, 10
	perFile := func(of func(files int) float64) float64 { return (of(many) - of(few)) / (many - few) }
	memMap := perFile(func(files int) float64 { return memMapAllocs(t, files) })
	plan := perFile(func(files int) float64 { return planAllocs(t, files, matching, 1) })
	run := perFile(func(files int) float64 { return runAllocs(t, files, matching, 1) })
	t.Logf("for each file: %.2f by a MemMapFs alone, %.2f by a dry run, %.2f by a run", memMap, plan, run)
	const name, key, handle, renamed, spare = 1, 1, 1, 1, 0.5
	if most := memMap + name + key + handle + spare; plan > most {
		t.Errorf("a dry run makes %.2f allocations for each file that does not match, want %.2f at most", plan, most)
	}
	if most := memMap + name + key + handle + renamed + spare; run > most {
		t.Errorf("a run makes %.2f allocations for each file that does not match, want %.2f at most", run, most)
	}
}

// A run has a cost for each step and a cost for each changed file, but none for each file in each step: a step takes
// the count of a file that was searched before from the cache, and stores it in one map. The maps of a MemMapFs grow at
// random, so the limit is half an allocation.
func TestAllocs_stepsTimesFiles(t *testing.T) {
	const fewFiles, manyFiles, steps = 10, 100, 16
	for name, allocs := range map[string]func(t *testing.T, files, matching, counts int) float64{"dry run": planAllocs, "run": runAllocs} {
		of := func(files, steps int) float64 { return allocs(t, files, files, steps) }
		product := (of(manyFiles, steps) - of(fewFiles, steps) - of(manyFiles, 1) + of(fewFiles, 1)) / ((steps - 1) * (manyFiles - fewFiles))
		t.Logf("%s: %.3f allocations for each step and file", name, product)
		if product > 0.5 {
			t.Errorf("a %s makes %.3f allocations for each file in each step", name, product)
		}
		// From 1 to 4 steps are 3 more steps, from 4 to 16 are 12.
		if few, many := of(fewFiles, 4)-of(fewFiles, 1), of(fewFiles, 16)-of(fewFiles, 4); many > 4.5*few {
			t.Errorf("a %s makes %.0f allocations for 3 more steps and %.0f for 12", name, few, many)
		}
	}
}
