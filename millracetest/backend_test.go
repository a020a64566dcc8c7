package millracetest

import (
	"errors"
	"io"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/afero"
	"github.com/spf13/afero/mem"

	"github.com/millrace-go/millrace/internal/errorfs"
)

// planted returns a function that opens a file system and fills it with Plant.
func planted(empty func(t testing.TB) afero.Fs) func(t testing.TB, tree string) afero.Fs {
	return func(t testing.TB, tree string) afero.Fs {
		t.Helper()
		fsys := empty(t)
		Plant(t, fsys, tree)
		return fsys
	}
}

func memory(testing.TB) afero.Fs { return afero.NewMemMapFs() }

func TestBackend(t *testing.T) {
	if head := Header("file system"); strings.Count(head, "|") != 2*12 {
		t.Errorf("head %q", head)
	}
	row := Backend(t, planted(memory))
	if got := row.String(); got != "| MemMapFS | yes | yes | yes | yes | yes | yes | yes | yes | yes | error |\n" {
		t.Errorf("row %s", got)
	}
	row = Backend(t, func(t testing.TB, tree string) afero.Fs {
		return afero.NewCopyOnWriteFs(Tree(t, tree), afero.NewMemMapFs())
	})
	if got := row.String(); got != "| CopyOnWriteFs | yes | yes | yes | yes | no | no | yes | yes | yes | kill |\n" {
		t.Errorf("row %s", got)
	}
	row = Backend(t, func(t testing.TB, tree string) afero.Fs { return afero.NewReadOnlyFs(Tree(t, tree)) })
	if got := row.String(); got != "| ReadOnlyFilter | yes | no | no | no | no | no | – | – | – | – |\n" {
		t.Errorf("row %s", got)
	}
}

// The test of a file system finds every mistake.
func TestBackend_fails(t *testing.T) {
	hooked := func(hook errorfs.Hook) func(t testing.TB, tree string) afero.Fs {
		return func(t testing.TB, tree string) afero.Fs { return errorfs.Wrap(Tree(t, tree), hook) }
	}
	for name, c := range map[string]struct {
		open  func(t testing.TB, tree string) afero.Fs
		words []string
	}{
		"nil": {func(testing.TB, string) afero.Fs { return nil }, []string{"but nil"}},
		"empty": {
			func(testing.TB, string) afero.Fs { return afero.NewMemMapFs() }, []string{"the tree is another"},
		},
		"absent names": {hooked(func(op *errorfs.Op, do func() error) error {
			err := do()
			if errors.Is(err, fs.ErrNotExist) {
				return op.Error(errors.New("no rows"))
			}
			return err
		}), []string{"stat of the absent", "open of the absent"}},
		"end of a file": {hooked(func(op *errorfs.Op, do func() error) error {
			err := do()
			if op.Kind == "read" && errors.Is(err, io.EOF) && len(op.Data) == 4 {
				return nil
			}
			return err
		}), []string{"is not io.EOF"}},
		"places": {hooked(func(op *errorfs.Op, do func() error) error {
			if op.Kind == "pread" {
				return op.Error(syscall.EINVAL)
			}
			return do()
		}), []string{"by ReadAt"}},
		"an absent name that opens": {func(t testing.TB, tree string) afero.Fs {
			return generous{Tree(t, tree)}
		}, []string{"open of the absent absent.txt is not fs.ErrNotExist: <nil>"}},
		"short reads": {hooked(func(op *errorfs.Op, do func() error) error {
			if op.Kind == "read" {
				return op.Error(io.ErrUnexpectedEOF)
			}
			return do()
		}), []string{"the tree cannot be read"}},
		"sizes": {func(t testing.TB, tree string) afero.Fs { return sizeless{Tree(t, tree)} }, []string{"has 500,000 bytes"}},
		"places from the end": {func(t testing.TB, tree string) afero.Fs { return seekless{Tree(t, tree)} }, []string{
			"5 bytes before the end", "the last bytes of large.txt",
		}},
		"a rename that does nothing": {hooked(func(op *errorfs.Op, do func() error) error {
			if op.Kind == "rename" || op.Kind == "exchange" || op.Kind == "noreplace" {
				return nil
			}
			return do()
		}), []string{"may refuse a edit, but the error is commit_failed"}},
		"wrong bytes": {hooked(func(op *errorfs.Op, do func() error) error {
			if string(op.Data) == "new\n" {
				op.Data = []byte("New\n")
			}
			return do()
		}), []string{"the tree is another", "New"}},
		"a second lock": {func(t testing.TB, tree string) afero.Fs {
			locks := 0
			return errorfs.Wrap(Tree(t, tree), errorfs.Before(func(op *errorfs.Op) error {
				if strings.HasSuffix(op.Name, "/lock") && op.Writes {
					locks++
				}
				if locks > 1 {
					return syscall.EIO
				}
				return nil
			}))
		}, []string{"the restore fails"}},
	} {
		t.Run(name, func(t *testing.T) {
			fails(t, func(t testing.TB) { Backend(t, c.open) }, c.words...)
		})
	}
}

// generous opens a file for each absent name.
type generous struct{ afero.Fs }

func (g generous) Open(name string) (afero.File, error) {
	f, err := g.Fs.Open(name)
	if err != nil {
		return mem.NewFileHandle(mem.CreateFile(name)), nil
	}
	return f, nil
}

// sizeless reports each file one byte too short.
type sizeless struct{ afero.Fs }

func (s sizeless) Stat(name string) (fs.FileInfo, error) {
	info, err := s.Fs.Stat(name)
	if err != nil {
		return nil, err
	}
	return oneLess{info}, nil
}

type oneLess struct{ fs.FileInfo }

func (o oneLess) Size() int64 { return o.FileInfo.Size() - 1 }

// seekless treats every offset as relative to the start.
type seekless struct{ afero.Fs }

func (s seekless) Open(name string) (afero.File, error) {
	f, err := s.Fs.Open(name)
	return fromBegin{f}, err
}

type fromBegin struct{ afero.File }

func (f fromBegin) Seek(offset int64, _ int) (int64, error) {
	return f.File.Seek(max(offset, -offset), io.SeekStart)
}
