package backups_test

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/backup"
	"github.com/millrace-go/millrace/internal/backups"
	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/journal"
	"github.com/millrace-go/millrace/internal/stage"
)

// images returns the paths of the kept files.
func images(t *testing.T, fsys afero.Fs, id string) []string {
	t.Helper()
	var found []string
	err := afero.Walk(fsys, path.Join(stateDir, "backups", id, "old"), func(p string, info fs.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			found = append(found, p)
		}
		return err
	})
	must(t, err)
	return found
}

func TestDamaged(t *testing.T) {
	t.Parallel()
	for name, fsys := range backends(t) {
		for how, harm := range map[string]func(image string) error{
			"other bytes": func(i string) error { return afero.WriteFile(fsys, i, []byte("X"), 0o644) },
			"missing":     func(i string) error { return fsys.Remove(i) },
			"directory":   func(i string) error { return errors.Join(fsys.Remove(i), fsys.Mkdir(i, 0o755)) },
		} {
			t.Run(name+"/"+how, func(t *testing.T) {
				put(t, fsys, "a", "a", 0o644)
				put(t, fsys, "b", "b", 0o644)
				id := change(t, options(fsys), func(s *stage.Stage) error { return errors.Join(write(s, "a", "A"), write(s, "b", "B")) })
				must(t, harm(images(t, fsys, id)[1]))
				b, err := open(t, fsys).Load(id)
				must(t, err)
				changes, err := b.Changes(bg, nil)
				bad, ok := errors.AsType[*backups.DamagedError](err)
				if !ok || len(bad.Files) != 1 || bad.Files[0].Path != "b" || bad.ID != id || !strings.Contains(err.Error(), "b: ") {
					t.Fatalf("error is %v", err)
				}
				if len(changes) != 1 || changes[0].Path != "a" {
					t.Fatalf("changes %v", changes)
				}
				_, err = commit.Apply(bg, options(fsys), changes)
				must(t, err)
				data, _ := afero.ReadFile(fsys, "a")
				if string(data) != "a" {
					t.Errorf("a is %q", data)
				}
			})
		}
	}
}

func TestLoad_refused(t *testing.T) {
	t.Parallel()
	for name, fsys := range backends(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			put(t, fsys, "a", "a", 0o644)
			id := change(t, options(fsys), func(s *stage.Stage) error { return write(s, "a", "A") })
			other, err := backups.Open(fsys, stateDir, []byte("another key"))
			must(t, err)
			if _, err := other.Load(id); !errors.Is(err, &journal.Error{Reason: journal.BadKey}) {
				t.Errorf("another key: %v", err)
			}
			for _, bad := range []string{"", "..", "../" + id, "20200101_000000_0123456789abcdef"} {
				if _, err := open(t, fsys).Load(bad); !errors.Is(err, backup.ErrNotFound) {
					t.Errorf("%q: %v", bad, err)
				}
			}
			done := path.Join(stateDir, "backups", id, "done")
			data, err := afero.ReadFile(fsys, done)
			must(t, err)
			data[len(data)/2] ^= 1
			must(t, afero.WriteFile(fsys, done, data, 0o600))
			if _, err := open(t, fsys).Load(id); !errors.Is(err, &journal.Error{Reason: journal.BadChecksum}) {
				t.Errorf("damaged: %v", err)
			}
			list, err := open(t, fsys).List(bg)
			must(t, err)
			if len(list) != 1 || list[0].Err == nil {
				t.Errorf("list %+v", list)
			}
		})
	}
}
