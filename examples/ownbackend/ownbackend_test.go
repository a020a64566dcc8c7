package ownbackend_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/examples/ownbackend"
	"github.com/millrace-go/millrace/millracetest"
)

func open(t testing.TB, file string) *ownbackend.FS {
	t.Helper()
	fsys, err := ownbackend.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fsys.Close() })
	return fsys
}

// The file system keeps the contract, and every kind of change works on it.
func TestBackend(t *testing.T) {
	row := millracetest.Backend(t, func(t testing.TB, tree string) afero.Fs {
		t.Helper()
		fsys := open(t, filepath.Join(t.TempDir(), "files.db"))
		millracetest.Plant(t, fsys, tree)
		return fsys
	})
	const want = "| ownbackend | yes | yes | yes | yes | yes | yes | yes | yes | yes | power_loss |\n"
	if got := row.String(); got != want {
		t.Errorf("row %swant %s", got, want)
	}
}

// A commit and its backup outlive the process.
func TestFS_opened_again(t *testing.T) {
	const before, after = "-- a.txt --\nold\n-- d/b.txt --\nold\n", "-- a.txt --\nnew\n-- d/ --\n-- e/b.txt --\nnew\n"
	file := filepath.Join(t.TempDir(), "files.db")
	first := open(t, file)
	millracetest.Plant(t, first, before)
	p := millrace.New("p").
		Step("edit", actions.Edit{Files: []string{"a.txt", "d/b.txt"}, OldText: "old", NewText: "new"}).
		Step("move", actions.Rename{Files: []string{"d/b.txt"}, To: "e/b.txt"}).MustBuild()
	res, err := millrace.Run(t.Context(), first, p)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second := open(t, file)
	millracetest.Equal(t, second, after)
	if _, err := (millrace.Executor{}).Restore(t.Context(), second, res.BackupID); err != nil {
		t.Fatal(err)
	}
	millracetest.Equal(t, second, before)
}

// The lock has one holder at a time. A second close of the lock has no effect on the next holder.
func TestFS_Lock(t *testing.T) {
	fsys := open(t, filepath.Join(t.TempDir(), "files.db"))
	ended, end := context.WithCancel(t.Context())
	end()
	first, err := fsys.Lock(ended)
	if err != nil {
		t.Fatalf("a free lock: %v", err)
	}
	if _, err := fsys.Lock(ended); !errors.Is(err, capability.ErrLocked) {
		t.Errorf("a held lock: %v", err)
	}
	first.Close()
	second, err := fsys.Lock(ended)
	if err != nil {
		t.Fatal(err)
	}
	first.Close()
	if _, err := fsys.Lock(ended); !errors.Is(err, capability.ErrLocked) {
		t.Errorf("the lock of the next holder: %v", err)
	}
	second.Close()
}

// A database that another process has open, or a file that is not a database, is refused.
func TestOpen_refused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "files.db")
	if err := os.WriteFile(file, []byte(strings.Repeat("not a database\n", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ownbackend.Open(file); err == nil {
		t.Error("a text file was opened")
	}
}
