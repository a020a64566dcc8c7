package fsutil

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"
)

// Where a directory cannot be locked itself, as on Windows and on some network file systems, this file is, and stays when
// the lock is given back: to remove it would let two runs lock two files of one name.
const (
	lockDir  = ".millrace"
	lockFile = lockDir + "/lock"
)

// pollLock calls try until it succeeds, fails or ctx is done. It tries at least once.
func pollLock(ctx context.Context, try func() (bool, error)) error {
	const shortest, longest = time.Millisecond, 50 * time.Millisecond
	for wait := shortest; ; wait = min(2*wait, longest) {
		if ok, err := try(); ok || err != nil {
			return err
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("%w: %w", ErrLocked, context.Cause(ctx))
		case <-timer.C:
		}
	}
}

// openLockFile opens the lock file, and makes it if need be. A link in its place or in that of its directory is refused:
// somebody else made it.
func (r *RootFs) openLockFile() (*os.File, error) {
	if err := r.root.Mkdir(lockDir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, rootPathError("lock", lockDir, err)
	}
	info, err := r.root.Lstat(lockDir)
	if err == nil && !info.IsDir() {
		err = ErrNotDir
	}
	if err != nil {
		return nil, rootPathError("lock", lockDir, err)
	}
	// Before, so that no file is made where a link leads; afterwards, because it may have been made in between.
	if info, err = r.root.Lstat(lockFile); err == nil && !info.Mode().IsRegular() {
		return nil, rootPathError("lock", lockFile, ErrNotRegular)
	}
	file, err := r.root.OpenFile(lockFile, os.O_RDWR|os.O_CREATE|openNoWait, 0o600)
	if err != nil {
		return nil, rootPathError("lock", lockFile, err)
	}
	opened, err := file.Stat()
	if err == nil {
		info, err = r.root.Lstat(lockFile)
	}
	if err == nil && !os.SameFile(info, opened) {
		err = ErrNotRegular
	}
	if err != nil {
		file.Close()
		return nil, rootPathError("lock", lockFile, err)
	}
	return file, nil
}

// onceCloser calls a function at the first Close and returns its error at each.
type onceCloser struct{ close func() error }

func newOnceCloser(do func() error) io.Closer { return onceCloser{sync.OnceValue(do)} }

func (c onceCloser) Close() error { return c.close() }
