package walk_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/stage"
	"github.com/millrace-go/millrace/internal/walk"
)

// walkTree is a tree to walk: contents by path. A path that ends in a slash is a directory.
type walkTree map[string]string

func (tree walkTree) write(t testing.TB, fsys afero.Fs) {
	t.Helper()
	for name, content := range tree {
		var err error
		if strings.HasSuffix(name, "/") {
			err = fsys.MkdirAll(path.Clean(name), 0o755)
		} else if err = fsys.MkdirAll(path.Dir(name), 0o755); err == nil {
			err = afero.WriteFile(fsys, name, []byte(content), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// walkBackends are the file systems for each test of plain files.
func walkBackends(t *testing.T, test func(t *testing.T, fsys afero.Fs)) {
	t.Helper()
	for name, open := range map[string]func(t *testing.T) afero.Fs{
		"mem":    func(*testing.T) afero.Fs { return afero.NewMemMapFs() },
		"os":     func(t *testing.T) afero.Fs { return fstest.WalkOsFs(t) },
		"opener": func(*testing.T) afero.Fs { return &walkOpenerFs{Fs: afero.NewMemMapFs()} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

// walkAll returns the paths that a walk visits, sorted.
func walkAll(t *testing.T, fsys afero.Fs, root string, opt walk.Options) []string {
	t.Helper()
	paths, err := walkPaths(t.Context(), fsys, root, opt)
	if err != nil {
		t.Fatalf("walk: %v", err)
	}
	return paths
}

func walkPaths(ctx context.Context, fsys afero.Fs, root string, opt walk.Options) ([]string, error) {
	var mu sync.Mutex
	paths := []string{}
	err := walk.Walk(ctx, fsys, root, opt, func(e walk.Entry) error {
		mu.Lock()
		defer mu.Unlock()
		paths = append(paths, e.Path())
		return nil
	})
	slices.Sort(paths)
	return paths, err
}

var usualTree = walkTree{
	".gitignore": "*.log\n/build/\n!keep.log\n", ".hidden": "", ".config/x": "", "a.go": "", "a.log": "", "keep.log": "", "bin": "a\x00b",
	"build/a.go": "", "build/.gitignore": "!*\n", "sub/build/b.go": "", "sub/c.log": "", "sub/.gitignore": "!c.log\nd.go\n", "sub/d.go": "",
	"sub/deep/d.go": "", "sub/deep/e.go": "", "empty/": "", "d.go": "",
	".git/config": "", ".hg/x": "", ".svn/x": "", ".jj/x": "", ".bzr/x": "", ".sl/x": "", ".pijul/x": "", "_darcs/x": "", ".\u017fvn/x": "", ".\u200dhg/x": "", "git~1/x": "", ".GIT/y": "", "sub/deep/.git/x": "",
	"old/CVS/Entries": "", "old/CVS/Repository": "", "old/CVS/Root": "", "doc/CVS/howto": "",
	"worktree/.git": "gitdir: elsewhere", "worktree/x": "", "hg/.hg": "a file", "git/x": "",
}

func TestWalk(t *testing.T) {
	t.Parallel()
	ignored := []string{"a.log", "build/.gitignore", "build/a.go", "sub/d.go", "sub/deep/d.go"}
	kept := []string{
		".config/x", ".gitignore", ".hidden", "a.go", "bin", "d.go", "doc/CVS/howto", "git/x", "hg/.hg", "keep.log", "sub/.gitignore",
		"sub/build/b.go", "sub/c.log", "sub/deep/e.go", "worktree/x",
	}
	// sub/deep is its own repository: rules above it do not apply there.
	kept = append(kept, "sub/deep/d.go")
	ignored = slices.DeleteFunc(ignored, func(p string) bool { return p == "sub/deep/d.go" })
	all := slices.Sorted(slices.Values(slices.Concat(ignored, kept)))
	slices.Sort(kept)

	skip := func(p string, isDir bool) bool {
		return isDir && (p == "sub" || p == "doc/CVS") || !isDir && strings.HasSuffix(p, ".log") || p == "."
	}
	skipped := slices.DeleteFunc(slices.Clone(kept), func(p string) bool {
		return names.Within(p, "sub") || names.Within(p, "doc/CVS") || strings.HasSuffix(p, ".log")
	})
	walkBackends(t, func(t *testing.T, fsys afero.Fs) {
		usualTree.write(t, fsys)
		for _, tt := range []struct {
			name string
			root string
			opt  walk.Options
			want []string
		}{
			{"zero options", ".", walk.Options{}, kept},
			{"one worker", ".", walk.Options{Workers: 1}, kept},
			{"many workers", ".", walk.Options{Workers: 16}, kept},
			{"everything", ".", walk.Options{NoIgnore: true}, all},
			{"skip", ".", walk.Options{Skip: skip}, skipped},
			{"unclean root", "./sub/../sub//deep/", walk.Options{}, []string{"sub/deep/d.go", "sub/deep/e.go"}},
			{"rules from above", "sub/build", walk.Options{}, []string{"sub/build/b.go"}},
			{"empty", "empty", walk.Options{}, []string{}},
			{"file", "a.go", walk.Options{}, []string{"a.go"}},
			{"ignored file", "sub/d.go", walk.Options{}, []string{"sub/d.go"}},
			{"skipped file", "a.log", walk.Options{Skip: skip}, []string{}},
			{"ignored directory", "build", walk.Options{}, []string{"build/.gitignore", "build/a.go"}},
			{"version control directory", ".git", walk.Options{}, []string{".git/config"}},
			{"below one", "old/CVS", walk.Options{}, []string{"old/CVS/Entries", "old/CVS/Repository", "old/CVS/Root"}},
			{"worktree", "worktree", walk.Options{}, []string{"worktree/x"}},
			{"file of a worktree", "worktree/.git", walk.Options{}, []string{"worktree/.git"}},
		} {
			got := walkAll(t, fsys, tt.root, tt.opt)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s (-want +got)\n%s", tt.name, diff)
			}
		}
	})
}

func TestWalkRulesAbove(t *testing.T) {
	t.Parallel()
	walkBackends(t, func(t *testing.T, fsys afero.Fs) {
		walkTree{
			".gitignore": "*.a\n", "p/.gitignore": "*.b\n!x.a\n", "p/q/.gitignore": "/r/*.c\n", "p/q/r/x.a": "", "p/q/r/y.a": "", "p/q/r/x.b": "",
			"p/q/r/x.c": "", "p/q/r/x.d": "", "repo/.git/HEAD": "", "repo/.gitignore": "*.z\n", "repo/s/x.a": "", "repo/s/x.z": "", "repo/x.a": "",
		}.write(t, fsys)
		for root, want := range map[string][]string{
			"p/q/r":  {"p/q/r/x.a", "p/q/r/x.d"},
			"p":      {"p/.gitignore", "p/q/.gitignore", "p/q/r/x.a", "p/q/r/x.d"},
			"repo":   {"repo/.gitignore", "repo/s/x.a", "repo/x.a"},
			"repo/s": {"repo/s/x.a"},
		} {
			if diff := cmp.Diff(want, walkAll(t, fsys, root, walk.Options{})); diff != "" {
				t.Errorf("%s (-want +got)\n%s", root, diff)
			}
		}
	})
}

// walkNamedFs is a file system that accepts absolute names.
type walkNamedFs struct{ afero.Fs }

func (walkNamedFs) Canonical(name string) (string, error) { return path.Join("/", name), nil }

func TestWalkAbsolute(t *testing.T) {
	t.Parallel()
	fsys := walkNamedFs{afero.NewMemMapFs()}
	walkTree{
		"/.gitignore": "*", "/home/u/.gitignore": "*.a\n", "/home/u/p/x.a": "", "/home/u/p/x.b": "",
		"/src/.gitignore": "*.a\n", "/src/.git/HEAD": "", "/src/p/x.a": "", "/src/p/x.b": "",
	}.write(t, fsys)
	for root, want := range map[string][]string{
		"/home/u/p":    {"/home/u/p/x.a", "/home/u/p/x.b"}, // no repository, so rules above do not apply
		"home/u":       {"/home/u/.gitignore", "/home/u/p/x.b"},
		"/src/p":       {"/src/p/x.b"},
		"/src/p/x.a":   {"/src/p/x.a"},
		"/.gitignore":  {"/.gitignore"},
		"/src/p/../p/": {"/src/p/x.b"},
		"/":            {},
	} {
		if diff := cmp.Diff(want, walkAll(t, fsys, root, walk.Options{})); diff != "" {
			t.Errorf("%s (-want +got)\n%s", root, diff)
		}
	}
}

func TestWalkBadRoot(t *testing.T) {
	t.Parallel()
	walkBackends(t, func(t *testing.T, fsys afero.Fs) {
		walkTree{"a/b": ""}.write(t, fsys)
		for root, want := range map[string]error{
			"": names.ErrEmptyPath, "..": names.ErrEscape, "a/../../x": names.ErrEscape, "/a": names.ErrAbsolute, "a\x00": names.ErrBadName,
			"missing": fs.ErrNotExist, "a/missing/x": fs.ErrNotExist, strings.Repeat("x", 256): names.ErrNameTooLong,
		} {
			got, err := walkPaths(t.Context(), fsys, root, walk.Options{OnError: func(string, error) error { return nil }})
			if !errors.Is(err, want) || len(got) > 0 {
				t.Errorf("%.20q: %v, %v; want %v", root, got, err, want)
			}
			if pathErr, ok := errors.AsType[*fs.PathError](err); !ok || pathErr.Path != root {
				t.Errorf("%.20q: the error does not name the path: %v", root, err)
			}
		}
	})
	if err := walk.Walk(t.Context(), nil, ".", walk.Options{}, nil); !errors.Is(err, names.ErrNoFs) {
		t.Errorf("nil file system: %v", err)
	}
}

func TestWalkEntry(t *testing.T) {
	t.Parallel()
	walkBackends(t, func(t *testing.T, fsys afero.Fs) {
		walkTree{"a/b.txt": "hello", "a/c/d.txt": "hello"}.write(t, fsys)
		for _, root := range []string{".", "a", "a/b.txt"} {
			var kept capability.ReadFile
			err := walk.Walk(t.Context(), fsys, root, walk.Options{Workers: 1}, func(e walk.Entry) error {
				info, err := e.Info()
				if err != nil {
					return err
				}
				if info.Size() != 5 || !info.Mode().IsRegular() || info.Name() != path.Base(e.Path()) {
					t.Errorf("%s: info %v %v %v", e.Path(), info.Name(), info.Size(), info.Mode())
				}
				if kept != nil {
					kept.Close()
				}
				kept, err = e.Open()
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			if data, err := io.ReadAll(kept); err != nil || string(data) != "hello" {
				t.Errorf("read %q, %v after the walk", data, err)
			}
			kept.Close()
		}
	})
}

// The rules of a stage are the staged ones, so they must be read through the walked file system.
func TestWalkReadsRulesThroughFs(t *testing.T) {
	t.Parallel()
	base, layer := afero.NewMemMapFs(), afero.NewMemMapFs()
	walkTree{".gitignore": "*.a\n", "x.a": "", "x.b": ""}.write(t, base)
	fsys := afero.NewCopyOnWriteFs(base, layer)
	if err := afero.WriteFile(fsys, ".gitignore", []byte("*.b\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{".gitignore", "x.a"}, walkAll(t, fsys, ".", walk.Options{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A tree whose top is a link is walked: the root of the file system is a link, not an entry.
func TestWalkTopIsLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "real"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", filepath.Join(dir, "top")); err != nil {
		t.Skip(err)
	}
	fsys := afero.NewBasePathFs(afero.NewOsFs(), filepath.Join(dir, "top"))
	walkTree{"a": "", "b/c": ""}.write(t, fsys)
	if diff := cmp.Diff([]string{"a", "b/c"}, walkAll(t, fsys, ".", walk.Options{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// The tree need not exist before the first commit makes it. Until then it is empty.
func TestStage_baseNotThereYet(t *testing.T) {
	t.Parallel()
	base := afero.NewBasePathFs(afero.NewOsFs(), filepath.Join(t.TempDir(), "later"))
	s := stage.New(base)
	if list := fstest.List(t, s, "."); len(list) != 0 {
		t.Errorf("there are %q", list)
	}
	if paths := walkAll(t, s, ".", walk.Options{}); len(paths) != 0 {
		t.Errorf("walked are %q", paths)
	}
	fstest.Must(t, afero.WriteFile(s, "f", []byte("x"), 0o644))
	if paths := walkAll(t, s, ".", walk.Options{}); len(paths) != 1 || paths[0] != "f" {
		t.Errorf("walked are %q, want f", paths)
	}
}
