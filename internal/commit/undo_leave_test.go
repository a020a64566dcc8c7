package commit_test

import (
	"errors"
	"path"
	"syscall"
	"testing"

	"github.com/millrace-go/millrace/backup"
	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/panics"
)

// TestLeave_fails has the disk fail, or the file system panic, at the end of undoing. The transaction stays, and the
// next recovery handles it.
func TestLeave_fails(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		foreign bool // another program has removed a file
		at      func(op, name string) bool
		fail    func() error
	}{
		{"moving to the conflicts", true, func(op, name string) bool { return op == "rename" && path.Dir(name) == stateDir+"/conflicts" },
			func() error { return syscall.EIO }},
		{"making the move durable", true, func(op, name string) bool { return op == "syncdir" && name == stateDir+"/conflicts" },
			func() error { return syscall.EIO }},
		{"removing the plan", false, func(op, name string) bool { return op == "remove" && path.Base(name) == "plan" },
			func() error { return syscall.EIO }},
		{"removing the plan, with a panic", false, func(op, name string) bool { return op == "remove" && path.Base(name) == "plan" },
			func() error { panic(syscall.EIO) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			fsys := rootFs(t)
			tr, dir := interrupted(t, fsys, "sync")
			if tt.foreign {
				if err := fsys.Remove("a"); err != nil {
					t.Fatal(err)
				}
			}
			met := false
			tr.hooks.before = func(_ int, op string, _ bool, name string) error {
				if met || !tt.at(op, name) {
					return nil
				}
				met = true
				return tt.fail()
			}
			_, err := commit.Recover(bg, tr.options())
			p, ok := errors.AsType[*commit.PendingError](err)
			if !met || !ok || p.Dir != dir {
				t.Fatalf("met %v, error is %v", met, err)
			}
			if pe, ok := errors.AsType[*panics.Error](err); !errors.Is(err, syscall.EIO) && (!ok || pe.Value != syscall.EIO) {
				t.Errorf("cause is lost: %v", err)
			}
			if !tt.foreign {
				if tr.settled(t, "afterwards") {
					t.Error("tree is new")
				}
				return
			}
			_, err = commit.Recover(bg, options(fsys))
			c, ok := errors.AsType[*commit.RollbackConflict](err)
			if moved := tt.name == "making the move durable"; ok == moved || ok && (len(c.Paths) != 1 || c.Paths[0].Path != "a") {
				t.Errorf("again: %v", err)
			}
			if list, err := commit.Conflicts(bg, options(fsys)); err != nil || len(list) != 1 || list[0].Status != backup.LeftoverInterrupted {
				t.Errorf("kept: %+v, %v", list, err)
			}
		})
	}
}
