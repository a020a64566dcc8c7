package stage_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/stage"
)

// benchBase makes n files of 4 KiB in directories of 100.
func benchBase(b *testing.B, fsys afero.Fs, n int) []string {
	b.Helper()
	line := []byte("a line of forty bytes, or about as many\n")
	data := bytes.Repeat(line, 4096/len(line))
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("d%03d/f%05d.txt", i/100, i)
		fstest.Must(b, fsys.MkdirAll(filepath.Dir(names[i]), 0o755))
		fstest.Must(b, afero.WriteFile(fsys, names[i], data, 0o644))
	}
	return names
}

func benchBases(b *testing.B, n int, run func(b *testing.B, base afero.Fs, names []string)) {
	b.Run("mem", func(b *testing.B) {
		base := afero.NewMemMapFs()
		run(b, base, benchBase(b, base, n))
	})
	b.Run("os", func(b *testing.B) {
		base := afero.NewBasePathFs(afero.NewOsFs(), b.TempDir())
		run(b, base, benchBase(b, base, n))
	})
}

// BenchmarkStageEdits edits 10,000 files in two steps each and asks for the changes.
func BenchmarkStageEdits(b *testing.B) {
	const n = 10_000
	benchBases(b, n, func(b *testing.B, base afero.Fs, names []string) {
		b.ReportAllocs()
		for b.Loop() {
			s := stage.New(base)
			for step := range 2 {
				view := s.For(fmt.Sprint(step), false)
				for _, name := range names {
					fstest.Must(b, view.Edit(name, []change.Splice{cut(2, 4, "word"), cut(int64(42+step), 4, "words")}))
				}
			}
			if changes := changesOf(b, s); len(changes) != n {
				b.Fatalf("%d changes", len(changes))
			}
			fstest.Must(b, s.Close())
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(2*n), "ns/edit")
	})
}

func BenchmarkSavepointAndRollback(b *testing.B) {
	const n = 1000
	base := afero.NewMemMapFs()
	names := benchBase(b, base, n)
	s := stage.New(base)
	for _, name := range names {
		fstest.Must(b, s.Edit(name, []change.Splice{cut(2, 4, "word")}))
	}
	b.ReportAllocs()
	for b.Loop() {
		point := s.Savepoint()
		for _, name := range names {
			fstest.Must(b, s.Edit(name, []change.Splice{cut(42, 4, "words")}))
		}
		if changed := s.ChangedSince(point); len(changed) != n {
			b.Fatalf("%d files", len(changed))
		}
		s.Rollback(point)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/file")
}

func BenchmarkWriteFile(b *testing.B) {
	for _, size := range []int{1 << 10, 1 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			s := stage.New(afero.NewMemMapFs())
			defer s.Close()
			data := bytes.Repeat([]byte("x"), size)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				point := s.Savepoint()
				fstest.Must(b, afero.WriteFile(s, "f", data, 0o644))
				s.Rollback(point)
			}
		})
	}
}

// BenchmarkRenameTree renames a directory of 10,000 files and back.
func BenchmarkRenameTree(b *testing.B) {
	base := afero.NewBasePathFs(afero.NewOsFs(), b.TempDir())
	fstest.Must(b, base.Mkdir("top", 0o755))
	benchBase(b, afero.NewBasePathFs(base, "top"), 10_000)
	s := stage.New(base)
	b.ReportAllocs()
	for b.Loop() {
		fstest.Must(b, s.Rename("top", "moved"))
		fstest.Must(b, s.Rename("moved", "top"))
	}
}

func BenchmarkReadFileCached(b *testing.B) {
	base := afero.NewMemMapFs()
	names := benchBase(b, base, 1000)
	s := stage.New(base)
	b.ReportAllocs()
	for b.Loop() {
		for _, name := range names {
			if _, err := s.ReadFile(name); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/file")
}

// BenchmarkOpenRead reads files through handles, like packages that do not know the stage.
func BenchmarkOpenRead(b *testing.B) {
	base := afero.NewMemMapFs()
	names := benchBase(b, base, 1000)
	s := stage.New(base)
	b.ReportAllocs()
	for b.Loop() {
		for _, name := range names {
			f, err := s.OpenFile(name, os.O_RDONLY, 0)
			fstest.Must(b, err)
			if _, err := f.Read(make([]byte, 4096)); err != nil {
				b.Fatal(err)
			}
			fstest.Must(b, f.Close())
		}
	}
}
