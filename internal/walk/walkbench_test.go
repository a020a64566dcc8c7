package walk_test

import (
	"fmt"
	"os"
	"sync/atomic"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/walk"
)

// benchTree has n files in directories of 20 or, if flat, in one.
func benchTree(n int, flat bool) walkTree {
	tree := walkTree{".gitignore": "*.o\n*.a\n/build/\nnode_modules/\n*.log\n!keep.log\n*~\nvendor/*/testdata\n"}
	for i := range n {
		dir := i / 20
		if flat {
			dir = 0
		}
		tree[fmt.Sprintf("p%d/q%d/file%d.go", dir%17, dir, i)] = "package p\n"
	}
	return tree
}

func BenchmarkWalk(b *testing.B) {
	const files = 5000
	for _, flat := range []bool{false, true} {
		for _, backend := range []string{"mem", "os"} {
			shape := "tree"
			if flat {
				shape = "flat"
			}
			var fsys afero.Fs = afero.NewMemMapFs()
			if backend == "os" {
				fsys = fstest.WalkOsFs(b)
			}
			benchTree(files, flat).write(b, fsys)
			b.Run(backend+"/"+shape+"/walk", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					var n atomic.Int64
					err := walk.Walk(b.Context(), fsys, ".", walk.Options{}, func(walk.Entry) error { n.Add(1); return nil })
					if err != nil || n.Load() != files+1 {
						b.Fatal(n.Load(), err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/files, "ns/file")
			})
			b.Run(backend+"/"+shape+"/afero", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					n := 0
					err := afero.Walk(fsys, ".", func(_ string, info os.FileInfo, err error) error {
						if err == nil && info.Mode().IsRegular() {
							n++
						}
						return err
					})
					if err != nil || n != files+1 {
						b.Fatal(n, err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/files, "ns/file")
			})
		}
	}
}

func BenchmarkTextFacts(b *testing.B) {
	for _, eol := range []string{"\n", "\r\n"} {
		var data []byte
		for len(data) < 64<<10 {
			data = append(data, "a line of some forty bytes, as they are"+eol...)
		}
		b.Run(fmt.Sprintf("%q", eol), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				fsutil.TextFacts(data)
			}
		})
	}
}
