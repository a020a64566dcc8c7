//go:build unix

package scratch_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/guard"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/scratch"
	"github.com/millrace-go/millrace/internal/stage"
)

// paths lists the entries of a directory of the system, including version control.
func paths(t *testing.T, dir string) []string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, name)
		if err == nil && rel != "." {
			list = append(list, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestTree_withheld(t *testing.T) {
	t.Parallel()
	base, dir := dirAt(t, map[string]string{
		"a.txt": "a", "d/b.txt": "b", "d/c.txt": "c", "closed": "x", "locked/x": "x", ".git/config": "x", ".millrace/key": "x", "sub/.hg/x": "x",
		"secret/key": "x", "half/x": "x", "held/key": "x", "s/.gitignore": "*.o\n", "s/x.o": "o",
	})
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, err := range []error{
		os.Symlink("/etc/passwd", at("d/abs")), os.Symlink("../../x", at("d/up")), os.Symlink("d/b.txt", at("in")), os.Symlink("d", at("dir")),
		os.Symlink("dir/../../x", at("by")), os.Symlink("loop", at("loop")), os.Symlink("no/where", at("dangling")),
		syscall.Mkfifo(at("d/pipe"), 0o644), os.Chmod(at("closed"), 0), os.Chmod(at("locked"), 0), os.Chmod(at("half"), 0o444), os.Chmod(at("a.txt"), 0o4755),
		os.Chtimes(at("a.txt"), time.Time{}, time.Unix(1e9, 5000)), os.Chtimes(at("d"), time.Time{}, time.Unix(1e9, 0)),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = errors.Join(os.Chmod(at("locked"), 0o700), os.Chmod(at("half"), 0o700)) })
	r := newRig(t, base, nil)
	r.stage.SetGuard(guard.Policy{Reserved: ".millrace", Denied: []string{"secret", "held/key"}})
	if err := r.tree.Renew(t.Context(), r.view, scratch.Options{}); err != nil {
		t.Fatal(err)
	}
	want := []string{"a.txt", "d", "d/b.txt", "d/c.txt", "dangling", "dir", "half", "held", "in", "loop", "s",
		"s/.gitignore", "s/x.o", "sub"}
	if os.Geteuid() == 0 {
		want = append(want, "half/x", "closed", "locked", "locked/x")
		slices.Sort(want)
	}
	if d := cmp.Diff(want, paths(t, r.tree.Root())); d != "" {
		t.Error(d)
	}
	info, err := os.Stat(filepath.Join(r.tree.Root(), "a.txt"))
	if err != nil || info.Mode() != 0o755 || !info.ModTime().Equal(time.Unix(1e9, 5000)) {
		t.Errorf("a.txt is %v of %v, %v", info.Mode(), info.ModTime(), err)
	}
	info, err = os.Stat(filepath.Join(r.tree.Root(), "d"))
	if err != nil || !info.ModTime().Equal(time.Unix(1e9, 0)) {
		t.Errorf("d is of %v, %v", info.ModTime(), err)
	}

	// A withheld file does not count as deleted, even if everything around it was removed.
	r.script("rm -rf d s sub held; rm -f closed; rm -rf locked half")
	changes, err := r.tree.Collect(t.Context(), scratch.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := scratch.Stage(t.Context(), r.view, changes); err != nil {
		t.Fatal(err)
	}
	for name, there := range map[string]bool{
		"d/abs": true, "d/up": true, "d/pipe": true, "by": true, "d/b.txt": false, "d": true, "sub/.hg/x": true, "s": false, "s/x.o": false,
		"held": true, "half": os.Geteuid() != 0, "closed": os.Geteuid() != 0, "locked": os.Geteuid() != 0, ".git/config": true,
	} {
		if _, _, err := r.view.LstatIfPossible(name); (err == nil) != there {
			t.Errorf("%s afterwards: %v", name, err)
		}
	}

	// A command that makes a file at the place of a withheld file causes an error.
	for _, script := range []string{"mkdir -p d; echo x > d/abs", "mkdir -p d; echo x > d/pipe", "echo x > by"} {
		r.view.Rollback(stage.Savepoint{})
		if err := r.tree.Renew(t.Context(), r.view, scratch.Options{}); err != nil {
			t.Fatal(err)
		}
		r.script(script)
		if _, err := r.tree.Collect(t.Context(), scratch.Options{}); err == nil ||
			!strings.Contains(err.Error(), "could not see") {
			t.Errorf("%s: %v", script, err)
		}
	}
}

// A step may name the files that a command needs: the other files are not in the copy, and stay in the tree.
func TestTree_Make(t *testing.T) {
	t.Parallel()
	base := dirOf(t, map[string]string{"go.mod": "m", "a/a.go": "a", "a/doc.md": "d", "b/doc.md": "d", "b/c/doc.md": "d",
		"a/a.txt": "t"})
	o := scratch.Options{Make: func(name string) bool { return !strings.HasSuffix(name, ".md") }}
	r := newRig(t, base, nil)
	if err := r.tree.Renew(t.Context(), r.view, o); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"a", "a/a.go", "a/a.txt", "go.mod"}, paths(t, r.tree.Root())); d != "" {
		t.Error(d)
	}
	r.script("mv a z; mkdir -p b; echo new > b/doc.md; echo x > b/x; rm go.mod; echo made > z/made.md")
	changes, err := r.tree.Collect(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	out, err := scratch.Stage(t.Context(), r.view, changes)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"b/": "-rwxr-xr-x", "b/c/": "-rwxr-xr-x", "b/c/doc.md": "-rw-r--r-- d", "b/doc.md": "-rw-r--r-- new\n", "b/x": "-rw-r--r-- x\n", "z/": "-rwxr-xr-x",
		"z/a.go": "-rw-r--r-- a", "z/a.txt": "-rw-r--r-- t", "z/doc.md": "-rw-r--r-- d", "z/made.md": "-rw-r--r-- made\n",
	}
	if d := cmp.Diff(want, visible(t, r.view, true)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(map[string]string{"a/a.go": "z/a.go", "a/a.txt": "z/a.txt", "a/doc.md": "z/doc.md"},
		out.Renames); d != "" {
		t.Error(d)
	}
	// The next command may need other files.
	if err := r.tree.Renew(t.Context(), r.view, scratch.Options{}); err != nil {
		t.Fatal(err)
	}
	r.exact()
	if err := r.tree.Renew(t.Context(), r.view, o); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"b", "b/x", "z", "z/a.go", "z/a.txt"}, paths(t, r.tree.Root())); d != "" {
		t.Error(d)
	}
}

func TestTree_limits(t *testing.T) {
	t.Parallel()
	files := make(map[string]string)
	for i := range 50 {
		files[fmt.Sprintf("d/f%d", i)] = "0123456789"
	}
	for _, c := range []struct {
		change func(c *scratch.Config)
		want   scratch.LimitError
	}{
		{func(c *scratch.Config) { c.MaxFiles = 50 }, scratch.LimitError{What: scratch.LimitFiles, Limit: 50, Got: 51}},
		{func(c *scratch.Config) { c.MaxBytes = 499 }, scratch.LimitError{What: scratch.LimitBytes, Limit: 499, Got: 500}},
	} {
		r := newRig(t, dirOf(t, files), c.change)
		limit, ok := errors.AsType[*scratch.LimitError](r.tree.Renew(t.Context(), r.view, scratch.Options{}))
		if !ok || *limit != c.want {
			t.Errorf("got %+v, want %+v", limit, c.want)
		}
		for i := range 60 { // directories without needed files do not count
			if err := r.view.Mkdir(fmt.Sprintf("e%d", i), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		o := scratch.Options{Make: func(name string) bool { return strings.HasSuffix(name, "1") }}
		if err := r.tree.Renew(t.Context(), r.view, o); err != nil {
			t.Errorf("with fewer files: %v", err)
		}
	}
	r := newRig(t, dirOf(t, files), func(c *scratch.Config) { c.MaxFiles, c.MaxBytes, c.MaxChanged = 51, 500, 50 })
	for _, c := range []struct {
		script string
		want   error
	}{
		{"for i in d/*; do echo x > $i; done", nil},
		{"for i in d/*; do echo x > $i; done; echo x > y", &scratch.LimitError{What: scratch.LimitChanged, Limit: 50, Got: 51}},
		{"rm -r d", &scratch.LimitError{What: scratch.LimitChanged, Limit: 50, Got: 51}},
		{"mv d e", nil},
	} {
		if err := r.tree.Renew(t.Context(), r.view, scratch.Options{}); err != nil {
			t.Fatal(err)
		}
		r.script(c.script)
		_, err := r.tree.Collect(t.Context(), scratch.Options{})
		if d := cmp.Diff(c.want, err, cmp.Comparer(func(a, b error) bool { return fmt.Sprint(a) == fmt.Sprint(b) })); d != "" {
			t.Errorf("%s: %s", c.script, d)
		}
	}
	if err := r.tree.Renew(t.Context(), r.view, scratch.Options{}); err != nil {
		t.Fatal(err)
	}
	r.script("echo 0123456789 > d/f1")
	changes, err := r.tree.Collect(t.Context(), scratch.Options{})
	if err != nil || len(changes) != 1 {
		t.Fatal(changes, err)
	}
	if _, err := scratch.Keep(t.Context(), changes, 10); err == nil {
		t.Error("more bytes are kept than allowed")
	}
}

// A command that leaves too many files does not block the next command.
func TestTree_floodedTree(t *testing.T) {
	t.Parallel()
	r := newRig(t, dirOf(t, map[string]string{".gitignore": "x\n", "a": "a"}), func(c *scratch.Config) { c.MaxFiles, c.MaxChanged = 10, 1 })
	for i, end := range []func() error{
		func() error { _, err := r.tree.Collect(t.Context(), scratch.Options{}); return err },
		func() error { r.tree.Discard(); return nil },
	} {
		if err := r.tree.Renew(t.Context(), r.view, scratch.Options{}); err != nil {
			t.Fatal(err)
		}
		r.exact()
		r.script("mkdir x; cd x; for i in 1 2 3 4 5 6; do mkdir $i; for j in 1 2 3 4 5 6; do mkdir $i/$j; : > $i/$j/f; done; done")
		err := end()
		if limit, ok := errors.AsType[*scratch.LimitError](err); ok != (i == 0) || ok && limit.What != scratch.LimitFiles {
			t.Errorf("a flooded tree: %v", err)
		}
	}
	if err := r.tree.Renew(t.Context(), r.view, scratch.Options{}); err != nil {
		t.Fatal(err)
	}
	r.exact()
}

// When the context ends, the work ends, and the next Renew makes the tree exact again.
func TestTree_canceled(t *testing.T) {
	t.Parallel()
	files := make(map[string]string)
	for i := range 300 {
		files[fmt.Sprintf("d%d/f%d", i%20, i)] = "0123456789"
	}
	r := newRig(t, dirOf(t, files), nil)
	for n := range 12 {
		var calls atomic.Int64
		ctx, cancel := context.WithCancel(t.Context())
		o := scratch.Options{Make: func(string) bool {
			if calls.Add(1) > int64(n)*30 {
				cancel()
			}
			return true
		}}
		if n%3 == 2 {
			o.Make = nil
			time.AfterFunc(time.Duration(n)*time.Millisecond, cancel)
		}
		if err := r.tree.Renew(ctx, r.view, o); err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		cancel()
	}
	if err := r.tree.Renew(t.Context(), r.view, scratch.Options{}); err != nil {
		t.Fatal(err)
	}
	r.exact()
}

// Paths that a guard forbids cannot be changed by a command.
func TestTree_guard(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]error{
		"mkdir .millrace; echo x > .millrace/key": names.ErrReserved,
		"echo x > secret":                         names.ErrDenied,
		"echo x >> fixed/a":                       names.ErrReadOnlyPath,
		"rm fixed/a":                              names.ErrReadOnlyPath,
		"mv fixed free":                           names.ErrReadOnlyPath,
		"echo x > 'a:b'":                          names.ErrNotPortable,
		"echo x > $(printf 'a\\377b')":            names.ErrNotPortable,
		"echo x > free.txt":                       nil,
	} {
		r := newRig(t, dirOf(t, map[string]string{"fixed/a": "a", "b": "b", "secret": "s"}), nil)
		r.stage.SetGuard(guard.Policy{Reserved: ".millrace", Denied: []string{"secret"}, ReadOnly: []string{"fixed/**"}, Portable: true})
		if _, err := r.run(script, scratch.Options{}); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", script, err, want)
		}
	}
}

// A swap of files in an allowed directory uses a temporary name in that directory.
func TestStage_swapUnderPolicy(t *testing.T) {
	t.Parallel()
	r := newRig(t, dirOf(t, map[string]string{"d/a.go": "a", "d/b.go": "b", "x": "x"}), nil)
	r.stage.SetGuard(guard.Policy{Allowed: []string{"d"}})
	if _, err := r.run("cd d; mv a.go x; mv b.go a.go; mv x b.go", scratch.Options{}); err != nil {
		t.Fatal(err)
	}
	changes, err := r.view.Changes()
	if err != nil || len(changes) != 2 || changes[0].From != "d/b.go" || changes[1].From != "d/a.go" {
		t.Errorf("%+v, %v", changes, err)
	}
}

// The tree of an OsFs is the working directory.
func TestTree_osFs(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("a.txt", []byte("a\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, afero.NewOsFs(), nil)
	if _, err := r.run("echo b >> a.txt; mkdir d; mv a.txt d", scratch.Options{}); err != nil {
		t.Fatal(err)
	}
	if data, err := r.view.ReadFile("d/a.txt"); err != nil || string(data) != "a\nb\n" {
		t.Errorf("%q, %v", data, err)
	}
}

// Directories without write permission do not prevent a Renew.
func TestTree_readOnlyDirectories(t *testing.T) {
	t.Parallel()
	base, dir := dirAt(t, map[string]string{"d/e/a": "a", "d/e/b": "b"})
	closeDirs := func(mode fs.FileMode) {
		for _, name := range []string{"d", "d/e"} {
			if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
				t.Fatal(err)
			}
		}
	}
	closeDirs(0o555)
	t.Cleanup(func() { closeDirs(0o755) })
	r := newRig(t, base, nil)
	for _, do := range []func() error{
		func() error { return nil },
		func() error { return r.view.Remove("d/e/a") },
		func() error { return afero.WriteFile(r.view, "d/e/c", []byte("c"), 0o644) },
		func() error { return r.view.Rename("d/e", "d/f") },
		func() error { r.view.Rollback(stage.Savepoint{}); return nil },
	} {
		if err := do(); err != nil {
			t.Fatal(err)
		}
		if err := r.tree.Renew(t.Context(), r.view, scratch.Options{}); err != nil {
			t.Fatal(err)
		}
		r.exact()
	}
}
