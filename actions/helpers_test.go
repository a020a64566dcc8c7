package actions_test

import (
	"context"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/stage"
)

// files is a tree: names and contents. A name that ends in "@" is a symbolic link.
type files map[string]string

// bases are the file systems that actions are run on.
var bases = map[string]func(t testing.TB) afero.Fs{
	"memory": func(testing.TB) afero.Fs { return afero.NewMemMapFs() },
	"root": func(t testing.TB) afero.Fs {
		root, err := fsutil.OpenRoot(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { root.Close() })
		return root
	},
}

// bench is a stage to run actions on, with their warnings.
type bench struct {
	t        testing.TB
	stage    *stage.Stage
	results  map[string]actions.Result
	mu       sync.Mutex
	warnings []string
}

func newBench(t testing.TB, base afero.Fs, tree files) *bench {
	t.Helper()
	write(t, base, tree)
	stage := stage.New(base)
	t.Cleanup(func() { stage.Close() })
	return &bench{t: t, stage: stage, results: map[string]actions.Result{}}
}

func inMemory(t testing.TB, tree files) *bench {
	t.Helper()
	return newBench(t, afero.NewMemMapFs(), tree)
}

func write(t testing.TB, fsys afero.Fs, tree files) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		if i := strings.LastIndexByte(name, '/'); i >= 0 {
			if err := fsys.MkdirAll(name[:i], 0o755); err != nil {
				t.Fatal(err)
			}
		}
		var err error
		if link, ok := strings.CutSuffix(name, "@"); ok {
			err = fsys.(afero.Linker).SymlinkIfPossible(tree[name], link)
		} else {
			err = afero.WriteFile(fsys, name, []byte(tree[name]), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// run runs an action as a step, on the given files or on the files of earlier steps.
func (b *bench) run(step string, a actions.Action, names []string, inputs ...string) (actions.Outcome, error) {
	b.t.Helper()
	return b.runWith(b.t.Context(), step, a, names, inputs...)
}

func (b *bench) runWith(ctx context.Context, step string, a actions.Action, names []string,
	inputs ...string) (actions.Outcome, error) {
	b.t.Helper()
	c := &actions.Call{
		FS: (*fsutil.Stage)(b.stage.For(step, a.Spec().ReadOnly)), Step: step, Files: names, FilesWanted: true, Workers: 3,
		OnWarning: func(w string) { b.mu.Lock(); b.warnings = append(b.warnings, w); b.mu.Unlock() },
	}
	for _, id := range inputs {
		c.Inputs = append(c.Inputs, b.results[id])
		c.Files = append(c.Files, b.results[id].Files...)
	}
	out, err := a.Run(ctx, c)
	b.results[step] = actions.Result{Step: step, Outcome: out}
	return out, err
}

// must is run for an action that must succeed.
func (b *bench) must(step string, a actions.Action, names []string, inputs ...string) actions.Outcome {
	b.t.Helper()
	out, err := b.run(step, a, names, inputs...)
	if err != nil {
		b.t.Fatalf("%s: %v", step, err)
	}
	return out
}

// tree returns the files of the stage.
func (b *bench) tree() files {
	b.t.Helper()
	tree := files{}
	var walk func(dir string)
	walk = func(dir string) {
		entries, err := afero.ReadDir(b.stage, dir)
		if err != nil {
			b.t.Fatal(err)
		}
		for _, e := range entries {
			name := strings.TrimPrefix(dir+"/"+e.Name(), "./")
			switch {
			case e.IsDir():
				walk(name)
			case e.Mode()&fs.ModeSymlink != 0:
				target, err := b.stage.ReadlinkIfPossible(name)
				if err != nil {
					b.t.Fatal(err)
				}
				tree[name+"@"] = target
			default:
				data, err := b.stage.ReadFile(name)
				if err != nil {
					b.t.Fatal(err)
				}
				tree[name] = string(data)
			}
		}
	}
	walk(".")
	return tree
}

// wantTree compares the stage with a tree.
func (b *bench) wantTree(want files) {
	b.t.Helper()
	equal(b.t, "tree", b.tree(), want)
}

// wantWarning checks that there is exactly one warning, which contains all of the texts; without texts, that there is
// none.
func (b *bench) wantWarning(texts ...string) {
	b.t.Helper()
	if len(texts) == 0 {
		if len(b.warnings) > 0 {
			b.t.Errorf("unexpected warnings %q", b.warnings)
		}
		return
	}
	if len(b.warnings) != 1 {
		b.t.Fatalf("%d warnings, want 1: %q", len(b.warnings), b.warnings)
	}
	for _, text := range texts {
		if !strings.Contains(b.warnings[0], text) {
			b.t.Errorf("warning %q does not contain %q", b.warnings[0], text)
		}
	}
	b.warnings = nil
}

func equal[T any](t testing.TB, what string, got, want T) {
	t.Helper()
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func wantError(t testing.TB, err error, text string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %q", text)
	}
	if err.Error() != text {
		t.Errorf("error %q, want %q", err, text)
	}
}
