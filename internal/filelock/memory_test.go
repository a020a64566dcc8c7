package filelock_test

import (
	"sync"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/filelock"
	"github.com/millrace-go/millrace/internal/fstest"
)

// TestMark_inMemory: a mark that is being removed is never mistaken for the mark of a dead process. Otherwise its
// removal would fail, or renaming and removing a name at the same time would deadlock the MemMapFs.
func TestMark_inMemory(t *testing.T) {
	t.Parallel()
	fsys := fstest.Raise(t, afero.NewMemMapFs())
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for range fstest.Runs(500, 2000, 50_000) {
				m := filelock.NewMark(disk.Open(fsys), "lock", func() error { return nil })
				if err := m.Make(t.Context()); err != nil {
					t.Error(err)
					return
				}
				if err := m.Remove(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}
