package walk_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/handle"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/walk"
)

// TestReadHead_grown: a file that was read up to its size at opening is not checked for more data.
func TestReadHead_grown(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	root := fstest.OpenRoot(t, base)
	fstest.Write(t, root, "f", "0123456789")
	for _, room := range []int{9, 10, 11, 14, 99} {
		fstest.Write(t, root, "f", "0123456789")
		dir := fstest.OpenDir(t, root, ".")
		f, err := dir.OpenFile("f")
		fstest.Must(t, err)
		grown, err := os.OpenFile(filepath.Join(base, "f"), os.O_WRONLY|os.O_APPEND, 0)
		fstest.Must(t, err)
		_, err = grown.WriteString("more")
		fstest.Must(t, errors.Join(err, grown.Close()))
		buf := make([]byte, room)
		n, whole, err := handle.ReadHead(f, buf)
		if err != nil || n != min(room, 14) || whole != (room == 10 || room > 14) {
			t.Errorf("room for %d: read %d, all of it %v, %v", room, n, whole, err)
		}
		fstest.Must(t, f.Close())
	}
}

// TestReadHead_proc: a file that reports size zero is read to its end.
func TestReadHead_proc(t *testing.T) {
	t.Parallel()
	want, err := os.ReadFile("/proc/sys/kernel/ostype")
	if err != nil {
		t.Skip("no /proc here: ", err)
	}
	dir := fstest.OpenDir(t, fstest.OpenRoot(t, "/proc/sys"), "kernel")
	f, err := dir.OpenFile("ostype")
	fstest.Must(t, err)
	defer f.Close()
	buf := make([]byte, 100)
	if n, whole, err := handle.ReadHead(f, buf); err != nil || string(buf[:n]) != string(want) || !whole {
		t.Errorf("%q, all of it %v, %v, want %q", buf[:n], whole, err, want)
	}
}

// TestEntry_OpenIn: an entry that was a file when the directory was listed, but is not a file when it is opened, is
// refused like by Open. A reader that failed to open one file opens the next.
func TestEntry_OpenIn(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	root := fstest.OpenRoot(t, base)
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		fstest.Write(t, root, name, "content of "+name)
	}
	at := func(name string) string { return filepath.Join(base, name) }
	var one handle.Reader
	first, seen := true, 0
	fstest.Must(t, walk.Walk(t.Context(), root, ".", walk.Options{Workers: 1}, func(e walk.Entry) error {
		if first { // all have been listed by now
			first = false
			for _, name := range []string{"a", "b", "c"} {
				fstest.Must(t, root.Remove(name))
			}
			fstest.Must(t, root.SymlinkIfPossible("d", "b"))
			fstest.Must(t, unix.Mkfifo(at("c"), 0o600))
		}
		want := map[string]error{"a": fs.ErrNotExist, "b": names.ErrNotRegular, "c": names.ErrNotRegular}[e.Name()]
		err := e.OpenIn(&one)
		_, openErr := e.Open()
		if !errors.Is(err, want) || want != nil && err.Error() != openErr.Error() {
			t.Errorf("%s: %v, want %v; Open returns %v", e.Name(), err, want, openErr)
		}
		seen++
		if err != nil {
			return nil
		}
		buf := make([]byte, len("content of x")) // the end is known without another read
		if n, whole, err := handle.ReadHead(&one, buf); string(buf[:n]) != "content of "+e.Name() || !whole || err != nil {
			t.Errorf("%s: %q, %v, %v", e.Name(), buf[:n], whole, err)
		}
		return one.Close()
	}))
	if seen != 5 {
		t.Errorf("saw %d files", seen)
	}
}
