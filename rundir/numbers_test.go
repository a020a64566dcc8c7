package rundir

import (
	"path"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/fstest"
)

// Another process takes the number that this one is about to take. Each has a number of its own, and both runs are there,
// also where mkdir makes a directory that is there already.
func TestAllocate_sameNumber(t *testing.T) {
	t.Parallel()
	layers := afero.NewCopyOnWriteFs(fstest.OpenRoot(t, t.TempDir()), fstest.OpenRoot(t, t.TempDir()))
	for name, below := range map[string]afero.Fs{"root": fstest.OpenRoot(t, t.TempDir()), "layers": layers} {
		other := openStore(t, below, Options{NoSync: true})
		made := false
		mine := openStore(t, errorfs.Wrap(below, func(op *errorfs.Op, do func() error) error {
			if op.Kind == "mkdir" && path.Base(op.Name) == "000000001" && !made {
				made = true
				fstest.Must(t, createRun(t, other, twoSteps()).close())
			}
			return do()
		}), Options{NoSync: true})
		w, err := mine.create(t.Context(), twoSteps())
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if fstest.Must(t, w.close()); w.number != 2 || !made {
			t.Errorf("%s: the number is %d, want 2; the other was made: %t", name, w.number, made)
		}
		for number := range int64(2) {
			if _, err := mine.load(number + 1); err != nil {
				t.Errorf("%s: run %d: %v", name, number+1, err)
			}
		}
	}
}
