//go:build linux || darwin

package commit_test

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/fstest"
)

// TestApply_fifo is told to remove something that is neither a file nor a directory nor a link: it could not be brought back.
func TestApply_fifo(t *testing.T) {
	t.Parallel()
	dir := fstest.TempDir(t)
	fsys, err := fsutil.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer fsys.Close()
	plant(t, fsys, "a=1")
	changes := append(staged(t, fsys, write("a", "A")), fsutil.Change{Kind: fsutil.Deleted, Path: "p", Old: fsutil.State{Kind: fsutil.Other, Mode: 0o600}})
	before := snapshot(t, fsys, true)
	if err := syscall.Mkfifo(filepath.Join(dir, "p"), 0o600); err != nil {
		t.Skip(err)
	}
	if _, err := commit.Apply(bg, options(fsys), changes); !errors.Is(err, fsutil.ErrNotRegular) {
		t.Errorf("error is %v", err)
	}
	if info, _, err := fsys.LstatIfPossible("p"); err != nil || fsutil.KindOf(info.Mode()) != fsutil.Other {
		t.Errorf("p: %v, %v", info, err)
	}
	if err := fsys.Remove("p"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, snapshot(t, fsys, true)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
