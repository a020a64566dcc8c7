package commit_test

import (
	"errors"
	"io"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/errorfs"
)

// only replaces one kind of operation.
func only(kind string, instead func(op *errorfs.Op) error) errorfs.Hook {
	return func(op *errorfs.Op, do func() error) error {
		if op.Kind == kind {
			return instead(op)
		}
		return do()
	}
}

// TestQuirk_modes has a file system that silently drops modes. The commit succeeds with a warning.
func TestQuirk_modes(t *testing.T) {
	t.Parallel()
	root := rootFs(t)
	plant(t, root, "a=1")
	changes := staged(t, root, write("a", "A"))
	fsys := errorfs.Wrap(root, only("chmod", func(*errorfs.Op) error { return nil }))
	rep, err := commit.Apply(bg, options(fsys), changes)
	if err != nil || !rep.Committed || len(rep.Warnings) != 1 || !strings.HasPrefix(rep.Warnings[0], "a: mode is -rw------- instead of -rw-r--r--") {
		t.Errorf("%+v, %v", rep, err)
	}
}

// TestQuirk_group cannot give a new file the group of the files in its directory: that is a warning if it is not
// permitted, and a failure if the disk fails.
func TestQuirk_group(t *testing.T) {
	t.Parallel()
	for _, errno := range []syscall.Errno{syscall.EPERM, syscall.EIO} {
		fsys := rootFs(t)
		plant(t, fsys, "d/e=1")
		if err := errors.Join(fsys.Chown("d", 0, 4242), fsys.Chmod("d", 0o775|fs.ModeSetgid)); err != nil {
			t.Skip(err)
		}
		fsys = errorfs.Wrap(fsys, only("chown", func(op *errorfs.Op) error { return op.Error(errno) }))
		rep, err := commit.Apply(bg, options(fsys), staged(t, fsys, write("d/n", "N")))
		if errno == syscall.EIO {
			if ok, _ := afero.Exists(fsys, "d/n"); ok || !errors.Is(err, syscall.EIO) {
				t.Errorf("%v: %+v, %v", errno, rep, err)
			}
			continue
		}
		if err != nil || len(rep.Warnings) != 1 || !strings.HasPrefix(rep.Warnings[0], "d/n: owner or attributes are not kept") {
			t.Errorf("%v: %+v, %v", errno, rep, err)
		}
	}
}

// TestQuirk_links has a file system that makes links with another target than requested.
func TestQuirk_links(t *testing.T) {
	t.Parallel()
	fsys := rootFs(t)
	plant(t, fsys, "a=1")
	before := snapshot(t, fsys, true)
	changes := staged(t, fsys, steps(write("a", "A"), symlink("a", "l")))
	elsewhere := errorfs.Wrap(fsys, only("symlink", func(op *errorfs.Op) error {
		return fsys.(afero.Linker).SymlinkIfPossible("./"+op.From, op.Name)
	}))
	if rep, err := commit.Apply(bg, options(elsewhere), changes); err == nil || !strings.Contains(err.Error(), "l: ") {
		t.Errorf("%+v, %v", rep, err)
	}
	if diff := cmp.Diff(before, snapshot(t, fsys, true)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestQuirk_noReadlink has a file system that shows links but not their targets.
func TestQuirk_noReadlink(t *testing.T) {
	t.Parallel()
	fsys := rootFs(t)
	plant(t, fsys, "a=1", "l -> a")
	changes := staged(t, fsys, steps(write("a", "A"), remove("l")))
	before := snapshot(t, fsys, true)
	unread := struct {
		afero.Fs
		afero.Lstater
	}{fsys, fsys.(afero.Lstater)}
	if _, err := commit.Apply(bg, options(unread), changes); !errors.Is(err, afero.ErrNoReadlink) {
		t.Errorf("error is %v", err)
	}
	if diff := cmp.Diff(before, snapshot(t, fsys, true)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestQuirk_noReplace has a file system that replaces a file although it claims not to. That is found before the commit
// relies on it: another program's late file stays.
func TestQuirk_noReplace(t *testing.T) {
	t.Parallel()
	root := rootFs(t)
	fsys := errorfs.Wrap(root, only("noreplace", func(op *errorfs.Op) error { return root.Rename(op.From, op.Name) }))
	plant(t, fsys, "a=1")
	o := options(fsys)
	o.Observe = func(phase string) {
		if phase == "apply" && !foreignWrite(fsys, "n", true) {
			t.Error("could not write")
		}
	}
	rep, err := commit.Apply(bg, o, staged(t, fsys, steps(write("a", "A"), write("n", "N"))))
	if c, ok := errors.AsType[*commit.Conflict](err); !ok || len(c.Paths) != 1 || c.Paths[0].Path != "n" || !rep.RolledBack {
		t.Errorf("%+v, %v", rep, err)
	}
	for name, want := range map[string]string{"a": "a1", "n": foreignText} {
		if data, _ := afero.ReadFile(fsys, name); string(data) != want {
			t.Errorf("%s is %q", name, data)
		}
	}
}

// endOfNames ends each listing of a directory with io.EOF, as some virtual file systems do.
func endOfNames(op *errorfs.Op, do func() error) error {
	err := do()
	if op.Kind == "readdir" {
		err = errors.Join(err, io.EOF)
	}
	return err
}

func TestQuirk_endOfNames(t *testing.T) {
	t.Parallel()
	fsys := afero.NewMemMapFs()
	plant(t, fsys, "a=1", "d/e=2", "d/f/g=3")
	changes := staged(t, fsys, remove("d"))
	if err := afero.WriteFile(fsys, "d/new", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	o := options(errorfs.Wrap(fsys, endOfNames))
	o.DropBackup, o.Workers = true, 1
	_, err := commit.Apply(bg, o, changes)
	if c, ok := errors.AsType[*commit.Conflict](err); !ok || c.Paths[0].Path != "d/new" {
		t.Errorf("error is %v", err)
	}
	if err := fsys.Remove("d/new"); err != nil {
		t.Fatal(err)
	}
	if rep, err := commit.Apply(bg, o, changes); err != nil || len(rep.Warnings) > 0 {
		t.Errorf("%+v, %v", rep, err)
	}
	if ok, _ := afero.Exists(fsys, "d"); ok {
		t.Error("d is left")
	}
}

// TestSync_unreadable changes the mode of a file that must not be opened, so that the change cannot be made durable.
func TestSync_unreadable(t *testing.T) {
	t.Parallel()
	fsys := rootFs(t)
	plant(t, fsys, "a=1")
	tr := &trial{fsys: fsys, hooks: &hooks{}, changes: staged(t, fsys, chmod("a", 0o200))}
	now := ""
	o := tr.options()
	o.Observe = func(phase string) { now = phase }
	tr.hooks.before = func(_ int, op string, _ bool, name string) error {
		if now == "sync" && op == "open" && name == "a" {
			return syscall.EACCES
		}
		return nil
	}
	rep, err := commit.Apply(bg, o, tr.changes)
	if err != nil || len(rep.Warnings) != 1 || !strings.HasPrefix(rep.Warnings[0], "a: its mode and times are not safe") {
		t.Errorf("%+v, %v", rep, err)
	}
}
