package backups_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/backup"
	"github.com/millrace-go/millrace/internal/backups"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/millrace-go/millrace/internal/stage"
)

// Another process removes the only backup while this one reads it: it is reported as missing, not as damaged.
func TestRemovedMeanwhile(t *testing.T) {
	t.Parallel()
	for what, tt := range map[string]struct {
		kind, name string // the operation before which it is removed
		use        func(s *backups.Store, id string) error
	}{
		"list": {"open", stateDir + "/backups", func(s *backups.Store, _ string) error {
			list, err := s.List(bg)
			if err == nil && len(list) == 0 {
				err = backup.ErrNotFound
			}
			return err
		}},
		"load": {"open", "/done", func(s *backups.Store, id string) error { _, err := s.Load(id); return err }},
		"verify": {"open", "/old/", func(s *backups.Store, id string) error {
			b, err := s.Load(id)
			if err == nil {
				err = b.Verify(bg)
			}
			return err
		}},
		"changes": {"open", "/old/", func(s *backups.Store, id string) error {
			b, err := s.Load(id)
			if err == nil {
				_, err = b.Changes(bg, nil)
			}
			return err
		}},
	} {
		for name, fsys := range backends(t) {
			put(t, fsys, "a", "0", 0o644)
			id := change(t, options(fsys), func(s *stage.Stage) error { return write(s, "a", "1") })
			removed := false
			store := open(t, errorfs.Wrap(fsys, func(op *errorfs.Op, do func() error) error {
				if !removed && op.Kind == tt.kind && strings.Contains(op.Name, tt.name) {
					removed = true
					must(t, open(t, fsys).Remove(id), fsys.Remove(stateDir+"/backups"))
				}
				return do()
			}))
			if err := tt.use(store, id); !errors.Is(err, backup.ErrNotFound) || !removed {
				t.Errorf("%s: %s: %v, removed %t", name, what, err, removed)
			}
		}
	}
}

// Reading backups writes nothing: no key is made for the user.
func TestOpen_makesNoKey(t *testing.T) {
	home := t.TempDir()
	for _, name := range []string{"XDG_CONFIG_HOME", "HOME", "AppData"} {
		t.Setenv(name, home)
	}
	disk, err := rootfs.Open(t.TempDir())
	must(t, err)
	defer disk.Close()
	put(t, disk, "a", "0", 0o644)
	id := change(t, options(disk), func(s *stage.Stage) error { return write(s, "a", "1") })
	s, err := backups.Open(disk, stateDir, nil)
	must(t, err)
	if _, err := s.Load(id); err == nil {
		t.Error("a backup that is signed with another key is trusted")
	}
	config, err := os.UserConfigDir()
	must(t, err)
	if _, err := os.Stat(filepath.Join(config, "millrace")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a key was made: %v", err)
	}
}
