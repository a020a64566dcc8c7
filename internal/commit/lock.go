package commit

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"sync"
	"syscall"
	"time"

	"github.com/millrace-go/millrace/fsutil"
)

// The lock is a directory, for making one is the one thing that is atomic on every file system; who holds it stands in a
// file in it.
const (
	lockName  = "lock"
	ownerName = "owner"
)

// Lock takes the lock of the tree: what the file system offers, see [fsutil.Locker], else the directory "lock" in the state
// directory, made by one who finds none. It waits until ctx is done, then the error is [fsutil.ErrLocked]. A lock left
// behind by a process of this machine that is not there any more is taken over; one of another machine has to be removed
// by hand.
func Lock(ctx context.Context, o Options) (io.Closer, error) {
	if locker, ok := o.FS.(fsutil.Locker); ok {
		return locker.Lock(ctx)
	}
	l := &fileLock{state: stateDir{o.newDisk(), o.StateDir}}
	l.owner.PID = os.Getpid()
	l.owner.Token = rand.Text()
	l.owner.Since = time.Now().UTC().Truncate(time.Second)
	l.owner.Host, _ = os.Hostname() // without a name no lock is taken over
	const shortest, longest = time.Millisecond, 100 * time.Millisecond
	vanished := 0
	for wait := shortest; ; wait = min(2*wait, longest) {
		holder, err := l.try()
		if errors.Is(err, fs.ErrNotExist) && vanished < 10 {
			// The last one has just removed the directory. It does not do that each time that this one looks.
			vanished++
			holder, err = &owner{}, nil
		} else {
			vanished = 0
		}
		if err == nil && holder == nil {
			return l, nil
		}
		if err != nil {
			return nil, fmt.Errorf("lock: %w", err)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: %s, %v: %w", fsutil.ErrLocked, l.name(), holder, context.Cause(ctx))
		case <-time.After(wait):
		}
	}
}

// owner is what the file in the lock says.
type owner struct {
	Host  string    `json:"host"`
	PID   int       `json:"pid"`
	Since time.Time `json:"since"`
	Token string    `json:"token"`
}

func (o *owner) String() string {
	return fmt.Sprintf("held by process %d on %q since %s", o.PID, o.Host, o.Since.Format(time.RFC3339))
}

// fileLock is the lock for file systems that have none. The methods of afero.Fs allow no better.
type fileLock struct {
	state stateDir
	owner owner
	once  sync.Once
	err   error
}

func (l *fileLock) name() string { return l.state.join(lockName) }

// try takes the lock and returns nil, or returns who holds it.
func (l *fileLock) try() (*owner, error) {
	if err := l.state.ensure(); err != nil {
		return nil, err
	}
	switch err := l.state.d.fs.Mkdir(l.name(), 0o700); {
	case errors.Is(err, fs.ErrExist):
		return l.takeOver()
	case err != nil:
		return nil, err
	}
	if err := l.sign(); err != nil {
		return nil, errors.Join(err, l.state.d.removeTree(l.name()))
	}
	return nil, nil
}

// sign says in the lock who holds it.
func (l *fileLock) sign() error {
	data, _ := json.Marshal(l.owner) // never fails for the type
	f, err := l.state.d.fs.OpenFile(path.Join(l.name(), ownerName), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// read returns who the lock of that name says has it; of one that is gone, or being made just now, nobody.
func (l *fileLock) read(name string) (*owner, error) {
	f, err := l.state.d.open(path.Join(name, ownerName))
	if err != nil {
		if isAbsent(err) {
			return &owner{}, nil
		}
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, 1<<16))
	if err != nil {
		return nil, err
	}
	o := new(owner)
	if json.Unmarshal(data, o) != nil {
		return &owner{}, nil
	}
	return o, nil
}

// takeOver removes the lock of a process that is gone. It is moved away first, so that of several that do this one
// gets it, and looked at again then.
func (l *fileLock) takeOver() (*owner, error) {
	holder, err := l.read(l.name())
	if err != nil || !l.isStale(holder) {
		return holder, err
	}
	aside := l.name() + "-" + l.owner.Token
	if err := l.state.d.fs.Rename(l.name(), aside); err != nil {
		if isAbsent(err) {
			return holder, nil // another one was faster
		}
		return nil, err
	}
	now, err := l.read(aside)
	if err != nil || now.Token != holder.Token {
		// Another one has taken over in between, and this is its lock; or nobody knows whose it is.
		return now, flatten(errors.Join(err, l.state.d.fs.Rename(aside, l.name())))
	}
	return holder, l.state.d.removeTree(aside)
}

// isStale reports whether the process that holds the lock surely is not there any more.
func (l *fileLock) isStale(holder *owner) bool {
	if holder.PID <= 0 || holder.Host == "" || holder.Host != l.owner.Host || holder.PID == l.owner.PID {
		return false
	}
	p, err := os.FindProcess(holder.PID)
	if err != nil {
		return true // only Windows looks, and says so
	}
	defer p.Release()
	err = p.Signal(syscall.Signal(0))
	return errors.Is(err, os.ErrProcessDone) || errors.Is(err, syscall.ESRCH)
}

// check returns ErrLockLost if the lock is not this one's any more.
func (l *fileLock) check() error {
	holder, err := l.read(l.name())
	if err == nil && holder.Token != l.owner.Token {
		err = ErrLockLost
	}
	return err
}

// Close gives the lock back, and removes the state directory if nothing is left in it.
func (l *fileLock) Close() error {
	l.once.Do(func() {
		if l.err = l.check(); l.err != nil {
			return
		}
		l.err = l.release()
	})
	return l.err
}

// release removes the lock, and everything beside it before that if nothing is of worth: once it is gone another run
// may begin to put things there.
func (l *fileLock) release() error {
	empty, idle, err := l.state.worthless(lockName)
	if err == nil && idle {
		err = l.state.strip(empty)
	}
	if err = errors.Join(err, l.state.d.removeTree(l.name())); err != nil || !idle {
		return flatten(err)
	}
	if names, err := l.state.d.names(l.state.dir); err != nil || len(names) > 0 {
		return nil //nolint:nilerr // somebody else uses it, or has removed it
	}
	_ = l.state.d.remove(l.state.dir) // as above
	return nil
}

// hold takes the lock unless the caller has it, and returns how to give it back.
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

// releasing calls do and gives the lock back, however do ends. An error of that comes second.
func releasing(release func() error, do func() error) (err error) {
	defer func() { err = errors.Join(err, fsutil.Protect(release)) }()
	return do()
}

// checkLock makes sure that the lock is still held, where that can be told.
func (o *Options) checkLock() error {
	if l, ok := o.Lock.(*fileLock); ok {
		return l.check()
	}
	return nil
}
