//go:build unix

package scratch_test

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/millrace-go/millrace/internal/scratch"
	"github.com/millrace-go/millrace/internal/stage"
)

// processor returns the processor time of this process so far.
func processor(b *testing.B) time.Duration {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		b.Fatal(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

// BenchmarkTree measures the first Renew, and the second with its Collect, of trees in which nothing changes.
func BenchmarkTree(b *testing.B) {
	for _, files := range []int{3_000, 90_000} {
		dir := b.TempDir()
		for i := range files {
			at := filepath.Join(dir, fmt.Sprintf("d%d/e%d", i/400, i/4%100))
			if i%4 == 0 {
				if err := os.MkdirAll(at, 0o755); err != nil {
					b.Fatal(err)
				}
			}
			text := []byte(fmt.Sprintf("file %d\n%4000d\n", i, i))
			if err := os.WriteFile(filepath.Join(at, fmt.Sprintf("f%d.go", i)), text, 0o644); err != nil {
				b.Fatal(err)
			}
		}
		time.Sleep(200 * time.Millisecond) // so that versions are based on identities
		base, err := rootfs.Open(dir)
		if err != nil {
			b.Fatal(err)
		}
		defer base.Close()
		open := func(b *testing.B) (*stage.Stage, *scratch.Tree) {
			tree, err := scratch.Open(b.Context(), scratch.Config{Dir: b.TempDir(), Tree: dir, Name: "proj"})
			if err != nil {
				b.Fatal(err)
			}
			return stage.New(base), tree
		}
		renew := func(b *testing.B, s *stage.Stage, tree *scratch.Tree) {
			if err := tree.Renew(b.Context(), s, scratch.Options{}); err != nil {
				b.Fatal(err)
			}
		}
		b.Run(fmt.Sprintf("first/%d", files), func(b *testing.B) {
			used := time.Duration(0)
			for b.Loop() {
				b.StopTimer()
				s, tree := open(b)
				b.StartTimer()
				began := processor(b)
				renew(b, s, tree)
				used += processor(b) - began
				b.StopTimer()
				if err := tree.Close(); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
			b.ReportMetric(float64(used.Milliseconds())/float64(b.N), "cpu-ms/op")
		})
		b.Run(fmt.Sprintf("again/%d", files), func(b *testing.B) {
			s, tree := open(b)
			renew(b, s, tree)
			used := time.Duration(0)
			collect := func() {
				changes, err := tree.Collect(b.Context(), scratch.Options{})
				if err != nil || len(changes) > 0 {
					b.Fatal(len(changes), err)
				}
			}
			collect()
			for b.Loop() {
				began := processor(b)
				renew(b, s, tree)
				collect()
				used += processor(b) - began
			}
			b.ReportMetric(float64(used.Milliseconds())/float64(b.N), "cpu-ms/op")
			if err := tree.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}
