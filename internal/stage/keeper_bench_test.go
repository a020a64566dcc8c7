package stage_test

import (
	"fmt"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/millrace-go/millrace/internal/stage"
)

func benchName(i int) string { return fmt.Sprintf("d%d/file%d.go", i%50, i) }

// plantMany makes files in a directory of the system, and a stage over them.
func plantMany(b *testing.B, files int) (afero.Fs, *stage.Stage) {
	b.Helper()
	root, err := rootfs.Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { root.Close() })
	for i := range 50 {
		if err := root.Mkdir(fmt.Sprintf("d%d", i), 0o755); err != nil {
			b.Fatal(err)
		}
	}
	for i := range files {
		if err := afero.WriteFile(root, benchName(i), []byte("the text of a file\n"), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	s := stage.New(root)
	b.Cleanup(func() { s.Close() })
	return root, s
}

func editOne(b *testing.B, s *stage.Stage, i int) {
	b.Helper()
	if err := s.For("edit", false).Edit(benchName(i),
		[]change.Splice{{Off: 4, Len: 4, Text: []byte("word")}}); err != nil {
		b.Fatal(err)
	}
}

func deltaOf(b *testing.B, k *stage.Keeper) []byte {
	b.Helper()
	data, _, err := k.Delta()
	if err != nil {
		b.Fatal(err)
	}
	return data
}

// BenchmarkDelta takes a delta of one edit and rolls it back, after that many others were written. The time must not
// depend on their number.
func BenchmarkDelta(b *testing.B) {
	for _, before := range []int{0, 10_000} {
		b.Run(fmt.Sprintf("before=%d", before), func(b *testing.B) {
			_, s := plantMany(b, before+1)
			k := stage.NewKeeper(s)
			for i := range before {
				editOne(b, s, i+1)
			}
			deltaOf(b, k)
			b.ReportAllocs()
			size := 0
			for b.Loop() {
				b.StopTimer()
				s.Rollback(k.Savepoint(1))
				editOne(b, s, 0)
				b.StartTimer()
				size = len(deltaOf(b, k))
			}
			b.ReportMetric(float64(size), "bytes/delta")
		})
	}
}

// BenchmarkDeltaOfMany takes one delta of many edited files.
func BenchmarkDeltaOfMany(b *testing.B) {
	const files = 3000
	_, s := plantMany(b, files)
	for i := range files {
		editOne(b, s, i)
	}
	b.ReportAllocs()
	size := 0
	for b.Loop() {
		size = len(deltaOf(b, stage.NewKeeper(s)))
	}
	b.ReportMetric(float64(size)/files, "bytes/file")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/files, "ns/file")
}

// BenchmarkRestore rebuilds a stage of many edited files.
func BenchmarkRestore(b *testing.B) {
	const files = 3000
	root, s := plantMany(b, files)
	k := stage.NewKeeper(s)
	for i := range files {
		editOne(b, s, i)
	}
	data := deltaOf(b, k)
	b.ReportAllocs()
	for b.Loop() {
		again := stage.New(root)
		if _, err := stage.Restore(b.Context(), again, [][]byte{data}); err != nil {
			b.Fatal(err)
		}
		again.Close()
	}
}
