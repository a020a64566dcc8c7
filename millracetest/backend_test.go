package millracetest

import (
	"errors"
	"io"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/errorfs"
)

// planted returns an opener of file systems that are filled by Plant.
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

// Every mistake of a file system is found.
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
