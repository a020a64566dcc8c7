package commit

import (
	"context"
	"errors"
	"os"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/filelock"
)

// lockFileName is the file in the state directory that is locked if a directory cannot be locked. It is never removed:
// then two runs could lock two files of the same name.
const lockFileName = "lockfile"

// lockHandle locks the top directory or else a file in the state directory, by its handle, and waits while another run
// holds the lock. It returns the locked file, and both results are empty if no such lock exists.
func lockHandle(ctx context.Context, o *Options) (unlock func() error, id string, err error) {
	unlock, id, err = filelock.Handle(ctx, o.FS, ".", o.FS.Open)
	if errors.Is(err, errors.ErrUnsupported) && err != filelock.ErrNoHandle { //nolint:errorlint // it is never wrapped
		state := o.state()
		if err := state.ensure(); err != nil {
			return nil, "", err
		}
		unlock, id, err = filelock.Handle(ctx, o.FS, state.join(lockFileName), state.openLockFile)
	}
	if errors.Is(err, errors.ErrUnsupported) {
		return nil, "", nil
	}
	return unlock, id, err
}

// openLockFile opens the lock file, and makes it if needed. A link in its place is refused: another program made it.
func (s stateDir) openLockFile(name string) (afero.File, error) {
	check := func() error {
		st, err := s.d.Look(name)
		if err == nil && st.Kind != change.File && st.Kind != change.Absent {
			err = controlError(name, "is a "+st.Kind.String()+", not a file")
		}
		return err
	}
	// Check before, so that no file is made where a link leads; and after, because a link may have been made in between.
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

// placeOf returns the identity of a directory of this library, from the file system or otherwise from an open handle.
// So a transaction begun through a wrapper of the operating system's file system can be recovered through a
// [fsutil.RootFs] of the same directory, and the reverse. Without an identity it is zero.
func placeOf(d *disk.Disk, dir string, s change.State) (capability.Identity, error) {
	if s.ID.Ino != 0 || d.Memory {
		return s.ID, nil
	}
	f, err := d.FS.Open(dir)
	if err != nil {
		return capability.Identity{}, err
	}
	defer f.Close()
	id, err := filelock.Identity(d.FS, dir, f)
	if errors.Is(err, filelock.ErrNoHandle) {
		err = nil
	}
	return id, err
}
