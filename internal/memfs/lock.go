package memfs

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"

	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/poll"
)

// memLockName begins the name of a directory in the root of the MemMapFs that is there while somebody has the lock. To
// make a directory is the one thing that a MemMapFs does at once for all who use it, so this works between several
// memFs of one MemMapFs, which know nothing of each other. They do not list it. The rest of the name is nothing that a
// tree could bring along, from outside or from another MemMapFs: only this process has this lock, and of this tree.
const memLockName = ".millrace.lock-"

// memLockToken is the same as long as the process lives, and is known to nobody else.
var memLockToken = sync.OnceValue(rand.Text)

// lockName is the name of the lock of this MemMapFs.
func (m *FS) lockName() string { return fmt.Sprintf("%s%s-%p", memLockName, memLockToken(), m.mem) }

// isLock reports whether a name in the root is that of the lock.
func (m *FS) isLock(name string) bool {
	return strings.HasPrefix(name, memLockName) && name == m.lockName()
}

// Lock implements [capability.Locker]. A ctx that is done already still gets a lock that is free.
func (m *FS) Lock(ctx context.Context) (io.Closer, error) {
	key := memRoot + m.lockName()
	err := poll.Lock(ctx, func() (bool, error) {
		m.mu.Lock()
		defer m.mu.Unlock()
		err := m.mem.Mkdir(key, 0o700)
		if errors.Is(err, fs.ErrExist) {
			return false, nil
		}
		return err == nil, err
	})
	if err != nil {
		return nil, names.PathError("lock", ".", err)
	}
	return poll.CloseOnce(func() error {
		m.mu.Lock()
		defer m.mu.Unlock()
		return names.PathError("unlock", ".", m.mem.Remove(key))
	}), nil
}
