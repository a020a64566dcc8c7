package rundir

import (
	"path"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/fstest"
)

// Another process takes the number that this process is about to take. Each gets its own number, and both runs exist,
// even if mkdir succeeds for an existing directory.
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

// Numbers that came with the tree, with or without runs of a stranger, do not use up the available numbers.
func TestAllocate_planted(t *testing.T) {
	t.Parallel()
	theirs := openDir(t, t.TempDir())
	fstest.Must(t, createRun(t, openStore(t, theirs, Options{NoSync: true, Key: []byte("another key, which is long enough")}), twoSteps()).close())
	foreign, err := afero.ReadFile(theirs, "store/runs/000000/000000001/run")
	fstest.Must(t, err)
	fsys := openDir(t, t.TempDir())
	for number, run := range map[int64][]byte{maxNumber: nil, maxNumber - 1: foreign,
		maxNumber - 2: []byte("half a rec")} {
		dir := path.Join("store/runs", runName(number))
		fstest.Must(t, fsys.MkdirAll(dir, 0o700))
		if run != nil {
			fstest.Must(t, afero.WriteFile(fsys, path.Join(dir, runFile), run, 0o600))
		}
	}
	fstest.Write(t, fsys, "store/runs/format", formatText)
	for number := range int64(3) {
		w, err := openStore(t, fsys, Options{NoSync: true}).create(t.Context(), twoSteps())
		fstest.Must(t, err)
		if fstest.Must(t, w.close()); w.number != number+1 {
			t.Errorf("the number is %d, want %d", w.number, number+1)
		}
	}
}
