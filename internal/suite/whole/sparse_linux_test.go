package whole_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/fstest"
)

// TestSparse: a copy of a file with holes has the bytes of the file and needs no more space, even if it is edited.
func TestSparse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	source := filepath.Join(dir, "source")
	f, err := os.Create(source)
	fstest.Must(t, err)
	for _, at := range []int64{0, 5<<20 + 13, 9 << 20} {
		_, err = f.WriteAt([]byte("bytes between holes"), at)
		fstest.Must(t, err)
	}
	fstest.Must(t, f.Truncate(40<<20))
	fstest.Must(t, f.Close())
	used := func(name string) int64 {
		info, err := os.Stat(filepath.Join(dir, name))
		fstest.Must(t, err)
		return info.Sys().(*syscall.Stat_t).Blocks * 512
	}
	if used("source") > 1<<20 {
		t.Skip("the file system of the test has no holes")
	}
	fsys, err := fsutil.OpenRoot(dir)
	fstest.Must(t, err)
	defer fsys.Close()
	p, err := millrace.New("copies").
		Step("copy", actions.Copy{Files: []string{"source"}, To: "copy"}).
		Step("edit", actions.Edit{Files: []string{"copy"}, OldText: "bytes between", NewText: "words", Binary: true}).
		Build()
	fstest.Must(t, err)
	_, err = millrace.Run(t.Context(), fsys, p)
	fstest.Must(t, err)
	if n := used("copy"); n > 1<<20 {
		t.Errorf("the copy uses %d bytes", n)
	}
	want, err := os.ReadFile(source)
	fstest.Must(t, err)
	want = bytes.ReplaceAll(want, []byte("bytes between"), []byte("words"))
	made, err := os.Open(filepath.Join(dir, "copy"))
	fstest.Must(t, err)
	defer made.Close()
	if got, err := io.ReadAll(made); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, want %d; %v", len(got), len(want), err)
	}
}
