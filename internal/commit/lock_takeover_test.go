package commit_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/commit"
)

// deadOwner returns the content of a lock whose process is gone.
func deadOwner(t *testing.T) string {
	t.Helper()
	host, err := os.Hostname()
	if err != nil {
		t.Skip(err)
	}
	dead := exec.Command(os.Args[0], "-test.run=^$")
	if err := dead.Run(); err != nil {
		t.Skip(err)
	}
	return fmt.Sprintf(`{"host":%q,"pid":%d,"token":"dead"}`, host, dead.Process.Pid)
}

const livingOwner = `{"host":"elsewhere","pid":1,"token":"living"}`

// plantLock makes the lock of another program.
func plantLock(fsys afero.Fs, owner string) error {
	lock := stateDir + "/lock"
	return errors.Join(fsys.RemoveAll(lock), fsys.MkdirAll(lock, 0o700), afero.WriteFile(fsys, lock+"/owner", []byte(owner), 0o600))
}

// TestLock_takeOver has another program intervene while an abandoned lock is being taken over.
func TestLock_takeOver(t *testing.T) {
	t.Parallel()
	dead := deadOwner(t)
	aside := func(name string) bool { return strings.HasPrefix(path.Base(name), "lock-") }
	tests := []struct {
		name string
		// when selects an operation, the first that matches; then is called at that operation.
		when  func(op, name string) bool
		then  func(fsys afero.Fs) error
		err   error  // of the operation; nil for the error of then
		want  error  // of Lock; nil if it is taken
		owner string // in the lock afterwards
	}{
		{"another process takes over", func(op, name string) bool { return op == "rename" && aside(name) },
			func(f afero.Fs) error { return plantLock(f, livingOwner) }, nil, capability.ErrLocked, livingOwner},
		{"another process has taken over and is done", func(op, name string) bool { return op == "rename" && aside(name) },
			func(f afero.Fs) error { return f.RemoveAll(stateDir + "/lock") }, nil, nil, ""},
		{"it cannot be moved", func(op, name string) bool { return op == "rename" && aside(name) },
			nil, syscall.EIO, syscall.EIO, dead},
		{"it cannot be looked at again", func(op, name string) bool { return op == "open" && aside(path.Dir(name)) },
			nil, syscall.EIO, syscall.EIO, dead},
		{"it cannot be looked at", func(op, name string) bool { return op == "open" && name == stateDir+"/lock/owner" },
			nil, syscall.EIO, syscall.EIO, dead},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			fsys := backends()["plain"](t)
			if err := plantLock(fsys, dead); err != nil {
				t.Fatal(err)
			}
			met := false
			h := &hooks{before: func(_ int, op string, _ bool, name string) error {
				if met || !tt.when(op, name) {
					return nil
				}
				met = true
				if tt.then != nil {
					return tt.then(fsys)
				}
				return tt.err
			}}
			wait := 10 * time.Second
			if tt.want != nil {
				wait = 30 * time.Millisecond
			}
			ctx, cancel := context.WithTimeout(bg, wait)
			defer cancel()
			l, err := commit.Lock(ctx, options(withHooks(fsys, h)))
			if !met || !errors.Is(err, tt.want) {
				t.Fatalf("met %v, error is %v", met, err)
			}
			names, _ := afero.ReadDir(fsys, stateDir)
			for _, n := range names {
				if aside(n.Name()) {
					t.Errorf("%s is left", n.Name())
				}
			}
			if tt.want == nil {
				if err := l.Close(); err != nil {
					t.Error(err)
				}
				return
			}
			if data, _ := afero.ReadFile(fsys, stateDir+"/lock/owner"); string(data) != tt.owner {
				t.Errorf("the lock has %q, want %q", data, tt.owner)
			}
		})
	}
}

// TestLock_unsigned finds a mark without an owner. It belongs to a living process with an owner file next to it, or to
// none.
func TestLock_unsigned(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, beside string
		taken        bool
	}{
		{"nobody", "", true},
		{"the dead", deadOwner(t), true},
		{"an owner torn by a power cut", `{"host":`, true},
		{"the living", livingOwner, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			fsys := backends()["plain"](t)
			if err := fsys.MkdirAll(stateDir+"/lock", 0o700); err != nil {
				t.Fatal(err)
			}
			if tt.beside != "" {
				if err := afero.WriteFile(fsys, stateDir+"/lock-x.owner", []byte(tt.beside), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			wait := 30 * time.Millisecond
			if tt.taken {
				wait = 10 * time.Second
			}
			ctx, cancel := context.WithTimeout(bg, wait)
			defer cancel()
			l, err := commit.Lock(ctx, options(fsys))
			if !tt.taken {
				if !errors.Is(err, capability.ErrLocked) || !strings.Contains(err.Error(), "remove "+stateDir+"/lock") {
					t.Errorf("error is %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := l.Close(); err != nil {
				t.Error(err)
			}
			if ok, _ := afero.Exists(fsys, stateDir); ok {
				t.Error("state directory is left")
			}
		})
	}
}

// TestLock_crowd has another program make or remove the state directory while it is being made. That must not cause a
// failure.
func TestLock_crowd(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		op   string
		path string
		nth  int // of those operations
		then func(fsys afero.Fs) error
	}{
		{"it was made", "mkdir", stateDir, 1, func(f afero.Fs) error { return f.Mkdir(stateDir, 0o700) }},
		{"it was removed again", "lstat", stateDir, 2, func(f afero.Fs) error { return f.RemoveAll(stateDir) }},
		{"another process writes .gitignore", "open", stateDir + "/.gitignore", 1, func(f afero.Fs) error {
			return afero.WriteFile(f, stateDir+"/.gitignore", []byte("*\n"), 0o600)
		}},
		{"it was removed before the lock", "mkdir", stateDir + "/lock", 1, func(f afero.Fs) error { return f.RemoveAll(stateDir) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			fsys := backends()["plain"](t)
			n := 0
			h := &hooks{before: func(_ int, op string, _ bool, name string) error {
				if op == tt.op && name == tt.path {
					if n++; n == tt.nth {
						return tt.then(fsys)
					}
				}
				return nil
			}}
			ctx, cancel := context.WithTimeout(bg, 10*time.Second)
			defer cancel()
			l, err := commit.Lock(ctx, options(withHooks(fsys, h)))
			if err != nil || n < tt.nth {
				t.Fatalf("after %d operations: %v", n, err)
			}
			if data, _ := afero.ReadFile(fsys, stateDir+"/.gitignore"); string(data) != "*\n" {
				t.Errorf(".gitignore is %q", data)
			}
			if err := l.Close(); err != nil {
				t.Error(err)
			}
			if ok, _ := afero.Exists(fsys, stateDir); ok {
				t.Error("state directory is left")
			}
		})
	}
}
