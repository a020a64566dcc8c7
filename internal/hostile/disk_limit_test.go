//go:build linux

package hostile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/fstest"
)

// manyFiles plants 300 files in one directory.
func manyFiles(t testing.TB, dir string) {
	t.Helper()
	for i := range 300 {
		plantDir(t, dir, fmt.Sprintf("files/f%03d=%s", i, strings.Repeat("x", 100)))
	}
}

// TestHostile_few_file_handles limits the open files of a process. With 32 everything works if one file is written at a
// time; with fewer, or more files at a time, it may fail, and then the tree is old.
func TestHostile_few_file_handles(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		limit   uint64
		workers int
		works   bool
	}{{32, 1, true}, {32, 16, false}, {24, 16, false}, {16, 16, false}, {16, 1, false}, {12, 1, false}, {10, 1, false}, {8, 1, false}} {
		t.Run(fmt.Sprintf("%d for %d", tt.limit, tt.workers), func(t *testing.T) {
			t.Parallel()
			dir := fstest.TempDir(t)
			manyFiles(t, dir)
			before := treeOf(t, dir, exact)
			r := diskJob{Dir: dir, Pipeline: "edits", Nofile: tt.limit, Workers: tt.workers}.start(t)
			if r.Error == "" {
				if got := treeOf(t, dir, contents)["files/f299"]; got != `100644 "edited"` {
					t.Errorf("f299 is %s", got)
				}
				return
			}
			// If the lock cannot be acquired, that is the error.
			if !r.Typed && !strings.HasPrefix(r.Error, "lock ") || !r.is(syscall.EMFILE) || tt.works {
				t.Errorf("report %+v", r)
			}
			if r.State == millrace.CommitPending {
				_, err := host().Recover(t.Context(), openDir(t, dir))
				must(t, err)
			}
			sameTree(t, r.Error, dir, before, exact)
		})
	}
}

// TestHostile_file_size_limit limits the size of written files. The plan of many files is larger.
func TestHostile_file_size_limit(t *testing.T) {
	t.Parallel()
	for limit, path := range map[uint64]string{
		5:       "", // a probe of the file system fails
		50:      "files/f",
		100_000: "plan.tmp",
	} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			t.Parallel()
			dir := fstest.TempDir(t)
			manyFiles(t, dir)
			must(t, os.Chtimes(filepath.Join(dir, "files"), longBefore, longBefore))
			before := treeOf(t, dir, exact)
			r := diskJob{Dir: dir, Pipeline: "longer", Fsize: limit}.start(t)
			if !r.is(syscall.EFBIG) || !r.Typed || r.State != millrace.CommitNone || !strings.Contains(r.Error, path) {
				t.Errorf("report %+v", r)
			}
			sameTree(t, r.Error, dir, before, exact)
		})
	}
}
