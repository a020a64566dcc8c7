package hostile_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/raise"
)

// countUp adds a plus to the first line of a.txt. After n runs, there are n.
func countUp(t *testing.T) millrace.Pipeline {
	t.Helper()
	return decoded(t, act("regex_transform", obj{"files": []string{"a.txt"}, "patterns": []obj{{"pattern": `\A`, "replacement": "+"}}}))
}

// eachShared is eachCommitting with a file system that several runs can share: a MemMapFs must be raised once for that,
// as documented at fsutil.Raise.
func eachShared(t *testing.T, test func(t *testing.T, b *backend)) {
	t.Helper()
	eachCommitting(t, func(t *testing.T, b *backend) {
		if b.name == "memory" {
			shared, err := raise.FS(b.fs)
			if err != nil {
				t.Fatal(err)
			}
			b.fs = shared
		}
		test(t, b)
	})
}

// All runs wait for each other, and each sees the result of the previous one.
func TestHostile_many_executors_in_one_process(t *testing.T) {
	t.Parallel()
	eachShared(t, func(t *testing.T, b *backend) {
		const workers, rounds = 4, 5
		p := countUp(t)
		var wg sync.WaitGroup
		within(t, patience, func(ctx context.Context) {
			for range workers {
				wg.Go(func() {
					for range rounds {
						x := host()
						x.State.LockWait = patience
						if _, err := x.Run(ctx, b.fs, p); err != nil {
							t.Error(err)
						}
					}
				})
			}
			wg.Wait()
		})
		if got, want := b.content(t, "a.txt"), strings.Repeat("+", workers*rounds)+"alpha needle\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// A run that does not get the lock in time reports that, and has changed nothing.
func TestHostile_locked_by_another_executor(t *testing.T) {
	t.Parallel()
	eachShared(t, func(t *testing.T, b *backend) {
		p := countUp(t)
		x := host()
		tried := false
		x.Observe = func(e millrace.Event) {
			if _, ok := e.(millrace.StepStarted); !ok {
				return
			}
			tried = true
			impatient := host()
			impatient.State.LockWait = 30 * time.Millisecond
			if _, err := impatient.Run(t.Context(), b.fs, p); !errors.Is(err, capability.ErrLocked) {
				t.Errorf("want ErrLocked, got %v", err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
			defer cancel()
			if _, err := host().Run(ctx, b.fs, p); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("want an exceeded deadline, got %v", err)
			}
			if got := b.content(t, "a.txt"); got != "alpha needle\n" {
				t.Errorf("a.txt is %q", got)
			}
		}
		if _, err := x.Run(t.Context(), b.fs, p); err != nil || !tried {
			t.Errorf("tried: %v, %v", tried, err)
		}
		if got := b.content(t, "a.txt"); got != "+alpha needle\n" {
			t.Errorf("a.txt is %q", got)
		}
	})
}

// eachOfProcesses is eachCommitting for trees that processes can share.
func eachOfProcesses(t *testing.T, test func(t *testing.T, b *backend)) {
	t.Helper()
	eachCommitting(t, func(t *testing.T, b *backend) {
		if b.dir == "" {
			t.Skip("memory: processes do not share it")
		}
		test(t, b)
	})
}

// The second process waits, or gives up in time; then it sees the result of the first.
func TestHostile_two_processes(t *testing.T) {
	t.Parallel()
	eachOfProcesses(t, func(t *testing.T, b *backend) {
		h := startHolder(t, b, "step")
		impatient := host()
		impatient.State.LockWait = 30 * time.Millisecond
		if _, err := impatient.Run(t.Context(), b.fs, countUp(t)); !errors.Is(err, capability.ErrLocked) {
			t.Errorf("want ErrLocked, got %v", err)
		}
		if got := b.content(t, "a.txt"); got != "alpha needle\n" {
			t.Errorf("a.txt is %q", got)
		}
		done := make(chan error, 1)
		p := countUp(t)
		go func() {
			x := host()
			x.State.LockWait = patience
			_, err := x.Run(context.Background(), b.fs, p)
			done <- err
		}()
		h.release(t)
		within(t, patience, func(context.Context) {
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
		if got := b.content(t, "a.txt"); got != "++alpha needle\n" {
			t.Errorf("a.txt is %q, want the changes of both processes", got)
		}
	})
}

// The holder is killed, before and in the middle of its commit. Its lock is free at once, and its partial changes are
// undone.
func TestHostile_holder_killed(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"step", "stage", "journal", "apply", "sync", "commit"} {
		t.Run(at, func(t *testing.T) {
			eachOfProcesses(t, func(t *testing.T, b *backend) {
				before := b.snapshot(t)
				h := startHolder(t, b, at)
				h.kill(t)
				x := host()
				x.State.LockWait = patience
				within(t, patience, func(ctx context.Context) {
					rec, err := x.Recover(ctx, b.fs)
					if err != nil {
						t.Error(err)
						return
					}
					if applied := at == "apply" || at == "sync" || at == "commit"; applied && len(rec.RolledBack) != 1 {
						t.Errorf("recovered %+v", rec)
					}
					b.same(t, before, b.snapshot(t))
					if _, err := x.Run(ctx, b.fs, countUp(t)); err != nil {
						t.Error(err)
					}
				})
				if got := b.content(t, "a.txt"); got != "+alpha needle\n" {
					t.Errorf("a.txt is %q", got)
				}
			})
		})
	}
}

// A user removes the lock while it is held, or replaces it. On file systems that use a lock of the system, the
// directory itself is locked, so the user has no lock file to remove.
func TestHostile_lock_deleted_by_hand(t *testing.T) {
	t.Parallel()
	other := `{"host": "elsewhere", "pid": 1, "token": "another"}`
	for _, phase := range []string{"verify", "stage", "backup", "apply", "sync"} {
		for what, take := range map[string]func(b *backend) error{
			"removed": func(b *backend) error { return os.RemoveAll(b.path(".millrace/lock")) },
			"renamed": func(b *backend) error { return os.Rename(b.path(".millrace/lock"), b.path("gone")) },
			"replaced": func(b *backend) error {
				return errors.Join(os.RemoveAll(b.path(".millrace/lock")), os.Mkdir(b.path(".millrace/lock"), 0o700),
					os.WriteFile(b.path(".millrace/lock/owner"), []byte(other), 0o600))
			},
		} {
			t.Run(phase+"/"+what, func(t *testing.T) {
				t.Parallel()
				b := newBackend(t, "plain")
				before := b.snapshot(t)
				x := host()
				x.Observe = func(e millrace.Event) {
					if p, ok := e.(millrace.CommitPhase); ok && p.Phase == phase {
						if err := take(b); err != nil {
							t.Error(err)
						}
					}
				}
				res, err := b.runOn(t, x, editFile("a.txt", "needle", "pin"), editFile("b.txt", "needle", "pin", id("b")))
				if _, ok := errors.AsType[*millrace.CommitError](err); !ok || !errors.Is(err, commit.ErrLockLost) {
					t.Errorf("want a *CommitError for ErrLockLost, got %T: %v", err, err)
				}
				if res == nil || res.Success {
					t.Errorf("result is %v", res)
				}
				after := b.snapshot(t)
				for name := range after { // the rest of the lock belongs to another program
					if strings.HasPrefix(name, ".millrace") || strings.HasPrefix(name, "gone") {
						delete(after, name)
					}
				}
				b.same(t, before, after)
			})
		}
	}
}
