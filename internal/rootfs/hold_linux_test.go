package rootfs_test

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/millrace-go/millrace/internal/fstest"
)

// TestFS_Holding: the held directory stays the same under another name until done is called; after that it is looked up
// by name.
func TestFS_Holding(t *testing.T) {
	t.Parallel()
	root, _, _ := bulk(t) // skips where the fast way is missing
	fstest.Write(t, root, "d/old", "x")
	held, done := root.Holding("d")
	fstest.Must(t, root.Rename("d", "moved"))
	fstest.Must(t, root.Mkdir("d", 0o755))
	f, err := held.CreateNew("d/f", 0o600)
	fstest.Must(t, err)
	fstest.Must(t, f.Close())
	fstest.Must(t, held.SymlinkIfPossible("x", "d/link"))
	fstest.Must(t, held.Remove("d/old"))
	for _, name := range []string{"moved/f", "moved/link"} {
		if _, err := root.Look(name); err != nil {
			t.Error("the directory was looked up again:", err)
		}
	}
	if _, err := root.Look("moved/old"); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the file still exists:", err)
	}
	done()
	next, done := root.Holding("moved") // gets the number that is free now
	defer done()
	f, err = held.CreateNew("d/g", 0o600)
	fstest.Must(t, err)
	fstest.Must(t, f.Close())
	if _, err := root.Look("d/g"); err != nil {
		t.Error("the view uses a closed directory:", err)
	}
	if _, err := next.Look("moved/f"); err != nil {
		t.Error(err)
	}
}

// TestFS_Holding_refused: a directory that cannot be held is looked up by name.
func TestFS_Holding_refused(t *testing.T) {
	t.Parallel()
	root := fstest.OpenRoot(t, t.TempDir())
	fstest.Must(t, root.Mkdir("d", 0o755))
	fstest.Must(t, root.SymlinkIfPossible("d", "way"))
	for _, dir := range []string{"way", "no"} {
		held, done := root.Holding(dir)
		fstest.Must(t, root.MkdirAll("no", 0o755))
		f, err := held.CreateNew(dir+"/"+dir, 0o600)
		fstest.Must(t, err)
		fstest.Must(t, f.Close())
		done()
	}
	if _, err := root.Look("d/way"); err != nil {
		t.Error(err)
	}
}
