package bench_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/rootfs"
)

// BenchmarkLargeFile plans, shows and runs edits of 1,000 places of one large file.
func BenchmarkLargeFile(b *testing.B) {
	for _, size := range []int{64 << 20, 256 << 20} {
		dir, err := os.MkdirTemp("/dev/shm", "millrace-bench-")
		if err != nil {
			dir = b.TempDir()
		}
		b.Cleanup(func() { os.RemoveAll(dir) })
		block := strings.Repeat("nothing of interest stands in this line, nor in most of the others: there are very many\n", size/1000/89) + "this is the old_name\n"
		if err := os.WriteFile(filepath.Join(dir, "large.txt"), bytes.Repeat([]byte(block), 1000), 0o644); err != nil {
			b.Fatal(err)
		}
		root, err := rootfs.Open(dir)
		if err != nil {
			b.Fatal(err)
		}
		defer root.Close()
		files := []string{"large.txt"}
		for _, kind := range []struct {
			name   string
			action actions.Action
		}{
			{"literal", actions.Edit{Files: files, OldText: "old_name", NewText: "new_longer_name"}},
			{"regex", actions.Edit{Files: files, OldText: `old_(\w+)$`, NewText: "new_$1", Mode: "regex"}},
			{"lines", actions.RegexTransform{Files: files, Patterns: []actions.PatternEdit{{Pattern: `old_(\w+)$`, Replacement: "new_$1", Flags: "m"}}}},
			{"count", actions.CountOccurrences{Files: files, Pattern: "old_name"}},
			{"search", actions.Search{Pattern: "old_n[a-z]+"}},
		} {
			p, err := millrace.New("large").Options(millrace.Options{Force: true}).Step("one", kind.action).Build()
			if err != nil {
				b.Fatal(err)
			}
			x := millrace.Executor{Limits: actions.Limits{MaxFileBytes: -1}, State: millrace.State{NoSync: true}}
			b.Run(fmt.Sprintf("plan/%s/%dMiB", kind.name, size>>20), func(b *testing.B) {
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := x.Plan(b.Context(), root, p); err != nil {
						b.Fatal(err)
					}
				}
			})
			if kind.name != "literal" {
				continue
			}
			plan, err := x.Plan(b.Context(), root, p)
			if err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("diff/%s/%dMiB", kind.name, size>>20), func(b *testing.B) {
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					if err := plan.WriteDiff(io.Discard); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run(fmt.Sprintf("commit/%s/%dMiB", kind.name, size>>20), func(b *testing.B) {
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					res, err := x.Run(b.Context(), root, p)
					if err != nil {
						b.Fatal(err)
					}
					b.StopTimer()
					if _, err := x.Restore(b.Context(), root, res.BackupID); err != nil {
						b.Fatal(err)
					}
					b.StartTimer()
				}
			})
		}
	}
}
