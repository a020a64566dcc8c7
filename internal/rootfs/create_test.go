//go:build unix

package rootfs_test

import (
	"errors"
	"io/fs"
	"os"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/rootfs"
)

// TestFS_CreateNew makes files by name and in a held directory: bytes, mode and times are as set.
func TestFS_CreateNew(t *testing.T) {
	t.Parallel()
	root := fstest.OpenRoot(t, t.TempDir())
	fstest.Must(t, root.Mkdir("d", 0o755))
	held, done := root.Holding("d")
	defer done()
	for name, fsys := range map[string]*rootfs.FS{"d/by-name": root, "d/held": held} {
		f, err := fsys.CreateNew(name, 0o600)
		fstest.Must(t, err)
		_, err = f.Write([]byte("bytes"))
		fstest.Must(t, err)
		at := time.Unix(1_000_000_000, 123_000_000)
		fstest.Must(t, f.Chtimes(time.Time{}, at))
		fstest.Must(t, f.Chmod(0o444))
		look, err := rootfs.LookInto(f)
		fstest.Must(t, err)
		now, err := f.Stat()
		fstest.Must(t, err)
		fstest.Must(t, f.Close())
		named, err := root.Look(name)
		fstest.Must(t, err)
		if look.MTime != at.UnixNano() || look.Size != 5 || look.Mode != 0o444 || look != named {
			t.Errorf("%s: %+v, by name %+v", name, look, named)
		}
		if now.Size() != 5 || !now.ModTime().Equal(at) {
			t.Errorf("%s: %v", name, now)
		}
		if data, err := afero.ReadFile(root, name); string(data) != "bytes" {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
}

// TestFS_CreateNew_sameErrors compares the errors of CreateNew with the errors of OpenFile.
func TestFS_CreateNew_sameErrors(t *testing.T) {
	t.Parallel()
	root := fstest.OpenRoot(t, t.TempDir())
	fstest.Must(t, root.Mkdir("d", 0o755))
	fstest.Write(t, root, "f", "f")
	fstest.Must(t, root.SymlinkIfPossible("d", "way"))
	fstest.Must(t, root.SymlinkIfPossible("/", "out"))
	fstest.Must(t, root.SymlinkIfPossible("nowhere", "d/link"))
	for name, want := range map[string]error{
		"f": fs.ErrExist, "d": fs.ErrExist, "d/link": fs.ErrExist, "no/f": fs.ErrNotExist, "f/f": names.ErrNotDir,
		"out/f": names.ErrEscape, "../f": names.ErrEscape, "d/../../f": names.ErrEscape, "d/none/": names.ErrIsDir,
		"way/new": nil, "d/./other": nil,
	} {
		held, done := root.Holding("d")
		f, err := held.CreateNew(name, 0o600)
		done()
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
		if err == nil {
			fstest.Must(t, f.Close())
			if _, err := root.Stat(name); err != nil || want != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		_, slow := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if slow == nil || slow.Error() != err.Error() {
			t.Errorf("%s: %v, OpenFile returns %v", name, err, slow)
		}
	}
}
