package stage_test

import (
	"fmt"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/stage"
)

// BenchmarkSavepoints takes 200 savepoints, edits three files after each, and rolls back every second one, on a stage
// with that many edited files. The time must not depend on their number.
func BenchmarkSavepoints(b *testing.B) {
	for _, files := range []int{30, 3000, 30000} {
		b.Run(fmt.Sprintf("files=%d", files), func(b *testing.B) {
			base := afero.NewMemMapFs()
			s := stage.New(base)
			defer s.Close()
			edit := func(i int) {
				name := fmt.Sprintf("d%d/f%d", i%50, i)
				if err := s.Edit(name, []change.Splice{{Text: []byte("text ")}}); err != nil {
					b.Fatal(err)
				}
			}
			for i := range files {
				name := fmt.Sprintf("d%d/f%d", i%50, i)
				if err := afero.WriteFile(base, name, []byte("the text of a file\n"), 0o644); err != nil {
					b.Fatal(err)
				}
			}
			for i := range files {
				edit(i)
			}
			b.ReportAllocs()
			for b.Loop() {
				start := s.Savepoint()
				for k := range 200 {
					at := s.Savepoint()
					for j := range 3 {
						edit((3*k + j) % files)
					}
					if n := len(s.ChangedSince(at)); n != 3 {
						b.Fatalf("%d files have changed, want 3", n)
					}
					if k%2 == 0 {
						s.Rollback(at)
					}
				}
				s.Rollback(start)
			}
		})
	}
}
