package walk_test

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/modes"
	"github.com/millrace-go/millrace/internal/walk"
)

// walkKinds returns the entries that a walk with the option All visits, each with its letter from find -printf %y,
// sorted.
func walkKinds(ctx context.Context, fsys afero.Fs, root string, opt walk.Options) ([]string, error) {
	opt.All = true
	var mu sync.Mutex
	found := []string{}
	err := walk.Walk(ctx, fsys, root, opt, func(e walk.Entry) error {
		mu.Lock()
		defer mu.Unlock()
		info, err := e.Info()
		if err != nil {
			return err
		}
		if kind := modes.KindOf(info.Mode()); kind != e.Kind || info.Name() != path.Base(e.Path()) {
			return errors.New(e.Path() + " is " + e.Kind.String() + ", but its information is of " + info.Name() + ", " + kind.String())
		}
		letter := map[change.Kind]string{change.File: "f", change.Dir: "d", change.Symlink: "l", change.Other: "p"}[e.Kind]
		found = append(found, e.Path()+" "+letter)
		return nil
	})
	slices.Sort(found)
	return found, err
}

func TestWalkAll(t *testing.T) {
	t.Parallel()
	first := []string{
		".config d", ".gitignore f", ".hidden f", "a.go f", "bin f", "d.go f", "doc d", "empty d", "git d", "hg d", "keep.log f", "old d", "sub d", "worktree d",
	}
	second := slices.Concat(first, []string{
		".config/x f", "doc/CVS d", "git/x f", "hg/.hg f", "sub/.gitignore f", "sub/build d", "sub/c.log f", "sub/deep d", "worktree/x f",
	})
	all := slices.Concat(second, []string{"doc/CVS/howto f", "sub/build/b.go f", "sub/deep/d.go f", "sub/deep/e.go f"})
	ignored := slices.Concat(all, []string{"a.log f", "build d", "build/.gitignore f", "build/a.go f", "sub/d.go f"})
	for _, list := range [][]string{first, second, all, ignored} {
		slices.Sort(list)
	}
	skip := func(p string, isDir bool) bool { return p == "doc/CVS" && isDir || path.Base(p) == "d.go" }
	skipped := slices.DeleteFunc(slices.Clone(all), func(s string) bool {
		return s == "doc/CVS d" || s == "doc/CVS/howto f" || path.Base(s) == "d.go f"
	})
	walkBackends(t, func(t *testing.T, fsys afero.Fs) {
		usualTree.write(t, fsys)
		for _, tt := range []struct {
			name string
			root string
			opt  walk.Options
			want []string
		}{
			{"first level", ".", walk.Options{Depth: 1}, first},
			{"first level, one worker", ".", walk.Options{Depth: 1, Workers: 1}, first},
			{"second level", ".", walk.Options{Depth: 2}, second},
			{"third level", ".", walk.Options{Depth: 3}, all},
			{"deeper than it is", ".", walk.Options{Depth: 100}, all},
			{"no limit", ".", walk.Options{}, all},
			{"ignored files", ".", walk.Options{NoIgnore: true}, ignored},
			{"skip", ".", walk.Options{Skip: skip}, skipped},
			{"below", "sub", walk.Options{Depth: 1}, []string{"sub/.gitignore f", "sub/build d", "sub/c.log f", "sub/deep d"}},
			{"empty", "empty", walk.Options{}, []string{}},
			{"file", "a.go", walk.Options{Depth: 1}, []string{"a.go f"}},
		} {
			got, err := walkKinds(t.Context(), fsys, tt.root, tt.opt)
			if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
				t.Errorf("%s: %v (-want +got)\n%s", tt.name, err, diff)
			}
		}
		// Without All, Depth counts the same levels.
		if diff := cmp.Diff([]string{".gitignore", ".hidden", "a.go", "bin", "d.go", "keep.log"}, walkAll(t, fsys, ".", walk.Options{Depth: 1})); diff != "" {
			t.Errorf("files (-want +got)\n%s", diff)
		}
	})
}

// An unreadable directory is still visited; entries below a limit are not even tried.
func TestWalkAllUnreadable(t *testing.T) {
	t.Parallel()
	fsys := walkFaults(afero.NewMemMapFs(), map[string]error{"d": fs.ErrPermission})
	walkTree{"d/x": "", "e/x": ""}.write(t, fsys)
	if got, err := walkKinds(t.Context(), fsys, ".", walk.Options{Depth: 1}); err != nil || !slices.Equal(got, []string{"d d", "e d"}) {
		t.Errorf("first level: %q, %v", got, err)
	}
	told := ""
	got, err := walkKinds(t.Context(), fsys, ".", walk.Options{OnError: func(p string, _ error) error { told = p; return nil }})
	if err != nil || told != "d" || !slices.Equal(got, []string{"d d", "e d", "e/x f"}) {
		t.Errorf("all: %q, %v, reported %q", got, err, told)
	}
}
