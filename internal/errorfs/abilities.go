package errorfs

import (
	"context"
	"io"
	"io/fs"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
)

// symlinked also has symbolic links.
type symlinked struct{ wrapped }

func (s symlinked) SymlinkIfPossible(target, name string) error {
	return s.change(Op{Kind: "symlink", Name: name, From: target}, func(op *Op) error {
		return s.below.(afero.Linker).SymlinkIfPossible(op.From, op.Name)
	})
}

func (s symlinked) ReadlinkIfPossible(name string) (target string, err error) {
	_, err = s.do(Op{Kind: "readlink", Name: name}, func(op *Op) (err error) {
		target, err = s.below.(afero.LinkReader).ReadlinkIfPossible(op.Name)
		return err
	})
	return target, err
}

// exchanging has the abilities of both a raised MemMapFs and a RootFs on Linux.
type exchanging struct{ on wrapped }

func (e exchanging) Exchange(a, b string) error {
	return e.on.change(Op{Kind: "exchange", Name: b, From: a}, func(op *Op) error {
		return e.on.below.(capability.Exchanger).Exchange(op.From, op.Name)
	})
}

func (e exchanging) RenameNoReplace(from, to string) error {
	return e.on.change(Op{Kind: "noreplace", Name: to, From: from}, func(op *Op) error {
		return e.on.below.(capability.NoReplacer).RenameNoReplace(op.From, op.Name)
	})
}

// memory has the abilities of a raised MemMapFs.
type memory struct {
	wrapped
	exchanging
}

func (m memory) Lock(ctx context.Context) (io.Closer, error) {
	return m.below.(capability.Locker).Lock(ctx)
}

// linked has the abilities of a RootFs on any Unix.
type linked struct{ symlinked }

func (l linked) Lock(ctx context.Context) (io.Closer, error) {
	return l.below.(capability.Locker).Lock(ctx)
}

func (l linked) LockFile(ctx context.Context, name string) (io.Closer, error) {
	return l.below.(capability.FileLocker).LockFile(ctx, name)
}

func (l linked) TryLockFile(name string) (io.Closer, error) {
	return l.below.(capability.FileLocker).TryLockFile(name)
}

func (l linked) Canonical(name string) (string, error) {
	return l.below.(capability.Namer).Canonical(name)
}

func (l linked) Link(from, to string) error {
	return l.change(Op{Kind: "link", Name: to, From: from},
		func(op *Op) error { return l.below.(capability.Linker).Link(op.From, op.Name) })
}

func (l linked) SyncDir(name string) error {
	return l.change(Op{Kind: "syncdir", Name: name},
		func(op *Op) error { return l.below.(capability.DirSyncer).SyncDir(op.Name) })
}

func (l linked) IdentityOf(info fs.FileInfo) (id capability.Identity, ok bool) {
	op, _ := l.do(Op{Kind: "identity", Name: info.Name(), Info: info}, func(op *Op) error {
		op.ID, ok = l.below.(capability.Identifier).IdentityOf(op.Info)
		return nil
	})
	return op.ID, ok
}

func (l linked) CopyMeta(from, to string) error {
	return l.change(Op{Kind: "copymeta", Name: to, From: from}, func(op *Op) error {
		return l.below.(capability.MetaCopier).CopyMeta(op.From, op.Name)
	})
}

func (l linked) LinkTimes(name string, mtime int64) error {
	return l.change(Op{Kind: "linktimes", Name: name},
		func(op *Op) error { return l.below.(capability.LinkTimer).LinkTimes(op.Name, mtime) })
}

// full has the abilities of a RootFs on systems where files can be exchanged.
type full struct {
	linked
	exchanging
}

// inheriting has the abilities of a RootFs on Linux.
type inheriting struct{ full }

func (i inheriting) Inherit(dir, name string) (allowed fs.FileMode, err error) {
	err = i.change(Op{Kind: "inherit", Name: name, From: dir}, func(op *Op) (err error) {
		allowed, err = i.below.(capability.Inheriter).Inherit(op.From, op.Name)
		return err
	})
	return allowed, err
}

// MayChange asks a RootFs on Linux. It calls no hooks, because it is not an operation.
func (i inheriting) MayChange(dir string) error {
	if asked, ok := i.below.(interface{ MayChange(dir string) error }); ok {
		return asked.MayChange(dir)
	}
	return nil
}

// Owns asks a RootFs on Linux. It calls no hooks, because it is not an operation.
func (i inheriting) Owns(id capability.Identity) bool {
	asked, ok := i.below.(interface {
		Owns(capability.Identity) bool
	})
	return !ok || asked.Owns(id)
}

// MountPoints asks a RootFs on Linux. It calls no hooks, because it is not an operation.
func (i inheriting) MountPoints() []string {
	if asked, ok := i.below.(interface{ MountPoints() []string }); ok {
		return asked.MountPoints()
	}
	return nil
}

// onUnix are the abilities of a RootFs on any Unix.
type onUnix interface {
	afero.Symlinker
	capability.Linker
	capability.DirSyncer
	capability.Locker
	capability.FileLocker
	capability.Identifier
	capability.MetaCopier
	capability.LinkTimer
	capability.Namer
}

// exchanger are the abilities of a raised MemMapFs in addition to afero.Fs.
type exchanger interface {
	capability.Exchanger
	capability.NoReplacer
}
