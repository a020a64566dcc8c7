package commit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/poll"
)

// lockFileName is the file in the state directory that is locked where a directory cannot be. It stays when the lock is
// given back: to remove it would let two runs lock two files of one name.
const lockFileName = "lockfile"

// errNoHandle says that a file system does not give the handles of the operating system.
var errNoHandle = fmt.Errorf("no handle: %w", errors.ErrUnsupported)

// handled is an open file of the operating system.
type handled interface {
	afero.File
	Fd() uintptr
}

// handleOf returns the file of the operating system behind one that a file system has opened, and what that says of the
// name.
func handleOf(fsys afero.Fs, name string, f afero.File) (handled, fs.FileInfo, error) {
	switch f := f.(type) {
	case handled:
		info, err := fsys.Stat(name)
		return f, info, err
	case *afero.BasePathFile:
		return handleOf(fsys, name, f.File)
	}
	return nil, nil, errNoHandle
}

// fileID names a file of the operating system, on this machine.
func fileID(dev, ino uint64) string { return fmt.Sprintf("%d:%d", dev, ino) }

// lockHandle locks the top directory or else a file in the state directory, by its handle, and waits while another run
// has the lock. It returns what was locked, both empty if there is no such lock to be had.
func lockHandle(ctx context.Context, o *Options) (unlock func() error, id string, err error) {
	unlock, id, err = lockOpened(ctx, o, ".", o.FS.Open)
	if errors.Is(err, errors.ErrUnsupported) && err != errNoHandle { //nolint:errorlint // it is never wrapped
		state := o.state()
		if err := state.ensure(); err != nil {
			return nil, "", err
		}
		unlock, id, err = lockOpened(ctx, o, state.join(lockFileName), state.openLockFile)
	}
	if errors.Is(err, errors.ErrUnsupported) {
		return nil, "", nil
	}
	return unlock, id, err
}

func lockOpened(
	ctx context.Context, o *Options, name string, open func(name string) (afero.File, error),
) (unlock func() error, id string, err error) {
	f, err := open(name)
	if err != nil {
		return nil, "", err
	}
	defer func() {
		if unlock == nil {
			f.Close()
		}
	}()
	h, info, err := handleOf(o.FS, name, f)
	if err == nil {
		id, err = handleID(h, info)
	}
	if err != nil {
		return nil, "", err
	}
	err = poll.Lock(ctx, func() error {
		err := tryHandle(h)
		if errors.Is(err, capability.ErrLocked) {
			err = heldBy(name, lockHolder(id))
		}
		return err
	})
	if err != nil {
		return nil, "", err
	}
	// A child process that is just being started may hold the handle a little longer.
	return func() error { return errors.Join(unlockHandle(h), f.Close()) }, id, nil
}

// openLockFile opens the file that is locked, and makes it if need be. A link in its place is refused: another
// program made it.
func (s stateDir) openLockFile(name string) (afero.File, error) {
	check := func() error {
		st, err := s.d.Look(name)
		if err == nil && st.Kind != change.File && st.Kind != change.Absent {
			err = controlError(name, "is a "+st.Kind.String()+", not a file")
		}
		return err
	}
	// Before, so that no file is made where a link leads; afterwards, because it may have been made in between.
	if err := check(); err != nil {
		return nil, err
	}
	f, err := s.d.FS.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := check(); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// placeOf returns what tells a directory of this library from another: the identity that the file system gives, or
// else that of the handle it gives. So a transaction that was begun through a file system which wraps the one of the
// operating system can be dealt with through a [fsutil.RootFs] of the same directory, and the other way round. It is
// zero if there is neither.
func placeOf(d *disk.Disk, dir string, s change.State) (capability.Identity, error) {
	if s.ID.Ino != 0 || d.Memory {
		return s.ID, nil
	}
	f, err := d.FS.Open(dir)
	if err != nil {
		return capability.Identity{}, err
	}
	defer f.Close()
	var id capability.Identity
	h, info, err := handleOf(d.FS, dir, f)
	if err == nil {
		id, err = handleIdentity(h, info)
	}
	if errors.Is(err, errNoHandle) {
		err = nil
	}
	return id, err
}
