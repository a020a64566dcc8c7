package commit_test

import (
	"errors"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/stage"
)

// TestApply_conflict makes every kind of change by another program between staging and commit.
func TestApply_conflict(t *testing.T) {
	t.Parallel()
	const tree = "a"
	tests := []struct {
		name   string
		do     func(s *stage.Stage) error
		foul   func(fsys afero.Fs) error
		paths  []string
		linked bool
	}{
		{"written", write("a", "A"), func(f afero.Fs) error { return afero.WriteFile(f, "a", []byte("foul"), 0o644) }, []string{"a"}, false},
		{"same size and time", write("a", "A"), func(f afero.Fs) error {
			return errors.Join(afero.WriteFile(f, "a", []byte("a2"), 0o644), f.Chtimes("a", longAgo, longAgo))
		}, []string{"a"}, false},
		{"removed", write("a", "A"), func(f afero.Fs) error { return f.Remove("a") }, []string{"a"}, false},
		{"created", write("n", "N"), func(f afero.Fs) error { return afero.WriteFile(f, "n", nil, 0o644) }, []string{"n"}, false},
		{"mode", write("a", "A"), func(f afero.Fs) error { return f.Chmod("a", 0o600) }, []string{"a"}, false},
		{"file in removed directory", remove("d"), func(f afero.Fs) error { return afero.WriteFile(f, "d/new", nil, 0o644) }, []string{"d/new"}, false},
		{"directory removed", write("d/n", "N"), func(f afero.Fs) error { return f.RemoveAll("d") }, []string{"d/n"}, false},
		{"became a link", write("a", "A"), func(f afero.Fs) error {
			return errors.Join(f.Remove("a"), f.(afero.Linker).SymlinkIfPossible("b", "a"))
		}, []string{"a"}, true},
		{"directory became a link", write("d/e", "E"), func(f afero.Fs) error {
			return errors.Join(f.Rename("d", "dd"), f.(afero.Linker).SymlinkIfPossible("dd", "d"))
		}, []string{"d/e"}, true},
		{"all of them", steps(write("a", "A"), remove("b"), write("n", "N"), rename("d/e", "m")), func(f afero.Fs) error {
			return errors.Join(afero.WriteFile(f, "a", []byte("foul"), 0o644), f.Remove("b"), f.Mkdir("n", 0o755),
				afero.WriteFile(f, "d/e", []byte("foul"), 0o644), afero.WriteFile(f, "m", nil, 0o644))
		}, []string{"a", "b", "d/e", "m", "n"}, false},
	}
	for name, make := range backends() {
		for _, tt := range tests {
			t.Run(name+"/"+tt.name, func(t *testing.T) {
				t.Parallel()
				fsys := make(t)
				if _, ok := fsys.(afero.Linker); tt.linked && !ok {
					t.Skip("no symbolic links")
				}
				plant(t, fsys, tree+"=1", "b=2", "d/e=3")
				changes := staged(t, fsys, tt.do)
				if err := tt.foul(fsys); err != nil {
					t.Fatal(err)
				}
				before := snapshot(t, fsys, true)
				_, err := commit.Apply(bg, options(fsys), changes)
				c, ok := errors.AsType[*commit.Conflict](err)
				if !ok {
					t.Fatalf("error is %v", err)
				}
				var got []string
				for _, p := range c.Paths {
					got = append(got, p.Path)
				}
				if diff := cmp.Diff(tt.paths, got); diff != "" {
					t.Errorf("conflicts (-want +got):\n%s\n%v", diff, err)
				}
				if !maps.Equal(before, snapshot(t, fsys, true)) {
					t.Error("tree was written to")
				}
				if ok, _ := afero.Exists(fsys, stateDir); ok {
					t.Error("state directory is left")
				}
			})
		}
	}
}
