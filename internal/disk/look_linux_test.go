package disk_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/modes"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/raise"
	"github.com/millrace-go/millrace/internal/rootfs"
)

// TestLook: an open directory reports the same as lstat, for names in held directories and for other names.
func TestLook(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	root, err := rootfs.Open(base)
	fstest.Must(t, err)
	t.Cleanup(func() { root.Close() })
	fstest.Must(t, root.Mkdir("d", 0o755))
	d := disk.Open(root)
	d.Hold("d")
	t.Cleanup(func() { fstest.Must(t, d.Close()) })
	fstest.Must(t, root.Mkdir("e", 0o711))
	for _, dir := range []string{"d", "e"} {
		fstest.Write(t, root, dir+"/file", "some bytes")
		fstest.Must(t, root.Chmod(dir+"/file", 0o640|fs.ModeSetuid))
		fstest.Must(t, root.Mkdir(dir+"/sub", 0o700))
		fstest.Must(t, root.SymlinkIfPossible("file", dir+"/link"))
		fstest.Must(t, root.SymlinkIfPossible("sub", dir+"/dirlink"))
		fstest.Must(t, unix.Mkfifo(filepath.Join(base, dir, "pipe"), 0o600))
		for name, kind := range map[string]change.Kind{
			"file": change.File, "sub": change.Dir, "link": change.Symlink, "dirlink": change.Symlink, "pipe": change.Other,
			"none": change.Absent, "file/below": change.Absent, "none/below": change.Absent, ".": change.Dir,
		} {
			name = filepath.Join(dir, name)
			got, err := d.Look(name)
			if err != nil || got.Kind != kind {
				t.Errorf("%s: %v, %v", name, got, err)
			}
			if kind == change.Absent {
				continue
			}
			info, _, err := root.LstatIfPossible(name)
			fstest.Must(t, err)
			id, _ := root.IdentityOf(info)
			if got.Mode != info.Mode()&modes.PermBits || !got.ModTime.Equal(info.ModTime()) || got.ID != id ||
				kind == change.File && got.Size != info.Size() {
				t.Errorf("%s: %+v, lstat reports %v, %v, %+v", name, got, info.Mode(), info.ModTime(), id)
			}
		}
		if s, err := d.Look(dir + "/link"); err != nil || s.Target != "file" {
			t.Errorf("%+v, %v", s, err)
		}
	}
	// A path through a link is passed to the RootFs.
	fstest.Write(t, root, "d/sub/x", "x")
	if s, err := d.Look("d/dirlink/x"); err != nil || s.Kind != change.File {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := d.Look("d/" + strings.Repeat("n", 300)); !errors.Is(err, names.ErrNameTooLong) {
		t.Error(err)
	}
}

// TestOpenFound: through any file system it opens regular files, and neither waits for other kinds nor follows links.
func TestOpenFound(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	root, err := rootfs.Open(base)
	fstest.Must(t, err)
	t.Cleanup(func() { root.Close() })
	fstest.Must(t, root.Mkdir("d", 0o755))
	fstest.Write(t, root, "d/f", "the bytes")
	fstest.Must(t, root.SymlinkIfPossible("f", "d/link"))
	fstest.Must(t, root.SymlinkIfPossible("d", "way"))
	fstest.Must(t, unix.Mkfifo(filepath.Join(base, "pipe"), 0o600))
	memory, err := raise.FS(afero.NewMemMapFs())
	fstest.Must(t, err)
	fstest.Must(t, memory.Mkdir("d", 0o755))
	fstest.Write(t, memory, "d/f", "the bytes")
	for what, d := range map[string]*disk.Disk{
		"root": disk.Open(root), "memory": disk.Open(memory),
		"plain": disk.Open(struct {
			afero.Fs
			afero.Symlinker
		}{root, root}),
	} {
		files := []string{"d/f", "way/f"}
		refused := map[string]error{
			"d/link": names.ErrNotRegular, "pipe": names.ErrNotRegular, "d": names.ErrNotRegular, "no": fs.ErrNotExist, "d/f/x": names.ErrNotDir,
		}
		if d.Memory {
			files, refused = files[:1], map[string]error{"d": names.ErrNotRegular, "no": fs.ErrNotExist, "d/f/x": names.ErrNotDir}
		}
		for _, name := range files {
			if data, err := d.Read(name, 100); err != nil || string(data) != "the bytes" {
				t.Errorf("%s: %s: %q, %v", what, name, data, err)
			}
		}
		for name, want := range refused {
			if f, err := d.OpenFound(name); !errors.Is(err, want) {
				t.Errorf("%s: %s: %v, %v", what, name, f, err)
			}
		}
	}
}
