package disk

import (
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/rootfs"
)

// systemOf returns the System for a file system. A type that embeds a [rootfs.FS] has methods of its own, so it gets a
// plain System.
func systemOf(fsys afero.Fs) System {
	if root, ok := fsys.(*rootfs.FS); ok {
		if bulk := rootfs.NewBulk(root); bulk != nil {
			return direct{bulk}
		}
	}
	return plain{fsys}
}

// direct is the System for an open directory on Linux.
type direct struct{ *rootfs.Bulk }

func (d direct) Look(name string) (change.State, error) {
	info, err := d.Lstat(name)
	return plain{d.Bulk}.state(name, info, err)
}

func (d direct) Create(name, near string) (NewFile, error) {
	f, err := d.CreateNear(near, name, 0o600)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (d direct) isPlain() bool { return false }
