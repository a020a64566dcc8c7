package suite

import (
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/errorfs"
)

// BreakAfter wraps fsys in a file system that breaks after a.txt was renamed into place: later renames to a name that
// ends in suffix fail. fsys itself does not break.
func BreakAfter(fsys afero.Fs, suffix string) afero.Fs {
	var broken atomic.Bool
	return errorfs.Wrap(fsys, func(op *errorfs.Op, do func() error) error {
		if op.Kind != "rename" {
			return do()
		}
		if broken.Load() && strings.HasSuffix(op.Name, suffix) {
			return op.Error(syscall.EIO)
		}
		err := do()
		if err == nil && strings.HasSuffix(op.Name, "a.txt") {
			broken.Store(true)
		}
		return err
	})
}
