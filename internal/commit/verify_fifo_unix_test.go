//go:build linux || darwin

package commit_test

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/modes"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/rootfs"
)

// TestApply_fifo removes a path that is neither a file nor a directory nor a link. This is refused, because it could
// not be restored.
func TestApply_fifo(t *testing.T) {
	t.Parallel()
	dir := fstest.TempDir(t)
	fsys, err := rootfs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer fsys.Close()
	plant(t, fsys, "a=1")
	changes := append(staged(t, fsys, write("a", "A")), change.Change{Kind: change.Deleted, Path: "p", Old: change.State{Kind: change.Other, Mode: 0o600}})
	before := snapshot(t, fsys, true)
	if err := syscall.Mkfifo(filepath.Join(dir, "p"), 0o600); err != nil {
		t.Skip(err)
	}
	if _, err := commit.Apply(bg, options(fsys), changes); !errors.Is(err, names.ErrNotRegular) {
		t.Errorf("error is %v", err)
	}
	if info, _, err := fsys.LstatIfPossible("p"); err != nil || modes.KindOf(info.Mode()) != change.Other {
		t.Errorf("p: %v, %v", info, err)
	}
	if err := fsys.Remove("p"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, snapshot(t, fsys, true)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
