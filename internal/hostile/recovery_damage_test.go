//go:build linux

package hostile_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/backup"
	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/backups"
	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/raise"
)

// TestHostile_damaged_before_image damages the old version of a file before an interrupted commit of three files is
// undone.
func TestHostile_damaged_before_image(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		damage func(t *testing.T, old, slot string)
		says   string
		got    string // the content of the file after the recovery
	}{
		// The old version of the file is in both places.
		"gone": {func(t *testing.T, old, slot string) {
			t.Helper()
			must(t, os.Remove(old), os.Remove(slot))
		}, "damaged", "edited"},
		"another file": {func(t *testing.T, old, slot string) {
			t.Helper()
			must(t, os.Remove(old), os.WriteFile(old, []byte("rotten"), 0o644), os.Remove(slot))
		}, "damaged", "edited"},
		// This looks the same as a write by a program that had the file open.
		"written in": {func(t *testing.T, old, _ string) {
			t.Helper()
			must(t, os.WriteFile(old, []byte("rotten bytes"), 0o644))
		}, "another program wrote to it", "rotten bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := fstest.TempDir(t)
			plantDir(t, dir, "files/a=1", "files/b=2", "files/c=3")
			if r := (diskJob{Dir: dir, Pipeline: "edits", Sigkill: `^rename T/done$`}).start(t); !r.Killed {
				t.Fatalf("it was not killed: %+v", r)
			}
			tx, err := filepath.Glob(filepath.Join(dir, stateName, "tx/*"))
			must(t, err)
			tt.damage(t, filepath.Join(tx[0], "old/00/01"), filepath.Join(tx[0], "new/00/01"))
			_, err = host().Recover(t.Context(), openDir(t, dir))
			c, ok := errors.AsType[*commit.RollbackConflict](err)
			if !ok || len(c.Paths) != 1 || c.Paths[0].Path != "files/b" || !strings.Contains(err.Error(), tt.says) {
				t.Fatalf("error is %T %v", err, err)
			}
			if strings.Contains(err.Error(), "until Recover succeeds") || !millrace.Written(err) {
				t.Errorf("the conflict does not block later runs, but the error is %v", err)
			}
			for name, want := range map[string]string{"files/a": "1", "files/b": tt.got, "files/c": "3"} {
				if data, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(data) != want {
					t.Errorf("%s is %q, %v; want %q", name, data, err, want)
				}
			}
			found, err := host().Inspect(t.Context(), openDir(t, dir))
			if err != nil || len(found.Leftovers) > 0 || len(found.Conflicts) != 1 || found.Conflicts[0].Directory != c.Dir {
				t.Errorf("inspection: %+v, %v", found, err)
			}
			_, err = host().Run(t.Context(), openDir(t, dir), altering(put("files/a", "again")))
			must(t, err) // the conflict does not block later runs
		})
	}
}

// TestHostile_damaged_backup: a restore with a damaged file restores nothing and names the file.
func TestHostile_damaged_backup(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(t *testing.T, old string){
		"gone":       func(t *testing.T, old string) { t.Helper(); must(t, os.Remove(old)) },
		"written in": func(t *testing.T, old string) { t.Helper(); must(t, os.WriteFile(old, []byte("X"), 0o644)) },
		"a link": func(t *testing.T, old string) {
			t.Helper()
			must(t, os.Remove(old), os.Symlink("/etc/passwd", old))
		},
		"a directory": func(t *testing.T, old string) { t.Helper(); must(t, os.Remove(old), os.Mkdir(old, 0o755)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := fstest.TempDir(t)
			plantDir(t, dir, "files/a=1", "files/b=2", "files/c=3")
			res, err := host().Run(t.Context(), openDir(t, dir), diskPipelines()["edits"])
			must(t, err)
			old := filepath.Join(dir, stateName, "backups", res.BackupID, "old/00")
			damage(t, filepath.Join(old, "01"))
			before := treeOf(t, dir, contents|times)
			_, err = host().Restore(t.Context(), openDir(t, dir), res.BackupID)
			bad, ok := errors.AsType[*backups.DamagedError](err)
			if !ok || len(bad.Files) != 1 || bad.Files[0].Path != "files/b" || !strings.Contains(err.Error(), "files/b") {
				t.Errorf("error is %T %v", err, err)
			}
			sameTree(t, "refused", dir, before, contents|times)
		})
	}
}

// TestHostile_pruning_during_rollback stops a restore in the middle while another executor tries to run and to prune
// old backups.
func TestHostile_pruning_during_rollback(t *testing.T) {
	t.Parallel()
	eachCommitting(t, func(t *testing.T, b *backend) {
		fsys := b.fs
		if raised, err := raise.FS(b.fs); err == nil {
			fsys = raised // so that both executors share the file system in memory
		}
		res, err := host().Run(t.Context(), fsys, altering(put("a.txt", "edited")))
		must(t, err)
		middle, goOn := make(chan struct{}), make(chan struct{})
		x := host()
		x.Observe = func(e millrace.Event) {
			if p, ok := e.(millrace.CommitPhase); ok && p.Phase == "apply" {
				close(middle)
				<-goOn
			}
		}
		restored := make(chan error, 1)
		go func() {
			_, err := x.Restore(context.WithoutCancel(t.Context()), fsys, res.BackupID)
			restored <- err
		}()
		<-middle
		pruner := millrace.Executor{State: millrace.State{NoSync: true, Backups: backup.Retention{Keep: 1}, LockWait: 20 * time.Millisecond}}
		_, err = pruner.Run(t.Context(), fsys, altering(put("b.txt", "edited")))
		if !errors.Is(err, capability.ErrLocked) {
			t.Errorf("another run is not locked out: %v", err)
		}
		if list, err := host().ListBackups(t.Context(), fsys); err != nil || len(list) != 1 || list[0].ID != res.BackupID {
			t.Errorf("backups are %+v, %v", list, err)
		}
		close(goOn)
		must(t, <-restored)
		if data, err := afero.ReadFile(fsys, "a.txt"); err != nil || string(data) != planted["a.txt"] {
			t.Errorf("restored %q, %v", data, err)
		}
		pruner.State.LockWait = 0
		_, err = pruner.Run(t.Context(), fsys, altering(put("b.txt", "edited")))
		must(t, err)
		if list, err := host().ListBackups(t.Context(), fsys); err != nil || len(list) != 1 {
			t.Errorf("backups are %+v, %v", list, err)
		}
	})
}
