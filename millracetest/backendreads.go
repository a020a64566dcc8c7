package millracetest

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/txtarfs"
)

// readsTree has the cases that a reader meets: an empty file, a file of many blocks, and names that are not simple
// words.
func readsTree() string {
	return "-- a b.txt --\nblank\n-- d/e/deep.txt --\ndeep\n-- empty.txt --\n-- large.txt --\n" +
		strings.Repeat("a line of the large file\n", 20_000) + "-- ünïcode.txt --\nname\n"
}

// reads checks everything that steps need for reading, and returns the name of the file system.
func reads(t testing.TB, open func(t testing.TB, tree string) afero.Fs) string {
	t.Helper()
	fsys := open(t, readsTree())
	if fsys == nil {
		t.Fatal("millracetest: there is not a file system, but nil")
	}
	want, err := parseTree(txtarfs.Parse([]byte(readsTree())).Files)
	if err != nil {
		t.Fatalf("millracetest: %v", err)
	}
	sameContents(t, fsys, want)
	for _, name := range []string{"absent.txt", "d/absent.txt", "absent/absent.txt"} {
		if _, err := fsys.Stat(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("stat of the absent %s is not fs.ErrNotExist: %v", name, err)
		}
		file, err := fsys.Open(name)
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("open of the absent %s is not fs.ErrNotExist: %v", name, err)
		}
		if err == nil {
			file.Close()
		}
	}
	if info, err := fsys.Stat("d"); err != nil || !info.IsDir() || info.Name() != "d" {
		t.Errorf("stat of the directory d: %v, %v", info, err)
	}
	info, err := fsys.Stat("large.txt")
	if err != nil || info.IsDir() || info.Size() != 500_000 || info.Name() != "large.txt" {
		t.Errorf("stat of large.txt, which has 500,000 bytes: %v, %v", info, err)
	}
	readsParts(t, fsys)
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			if data, err := afero.ReadFile(fsys, "large.txt"); err != nil || len(data) != 500_000 {
				t.Errorf("one of several reads at the same time: %d bytes, %v", len(data), err)
			}
		})
	}
	wait.Wait()
	return fsys.Name()
}

// readsParts reads one file in parts, at offsets, and to its end.
func readsParts(t testing.TB, fsys afero.Fs) {
	t.Helper()
	file, err := fsys.Open("large.txt")
	if err != nil {
		t.Errorf("open of large.txt: %v", err)
		return
	}
	defer file.Close()
	part := make([]byte, 4)
	if _, err := io.ReadFull(file, part); err != nil || string(part) != "a li" {
		t.Errorf("the first bytes of large.txt: %q, %v", part, err)
	}
	if _, err := file.ReadAt(part, 25*19_999); err != nil || string(part) != "a li" {
		t.Errorf("the bytes of the last line of large.txt by ReadAt: %q, %v", part, err)
	}
	if at, err := file.Seek(-5, io.SeekEnd); err != nil || at != 499_995 {
		t.Errorf("the place 5 bytes before the end of large.txt: %d, %v", at, err)
	}
	rest, err := io.ReadAll(file)
	if err != nil || !bytes.Equal(rest, []byte("file\n")) {
		t.Errorf("the last bytes of large.txt: %q, %v", rest, err)
	}
	if n, err := file.Read(part); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("a read at the end of large.txt is not io.EOF: %d bytes, %v", n, err)
	}
}
