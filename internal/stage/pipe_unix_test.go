//go:build unix

package stage_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/stage"
)

// TestStage_pipeInPlace: a pipe that replaced a file after the stage saw it is drift. It is not opened in a way that
// waits for a writer, even on a file system that does not know pipes.
func TestStage_pipeInPlace(t *testing.T) {
	t.Parallel()
	for name, raised := range map[string]bool{"root": true, "plain": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			at := filepath.Join(dir, "f")
			fstest.Must(t, os.WriteFile(at, []byte("content"), 0o644))
			base := afero.NewBasePathFs(afero.NewOsFs(), dir)
			if !raised {
				base = errorfs.Wrap(errorfs.Only(base), func(op *errorfs.Op, do func() error) error {
					if info, err := os.Lstat(filepath.Join(dir, op.Name)); op.Kind == "open" && err == nil &&
						info.Mode()&fs.ModeNamedPipe != 0 {
						t.Error("the pipe was opened")
						return op.Error(syscall.EIO)
					}
					return do()
				})
			}
			s := stage.New(base)
			defer s.Close()
			stage.SetLimits(s, 1<<20, 0)
			fstest.Must(t, s.Copy("f", "copy")) // the run knows f from now on
			f, err := s.Open("f")
			fstest.Must(t, err)
			defer f.Close()
			fstest.Must(t, errors.Join(os.Remove(at), syscall.Mkfifo(at, 0o600)))
			_, readErr := s.ReadFile("copy")
			_, handleErr := f.Read(make([]byte, 1))
			_, changesErr := s.Changes()
			for op, err := range map[string]error{
				"read": readErr, "handle": handleErr, "changes": changesErr,
				"view": s.View("copy", 100, func(text *stage.Content) error {
					_, err := text.Bytes(100)
					return err
				}),
				"edit": s.Edit("copy", []change.Splice{cut(0, 1, "x")}),
			} {
				if !errors.Is(err, names.ErrDrift) {
					t.Errorf("%s: %v, want ErrDrift", op, err)
				}
			}
		})
	}
}
