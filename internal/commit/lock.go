package commit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/filelock"
	"github.com/millrace-go/millrace/internal/panics"
	"github.com/millrace-go/millrace/internal/rootfs"
)

// lockName is the name of the mark in the state directory.
const lockName = "lock"

// Lock locks the tree. The lock has two halves:
//
//   - A lock that the system releases when the process dies: the lock of the file system (see [fsutil.Locker]),
//     otherwise a lock of the top directory, or of a file in the state directory, through the handle that the file
//     system returns. So a wrapper of the operating system's file system and a [fsutil.RootFs] of the same directory
//     exclude each other. File systems that hide the handles have no such half.
//   - A mark in the state directory that names the owner of the lock. Only file systems that are not a Locker make a
//     mark, and others wait while its process may be alive on this machine. The mark of a process that is certainly
//     gone is removed.
//
// Lock waits until ctx is done. Then the error is [fsutil.ErrLocked] and names the owner of the lock if it is known.
// Some marks cannot be judged and must be removed by hand: a mark from another machine, or from another container of
// this machine without the first half.
func Lock(ctx context.Context, o Options) (io.Closer, error) {
	state := o.state()
	l := &treeLock{state: state,
		mark: filelock.NewMark(state.d, state.join(lockName), func() error { return state.ensure() })}
	taken := false
	defer func() {
		if !taken { // also when the file system panics
			_ = l.Close()
		}
	}()
	if err := l.take(ctx, &o); err != nil {
		return nil, err
	}
	taken = true
	return l, nil
}

// treeLock is the lock that Lock returns.
type treeLock struct {
	unlock func() error // unlocks the half of the system; nil without that half
	state  stateDir
	mark   *filelock.Mark
	marked bool // the mark is made
	once   sync.Once
	err    error
}

func (l *treeLock) take(ctx context.Context, o *Options) error {
	if locker, ok := o.FS.(capability.Locker); ok {
		system, err := locker.Lock(ctx)
		if err == nil {
			l.unlock = system.Close
			return lockError(l.mark.Respect(ctx, l.state.exists, rootID(o)))
		}
		if !errors.Is(err, errors.ErrUnsupported) {
			return named(o, err)
		}
	}
	unlock, id, err := lockHandle(ctx, o)
	if err != nil {
		return lockError(err)
	}
	l.unlock = unlock
	l.mark.Claim(id)
	err = l.mark.Make(ctx)
	if err != nil && !errors.Is(err, capability.ErrLocked) {
		_ = l.state.tidy() // if no mark can be made, nothing of it is left
	}
	l.marked = err == nil
	return lockError(err)
}

// rootID returns the identity of the directory that a [fsutil.RootFs] locks; it is nil for others.
func rootID(o *Options) func() (string, error) {
	if _, ok := o.FS.(*rootfs.FS); !ok {
		return nil
	}
	return func() (string, error) {
		top, err := o.state().d.Look(".")
		return filelock.FileID(top.ID.Dev, top.ID.Ino), err
	}
}

// named adds the owner of the lock to the error of a Locker, if the system reports it.
func named(o *Options, err error) error {
	id := rootID(o)
	if id == nil || !errors.Is(err, capability.ErrLocked) {
		return err
	}
	if top, serr := id(); serr == nil {
		return fmt.Errorf("%w: it is held by %s", err, filelock.Holder(top))
	}
	return err
}

func lockError(err error) error {
	if err != nil {
		err = fmt.Errorf("lock: %w", err)
	}
	return err
}

// Close unlocks the tree, and removes the state directory if it is empty.
func (l *treeLock) Close() error {
	l.once.Do(func() {
		if l.marked {
			l.err = panics.Protect(l.release)
			if _, panicked := errors.AsType[*panics.Error](l.err); panicked {
				// The mark of a living process would lock everybody out as long as the process lives.
				l.err = errors.Join(l.err, panics.Protect(l.release))
			}
		}
		if l.unlock != nil {
			l.err = errors.Join(l.err, panics.Protect(l.unlock))
		}
	})
	return l.err
}

// release removes the mark. If nothing in the state directory is worth keeping, it removes everything else first: once
// the mark is gone, another run may write there.
func (l *treeLock) release() error {
	err := l.stillMine()
	if errors.Is(err, ErrLockLost) {
		return err
	}
	// A mark that cannot be read is removed too: the mark of a living process would block all others.
	err = errors.Join(err, l.mark.Sweep())
	empty, idle, werr := l.state.worthless(lockName)
	found, ferr := l.state.found()
	werr = errors.Join(werr, ferr)
	if err = errors.Join(err, werr); err == nil && idle {
		err = l.state.strip(empty)
	}
	if err = errors.Join(err, lost(l.mark.Remove())); err != nil || !idle {
		return flatten(err)
	}
	if names, err := l.state.d.Names(l.state.dir); err != nil || len(names) > 0 || found {
		return nil //nolint:nilerr // another program uses it, or has removed it
	}
	_ = l.state.d.Remove(l.state.dir) // as above
	return nil
}

// stillMine returns ErrLockLost if the mark no longer belongs to this lock.
func (l *treeLock) stillMine() error { return lost(l.mark.StillMine()) }

// lost returns ErrLockLost for the error of a lost mark.
func lost(err error) error {
	if errors.Is(err, filelock.ErrLost) {
		return ErrLockLost
	}
	return err
}

// hold locks the tree unless the caller has the lock, and returns the function that unlocks it.
func (o *Options) hold(ctx context.Context) (func() error, error) {
	if o.Lock != nil {
		return func() error { return nil }, nil
	}
	l, err := Lock(ctx, *o)
	if err != nil {
		return nil, err
	}
	o.Lock = l
	return l.Close, nil
}

// locked calls do with the lock held. An error of unlocking comes second.
func (o *Options) locked(ctx context.Context, do func() error) (err error) {
	release, err := o.hold(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, panics.Protect(release)) }()
	return do()
}

// checkLock returns an error if the lock is known to be lost.
func (o *Options) checkLock() error {
	if l, ok := o.Lock.(*treeLock); ok && l.marked {
		return l.stillMine()
	}
	return nil
}
