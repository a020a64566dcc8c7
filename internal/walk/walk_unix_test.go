//go:build unix

package walk_test

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/handle"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/walk"
)

// specialDir makes a directory with a file of each kind. Everything outside it contains "secret".
func specialDir(t *testing.T) (dir, outside string) {
	t.Helper()
	dir, outside = t.TempDir(), t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	must(os.WriteFile(filepath.Join(outside, "secret"), []byte("secret"), 0o644))
	must(os.MkdirAll(at("d/e"), 0o755))
	must(os.WriteFile(at("d/file"), []byte("public"), 0o644))
	must(os.Symlink("file", at("d/link")))
	must(os.Symlink("..", at("d/e/loop")))
	must(os.Symlink(".", at("d/self")))
	must(os.Symlink("mutual2", at("mutual1")))
	must(os.Symlink("mutual1", at("mutual2")))
	must(os.Symlink("nowhere", at("dangling")))
	must(os.Symlink(outside, at("out")))
	must(os.Symlink(filepath.Join(outside, "secret"), at("outfile")))
	must(os.Symlink(filepath.Join(outside, "secret"), at(".gitignore")))
	must(syscall.Mkfifo(at("fifo"), 0o644))
	if l, err := net.Listen("unix", at("sock")); err == nil {
		t.Cleanup(func() { l.Close() })
	}
	return dir, outside
}

// Cases 30 to 36, 47 and 48: links are not followed, wherever they lead, and no pipe blocks the walk.
func TestWalkSpecialFiles(t *testing.T) {
	t.Parallel()
	dir, _ := specialDir(t)
	fsys := afero.NewBasePathFs(afero.NewOsFs(), dir)
	if diff := cmp.Diff([]string{"d/file"}, walkAll(t, fsys, ".", walk.Options{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, root := range []string{"fifo", "sock", "out", "outfile", "d/link", "d/self", "mutual1", "dangling"} {
		if got, err := walkPaths(t.Context(), fsys, root, walk.Options{}); !errors.Is(err, names.ErrNotRegular) || len(got) > 0 {
			t.Errorf("%s as root: %v, %v", root, got, err)
		}
	}
}

func TestOpenDirSpecialFiles(t *testing.T) {
	t.Parallel()
	dir, _ := specialDir(t)
	fsys := afero.NewBasePathFs(afero.NewOsFs(), dir)
	h, err := handle.OpenDir(fsys, ".")
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	for _, name := range []string{"fifo", "sock", "out", "outfile", "mutual1", "dangling", "d"} {
		if _, err := h.OpenFile(name); !errors.Is(err, names.ErrNotRegular) {
			t.Errorf("OpenFile(%q): %v", name, err)
		}
		if name == "d" {
			continue
		}
		if _, err := handle.OpenDir(fsys, name); !errors.Is(err, names.ErrNotDir) {
			t.Errorf("OpenDir(%q): %v", name, err)
		}
	}
	if _, err := handle.OpenDir(fsys, "d/file"); !errors.Is(err, names.ErrNotDir) || strings.Contains(err.Error(), dir) {
		t.Errorf("OpenDir of a file: %v", err)
	}
	if _, err := h.OpenFile("missing"); !errors.Is(err, os.ErrNotExist) || strings.Contains(err.Error(), dir) {
		t.Errorf("OpenFile of nothing: %v", err)
	}
}

// walkSwap calls swap between the check of a name and its opening.
func walkSwap(fsys afero.Fs, swap func(name string)) afero.Fs {
	looking := struct {
		afero.Fs
		afero.Lstater
	}{fsys, fsys.(afero.Lstater)}
	return errorfs.Wrap(looking, func(op *errorfs.Op, do func() error) error {
		err := do()
		if op.Kind == "lstat" {
			swap(op.Name)
		}
		return err
	})
}

// A link that replaces a file or a directory at the worst moment is not followed.
func TestOpenDirSwap(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"d/file", "d"} {
		dir, outside := specialDir(t)
		target := map[string]string{"d/file": filepath.Join(outside, "secret"), "d": outside}[name]
		swapped := false
		fsys := walkSwap(afero.NewBasePathFs(afero.NewOsFs(), dir), func(looked string) {
			if looked != name || swapped {
				return
			}
			swapped = true
			err := os.RemoveAll(filepath.Join(dir, name))
			if err == nil {
				err = os.Symlink(target, filepath.Join(dir, name))
			}
			if err != nil {
				t.Error(err)
			}
		})
		h, err := handle.OpenDir(fsys, "d")
		if err != nil {
			t.Fatal(err)
		}
		if name == "d" {
			if entries, err := h.ReadDir(); !errors.Is(err, names.ErrNotDir) {
				t.Errorf("listed %v, %v", entries, err)
			}
		} else if f, err := h.OpenFile("file"); !errors.Is(err, names.ErrNotRegular) {
			data, _ := io.ReadAll(f)
			t.Errorf("read %q, %v", data, err)
		}
		if !swapped {
			t.Errorf("%s: not swapped", name)
		}
	}
}

// A file that an editor saves again, as a new file with the old name, is read and not refused. A file that never stays
// the same is given up.
func TestOpenDirReplacedFile(t *testing.T) {
	t.Parallel()
	for saves, want := range map[int]error{0: nil, 1: nil, 3: nil, 100: names.ErrDrift} {
		dir, _ := specialDir(t)
		left := saves
		fsys := walkSwap(afero.NewBasePathFs(afero.NewOsFs(), dir), func(looked string) {
			if looked != "d/file" || left == 0 {
				return
			}
			left--
			err := os.WriteFile(filepath.Join(dir, "new"), []byte("edited"), 0o644)
			if err == nil {
				err = os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, looked))
			}
			if err != nil {
				t.Error(err)
			}
		})
		h, err := handle.OpenDir(fsys, "d")
		if err != nil {
			t.Fatal(err)
		}
		f, err := h.OpenFile("file")
		if !errors.Is(err, want) {
			t.Errorf("%d saves: %v, want %v", saves, err, want)
		}
		if err != nil {
			continue
		}
		content := map[bool]string{true: "edited", false: "public"}[saves > 0]
		if data, err := io.ReadAll(f); err != nil || string(data) != content {
			t.Errorf("%d saves: read %q, %v", saves, data, err)
		}
		f.Close()
	}
}

// The same on a disk.
func TestWalkDeepOnDisk(t *testing.T) {
	t.Parallel()
	fsys := fstest.WalkOsFs(t)
	deep := strings.Repeat("d/", 1000)
	walkTree{deep + "f": "", "d/d/f": ""}.write(t, fsys)
	if diff := cmp.Diff([]string{deep + "f", "d/d/f"}, walkAll(t, fsys, ".", walk.Options{})); diff != "" {
		t.Errorf("(-want +got)\n%.200s", diff)
	}
}

// A file that becomes a link between being found and being opened.
func TestWalkEntryBecomesLink(t *testing.T) {
	t.Parallel()
	dir, outside := specialDir(t)
	fsys := afero.NewBasePathFs(afero.NewOsFs(), dir)
	err := walk.Walk(t.Context(), fsys, "d", walk.Options{}, func(e walk.Entry) error {
		name := filepath.Join(dir, e.Path())
		if err := os.Remove(name); err != nil {
			return err
		}
		if err := os.Symlink(filepath.Join(outside, "secret"), name); err != nil {
			return err
		}
		_, err := e.Open()
		return err
	})
	if !errors.Is(err, names.ErrNotRegular) {
		t.Errorf("got %v", err)
	}
}
