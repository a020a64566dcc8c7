package filelock_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/filelock"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/rootfs"
)

// kinds opens the same directory with a file system that locks files, a file system that provides handles, and a file
// system with neither.
func kinds(t *testing.T, dir string) map[string]afero.Fs {
	t.Helper()
	open := func() *rootfs.FS { return fstest.OpenRoot(t, dir) }
	return map[string]afero.Fs{
		"root": open(), "plain": errorfs.Plain(open()), "hiding": errorfs.Wrap(errorfs.Plain(open()), nil),
	}
}

func try(fsys afero.Fs, name string, wait time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	l, err := filelock.File(ctx, disk.Open(fsys), name)
	if err == nil {
		err = l.Close()
	}
	return err
}

// TestFile has each kind of file system hold the lock of a file while another requests it, and the lock of another
// file.
func TestFile(t *testing.T) {
	t.Parallel()
	for _, holder := range []string{"root", "plain", "hiding"} {
		for _, other := range []string{"root", "plain", "hiding"} {
			t.Run(holder+"/"+other, func(t *testing.T) {
				t.Parallel()
				dir := fstest.TempDir(t)
				first, second := kinds(t, dir)[holder], kinds(t, dir)[other]
				if _, ok := first.(capability.FileLocker); !ok && holder == "root" {
					t.Skip("a RootFs locks no files on this system")
				}
				fstest.Write(t, first, "run", "text")
				fstest.Write(t, first, "more", "text")
				held, err := filelock.File(t.Context(), disk.Open(first), "run")
				if err != nil {
					t.Fatal(err)
				}
				err = try(second, "run", 30*time.Millisecond)
				if holder == "root" && other == "hiding" {
					if err != nil {
						t.Errorf("a lock of the system is seen without a handle: %v", err)
					}
				} else if !errors.Is(err, capability.ErrLocked) {
					t.Errorf("error is %v", err)
				}
				if err := try(second, "more", 10*time.Second); err != nil {
					t.Errorf("another file: %v", err)
				}
				for range 2 {
					if err := held.Close(); err != nil {
						t.Fatal(err)
					}
				}
				if err := try(second, "run", 10*time.Second); err != nil {
					t.Errorf("when it is free: %v", err)
				}
				if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
					t.Errorf("left over: %v, %v", left, err)
				}
			})
		}
	}
}

// TestFile_refused: only a regular file is locked.
func TestFile_refused(t *testing.T) {
	t.Parallel()
	dir := fstest.TempDir(t)
	for kind, fsys := range kinds(t, dir) {
		d := kind + "-d"
		fstest.Must(t, fsys.Mkdir(d, 0o755))
		for name, want := range map[string]error{"missing": fs.ErrNotExist, d: names.ErrNotRegular} {
			if err := try(fsys, name, 10*time.Second); !errors.Is(err, want) {
				t.Errorf("%s: %s: %v", kind, name, err)
			}
		}
	}
}

// TestFile_owner: a mark identifies its owner by everything that distinguishes processes, and the mark of a dead
// process is taken over.
func TestFile_owner(t *testing.T) {
	t.Parallel()
	dir := fstest.TempDir(t)
	fsys := kinds(t, dir)["hiding"]
	fstest.Write(t, fsys, "run", "text")
	host, err := os.Hostname()
	fstest.Must(t, err)
	dead := exec.Command(os.Args[0], "-test.run=^$")
	fstest.Must(t, dead.Run())
	for _, tt := range []struct {
		name, owner string
		taken       bool
	}{
		{"a dead process", fmt.Sprintf(`{"host":%q,"pid":%d,"token":"x"}`, host, dead.Process.Pid), true},
		{"a living process", fmt.Sprintf(`{"host":%q,"pid":%d,"token":"x"}`, host, os.Getppid()), false},
		{"a process elsewhere", fmt.Sprintf(`{"host":"not-%s","pid":%d,"token":"x"}`, host, dead.Process.Pid), false},
		{"nothing", "", true},
	} {
		fstest.Must(t, fsys.RemoveAll("run.lock"))
		fstest.Must(t, fsys.Mkdir("run.lock", 0o700))
		fstest.Must(t, afero.WriteFile(fsys, "run.lock/owner", []byte(tt.owner), 0o600))
		wait := 30 * time.Millisecond
		if tt.taken {
			wait = 10 * time.Second
		}
		if err := try(fsys, "run", wait); tt.taken != (err == nil) || err != nil && !errors.Is(err, capability.ErrLocked) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	fstest.Must(t, fsys.RemoveAll("run.lock"))
	held, err := filelock.File(t.Context(), disk.Open(fsys), "run")
	fstest.Must(t, err)
	names, err := afero.Glob(fsys, "run.lock/owner-*")
	if err != nil || len(names) != 1 {
		t.Fatalf("the files with an owner are %q, %v", names, err)
	}
	said, err := afero.ReadFile(fsys, names[0])
	if err != nil || !strings.Contains(string(said), `"token":`) || !strings.Contains(string(said), fmt.Sprintf(`"pid":%d`, os.Getpid())) {
		t.Errorf("the owner is %s, %v", said, err)
	}
	fstest.Must(t, fsys.RemoveAll("run.lock"))
	if err := held.Close(); !errors.Is(err, filelock.ErrLost) {
		t.Errorf("after the mark was removed: %v", err)
	}
}
