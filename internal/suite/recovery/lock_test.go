package recovery_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/millrace-go/millrace/internal/suite"
)

// TestExecutorsWaitForEachOther: concurrent runs that count in one file end with the exact sum.
func TestExecutorsWaitForEachOther(t *testing.T) {
	const runs, each = 4, 10
	for name, open := range suite.Backends() {
		t.Run(name, func(t *testing.T) {
			fsys := open(t)
			if err := afero.WriteFile(fsys, "n.txt", []byte("end\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			var wg sync.WaitGroup
			for range runs {
				wg.Go(func() {
					for range each {
						if _, err := (millrace.Executor{State: millrace.State{NoSync: true}}).Run(t.Context(), fsys, suite.Count()); err != nil {
							t.Error(err)
						}
					}
				})
			}
			wg.Wait()
			if got := strings.Count(suite.Read(t, fsys, "n.txt"), "x"); got != runs*each {
				t.Errorf("counted %d, want %d", got, runs*each)
			}
		})
	}
}

func TestLockWait(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "n.txt"), []byte("end\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := rootfs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	locker, ok := afero.Fs(root).(capability.Locker)
	if !ok {
		t.Skip("a RootFs has no lock of its own on this system")
	}
	lock, err := locker.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	x := millrace.Executor{State: millrace.State{LockWait: 10 * time.Millisecond}}
	if _, err := x.Run(t.Context(), root, suite.Count()); !errors.Is(err, capability.ErrLocked) {
		t.Errorf("while another process holds the lock: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := x.Run(ctx, root, suite.Count()); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled while waiting: %v", err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := x.Run(t.Context(), root, suite.Count()); err != nil {
		t.Errorf("after the lock was released: %v", err)
	}
}

// TestLockWait_withoutEnd: a negative time waits until the lock is free or the context ends.
func TestLockWait_withoutEnd(t *testing.T) {
	t.Parallel()
	fsys := afero.NewMemMapFs()
	root, err := fsutil.Raise(fsys)
	if err == nil {
		err = afero.WriteFile(root, "n.txt", []byte("end\n"), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	lock, err := root.(capability.Locker).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	x := millrace.Executor{State: millrace.State{LockWait: -1}}
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := x.Run(short, root, suite.Count()); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, capability.ErrLocked) {
		t.Errorf("when the context ends: %v", err)
	}
	done := make(chan error)
	go func() {
		_, err := x.Run(t.Context(), root, suite.Count())
		done <- err
	}()
	if err := lock.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Errorf("after the lock was released: %v", err)
	}
}
