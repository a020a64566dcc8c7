package commit_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/rootfs"
)

// hiding returns a file system of the operating system that exposes no handles.
func hiding(root afero.Fs) afero.Fs { return errorfs.Wrap(errorfs.Plain(root), nil) }

// kinds returns file systems that access one directory in different ways.
func kinds(t *testing.T, dir string) map[string]afero.Fs {
	t.Helper()
	root, err := rootfs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return map[string]afero.Fs{"root": root, "plain": errorfs.Plain(root), "hiding": hiding(root)}
}

func tryLock(t *testing.T, fsys afero.Fs, wait time.Duration) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(bg, wait)
	defer cancel()
	l, err := commit.Lock(ctx, options(fsys))
	if err == nil {
		err = l.Close()
	}
	return err
}

// TestLock_kinds has each kind of file system hold the lock of a directory while another tries to get it.
func TestLock_kinds(t *testing.T) {
	t.Parallel()
	for _, holder := range []string{"root", "plain", "hiding"} {
		for _, other := range []string{"root", "plain", "hiding"} {
			t.Run(holder+"/"+other, func(t *testing.T) {
				t.Parallel()
				dir := fstest.TempDir(t)
				first, second := kinds(t, dir)[holder], kinds(t, dir)[other]
				if _, ok := first.(capability.Locker); !ok && holder == "root" {
					t.Skip("a RootFs locks as a plain file system does on " + runtime.GOOS)
				}
				held, err := commit.Lock(bg, options(first))
				if err != nil {
					t.Fatal(err)
				}
				err = tryLock(t, second, 30*time.Millisecond)
				if holder == "root" && other == "hiding" {
					if err != nil {
						t.Errorf("a lock of the system is seen without a handle: %v. The documentation must then mention it", err)
					}
				} else if !errors.Is(err, capability.ErrLocked) {
					t.Errorf("error is %v", err)
				}
				if err := held.Close(); err != nil {
					t.Fatal(err)
				}
				if err := tryLock(t, second, 10*time.Second); err != nil {
					t.Errorf("when it is free: %v", err)
				}
				if names, err := os.ReadDir(dir); err != nil || len(names) > 0 {
					t.Errorf("left over: %v, %v", names, err)
				}
			})
		}
	}
}

// TestLock_foreignMark: a file system with its own lock does not wait for a mark that came with the tree.
func TestLock_foreignMark(t *testing.T) {
	t.Parallel()
	for what, owner := range map[string]string{"another machine": livingOwner, "nobody": "", "half of one": `{"pid":`} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			for name, make := range map[string]func(t testing.TB) afero.Fs{"root": rootFs, "memory": backends()["memory"]} {
				fsys := make(t)
				if _, ok := fsys.(capability.Locker); !ok {
					t.Skipf("%s has no lock of its own on %s", name, runtime.GOOS)
				}
				if err := plantLock(fsys, owner); err != nil {
					t.Fatal(err)
				}
				if err := tryLock(t, fsys, 10*time.Second); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
}

// TestLock_file: if directories cannot be locked, a file in the state directory is locked. It works for all kinds of
// state directories, but a link that another program made in its place is refused.
func TestLock_file(t *testing.T) {
	t.Parallel()
	dir := fstest.TempDir(t)
	root, err := rootfs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	fsys := unlockable(root)
	o := options(fsys)
	o.StateDir = "own/state"
	held, err := commit.Lock(bg, o)
	if errors.Is(err, errNoSuchHandle) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(filepath.Join(dir, "own/state/lockfile")); err != nil || !info.Mode().IsRegular() {
		t.Errorf("the file is %v, %v", info, err)
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) != 1 {
		t.Errorf("the tree has %v, %v", names, err)
	}
	// The mark alone does not stop a process that is sure that no process has locked the file.
	if err := os.RemoveAll(filepath.Join(dir, "own/state/lock")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(bg, 30*time.Millisecond)
	defer cancel()
	if _, err := commit.Lock(ctx, o); !errors.Is(err, capability.ErrLocked) || !strings.Contains(err.Error(), "lockfile") {
		t.Errorf("while the file is locked: %v", err)
	}
	if err := held.Close(); !errors.Is(err, commit.ErrLockLost) {
		t.Errorf("the mark was removed: %v", err)
	}

	outside := filepath.Join(fstest.TempDir(t), "made")
	planted := filepath.Join(dir, "own/state/lockfile")
	if err := errors.Join(os.Remove(planted), os.Symlink(outside, planted)); err != nil {
		t.Skip(err)
	}
	if _, err := commit.Lock(bg, o); !errors.Is(err, commit.ErrControlDir) {
		t.Errorf("a link for the file: %v", err)
	}
	if _, err := os.Lstat(outside); err == nil {
		t.Error("made at the target of the link")
	}
}
