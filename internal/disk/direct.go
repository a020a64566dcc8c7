package disk

import (
	"errors"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/rootfs"
)

// direct is the System over a directory that is open on Linux. Names that lead through symbolic links are left to the methods of
// the file system.
type direct struct {
	plain
	fast rootfs.FastPath
}

func (d direct) Look(name string) (change.State, error) { return d.fast.Look(name) }

func (d direct) Open(name string) (capability.ReadFile, error) {
	f, err := d.fast.OpenRegular(name)
	if errors.Is(err, errors.ErrUnsupported) {
		return d.plain.Open(name)
	}
	return f, err
}

func (d direct) Create(name, near string) (NewFile, error) {
	return d.fast.CreateNear(near, name, 0o600)
}
func (d direct) Link(oldname, newname string) error { return d.fast.Link(oldname, newname) }
func (d direct) Exchange(a, b string) error         { return d.fast.Exchange(a, b) }
func (d direct) Unlink(name string) error           { return d.fast.Remove(name) }

func (d direct) SyncDir(name string) error {
	err := d.fast.SyncDir(name)
	if errors.Is(err, errors.ErrUnsupported) {
		return d.plain.SyncDir(name)
	}
	return err
}

func (d direct) SyncReached(name string) error {
	err := d.fast.SyncDir(name)
	if errors.Is(err, errors.ErrUnsupported) {
		return d.plain.SyncReached(name)
	}
	return UnlessAbsent(err)
}

func (d direct) Hold(dir string)          { d.fast.Hold(dir) }
func (d direct) MostOpen(workers int) int { return max(1, min(48, d.fast.MostOpen()/workers)) }
func (d direct) Close() error             { return d.fast.Close() }
func (d direct) layered() bool            { return false }
