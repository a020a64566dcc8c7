package semantics_test

import (
	"os"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/rootfs"
)

// watched returns a RootFs with all its methods that calls look after every operation that changes something. A long
// copy is many writes.
func watched(root *rootfs.FS, look func()) afero.Fs {
	return errorfs.Wrap(root, func(op *errorfs.Op, do func() error) error {
		err := do()
		switch op.Kind {
		case "open":
			if err == nil && op.Flag&(os.O_WRONLY|os.O_RDWR) != 0 {
				look()
			}
		case "remove", "removeall", "rename", "noreplace", "exchange", "link", "write", "truncate":
			look()
		}
		return err
	})
}
