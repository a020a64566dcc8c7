package commit_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/fstest"
)

// TestStateDir has something else in place of the state directory or its entries.
func TestStateDir(t *testing.T) {
	t.Parallel()
	link := func(f afero.Fs, target, name string) error { return f.(afero.Linker).SymlinkIfPossible(target, name) }
	tests := map[string]func(f afero.Fs) error{
		"link": func(f afero.Fs) error {
			return errors.Join(f.Mkdir("elsewhere", 0o755), link(f, "elsewhere", stateDir))
		},
		"file": func(f afero.Fs) error { return afero.WriteFile(f, stateDir, nil, 0o644) },
		"tx a link": func(f afero.Fs) error {
			return errors.Join(f.MkdirAll("elsewhere", 0o755), f.Mkdir(stateDir, 0o755), link(f, "../elsewhere", stateDir+"/tx"))
		},
		"foreign": func(f afero.Fs) error { return errors.Join(f.Mkdir(stateDir, 0o755), f.Chown(stateDir, 4242, 4242)) },
	}
	for name, harm := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fsys := rootFs(t)
			plant(t, fsys, "a=1")
			changes := staged(t, fsys, write("a", "A"))
			if err := harm(fsys); err != nil {
				t.Skip(err)
			}
			before := everything(t, fsys)
			if _, err := commit.Apply(bg, options(fsys), changes); !errors.Is(err, commit.ErrControlDir) {
				t.Errorf("error is %v", err)
			}
			if diff := cmp.Diff(before, everything(t, fsys)); diff != "" {
				t.Errorf("something was touched:\n%s", diff)
			}
		})
	}
}

// A store of runs is made in the state directory while that is being tidied. It stays, and no error is reported.
func TestStateDir_filledMeanwhile(t *testing.T) {
	t.Parallel()
	for _, at := range []string{stateDir + "/runs", stateDir} {
		below := rootFs(t)
		fstest.Must(t, below.MkdirAll(stateDir+"/runs", 0o700))
		filled := ""
		fsys := errorfs.Wrap(below, func(op *errorfs.Op, do func() error) error {
			if op.Kind == "remove" && op.Name == at && filled == "" {
				filled = stateDir + "/runs/format"
				fstest.Must(t, errors.Join(below.MkdirAll(stateDir+"/runs", 0o700), afero.WriteFile(below, filled, nil, 0o600)))
			}
			return do()
		})
		r, err := commit.Recover(bg, options(fsys))
		if err != nil || len(r.Warnings) > 0 {
			t.Errorf("%s: error %v, warnings %q", at, err, r.Warnings)
		}
		if _, err := below.Stat(filled); err != nil || filled == "" {
			t.Errorf("%s: the store: %v", at, err)
		}
	}
}
