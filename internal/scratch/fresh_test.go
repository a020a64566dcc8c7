//go:build unix

package scratch_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace/internal/scratch"
	"github.com/millrace-go/millrace/internal/stage"
)

// straggle changes a tree like a process that has outlived its command.
const straggle = "echo s >> a.txt; echo s > new; rm b.txt; rm -r d; mkdir e; echo s > e/in"

// A change that a process makes in the copy after its command has ended belongs to no step. The file is written again,
// with a warning, and the change is not the work of the next command.
func TestTree_stragglers(t *testing.T) {
	t.Parallel()
	for _, isKept := range []bool{false, true} {
		base, _ := dirAt(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n", "d/c.txt": "c\n"})
		time.Sleep(150 * time.Millisecond) // so that the stage does not treat the files as recent
		var warns []string
		c := scratch.Config{Dir: t.TempDir(), Tree: "tree", Name: "proj", Keep: true, Warn: func(text string) { warns = append(warns, text) }}
		next := func(r *rig) {
			if err := r.tree.Renew(t.Context(), r.view, scratch.Options{}); err != nil {
				t.Fatal(err)
			}
			r.exact()
			changes, err := r.tree.Collect(t.Context(), scratch.Options{})
			if err != nil || len(changes) > 0 {
				t.Errorf("kept: %v: the next command has changed %v, %v", isKept, changes, err)
			}
			if len(warns) != 1 || !strings.Contains(warns[0], "7 paths of the copy are made anew") ||
				!strings.Contains(warns[0], ": a.txt, b.txt, d, d/c.txt, e, ...") {
				t.Errorf("kept: %v: warnings %q", isKept, warns)
			}
		}
		reopen(t, c, stage.New(base), func(r *rig) {
			next := next
			if isKept {
				next = func(*rig) {}
			}
			if err := r.tree.Renew(t.Context(), r.view, scratch.Options{}); err != nil {
				t.Fatal(err)
			}
			if _, err := r.tree.Collect(t.Context(), scratch.Options{}); err != nil {
				t.Fatal(err)
			}
			if !isKept {
				r.script(straggle)
			}
			next(r)
		})
		if isKept {
			reopen(t, c, stage.New(base), func(r *rig) {
				r.script(straggle)
				next(r)
			})
		}
	}
}

// If such a process only writes to an existing file, that is noticed after the next command.
func TestTree_stragglerInPlace(t *testing.T) {
	t.Parallel()
	r := newRig(t, dirOf(t, map[string]string{"a.txt": "a\n", "d/c.txt": "c\n", "d/f.txt": "f\n"}), nil)
	if _, err := r.run("echo x >> a.txt", scratch.Options{}); err != nil {
		t.Fatal(err)
	}
	r.script("echo secret >> d/c.txt")
	changes, err := func() ([]scratch.Change, error) {
		if err := r.tree.Renew(t.Context(), r.view, scratch.Options{}); err != nil {
			return nil, err
		}
		r.script("echo ours >> d/f.txt")
		return r.tree.Collect(t.Context(), scratch.Options{})
	}()
	if err != nil || len(changes) != 1 || changes[0].Path != "d/f.txt" {
		t.Errorf("the changes are %v, %v", changes, err)
	}
	if len(r.warns) != 1 || !strings.Contains(r.warns[0], "1 paths of the copy are made anew") {
		t.Errorf("warnings %q", r.warns)
	}
	if err := r.tree.Renew(t.Context(), r.view, scratch.Options{}); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(filepath.Join(r.tree.Root(), "d/c.txt")); err != nil || string(data) != "c\n" {
		t.Errorf("d/c.txt is %q, %v", data, err)
	}
}

// Each command gets a new directory under the same name: a process that is confined to the old directory finds nothing
// there.
func TestTree_freshRoot(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Landlock identifies directories by inode")
	}
	r := newRig(t, dirOf(t, map[string]string{"a.txt": "a\n", "d/c.txt": "c\n", "locked/x": "x\n"}), nil)
	if err := r.stage.Chmod("locked", 0o500); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := r.tree.Renew(t.Context(), r.view, scratch.Options{}); err != nil {
			t.Fatal(err)
		}
		old := make(map[string]*os.Root)
		for _, dir := range []string{r.tree.Root(), r.tree.Home(), r.tree.Temp()} {
			root, err := os.OpenRoot(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer root.Close()
			old[dir] = root
		}
		kept := birth(t, filepath.Join(r.tree.Root(), "d/c.txt"))
		if _, err := r.tree.Collect(t.Context(), scratch.Options{}); err != nil {
			t.Fatal(err)
		}
		if err := r.tree.Renew(t.Context(), r.view, scratch.Options{}); err != nil {
			t.Fatal(err)
		}
		r.exact()
		for dir, root := range old {
			if f, err := root.Create("late"); err == nil {
				f.Close()
			}
			if _, err := os.Lstat(filepath.Join(dir, "late")); err == nil {
				t.Errorf("%s is the directory of the previous command", dir)
			}
		}
		if !os.SameFile(kept, birth(t, filepath.Join(r.tree.Root(), "d/c.txt"))) {
			t.Error("an unchanged file was written again")
		}
	}
}

// A kept copy has no trace of the work of commands, whether or not their work was staged.
func TestTree_noTrace(t *testing.T) {
	t.Parallel()
	base, _ := dirAt(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n", "d/c.txt": "c\n", "d/e/f": "f\n"})
	time.Sleep(150 * time.Millisecond) // so that the stage does not treat the files as recent
	for _, counts := range []bool{false, true} {
		c := scratch.Config{Dir: t.TempDir(), Tree: "tree", Name: "proj", Keep: true}
		root := ""
		work := func(script string) {
			reopen(t, c, stage.New(base), func(r *rig) {
				if err := r.tree.Renew(t.Context(), r.view, scratch.Options{}); err != nil {
					t.Fatal(err)
				}
				r.exact()
				root = r.tree.Root()
				r.script(script)
				if !counts {
					r.tree.Discard()
				} else if _, err := r.tree.Collect(t.Context(), scratch.Options{}); err != nil {
					t.Fatal(err)
				}
			})
		}
		work("true")
		before := visible(t, rooted(t, root), true)
		for _, script := range []string{
			"echo secret > new; mkdir -p n/m; echo secret > n/m/x; ln -s a.txt l", "chmod 500 d; chmod 600 d/c.txt; echo x > d/e/new; chmod 500 d/e",
			"echo secret >> a.txt; mv b.txt c.txt; rm -r d; echo secret > d", "mkdir -p x/y; echo secret > x/y/z; chmod 0 x/y; chmod 0 x", straggle,
		} {
			work(script)
			for name, what := range visible(t, rooted(t, root), true) {
				if before[name] != what {
					t.Errorf("%s: %s is %q in the kept copy, was %q", script, name, what, before[name])
				}
			}
		}
		work("true")
		if d := cmp.Diff(before, visible(t, rooted(t, root), true)); d != "" {
			t.Error(d)
		}
	}
}
