//go:build unix

package scratch_test

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/millrace-go/millrace/internal/scratch"
	"github.com/millrace-go/millrace/internal/stage"
)

// rig is a stage with its scratch tree.
type rig struct {
	t     *testing.T
	stage *stage.Stage
	view  *stage.Stage
	tree  *scratch.Tree
	warns []string
}

// newRig returns a stage over a base, and a scratch tree.
func newRig(t *testing.T, base afero.Fs, change func(c *scratch.Config)) *rig {
	t.Helper()
	r := &rig{t: t, stage: stage.New(base)}
	r.view = r.stage.For("run", false)
	c := scratch.Config{
		Dir: t.TempDir(), Tree: t.Name(), Name: "proj",
		Warn: func(text string) { r.warns = append(r.warns, text) },
	}
	if change != nil {
		change(&c)
	}
	tree, err := scratch.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	r.tree = tree
	t.Cleanup(func() {
		if err := tree.Close(); err != nil {
			t.Error(err)
		}
		if err := r.stage.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// dirOf makes files in a directory of the system and opens the directory. Names that end in a slash are directories.
func dirOf(t *testing.T, files map[string]string) *rootfs.FS {
	t.Helper()
	fsys, _ := dirAt(t, files)
	return fsys
}

// dirAt is dirOf, and also returns the path of the directory.
func dirAt(t *testing.T, files map[string]string) (fsys *rootfs.FS, dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	fsys = rooted(t, dir)
	return fsys, dir
}

// run runs a shell script in the scratch tree and stages its changes.
func (r *rig) run(script string, o scratch.Options) (scratch.Outcome, error) {
	r.t.Helper()
	if err := r.tree.Renew(r.t.Context(), r.view, o); err != nil {
		r.t.Fatal(err)
	}
	r.script(script)
	changes, err := r.tree.Collect(r.t.Context(), o)
	if err != nil {
		return scratch.Outcome{}, err
	}
	return scratch.Stage(r.t.Context(), r.view, changes)
}

func (r *rig) script(script string) {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), "/bin/sh", "-ec", script)
	cmd.Dir = r.tree.Root()
	if out, err := cmd.CombinedOutput(); err != nil {
		r.t.Fatalf("%v\n%s", err, out)
	}
}

// show lists the entries of a file system: a line for each path.
func show(t *testing.T, fsys afero.Fs) []string {
	t.Helper()
	var lines []string
	var list func(dir string)
	list = func(dir string) {
		f, err := fsys.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		infos, err := f.Readdir(-1)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		for _, info := range infos {
			name := strings.TrimPrefix(dir+"/"+info.Name(), "./")
			switch mode := info.Mode(); {
			case mode.IsDir():
				lines = append(lines, name+"/ "+mode.Perm().String())
				list(name)
			case mode&fs.ModeSymlink != 0:
				target, err := fsys.(afero.LinkReader).ReadlinkIfPossible(name)
				if err != nil {
					t.Fatal(err)
				}
				lines = append(lines, name+" -> "+target)
			case mode.IsRegular():
				data, err := afero.ReadFile(fsys, name)
				if err != nil {
					t.Fatal(err)
				}
				lines = append(lines, name+" "+mode.Perm().String()+" "+string(data))
			default:
				lines = append(lines, name+" special")
			}
		}
	}
	list(".")
	return sorted(lines)
}

func sorted(lines []string) []string {
	// A stable order to compare.
	for i := range lines {
		for j := i; j > 0 && lines[j] < lines[j-1]; j-- {
			lines[j], lines[j-1] = lines[j-1], lines[j]
		}
	}
	return lines
}

// same compares the scratch tree with the stage.
func (r *rig) same(want afero.Fs) {
	r.t.Helper()
	got, err := rootfs.Open(r.tree.Root())
	if err != nil {
		r.t.Fatal(err)
	}
	defer got.Close()
	if d := cmp.Diff(show(r.t, want), show(r.t, got)); d != "" {
		r.t.Errorf("the scratch tree differs from the stage (-stage +scratch):\n%s", d)
	}
}

func TestTree_oneCommand(t *testing.T) {
	t.Parallel()
	r := newRig(t, dirOf(t, map[string]string{
		"a.txt": "one\ntwo\nthree\n", "src/b.txt": "b\n", "src/c.txt": "c\n", "old/d.txt": "d\n", "gone.txt": "x\n",
	}), nil)
	out, err := r.run(`sed -i s/two/2/ a.txt; mv old new; echo e > src/e.txt; rm gone.txt; mv src/b.txt b.txt; chmod 755 src/c.txt`,
		scratch.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r.same(r.view)
	want := scratch.Outcome{
		Files:   []string{"a.txt", "b.txt", "new/d.txt", "src/c.txt", "src/e.txt"},
		Removed: []string{"gone.txt"},
		Renames: map[string]string{"src/b.txt": "b.txt", "old/d.txt": "new/d.txt"},
		Counts:  map[string]int{"a.txt": 1, "src/e.txt": 1}, Edits: 2, Bytes: 4,
	}
	if d := cmp.Diff(want, out); d != "" {
		t.Error(d)
	}
	changes, err := r.view.Changes()
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, c := range changes {
		list = append(list, string(c.Kind)+" "+c.From+" "+c.Path)
	}
	t.Log(list)
	if err := r.tree.Renew(context.Background(), r.view, scratch.Options{}); err != nil {
		t.Fatal(err)
	}
	r.same(r.view)
	r.view.Rollback(stage.Savepoint{})
	if err := r.tree.Renew(context.Background(), r.view, scratch.Options{}); err != nil {
		t.Fatal(err)
	}
	r.same(r.view)
}
