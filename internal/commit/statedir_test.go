package commit_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/commit"
)

// TestStateDir has something else in the place of the state directory or of what is in it.
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
