package commit_test

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/rootfs"
)

// losingFs can give a file neither another owner nor all inode flags.
type losingFs struct {
	*rootfs.FS
	owner error
}

func (l losingFs) CopyMeta(_, to string) error {
	return names.PathError("copymeta", to, errors.Join(l.owner, &rootfs.LostFlags{Letters: "c"}))
}

// TestApply_lostOwnerAndFlags: lost inode flags hide neither a lost owner nor a failing disk. If the owner is lost, the
// owner's permissions must not be granted to others.
func TestApply_lostOwnerAndFlags(t *testing.T) {
	t.Parallel()
	root := rootFs(t).(*rootfs.FS)
	plant(t, root, "a=1")
	const mode = 0o755
	if err := root.Chmod("a", mode|fs.ModeSetuid); err != nil {
		t.Fatal(err)
	}
	disk := losingFs{root, syscall.EIO}
	if _, err := commit.Apply(bg, options(disk), staged(t, disk, write("a", "2"))); !errors.Is(err, syscall.EIO) {
		t.Errorf("the disk fails: %v", err)
	}
	disk.owner = syscall.EPERM
	r, err := commit.Apply(bg, options(disk), staged(t, disk, write("a", "3")))
	if err != nil {
		t.Fatal(err)
	}
	if info, err := root.Stat("a"); err != nil || info.Mode() != mode {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	for _, want := range []string{"owner or attributes are not kept", "flags of the inode (chattr) are not kept: c"} {
		if !slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(w, want) }) {
			t.Errorf("no warning %q in %q", want, r.Warnings)
		}
	}
}
