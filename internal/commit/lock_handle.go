package commit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/change"
)

// lockFileName is the file in the state directory that is locked where a directory cannot be. It stays when the lock is
// given back: to remove it would let two runs lock two files of one name.
const lockFileName = "lockfile"

// errNoHandle says that a file system does not give the handles of the operating system, errCannotLock that this
// cannot be locked by its handle.
var (
	errNoHandle   = fmt.Errorf("no handle: %w", errors.ErrUnsupported)
	errCannotLock = fmt.Errorf("no lock by handle: %w", errors.ErrUnsupported)
)

// handled is an open file of the operating system.
type handled interface {
	afero.File
	Fd() uintptr
}

// handleOf returns the file of the operating system behind one that a file system gives, nil if that cannot be told.
func handleOf(f afero.File) handled {
	switch f := f.(type) {
	case handled:
		return f
	case *afero.BasePathFile:
		return handleOf(f.File)
	}
	return nil
}

// fileID names a file of the operating system, on this machine.
func fileID(dev, ino uint64) string { return fmt.Sprintf("%d:%d", dev, ino) }

// lockHandle locks the top directory or else a file in the state directory, by its handle, and waits while somebody
// else has the lock. It returns what was locked, both empty if there is no such lock to be had.
func lockHandle(ctx context.Context, o *Options) (lock io.Closer, id string, err error) {
	lock, id, err = lockOpened(ctx, o, ".", o.FS.Open)
	if errors.Is(err, errCannotLock) {
		state := o.state()
		if err := state.ensure(); err != nil {
			return nil, "", err
		}
		lock, id, err = lockOpened(ctx, o, state.join(lockFileName), state.openLockFile)
	}
	if errors.Is(err, errors.ErrUnsupported) {
		return nil, "", nil
	}
	return lock, id, err
}

func lockOpened(ctx context.Context, o *Options, name string, open func(name string) (afero.File, error)) (lock io.Closer, id string, err error) {
	f, err := open(name)
	if err != nil {
		return nil, "", err
	}
	locked := false
	defer func() {
		if !locked {
			f.Close()
		}
	}()
	h := handleOf(f)
	if h == nil {
		return nil, "", errNoHandle
	}
	info, err := o.FS.Stat(name)
	if err != nil {
		return nil, "", err
	}
	if id, err = handleID(h, info); err != nil {
		return nil, "", err
	}
	err = waitFor(ctx, name, func() (string, error) {
		free, err := tryHandle(h)
		if free || err != nil {
			return "", err
		}
		return lockHolder(id), nil
	})
	if err != nil {
		return nil, "", err
	}
	locked = true
	return handleLock{sync.OnceValue(func() error {
		// A child process that is just being started may hold the handle a little longer.
		return errors.Join(unlockHandle(h), f.Close())
	})}, id, nil
}

// handleLock gives a lock back, once.
type handleLock struct{ close func() error }

func (l handleLock) Close() error { return l.close() }

// openLockFile opens the file that is locked, and makes it if need be. A link in its place is refused: somebody else
// made it.
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
