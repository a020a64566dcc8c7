package backups_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/backup"
	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/backups"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/journal"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/millrace-go/millrace/internal/stage"
)

func TestOpen_refused(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", home)
	t.Setenv("HOME", home)
	t.Setenv("AppData", home)
	config, err := os.UserConfigDir()
	must(t, err)
	must(t, os.MkdirAll(filepath.Join(config, "millrace", "key"), 0o700)) // a directory is not a key
	disk, err := rootfs.Open(t.TempDir())
	must(t, err)
	defer disk.Close()
	for name, tt := range map[string]struct {
		fsys afero.Fs
		dir  string
		want error
	}{
		"no file system":            {nil, stateDir, names.ErrNoFs},
		"state directory elsewhere": {disk, "../x", names.ErrEscape},
		"key is not a key":          {disk, stateDir, names.ErrNotRegular},
	} {
		if s, err := backups.Open(tt.fsys, tt.dir, nil); s != nil || !errors.Is(err, tt.want) {
			t.Errorf("%s: open: %v", name, err)
		}
	}
	if _, err := backups.Open(disk, stateDir, testKey); err != nil {
		t.Errorf("a key was passed, but the key of the user was read: %v", err)
	}
}

// TestPlaces puts something else in place of the store's directories.
func TestPlaces(t *testing.T) {
	t.Parallel()
	const id = "20200101_000000_0123456789abcdef"
	for _, place := range []string{stateDir, stateDir + "/backups", stateDir + "/backups/" + id} {
		for name, fsys := range backends(t) {
			put(t, fsys, place, "a file", 0o600)
			s := open(t, fsys)
			if _, err := s.Load(id); !errors.Is(err, backup.ErrNotFound) {
				t.Errorf("%s, file %s: load: %v", name, place, err)
			}
			list, err := s.List(bg)
			if inStore := path.Base(place) == id; inStore != (err == nil) || err != nil && !errors.Is(err, names.ErrNotDir) || len(list) > 0 {
				t.Errorf("%s, file %s: list %+v, %v", name, place, list, err)
			}
			if err := s.Remove(".."); !errors.Is(err, backup.ErrNotFound) {
				t.Errorf("remove ..: %v", err)
			}
		}
	}
}

// TestPlanted copies a backup to another name and to another tree, and hides one behind a link. A copy has the bytes
// and the signature, but the wrong place.
func TestPlanted(t *testing.T) {
	t.Parallel()
	for name, fsys := range backends(t) {
		id := edits(t, fsys, 1)[0]
		const other = "20200101_000000_0123456789abcdef"
		dir := path.Join(stateDir, "backups")
		data, err := afero.ReadFile(fsys, path.Join(dir, id, "done"))
		must(t, err)
		put(t, fsys, path.Join(dir, other, "done"), string(data), 0o600)
		if _, err := open(t, fsys).Load(other); !errors.Is(err, &journal.Error{Reason: journal.BadIdentity}) {
			t.Errorf("%s: under another id: %v", name, err)
		}
		unsigned, err := backups.Open(fsys, stateDir, []byte{})
		must(t, err)
		if _, err := unsigned.Load(id); !errors.Is(err, &journal.Error{Reason: journal.BadKey}) {
			t.Errorf("%s: without the key: %v", name, err)
		}
		// An unusable backup never replaces a usable one, however new it claims to be.
		const future = "99990101_000000_0123456789abcdef"
		must(t, fsys.Rename(path.Join(dir, other), path.Join(dir, future)))
		for _, tt := range []struct{ keep, gone int }{{2, 0}, {1, 1}} {
			gone, err := open(t, fsys).Prune(bg, backup.Retention{Keep: tt.keep}, time.Now(), "")
			must(t, err)
			list, err := open(t, fsys).List(bg)
			must(t, err)
			if len(gone) != tt.gone || len(list) != tt.keep || list[0].ID != id {
				t.Errorf("%s, keep %d: gone %v, left %+v", name, tt.keep, gone, list)
			}
		}
		linker, ok := fsys.(afero.Linker)
		if !ok {
			continue
		}
		must(t, linker.SymlinkIfPossible(id, path.Join(dir, other)))
		if _, err := open(t, fsys).Load(other); !errors.Is(err, backup.ErrNotFound) {
			t.Errorf("%s: through a link: %v", name, err)
		}
		// Removing it removes the link, and nothing of its target.
		must(t, fsys.Rename(path.Join(dir, id), path.Join(dir, "aside")), fsys.Mkdir(path.Join(dir, id), 0o700),
			linker.SymlinkIfPossible("../aside", path.Join(dir, id, "old")), open(t, fsys).Remove(id))
		if images, err := afero.ReadDir(fsys, path.Join(dir, "aside", "old", "00")); err != nil || len(images) != 1 {
			t.Errorf("%s: the target of the link: %v, %v", name, images, err)
		}
		put(t, fsys, "elsewhere/done", "not ours", 0o600)
		must(t, linker.SymlinkIfPossible("../../elsewhere", path.Join(dir, id)), open(t, fsys).Remove(id))
		if data, err := afero.ReadFile(fsys, "elsewhere/done"); err != nil || string(data) != "not ours" {
			t.Errorf("%s: the link was followed: %q, %v", name, data, err)
		}
		if _, _, err := fsys.(afero.Lstater).LstatIfPossible(path.Join(dir, id)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: the link is left: %v", name, err)
		}
	}
}

// TestUnsigned has no key at all, so only the identity of the directory distinguishes a backup from a copy.
func TestUnsigned(t *testing.T) {
	t.Parallel()
	fsys := backends(t)["root"]
	if _, ok := fsys.(capability.Identifier); !ok {
		t.Skip("the file system does not tell directories apart")
	}
	put(t, fsys, "a", "a", 0o644)
	o := options(fsys)
	o.Key = []byte{}
	id := change(t, o, func(s *stage.Stage) error { return write(s, "a", "A") })
	s, err := backups.Open(fsys, stateDir, []byte{})
	must(t, err)
	_, err = s.Load(id)
	must(t, err)
	dir := path.Join(stateDir, "backups", id)
	data, err := afero.ReadFile(fsys, path.Join(dir, "done"))
	must(t, err)
	must(t, fsys.Rename(dir, path.Join(stateDir, "aside")))
	put(t, fsys, path.Join(dir, "done"), string(data), 0o600)
	if _, err := s.Load(id); !errors.Is(err, &journal.Error{Reason: journal.BadIdentity}) {
		t.Errorf("a copy of the directory: %v", err)
	}
}

// TestBare lists, restores and prunes with only the methods of every afero file system: links cannot be distinguished
// from their targets.
func TestBare(t *testing.T) {
	t.Parallel()
	fsys := errorfs.Only(afero.NewMemMapFs())
	ids := edits(t, fsys, 2)
	_, err := restore(t, fsys, ids[1])
	must(t, err)
	if data, _ := afero.ReadFile(fsys, "a"); string(data) != "edit 1" {
		t.Errorf("restored %q", data)
	}
	gone, err := open(t, fsys).Prune(bg, backup.Retention{Keep: 1}, time.Now(), "")
	must(t, err)
	if len(gone) != 2 {
		t.Errorf("gone %v", gone)
	}
}

// TestChanges_contents reads both sides of each change: the current content and the old one.
func TestChanges_contents(t *testing.T) {
	t.Parallel()
	for name, fsys := range backends(t) {
		put(t, fsys, "edited", "e", 0o644)
		put(t, fsys, "deleted", "d", 0o644)
		put(t, fsys, "moded", "m", 0o644)
		put(t, fsys, "moved", "v", 0o644)
		id := change(t, options(fsys), func(s *stage.Stage) error {
			return errors.Join(write(s, "edited", "E"), s.Remove("deleted"), s.Chmod("moded", 0o600), s.Rename("moved", "to"), write(s, "created", "c"))
		})
		b, err := open(t, fsys).Load(id)
		must(t, err)
		changes, err := b.Changes(bg, nil)
		must(t, err)
		got := make(map[string]string)
		for _, c := range changes {
			text := string(c.Kind)
			for _, open := range []func() (io.ReadCloser, error){c.OpenOld, c.OpenNew} {
				f, err := open()
				if err != nil {
					text += " -"
					continue
				}
				data, err := io.ReadAll(f)
				must(t, err, f.Close())
				text += " " + string(data)
			}
			got[c.Path] = text
		}
		want := map[string]string{
			"created": "deleted c -", "deleted": "created - d", "edited": "modified E e", "moded": "modified m m", "moved": "renamed v v",
		}
		for p, text := range want {
			if got[p] != text {
				t.Errorf("%s: %s is %q, want %q", name, p, got[p], text)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s: %v", name, got)
		}
	}
}
