package fleet_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/fstest"
)

// BenchmarkFleet runs one pipeline on small trees on disk, 8 at a time: with a fleet, and with goroutines that call
// Executor.Run with the same run ids. An operation is one tree.
func BenchmarkFleet(b *testing.B) {
	const at = 8
	p := edit()
	for _, x := range []millrace.Executor{{DryRun: true}, {}} {
		name := "durable"
		if x.DryRun {
			name = "dry"
		}
		b.Run(name+"/loop", func(b *testing.B) {
			dirs := disks(b, b.N)
			b.ResetTimer()
			var next atomic.Int64
			var work sync.WaitGroup
			for range at {
				work.Go(func() {
					for i := next.Add(1) - 1; i < int64(len(dirs)); i = next.Add(1) - 1 {
						if err := runOn(b, x, dirs[i], p); err != nil {
							b.Error(err)
						}
					}
				})
			}
			work.Wait()
		})
		b.Run(name+"/fleet", func(b *testing.B) {
			dirs := disks(b, b.N)
			f := fleet.Fleet{Scheduler: fleet.Local{Worker: fleet.Worker{Executor: x, Trees: fleet.Dirs{}}, Parallel: at}}
			b.ResetTimer()
			sum, err := f.Run(b.Context(), fleet.Campaign{ID: "c", Pipeline: p}, fleet.Paths(dirs...), nil)
			if err != nil || sum.Success != b.N {
				b.Errorf("%+v, %v", sum, err)
			}
		})
	}
}

func runOn(b *testing.B, x millrace.Executor, dir string, p millrace.Pipeline) error {
	root, err := fsutil.OpenRoot(dir)
	if err != nil {
		return err
	}
	x.RunID = "loop"
	_, err = x.Run(b.Context(), root, p)
	return errors.Join(err, root.Close())
}

// disks creates n trees of ten files in a directory of the system.
func disks(b *testing.B, n int) []string {
	b.Helper()
	top := b.TempDir()
	var dirs []string
	for i := range n {
		dir := filepath.Join(top, fmt.Sprint(i))
		fstest.Must(b, os.Mkdir(dir, 0o755))
		for j := range 10 {
			fstest.Must(b, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%c.txt", 'a'+j)), []byte("x\n"), 0o644))
		}
		dirs = append(dirs, dir)
	}
	return dirs
}
