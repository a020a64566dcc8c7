package fsutil_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace/fsutil"
)

// readTree reads each file of a tree with readers that are used again, and returns what is in each, and how many were
// opened by calls that do not wait.
func readTree(t *testing.T, root *fsutil.RootFs) (contents map[string]string, inMemory int) {
	t.Helper()
	contents = make(map[string]string)
	var mu sync.Mutex
	readers := sync.Pool{New: func() any { return new(fsutil.FileReader) }}
	must(t, fsutil.Walk(context.Background(), root, ".", fsutil.WalkOptions{}, func(e fsutil.Entry) error {
		r := readers.Get().(*fsutil.FileReader)
		defer readers.Put(r)
		if err := e.OpenIn(r); err != nil {
			return err
		}
		quick := r.InMemory()
		buf := make([]byte, 5000) // so that it takes one read for some and several for others
		n, whole, err := fsutil.ReadHead(r, buf)
		data := buf[:n]
		if err == nil && !whole {
			var rest []byte
			rest, err = io.ReadAll(r)
			data = append(data, rest...)
		}
		mu.Lock()
		defer mu.Unlock()
		contents[e.Path()] = string(data)
		if quick {
			inMemory++
		}
		return errors.Join(err, r.Close())
	}))
	return contents, inMemory
}

// TestInMemory: what is read is the same whether it is in memory, on the disk, or partly in both.
func TestInMemory(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	root := openRoot(t, base)
	random := rand.New(rand.NewPCG(1, 2))
	want := make(map[string]string)
	for i := range 60 {
		name := filepath.Join("d"+strconv.Itoa(i%7), "f"+strconv.Itoa(i))
		data := make([]byte, random.IntN(20_000)*(i%3)*(i%5))
		for j := range data {
			data[j] = byte(random.Uint32())
		}
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(base, name)), 0o755))
		must(t, os.WriteFile(filepath.Join(base, name), data, 0o644))
		want[name] = string(data)
	}
	forget := func(from int64) {
		for name := range want {
			f, err := os.Open(filepath.Join(base, name))
			must(t, err)
			must(t, f.Sync())
			must(t, unix.Fadvise(int(f.Fd()), from, 0, unix.FADV_DONTNEED))
			must(t, f.Close())
		}
	}
	for _, state := range []struct {
		name string
		make func()
	}{{"in memory", func() {}}, {"on the disk", func() { forget(0) }}, {"in both", func() { readTree(t, root); forget(8 << 10) }}} {
		state.make()
		got, inMemory := readTree(t, root)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%.2000s", state.name, diff)
		}
		if root.InMemory(".") && inMemory == 0 {
			t.Errorf("%s: no file was opened by calls that do not wait", state.name)
		}
		t.Logf("%s: %d of %d files were opened by calls that do not wait", state.name, inMemory, len(got))
	}
}

// TestInMemory_otherFileSystem: a file that something else is mounted on is opened in the ordinary way, for that may be on a
// file system that waits for somebody.
func TestInMemory_otherFileSystem(t *testing.T) {
	base := t.TempDir()
	root := openRoot(t, base)
	if !root.InMemory(".") {
		t.Skip("the temporary directory is not on a file system, or a kernel, for these calls")
	}
	from := filepath.Join(t.TempDir(), "from")
	must(t, os.WriteFile(from, []byte("of the other"), 0o644))
	at := filepath.Join(base, "a")
	must(t, os.WriteFile(at, []byte("of this one"), 0o644))
	must(t, os.WriteFile(filepath.Join(base, "b"), []byte("of this one"), 0o644))
	if out, err := exec.Command("mount", "--bind", from, at).CombinedOutput(); err != nil {
		t.Skipf("this process cannot mount: %v %s", err, bytes.TrimSpace(out))
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", at).CombinedOutput(); err != nil {
			t.Errorf("%v %s", err, out)
		}
	})
	got, inMemory := readTree(t, root)
	if diff := cmp.Diff(map[string]string{"a": "of the other", "b": "of this one"}, got); diff != "" || inMemory != 1 {
		t.Errorf("%d files were opened by calls that do not wait; (-want +got):\n%s", inMemory, diff)
	}
}
