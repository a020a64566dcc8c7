package commit_test

import (
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/crashfs"
	"github.com/millrace-go/millrace/internal/journal"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/stage"
)

// dying is a disk on which a process died right after it moved a file of another program out of the tree, before it put
// it back.
type dying struct {
	tree []string
	do   func(s *stage.Stage) error
	// The operation at this place, as in isAt, is the last one, and right before it another program calls foul.
	op, path string
	foul     func(f afero.Fs) error
}

func (d dying) disk(t *testing.T) *crashfs.Fs {
	t.Helper()
	disk := crashfs.New()
	plant(t, disk, d.tree...)
	disk.Settle()
	changes := staged(t, disk.Kill(), d.do)
	met := false
	disk.Before(func(op crashfs.Op) error {
		switch {
		case met:
			return errKilled
		case op.Name != d.op || !isAt(op, d.path):
			return nil
		}
		met = true
		return d.foul(disk.Unwatched())
	})
	_, err := commit.Apply(bg, crashOptions(disk), changes)
	if !met || !errors.Is(err, errKilled) {
		t.Fatalf("met %v, error is %v", met, err)
	}
	return disk.Kill()
}

func crashOptions(disk afero.Fs) commit.Options {
	return commit.Options{FS: disk, StateDir: stateDir, Key: testKey, Workers: 1}
}

func saves(name string) func(f afero.Fs) error {
	return func(f afero.Fs) error {
		if !foreignWrite(f, name, false) {
			return errors.New("could not write")
		}
		return nil
	}
}

// isAt reports whether the operation is on the path, or on a path with that suffix if path begins with a dot or a
// slash.
func isAt(op crashfs.Op, path string) bool {
	return op.Path == path || strings.ContainsAny(path[:1], "./") && strings.HasSuffix(op.Path, path)
}

// once makes the first such operation fail, or calls do before it.
func once(disk *crashfs.Fs, op, path string, do func(f afero.Fs) error) (met *bool) {
	met = new(bool)
	disk.Before(func(o crashfs.Op) error {
		if *met || o.Name != op || !isAt(o, path) {
			return nil
		}
		*met = true
		return do(disk.Unwatched())
	})
	return met
}

func eio(afero.Fs) error { return syscall.EIO }

var (
	// replaced has the file of another program in the slot of the new one, which is at the path.
	replaced = dying{[]string{"a=1", "z=2"}, steps(write("a", "A"), write("z", "Z")), "exchange", "a", saves("a")}
	// deleted has it next to the slot, and nothing at the path.
	deleted = dying{[]string{"d/b=1", "z=2"}, steps(remove("d/b"), write("z", "Z")), "rename", ".out", saves("d/b")}
	// emptied has it in a directory at that place.
	emptied = dying{[]string{"d/e=1", "z=2"}, steps(remove("d"), write("z", "Z")), "rename", "/" + journal.Slot(0) + ".out", saves("d/e")}
)

// TestGiveBack finds such a file, whatever else happens: in the end it is at its path, or kept with the conflicts and
// reported to the user. Everything else is as it was.
func TestGiveBack(t *testing.T) {
	t.Parallel()
	none := func(*testing.T, *crashfs.Fs) {}
	// fails makes the first recovery fail at an operation.
	fails := func(op, path string) func(t *testing.T, disk *crashfs.Fs) {
		return func(t *testing.T, disk *crashfs.Fs) {
			t.Helper()
			met := once(disk, op, path, eio)
			_, err := commit.Recover(bg, crashOptions(disk))
			disk.Before(nil)
			if _, pending := errors.AsType[*commit.PendingError](err); !*met || !pending || !errors.Is(err, syscall.EIO) {
				t.Fatalf("met %v, first recovery: %v", *met, err)
			}
		}
	}
	tests := []struct {
		name   string
		of     dying
		first  func(t *testing.T, disk *crashfs.Fs)
		path   string // of the conflict
		isKept bool   // the file is with the conflicts and not at the path
	}{
		{"replaced", replaced, none, "a", false},
		{"replaced, no exchange any more", replaced, func(_ *testing.T, disk *crashfs.Fs) { disk.Without(crashfs.Exchanges) }, "a", false},
		{"replaced, path cannot be looked at", replaced, fails("lstat", "a"), "a", false},
		{"replaced, path cannot be read", replaced, fails("open", "a"), "a", false},
		{"replaced, exchange fails", replaced, fails("exchange", "a"), "a", false},
		{"deleted", deleted, none, "d/b", false},
		{"deleted, rename fails", deleted, fails("rename", "d/b"), "d/b", false},
		{"deleted, directory replaced", deleted, func(t *testing.T, disk *crashfs.Fs) {
			t.Helper()
			if err := errors.Join(disk.Remove("d"), afero.WriteFile(disk, "d", []byte("file"), 0o644)); err != nil {
				t.Fatal(err)
			}
		}, "d/b", true},
		{"deleted, written again at the last moment", deleted, func(t *testing.T, disk *crashfs.Fs) {
			t.Helper()
			met := once(disk, "rename", "d/b", func(f afero.Fs) error { return afero.WriteFile(f, "d/b", []byte("again"), 0o644) })
			_, err := commit.Recover(bg, crashOptions(disk))
			disk.Before(nil)
			if _, pending := errors.AsType[*commit.PendingError](err); !*met || !pending {
				t.Fatalf("met %v, first recovery: %v", *met, err)
			}
		}, "d/b", true},
		{"emptied", emptied, none, "d/e", false},
		{"emptied, directory cannot be listed", emptied, fails("readdir", ".out"), "d/e", false},
		{"emptied, file in it cannot be looked at", emptied, fails("lstat", ".out/e"), "d/e", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			disk := tt.of.disk(t)
			if spots := foreignSpots(disk); len(spots) > 0 {
				t.Fatalf("nothing was taken out: %q", spots)
			}
			tt.first(t, disk)
			_, err := commit.Recover(bg, crashOptions(disk))
			c, ok := errors.AsType[*commit.RollbackConflict](err)
			if !ok || !slices.ContainsFunc(c.Paths, func(p change.Problem) bool { return p.Path == tt.path }) {
				t.Fatalf("error is %v", err)
			}
			spots := foreignSpots(disk)
			at := slices.Index(spots, tt.path) >= 0
			if len(spots) == 0 || at == tt.isKept || tt.isKept && !names.Within(spots[0], c.Dir) {
				t.Errorf("it is at %q", spots)
			}
			if data, _ := afero.ReadFile(disk, "z"); string(data) != "z2" {
				t.Errorf("z is %q", data)
			}
			if r, err := commit.Recover(bg, crashOptions(disk)); err != nil || len(r.Leftovers) > 0 {
				t.Errorf("again: %+v, %v", r, err)
			}
		})
	}
}
