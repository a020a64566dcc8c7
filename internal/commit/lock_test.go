package commit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/millrace-go/millrace/internal/stage"
)

func TestLock(t *testing.T) {
	t.Parallel()
	for name, make := range backends() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fsys := make(t)
			plant(t, fsys, "a=1")
			changes := staged(t, fsys, write("a", "A"))
			held, err := commit.Lock(bg, options(fsys))
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(bg, 20*time.Millisecond)
			defer cancel()
			_, err = commit.Apply(ctx, options(fsys), changes)
			if !errors.Is(err, capability.ErrLocked) {
				t.Errorf("while it is held: %v", err)
			}
			o := options(fsys)
			o.Lock = held
			o.DropBackup = true
			if _, err := commit.Apply(bg, o, changes); err != nil {
				t.Errorf("by the holder: %v", err)
			}
			for range 2 {
				if err := held.Close(); err != nil {
					t.Error(err)
				}
			}
			if ok, _ := afero.Exists(fsys, stateDir); ok {
				t.Error("state directory is left")
			}
		})
	}
}

// TestLock_many increments a counter in one file, each time under the lock.
func TestLock_many(t *testing.T) {
	t.Parallel()
	for name, make := range backends() {
		if name == "rawmem" {
			continue // it is not safe for concurrent use
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fsys := make(t)
			plant(t, fsys, "n")
			const workers, rounds = 4, 10
			var wg sync.WaitGroup
			for range workers {
				wg.Go(func() {
					for range rounds {
						if err := countUp(fsys); err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
			if data, _ := afero.ReadFile(fsys, "n"); len(data) != 1+workers*rounds {
				t.Errorf("%d of %d were counted", len(data)-1, workers*rounds)
			}
		})
	}
}

func countUp(fsys afero.Fs) (err error) {
	o := options(fsys)
	if o.Lock, err = commit.Lock(bg, o); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.Lock.Close()) }()
	s := stage.New(fsys)
	defer s.Close()
	data, err := afero.ReadFile(s, "n")
	if err != nil {
		return err
	}
	if err := afero.WriteFile(s, "n", append(data, '+'), 0o644); err != nil {
		return err
	}
	changes, err := s.Changes()
	if err != nil {
		return err
	}
	o.DropBackup = true
	_, err = commit.Apply(bg, o, changes)
	return err
}

// TestLock_stale finds lock files of other processes, on a file system without locks.
func TestLock_stale(t *testing.T) {
	t.Parallel()
	host, err := os.Hostname()
	if err != nil {
		t.Skip(err)
	}
	dead := exec.Command(os.Args[0], "-test.run=^$")
	if err := dead.Run(); err != nil {
		t.Skip(err)
	}
	tests := []struct {
		name, content string
		taken         bool
	}{
		{"dead process", fmt.Sprintf(`{"host":%q,"pid":%d,"token":"x"}`, host, dead.Process.Pid), true},
		{"living process", fmt.Sprintf(`{"host":%q,"pid":%d,"token":"x"}`, host, os.Getppid()), false},
		{"other host", fmt.Sprintf(`{"host":"not-%s","pid":%d,"token":"x"}`, host, dead.Process.Pid), false},
		{"torn by a power cut", `{"host":`, true},
		{"own number, of a process before", fmt.Sprintf(`{"host":%q,"pid":%d,"token":"x","process":"another"}`, host, os.Getpid()), true},
		{"machine started again", fmt.Sprintf(`{"host":%q,"pid":%d,"token":"x","boot":"another"}`, host, os.Getppid()), runtime.GOOS == "linux"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			fsys := backends()["plain"](t)
			if err := errors.Join(fsys.Mkdir(stateDir, 0o700), fsys.Mkdir(stateDir+"/lock", 0o700), afero.WriteFile(fsys, stateDir+"/lock/owner", []byte(tt.content), 0o600)); err != nil {
				t.Fatal(err)
			}
			wait := 30 * time.Millisecond
			if tt.taken {
				wait = 10 * time.Second
			}
			ctx, cancel := context.WithTimeout(bg, wait)
			defer cancel()
			l, err := commit.Lock(ctx, options(fsys))
			if tt.taken != (err == nil) || err != nil && !errors.Is(err, capability.ErrLocked) {
				t.Fatalf("error is %v", err)
			}
			if l != nil {
				if err := l.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// ownerFile returns the file that names the holder of the lock.
func ownerFile(t testing.TB, fsys afero.Fs) string {
	t.Helper()
	names, err := afero.Glob(fsys, stateDir+"/lock/owner-*")
	if err != nil || len(names) != 1 {
		t.Fatalf("files with an owner: %q, %v", names, err)
	}
	return names[0]
}

// TestLock_lost removes the lock file, which must be noticed before the commit.
func TestLock_lost(t *testing.T) {
	t.Parallel()
	fsys := backends()["plain"](t)
	plant(t, fsys, "a=1")
	o := options(fsys)
	o.Observe = func(phase string) {
		if phase == "apply" {
			data, _ := json.Marshal(map[string]any{"host": "x", "pid": 1, "token": "another"})
			if err := afero.WriteFile(fsys, ownerFile(t, fsys), data, 0o600); err != nil {
				t.Error(err)
			}
		}
	}
	rep, err := commit.Apply(bg, o, staged(t, fsys, write("a", "A")))
	if !errors.Is(err, commit.ErrLockLost) || !rep.RolledBack {
		t.Errorf("%+v, %v", rep, err)
	}
	if data, _ := afero.ReadFile(fsys, "a"); string(data) != "a1" {
		t.Errorf("a is %q", data)
	}
}

// TestLock_noTree must not wait forever for a directory that cannot be made.
func TestLock_noTree(t *testing.T) {
	t.Parallel()
	dir := fstest.TempDir(t)
	root, err := rootfs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := os.Remove(dir); err != nil {
		t.Skip(err)
	}
	if _, err := commit.Lock(bg, options(errorfs.Plain(root))); err == nil || errors.Is(err, capability.ErrLocked) {
		t.Errorf("error is %v", err)
	}
}
