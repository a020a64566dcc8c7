package commit_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/errorfs"
)

// mounted is a RootFs in which everything below "m" is on another mount of the same file system: only a failing rename
// or link reveals that.
func mounted(t testing.TB) afero.Fs {
	return errorfs.Wrap(rootFs(t), func(op *errorfs.Op, do func() error) error {
		switch op.Kind {
		case "rename", "noreplace", "exchange", "link":
			if strings.HasPrefix(op.From, "m/") != strings.HasPrefix(op.Name, "m/") {
				return &os.LinkError{Op: op.Kind, Old: op.From, New: op.Name, Err: syscall.EXDEV}
			}
		}
		return do()
	})
}

func mountCases() []scenario {
	tree := []string{"a=1", "b=2", "m/a=3", "m/b 755=4", "m/d/e=5", "m/d/f=6", "m/l -> a"}
	return []scenario{
		{"edit", tree, true, steps(write("m/a", "A"), write("a", "A"))},
		{"create", tree, true, steps(write("m/n", "N"), mkdir("m/k"), write("m/k/n", "N"), symlink("a", "m/k/l"))},
		{"create only", tree, true, write("m/d/n", "N")},
		{"delete", tree, true, steps(remove("m/d"), remove("m/l"))},
		{"rename across", tree, true, steps(rename("a", "m/c"), rename("m/b", "c"), rename("m/l", "l"))},
		{"rename within", tree, true, steps(rename("m/d", "m/k"), chmod("m/a", 0o600))},
		{"type", tree, true, steps(remove("m/d"), write("m/d", "file"), remove("m/a"), symlink("d", "m/a"))},
	}
}

// TestMount has changes on another mount than the state directory, with success, kills, and a failure of each
// operation.
func TestMount(t *testing.T) {
	t.Parallel()
	for _, sc := range mountCases() {
		t.Run(sc.name, func(t *testing.T) {
			t.Parallel()
			newFs := func() afero.Fs { return mounted(t) }
			fsys := newFs()
			tr := newTrial(t, fsys, sc)
			rep, err := commit.Apply(bg, options(fsys), tr.changes)
			if err != nil || len(rep.Warnings) > 0 {
				t.Fatalf("%+v, %v", rep, err)
			}
			if diff := cmp.Diff(tr.new, untimed(snapshot(t, fsys, false))); diff != "" {
				t.Fatalf("-want +got:\n%s", diff)
			}
			for _, times := range []int{1, 1 << 30} {
				eachMoment(t, 11, func(at int) bool {
					tr := newTrial(t, newFs(), sc)
					failed := 0
					tr.hooks.before = func(n int, _ string, _ bool, _ string) error {
						if n < at || failed >= times {
							return nil
						}
						failed++
						return syscall.EIO
					}
					rep, err := commit.Apply(bg, tr.options(), tr.changes)
					what := fmt.Sprintf("%d failures from %d: %v", times, at, err)
					if failed > 0 && err == nil && len(rep.Warnings) == 0 {
						t.Fatalf("%s: there is no error and no warning", what)
					}
					if isNew := settledFar(t, tr, what); isNew != (err == nil) && !errors.Is(err, commit.ErrIndeterminate) {
						t.Fatalf("%s: tree is new: %v", what, isNew)
					}
					return failed > 0
				})
			}
		})
	}
}

// settledFar is settled without inodes: a file on another mount is restored as a copy if its own was removed.
func settledFar(t *testing.T, tr *trial, what string) bool {
	t.Helper()
	clean := make(map[string]string)
	for p, d := range tr.old {
		clean[p], _, _ = strings.Cut(d, " #")
	}
	if _, err := commit.Recover(bg, options(tr.fsys)); err != nil {
		t.Fatalf("%s: recover: %v", what, err)
	}
	got := snapshot(t, tr.fsys, false)
	if cmp.Equal(clean, got) {
		return false
	}
	if diff := cmp.Diff(tr.new, untimed(got)); diff != "" {
		t.Fatalf("%s: neither old (-old +got):\n%s nor new (-new +got):\n%s", what, cmp.Diff(clean, got), diff)
	}
	return true
}

// TestSetgid has new files and directories that must get the group of their directory.
func TestSetgid(t *testing.T) {
	t.Parallel()
	fsys := rootFs(t)
	if err := errors.Join(fsys.Mkdir("d", 0o755), fsys.Chown("d", 0, 4242), fsys.Chmod("d", 0o775|fs.ModeSetgid)); err != nil {
		t.Skip(err)
	}
	if _, err := commit.Apply(bg, options(fsys), staged(t, fsys, steps(mkdir("d/e"), write("d/e/f", "f"), write("d/g", "g")))); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"d/e", "d/e/f", "d/g"} {
		info, err := fsys.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if id, _ := fsys.(capability.Identifier).IdentityOf(info); id.GID != 4242 {
			t.Errorf("%s has group %d", name, id.GID)
		}
	}
	if info, _ := fsys.Stat("d/e"); info.Mode()&fs.ModeSetgid == 0 {
		t.Errorf("d/e has mode %v", info.Mode())
	}
	// The plan of an undo has the mode without the bit that the directory has inherited.
	changes := staged(t, fsys, steps(remove("d/e/f"), remove("d/e")))
	for i := range changes {
		changes[i].Old.Mode &^= fs.ModeSetgid
	}
	if _, err := commit.Apply(bg, options(fsys), changes); err != nil {
		t.Errorf("the directory is not removed: %v", err)
	}
}
