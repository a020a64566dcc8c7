package bench_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/rootfs"
)

// benchBackends are the empty file systems for benchmarks.
var benchBackends = []struct {
	name string
	open func(b *testing.B) afero.Fs
}{
	{"memory", func(*testing.B) afero.Fs { return afero.NewMemMapFs() }},
	{"root", func(b *testing.B) afero.Fs {
		root, err := rootfs.Open(benchDir(b))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { root.Close() })
		return root
	}},
	// The embedding hides the system directory, as a user's own file system would.
	{"afero", func(b *testing.B) afero.Fs {
		return afero.NewBasePathFs(errorfs.Only(afero.NewOsFs()), benchDir(b))
	}},
}

// benchDir returns a directory in memory if there is one, so that the disk is not measured.
func benchDir(b *testing.B) string {
	dir, err := os.MkdirTemp("/dev/shm", "millrace-bench-")
	if err != nil {
		return b.TempDir()
	}
	b.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// sourceTree writes files of about the given size, 20 to a directory. Every tenth file has that many needles. It
// returns the total size in bytes.
func sourceTree(b *testing.B, fsys afero.Fs, files, size, needles int) (total int64) {
	b.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("if err != nil return func type struct string value name range append error nil context request response int64 len map")
	for i := range files {
		var text strings.Builder
		for text.Len() < size {
			for range 3 + random.IntN(8) {
				text.WriteString(words[random.IntN(len(words))] + " ")
			}
			text.WriteByte('\n')
		}
		if i%10 == 0 {
			text.WriteString(strings.Repeat("the oldName(42) is here\n", needles))
		}
		dir := fmt.Sprintf("d%03d", i/20)
		if err := fsys.MkdirAll(dir, 0o755); err != nil {
			b.Fatal(err)
		}
		if err := afero.WriteFile(fsys, fmt.Sprintf("%s/f%02d.go", dir, i%20), []byte(text.String()), 0o644); err != nil {
			b.Fatal(err)
		}
		total += int64(text.Len())
	}
	return total
}

// BenchmarkSearch looks for patterns of each kind, by file system and number of files of 8 KiB.
func BenchmarkSearch(b *testing.B) {
	for _, backend := range benchBackends {
		for _, files := range []int{100, 1_000, 10_000} {
			fsys := backend.open(b)
			total := sourceTree(b, fsys, files, 8<<10, 1)
			for _, kind := range []struct {
				name   string
				search actions.Search
			}{
				{"literal", actions.Search{Pattern: "oldName", Mode: "literal"}},
				{"anycase", actions.Search{Pattern: "OLDNAME", Mode: "literal", IgnoreCase: true}},
				{"regex", actions.Search{Pattern: `old\w+\(\d+\)`, Mode: "regex"}},
				{"noliteral", actions.Search{Pattern: `[a-z]{3}[A-Z][a-z]{3}\(`, Mode: "regex"}},
			} {
				p, err := millrace.New("search").Step("find", kind.search).Build()
				if err != nil {
					b.Fatal(err)
				}
				b.Run(fmt.Sprintf("%s/%s/%d", backend.name, kind.name, files), func(b *testing.B) {
					benchFound(b, fsys, p, files, total, (files+9)/10)
				})
			}
		}
	}
}

// BenchmarkEdit computes an edit of every tenth file, by file system, number and size of files, and number of edits
// in each.
func BenchmarkEdit(b *testing.B) {
	p, err := millrace.New("edit").Options(millrace.Options{Force: true}).
		Step("find", actions.Search{Pattern: "oldName", Mode: "literal"}).
		Step("edit", actions.Edit{OldText: "oldName", NewText: "newName"}).From("find").
		Step("left", actions.CountOccurrences{Pattern: "newName"}).From("find").
		Build()
	if err != nil {
		b.Fatal(err)
	}
	for _, backend := range benchBackends {
		for _, tree := range []struct{ files, size, needles int }{
			{100, 8 << 10, 1}, {1_000, 8 << 10, 1}, {10_000, 8 << 10, 1}, {1_000, 1 << 10, 1}, {1_000, 64 << 10, 1}, {1_000, 8 << 10, 100},
		} {
			fsys := backend.open(b)
			total := sourceTree(b, fsys, tree.files, tree.size, tree.needles)
			b.Run(fmt.Sprintf("%s/%dx%dKiB/%d", backend.name, tree.files, tree.size>>10, tree.needles), func(b *testing.B) {
				benchFound(b, fsys, p, tree.files, total, (tree.files+9)/10)
			})
		}
	}
}

// benchFound plans the pipeline again and again. Its first step must find that many files.
func benchFound(b *testing.B, fsys afero.Fs, p millrace.Pipeline, files int, total int64, want int) {
	b.SetBytes(total)
	b.ReportAllocs()
	for b.Loop() {
		plan, err := millrace.Executor{}.Plan(b.Context(), fsys, p)
		if err != nil {
			b.Fatal(err)
		}
		if got := len(plan.Result().Results[0].FilesMatched); got != want {
			b.Fatalf("found %d files, want %d", got, want)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*files), "ns/file")
}
