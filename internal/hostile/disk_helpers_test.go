//go:build linux

package hostile_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"
	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/millrace-go/millrace/internal/stage"
)

// stateName is the directory in a tree for the library's own files.
const stateName = millrace.DefaultStateDir

// longBefore is the time of all planted files, so that no file looks new.
var longBefore = time.Date(2020, 2, 3, 4, 5, 6, 789_000_000, time.UTC)

// alter is an action that changes the stage as a test requires.
type alter struct{ do []func(s *stage.Stage) error }

func (alter) Spec() actions.Spec {
	return actions.Spec{Name: "alter", Summary: "does what a test wants"}
}

func (a alter) Run(_ context.Context, c *actions.Call) (actions.Outcome, error) {
	for _, do := range a.do {
		if err := do((*stage.Stage)(c.FS)); err != nil {
			return actions.Outcome{}, err
		}
	}
	return actions.Outcome{}, nil
}

// altering is a pipeline of one step without restrictions.
func altering(do ...func(s *stage.Stage) error) millrace.Pipeline {
	return millrace.New("hostile").Options(millrace.Options{Force: true}).Step("s", alter{do}).MustBuild()
}

func put(name, content string) func(*stage.Stage) error {
	return func(s *stage.Stage) error {
		return errors.Join(s.MkdirAll(filepath.Dir(name), 0o755), afero.WriteFile(s, name, []byte(content), 0o644))
	}
}

func drop(name string) func(*stage.Stage) error {
	return func(s *stage.Stage) error { return s.RemoveAll(name) }
}

func move(from, to string) func(*stage.Stage) error {
	return func(s *stage.Stage) error {
		return errors.Join(s.MkdirAll(filepath.Dir(to), 0o755), s.Rename(from, to))
	}
}

func chmodded(name string, m fs.FileMode) func(*stage.Stage) error {
	return func(s *stage.Stage) error { return s.Chmod(name, m) }
}

// openDir returns a real directory as a file system.
func openDir(t testing.TB, dir string) *rootfs.FS {
	t.Helper()
	fsys, err := rootfs.Open(dir)
	must(t, err)
	t.Cleanup(func() { fsys.Close() })
	return fsys
}

func must(t testing.TB, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// plantDir makes files below dir: "path=content", with " -> target" a link, with "/" at the end a directory.
func plantDir(t testing.TB, dir string, specs ...string) {
	t.Helper()
	for _, spec := range specs {
		name, content, _ := strings.Cut(spec, "=")
		name, target, isLink := strings.Cut(name, " -> ")
		full := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(full), 0o755))
		switch {
		case isLink:
			must(t, os.Symlink(target, full))
		case strings.HasSuffix(name, "/"):
			must(t, os.MkdirAll(full, 0o755))
		default:
			must(t, os.WriteFile(full, []byte(content), 0o644), os.Chtimes(full, longBefore, longBefore))
		}
	}
}

// facts are the compared properties of a tree.
type facts uint8

const (
	contents facts = 1 << iota // kind, mode, bytes, target
	times                      // of files
	inodes                     // of files, with their link count, owner and extended attributes
	private                    // also the content of the state directory, else only its existence
	exact    = contents | times | inodes
)

// treeOf describes everything in a directory, one line per path.
func treeOf(t testing.TB, dir string, what facts) map[string]string {
	t.Helper()
	all, own := make(map[string]string), make(map[uint64]uint64)
	seen := make(map[string]*unix.Stat_t)
	err := filepath.WalkDir(dir, func(full string, _ fs.DirEntry, err error) error {
		if err != nil || full == dir {
			return err
		}
		name, err := filepath.Rel(dir, full)
		if err != nil {
			return err
		}
		st := new(unix.Stat_t)
		if err := unix.Lstat(full, st); err != nil {
			return err
		}
		if names.Within(name, stateName) && what&private == 0 {
			own[st.Ino]++
			if name == stateName {
				all[name] = "dir"
			}
			return nil
		}
		seen[name] = st
		all[name], err = describeNode(full, st, what)
		return err
	})
	must(t, err)
	if what&inodes != 0 {
		for name, st := range seen {
			if st.Mode&unix.S_IFMT != unix.S_IFDIR {
				all[name] += fmt.Sprintf(" #%d/%d", st.Ino, uint64(st.Nlink)-own[st.Ino])
			}
		}
	}
	return all
}

func describeNode(full string, st *unix.Stat_t, what facts) (string, error) {
	text := fmt.Sprintf("%o", st.Mode)
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFLNK:
		target, err := os.Readlink(full)
		return "link " + target, err
	case unix.S_IFREG:
		data, err := os.ReadFile(full)
		if err != nil {
			return "", err
		}
		shown := fmt.Sprintf("%.40q", data)
		if len(data) > 40 {
			shown = fmt.Sprintf("%s... %x", shown, sha256.Sum256(data))
		}
		text += " " + shown
		if what&times != 0 {
			text += " " + time.Unix(st.Mtim.Unix()).UTC().Format(time.RFC3339Nano)
		}
	}
	if what&inodes != 0 {
		text += fmt.Sprintf(" %d:%d", st.Uid, st.Gid)
		for _, attr := range attributes(full) {
			text += " " + attr
		}
	}
	return text, nil
}

// attributes returns the extended attributes of a file, in order.
func attributes(full string) []string {
	buf := make([]byte, 1<<12)
	n, err := unix.Llistxattr(full, buf)
	if err != nil {
		return nil // not supported here
	}
	var list []string
	for name := range strings.SplitSeq(strings.TrimSuffix(string(buf[:n]), "\x00"), "\x00") {
		value := make([]byte, 1<<12)
		if m, err := unix.Lgetxattr(full, name, value); err == nil {
			list = append(list, fmt.Sprintf("%s=%x", name, value[:m]))
		}
	}
	slices.Sort(list)
	return list
}

// sameTree fails the test if the directory has changed.
func sameTree(t testing.TB, what, dir string, want map[string]string, compare facts) {
	t.Helper()
	if diff := cmp.Diff(want, treeOf(t, dir, compare)); diff != "" {
		t.Fatalf("%s: the tree differs (-want +got):\n%s", what, diff)
	}
}

// failedAs returns err as a *millrace.CommitError, which must have that state and these causes.
func failedAs(t testing.TB, err error, state millrace.CommitState, causes ...error) *millrace.CommitError {
	t.Helper()
	failed, ok := errors.AsType[*millrace.CommitError](err)
	if !ok || failed.State != state {
		t.Fatalf("error is %T in state %v: %v; want a *CommitError in state %v", err, failed, err, state)
	}
	for _, cause := range causes {
		if !errors.Is(err, cause) {
			t.Fatalf("error %v is not %v", err, cause)
		}
	}
	return failed
}

// needRoot skips a test that needs to change owners or mount something.
func needRoot(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can do this")
	}
}

// mounted mounts something on dir until the end of the test.
func mounted(t testing.TB, source, dir, kind string, flags uintptr, data string) {
	t.Helper()
	needRoot(t)
	if err := unix.Mount(source, dir, kind, flags, data); err != nil {
		t.Skipf("cannot mount %s on %s: %v", kind, dir, err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Errorf("unmount %s: %v", dir, err)
		}
	})
}

// openTemp returns a temporary directory that every user can reach, unlike t.TempDir.
func openTemp(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "millrace-hostile-")
	must(t, err, os.Chmod(dir, 0o755))
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}
