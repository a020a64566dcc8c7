package ownbackend

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"sync"

	"github.com/millrace-go/millrace/capability"
)

// The optional abilities of a file system. Without them a run also commits, but its commit is less safe.
var (
	_ capability.Locker     = (*FS)(nil)
	_ capability.NoReplacer = (*FS)(nil)
	_ capability.Exchanger  = (*FS)(nil)
	_ capability.DirSyncer  = (*FS)(nil)
)

// Lock implements [capability.Locker]. Other processes cannot open the database, so the lock is for this process.
func (f *FS) Lock(ctx context.Context) (io.Closer, error) {
	select {
	case f.locked <- struct{}{}:
		return &held{unlock: sync.OnceFunc(func() { <-f.locked })}, nil
	default:
	}
	select {
	case f.locked <- struct{}{}:
		return &held{unlock: sync.OnceFunc(func() { <-f.locked })}, nil
	case <-ctx.Done():
		return nil, capability.ErrLocked
	}
}

type held struct{ unlock func() }

func (h *held) Close() error { h.unlock(); return nil }

// RenameNoReplace implements [capability.NoReplacer].
func (f *FS) RenameNoReplace(oldname, newname string) error {
	return f.update("rename", newname, func(t tables) error {
		if _, _, err := t.find(clean(newname)); err == nil {
			return fs.ErrExist
		}
		return t.rename(clean(oldname), clean(newname))
	})
}

// Exchange implements [capability.Exchanger] for files. Both names keep their rows and get the other number.
func (f *FS) Exchange(a, b string) error {
	return f.update("exchange", a, func(t tables) error {
		ida, first, err := t.find(clean(a))
		if err != nil {
			return err
		}
		idb, second, err := t.find(clean(b))
		if err != nil {
			return err
		}
		if first.mode.IsDir() || second.mode.IsDir() {
			return fs.ErrInvalid
		}
		ida, idb = bytes.Clone(ida), bytes.Clone(idb)
		if err := t.names.Put([]byte(clean(a)), idb); err != nil {
			return err
		}
		return t.names.Put([]byte(clean(b)), ida)
	})
}

// SyncDir implements [capability.DirSyncer]. Each change of a name is already on the disk.
func (f *FS) SyncDir(string) error { return nil }
