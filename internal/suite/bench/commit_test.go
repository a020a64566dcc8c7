package bench_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/rootfs"
)

// The benchmarks of a commit change every file of a tree, in alternating directions, with backup, journal and fsync. On
// a disk the times include waiting for the disk.

const benchFile = 4 << 10 // bytes, about

// benchTrees returns the file systems by name: in memory, and directories in memory and on a disk.
func benchTrees() map[string]func(b *testing.B) afero.Fs {
	directory := func(b *testing.B, under string) afero.Fs {
		dir, err := os.MkdirTemp(under, "millrace-bench-")
		if err != nil {
			b.Skipf("no such directory: %v", err)
		}
		b.Cleanup(func() { os.RemoveAll(dir) })
		root, err := rootfs.Open(dir)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { root.Close() })
		return root
	}
	return map[string]func(b *testing.B) afero.Fs{
		"memory": func(*testing.B) afero.Fs { return afero.NewMemMapFs() },
		"tmpfs":  func(b *testing.B) afero.Fs { return directory(b, "/dev/shm") },
		"disk":   func(b *testing.B) afero.Fs { return directory(b, "") },
	}
}

// eachBenchTree runs a benchmark with trees of several sizes.
func eachBenchTree(b *testing.B, bench func(b *testing.B, fsys afero.Fs, files int)) {
	trees := benchTrees()
	for _, name := range []string{"memory", "tmpfs", "disk"} {
		for _, files := range []int{100, 1000, 4000} {
			if name == "memory" && files > 1000 {
				continue // renaming in a MemMapFs looks at every file: 4000 files take 20 seconds
			}
			b.Run(fmt.Sprintf("%s/%d", name, files), func(b *testing.B) {
				fsys := trees[name](b)
				plantShelves(b, fsys, files)
				b.ReportAllocs()
				b.SetBytes(int64(files) * benchFile)
				bench(b, fsys, files)
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*files), "ns/file")
			})
		}
	}
}

// plantShelves writes files with a needle each, forty to a directory.
func plantShelves(b *testing.B, fsys afero.Fs, files int) {
	b.Helper()
	text := make([]byte, 0, benchFile)
	for len(text) < benchFile-40 {
		text = append(text, "a line of hay that is like all the others\n"...)
	}
	text = append(text, "the needle\n"...)
	for i := range files {
		dir := fmt.Sprintf("d%03d", i/40)
		if i%40 == 0 {
			if err := fsys.Mkdir(dir, 0o755); err != nil {
				b.Fatal(err)
			}
		}
		if err := afero.WriteFile(fsys, fmt.Sprintf("%s/f%04d.txt", dir, i), text, 0o644); err != nil {
			b.Fatal(err)
		}
	}
}

// planTurn returns a plan that replaces one text by another in all files.
func planTurn(b *testing.B, fsys afero.Fs, from, to string, files int) *millrace.Plan {
	b.Helper()
	p, err := millrace.Decode(fmt.Appendf(nil, `{"name":"turn","force":true,"steps":[
		{"id":"find","action":"search","params":{"pattern":%[1]q,"mode":"literal"}},
		{"id":"edit","action":"edit","input_from":"find","params":{"old_text":%[1]q,"new_text":%[2]q}}]}`, from, to))
	if err != nil {
		b.Fatal(err)
	}
	plan, err := millrace.Executor{}.Plan(b.Context(), fsys, p)
	if err != nil {
		b.Fatal(err)
	}
	if got := plan.Result().TotalEdits; got != files {
		b.Fatalf("%d edits, want %d", got, files)
	}
	return plan
}

// BenchmarkCommit measures the commit without its plan.
func BenchmarkCommit(b *testing.B) {
	eachBenchTree(b, func(b *testing.B, fsys afero.Fs, files int) {
		from, to := "needle", "thread"
		for b.Loop() {
			b.StopTimer()
			plan := planTurn(b, fsys, from, to, files)
			b.StartTimer()
			res, err := plan.Commit(b.Context())
			if err != nil || !res.Success {
				b.Fatal(res, err)
			}
			from, to = to, from
		}
	})
}

// BenchmarkRestore undoes a commit, then undoes that undo.
func BenchmarkRestore(b *testing.B) {
	eachBenchTree(b, func(b *testing.B, fsys afero.Fs, files int) {
		res, err := planTurn(b, fsys, "needle", "thread", files).Commit(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if res, err = (millrace.Executor{}).Restore(b.Context(), fsys, res.BackupID); err != nil {
				b.Fatal(err)
			}
		}
		if b.N%2 == 1 {
			planTurn(b, fsys, "needle", "thread", files)
		} else {
			planTurn(b, fsys, "thread", "needle", files)
		}
	})
}
