package rootfs_test

import (
	"context"
	"errors"
	"io/fs"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/names"
)

// TestRootFs_LockFile has two roots of one directory, like two processes.
func TestRootFs_LockFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	one, two := fstest.OpenRoot(t, dir), fstest.OpenRoot(t, dir)
	a, ok := afero.Fs(one).(capability.FileLocker)
	if !ok {
		t.Skip("not on this system")
	}
	b := afero.Fs(two).(capability.FileLocker)
	fstest.Write(t, one, "f", "text")
	fstest.Write(t, one, "g", "text")
	done, cancel := context.WithCancel(t.Context())
	cancel()

	held, err := a.LockFile(done, "f")
	if err != nil {
		t.Fatalf("a free lock with a context that has ended: %v", err)
	}
	for _, l := range []capability.FileLocker{a, b} {
		if _, err := l.LockFile(done, "f"); !errors.Is(err, capability.ErrLocked) {
			t.Errorf("a second lock: %v", err)
		}
		if _, err := l.TryLockFile("f"); !errors.Is(err, capability.ErrLocked) {
			t.Errorf("a check of a locked file: %v", err)
		}
	}
	other, err := b.LockFile(done, "g")
	if err != nil {
		t.Errorf("another file: %v", err)
	} else if err := other.Close(); err != nil {
		t.Error(err)
	}
	// The lock keeps out only callers that request it.
	fstest.Write(t, two, "f", "more")
	if got := fstest.Read(t, two, "f"); got != "more" {
		t.Errorf("f has %q", got)
	}
	for range 2 { // a second Close does nothing
		if err := held.Close(); err != nil {
			t.Error(err)
		}
	}

	first, err := a.TryLockFile("f")
	if err != nil {
		t.Fatal(err)
	}
	second, err := b.TryLockFile("f")
	if err != nil {
		t.Fatalf("two checks at the same time: %v", err)
	}
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := a.LockFile(short, "f"); !errors.Is(err, capability.ErrLocked) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("during other checks: %v", err)
	}
	if err := errors.Join(first.Close(), second.Close()); err != nil {
		t.Error(err)
	}
	if third, err := a.LockFile(done, "f"); err != nil {
		t.Errorf("after the checks: %v", err)
	} else if err := third.Close(); err != nil {
		t.Error(err)
	}
}

// TestRootFs_LockFile_refused: only a regular file is locked, and never through a link.
func TestRootFs_LockFile_refused(t *testing.T) {
	t.Parallel()
	root := fstest.OpenRoot(t, t.TempDir())
	a, ok := afero.Fs(root).(capability.FileLocker)
	if !ok {
		t.Skip("not on this system")
	}
	fstest.Write(t, root, "f", "text")
	fstest.Must(t, root.Mkdir("d", 0o755))
	if err := root.SymlinkIfPossible("f", "link"); err != nil {
		t.Skip(err)
	}
	for name, want := range map[string]error{
		"missing": fs.ErrNotExist, "d": names.ErrNotRegular, "link": names.ErrNotRegular, "../f": names.ErrEscape,
	} {
		if _, err := a.LockFile(t.Context(), name); !errors.Is(err, want) {
			t.Errorf("LockFile of %s: %v", name, err)
		}
		if _, err := a.TryLockFile(name); !errors.Is(err, want) {
			t.Errorf("TryLockFile of %s: %v", name, err)
		}
	}
	fstest.Must(t, root.Chmod("f", 0o400))
	if held, err := a.LockFile(t.Context(), "f"); err != nil {
		t.Errorf("a read-only file: %v", err)
	} else if err := held.Close(); err != nil {
		t.Error(err)
	}
}
