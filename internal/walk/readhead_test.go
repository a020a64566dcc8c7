package walk_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/handle"
	"github.com/millrace-go/millrace/internal/stage"
	"github.com/millrace-go/millrace/internal/walk"
)

// readerFile is a file that reads from a reader.
type readerFile struct{ io.Reader }

func (readerFile) Stat() (fs.FileInfo, error) { return nil, errors.ErrUnsupported }
func (readerFile) Close() error               { return nil }

// TestReadHead: it fills the buffer or finds the end, however much each read returns, and reports the end only if it is
// reached.
func TestReadHead(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(8, 8))
	for _, size := range []int{0, 1, 2, 7, 100, 5000} {
		content := fstest.RandomBytes(random, size)
		for kind, open := range map[string]func(r io.Reader) capability.ReadFile{
			"a byte at a time": func(r io.Reader) capability.ReadFile { return readerFile{iotest.OneByteReader(r)} },
			"the end at once":  func(r io.Reader) capability.ReadFile { return readerFile{iotest.DataErrReader(r)} },
			"cut short": func(r io.Reader) capability.ReadFile {
				return readerFile{io.MultiReader(r, iotest.ErrReader(io.ErrUnexpectedEOF))}
			},
			"in another": func(r io.Reader) capability.ReadFile {
				return &handle.Reader{ReadFile: readerFile{iotest.HalfReader(r)}}
			},
		} {
			for _, room := range []int{0, 1, max(size-1, 0), size, size + 1, 2*size + 9} {
				checkHead(t, fmt.Sprintf("%s, %d of %d bytes", kind, room, size), open(bytes.NewReader(content)), content, room)
			}
		}
	}
}

// checkHead reads into a buffer of size room. For a file that does not know its size, the end may be missed only if the
// room was exactly enough.
func checkHead(t *testing.T, what string, f capability.ReadFile, content []byte, room int) {
	t.Helper()
	buf := make([]byte, room)
	n, whole, err := handle.ReadHead(f, buf)
	want := min(room, len(content))
	if err != nil || n != want || !bytes.Equal(buf[:n], content[:want]) {
		t.Errorf("%s: read %d, %v, want %d", what, n, err, want)
	}
	if whole && room < len(content) || !whole && room > len(content) {
		t.Errorf("%s: all of it: %v", what, whole)
	}
}

// TestReadHead_fails: an error is returned with the data that was read before it.
func TestReadHead_fails(t *testing.T) {
	t.Parallel()
	buf := make([]byte, 20)
	n, whole, err := handle.ReadHead(readerFile{io.MultiReader(strings.NewReader("some"), iotest.ErrReader(fstest.ErrDisk))}, buf)
	if n != 4 || whole || !errors.Is(err, fstest.ErrDisk) || string(buf[:n]) != "some" {
		t.Errorf("%q, %v, %v", buf[:n], whole, err)
	}
}

// TestReadHead_fileSystems: it works on the files of all file systems, opened one by one or with one reader for all.
func TestReadHead_fileSystems(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(9, 9))
	contents := make(map[string][]byte)
	for i, size := range []int{0, 1, 5, 4096, 100_000} {
		contents["f"+strings.Repeat("x", i*60)] = fstest.RandomBytes(random, size)
	}
	root := fstest.OpenRoot(t, t.TempDir())
	mem := afero.NewMemMapFs()
	for kind, base := range map[string]afero.Fs{
		"directory": root, "memory": mem, "raised": fstest.Raise(t, mem), "osfs": fstest.WalkOsFs(t), "stage": stage.New(root), "stage of memory": stage.New(mem),
	} {
		for name, content := range contents {
			fstest.Must(t, base.MkdirAll("d", 0o755))
			fstest.Must(t, afero.WriteFile(base, "d/"+name, content, 0o644))
		}
		for _, room := range []int{1, 5, 4096, 200_000} {
			var one handle.Reader
			seen := 0
			err := walk.Walk(t.Context(), base, "d", walk.Options{Workers: 1}, func(e walk.Entry) error {
				what := fmt.Sprintf("%s, file of %d bytes", kind, len(contents[e.Name()]))
				if err := e.OpenIn(&one); err != nil {
					return err
				}
				checkHead(t, what+" with one reader", &one, contents[e.Name()], room)
				if err := one.Close(); err != nil {
					return err
				}
				f, err := e.Open()
				if err != nil {
					return err
				}
				checkHead(t, what, f, contents[e.Name()], room)
				seen++
				return f.Close()
			})
			if err != nil || seen != len(contents) {
				t.Errorf("%s: saw %d files, %v", kind, seen, err)
			}
		}
	}
}
