package disk

import (
	"errors"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/spf13/afero"
)

// systemOf returns the System for a file system. One that only contains a [rootfs.FS] has methods of its own, which are
// to be called.
func systemOf(fsys afero.Fs) System {
	if root, ok := fsys.(*rootfs.FS); ok {
		if bulk := rootfs.NewBulk(root); bulk != nil {
			return direct{plain{fsys}, bulk}
		}
	}
	return plain{fsys}
}

// direct is the System over a directory that is open on Linux. Names that lead through symbolic links are left to the
// methods of the file system.
type direct struct {
	plain
	bulk *rootfs.Bulk
}

func (d direct) Look(name string) (change.State, error) {
	info, err := d.bulk.Lstat(name)
	return d.state(name, info, err)
}

func (d direct) Open(name string) (capability.ReadFile, error) {
	f, err := d.bulk.OpenRegular(name)
	if errors.Is(err, errors.ErrUnsupported) {
		return d.plain.Open(name)
	}
	return f, err
}

func (d direct) Create(name, near string) (NewFile, error) {
	f, err := d.bulk.CreateNear(near, name, 0o600)
	if err != nil {
		return nil, err
	}
	return f, nil
}
func (d direct) Link(oldname, newname string) error { return d.bulk.Link(oldname, newname) }
func (d direct) Exchange(a, b string) error         { return d.bulk.Exchange(a, b) }
func (d direct) Unlink(name string) error           { return d.bulk.Remove(name) }

func (d direct) SyncDir(name string) error {
	err := d.bulk.SyncDir(name)
	if errors.Is(err, errors.ErrUnsupported) {
		return d.plain.SyncDir(name)
	}
	return err
}

func (d direct) SyncReached(name string) error {
	err := d.bulk.SyncDir(name)
	if errors.Is(err, errors.ErrUnsupported) {
		return d.plain.SyncReached(name)
	}
	return UnlessAbsent(err)
}

func (d direct) Hold(dir string)          { d.bulk.Hold(dir) }
func (d direct) MostOpen(workers int) int { return max(1, min(48, d.bulk.MostOpen()/workers)) }
func (d direct) Close() error             { return d.bulk.Close() }
func (d direct) isPlain() bool            { return false }
