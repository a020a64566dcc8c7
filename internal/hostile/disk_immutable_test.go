//go:build linux

package hostile_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace"
)

const (
	immutable  = 0x10 // FS_IMMUTABLE_FL, which chattr +i sets
	appendOnly = 0x20 // FS_APPEND_FL, which chattr +a sets
)

// protect sets flags of a file or directory until the end of the test, or until the returned function is called.
func protect(t *testing.T, name string, flags int) func() {
	t.Helper()
	needRoot(t)
	set := func(change func(old int) int) error {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		old, err := unix.IoctlGetInt(int(f.Fd()), unix.FS_IOC_GETFLAGS)
		if err != nil {
			return err
		}
		return unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, change(old))
	}
	if err := set(func(old int) int { return old | flags }); err != nil {
		if errors.Is(err, unix.ENOTTY) || errors.Is(err, unix.ENOTSUP) {
			t.Skipf("files here cannot be immutable: %v", err)
		}
		t.Fatal(err)
	}
	done := false
	lift := func() {
		if !done {
			done = true
			must(t, set(func(old int) int { return old &^ flags }))
		}
	}
	t.Cleanup(lift)
	return lift
}

// TestHostile_immutable_in_the_middle has a file among a hundred that not even root can change.
func TestHostile_immutable_in_the_middle(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		protect string
		flags   int
		path    string
	}{
		"file":                  {"files/f050", immutable, "files/f050"},
		"file to append to":     {"files/f050", appendOnly, "files/f050"},
		"directory":             {"files", immutable, "files/f000"},
		"directory to add to":   {"files", appendOnly, "files/f000"},
		"file that is deleted":  {"gone", immutable, "gone"},
		"file that is moved":    {"from", immutable, "from"},
		"file with a new mode":  {"mode", immutable, "mode"},
		"directory of deletion": {"deep/er", immutable, "deep/er/file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			everything(t, dir)
			for i := range 100 {
				plantDir(t, dir, fmt.Sprintf("files/f%03d=%d", i, i))
			}
			before := treeOf(t, dir, exact)
			protect(t, filepath.Join(dir, tt.protect), tt.flags)
			p := diskPipelines()["edits"]
			if !strings.HasPrefix(tt.protect, "files") {
				p = diskPipelines()["everything"]
			}
			x := millrace.Executor{State: millrace.State{NoSync: true}, MaxFiles: -1}
			_, err := x.Run(t.Context(), openDir(t, dir), p)
			failed, ok := errors.AsType[*millrace.CommitError](err)
			if !ok || failed.State == millrace.CommitPending || !errors.Is(err, syscall.EPERM) || !strings.Contains(err.Error(), tt.path) {
				t.Errorf("error %T %v", err, err)
			}
			sameTree(t, fmt.Sprint(err), dir, before, exact)
		})
	}
}

// TestHostile_created_where_nothing_can_be_removed: an entry that was created in an append-only directory cannot be
// removed when the commit fails afterwards. That is reported, and done as soon as possible.
func TestHostile_created_where_nothing_can_be_removed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plantDir(t, dir, "d/z=old")
	before := treeOf(t, dir, exact)
	lift := protect(t, filepath.Join(dir, "d"), appendOnly)
	_, err := host().Run(t.Context(), openDir(t, dir), altering(put("d/a", "new"), put("d/z", "edited")))
	failed := failedAs(t, err, millrace.CommitPending, syscall.EPERM)
	if !strings.Contains(failed.Error(), "d/a") || !strings.Contains(failed.Error(), "Run Recover") {
		t.Errorf("error %v", err)
	}
	_, err = host().Run(t.Context(), openDir(t, dir), altering(put("other", "x")))
	failedAs(t, err, millrace.CommitPending)
	lift()
	_, err = host().Recover(t.Context(), openDir(t, dir))
	must(t, err)
	sameTree(t, "recovered", dir, before, exact)
}
