package commit

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/poll"
	"github.com/millrace-go/millrace/internal/rootfs"
)

// The mark is a directory, because making one is atomic on every file system. A file in it names its owner. That file
// is written beside the mark first, and moved into it, so that an owner who dies in between is still known. Names
// beside the mark begin with its name.
const (
	lockName  = "lock"
	ownerName = "owner"
	besideEnd = ".owner"
)

// mark is the half of a lock that stands in the tree.
type mark struct {
	state    stateDir
	me       owner
	leaving  bool // the mark is being removed
	vanished int  // how many times in a row the state directory was gone in the middle
}

func newMark(o *Options) *mark {
	return &mark{state: o.state(), me: newOwner()}
}

func (m *mark) name() string           { return m.state.join(lockName) }
func (m *mark) beside() string         { return m.name() + "-" + m.me.Token + besideEnd }
func (m *mark) owner() (*owner, error) { return m.read(path.Join(m.name(), ownerName)) }

// make makes the mark, and waits while another run has it.
func (m *mark) make(ctx context.Context) error {
	return poll.Lock(ctx, func() error {
		holder, err := m.try()
		if errors.Is(err, fs.ErrNotExist) && m.vanished < 10 {
			// The last one has just removed the directory. It does not do that each time that this one looks.
			m.vanished++
			return m.heldBy(new(owner))
		}
		m.vanished = 0
		return cmp.Or(err, m.heldBy(holder))
	})
}

// respect waits while a process of this machine has the mark, and makes none. Marks from elsewhere may have come with
// the tree, and what is in memory was not written by a process that could still be asked for.
func (m *mark) respect(ctx context.Context, o *Options) error {
	if m.state.d.Memory {
		return nil
	}
	return poll.Lock(ctx, func() error {
		holder, err := m.respected(o)
		return cmp.Or(err, m.heldBy(holder))
	})
}

// respected returns the process of this machine that has the mark, nil if there is none any more.
func (m *mark) respected(o *Options) (*owner, error) {
	if ok, err := m.state.exists(); err != nil || !ok {
		return nil, err
	}
	if s, err := m.state.d.Look(m.name()); err != nil || s.Kind != change.Dir {
		return nil, err
	}
	holder, err := m.holder()
	if err != nil || holder == nil || !holder.sameMachine(&m.me) {
		return nil, err
	}
	if _, ok := o.FS.(*rootfs.FS); ok && m.me.System == "" && holder.System != "" {
		top, err := m.state.d.Look(".")
		if err != nil {
			return nil, err
		}
		m.me.System = fileID(top.ID.Dev, top.ID.Ino) // that is what it locks
	}
	if !holder.gone(&m.me) {
		return holder, nil
	}
	return m.takeOver(holder)
}

// heldBy is the error for a mark that has a holder, nil for none. It says what to do about one of which it is not known
// whether it is alive.
func (m *mark) heldBy(holder *owner) error {
	if holder == nil {
		return nil
	}
	text := holder.String()
	if holder.PID > 0 && !holder.known(&m.me) {
		text += "; if it is not there any more, remove " + m.name()
	}
	return heldBy(m.name(), text)
}

// named adds to the error of a Locker who has the lock, where the system tells.
func (m *mark) named(o *Options, err error) error {
	if _, ok := o.FS.(*rootfs.FS); !ok || !errors.Is(err, capability.ErrLocked) {
		return err
	}
	if top, serr := m.state.d.Look("."); serr == nil {
		return fmt.Errorf("%w: it is held by %s", err, lockHolder(fileID(top.ID.Dev, top.ID.Ino)))
	}
	return err
}

// try makes the mark and returns nil, or returns who has it.
func (m *mark) try() (holder *owner, err error) {
	if err := m.state.ensure(); err != nil {
		return nil, err
	}
	if s, err := m.state.d.Look(m.name()); err != nil {
		return nil, err
	} else if s.Kind != change.Absent {
		return m.check()
	}
	left := []string{m.beside()}
	defer func() { // also when the file system panics
		for _, name := range left {
			err = errors.Join(err, m.state.d.Remove(name))
		}
	}()
	data, _ := json.Marshal(m.me) // never fails for the type
	if err := m.state.d.Put(m.beside(), data, false); err != nil {
		return nil, err
	}
	switch err := m.state.d.FS.Mkdir(m.name(), 0o700); {
	case errors.Is(err, fs.ErrExist):
		return m.check()
	case err != nil:
		return nil, err
	}
	left = []string{m.name(), m.beside()}
	if err := m.state.d.FS.Rename(m.beside(), path.Join(m.name(), ownerName)); err != nil {
		return nil, err
	}
	left = nil
	return nil, nil
}

// check returns the holder of the mark, which is there. The mark of a holder that is gone is removed.
func (m *mark) check() (*owner, error) {
	holder, err := m.holder()
	if err != nil || holder != nil && !holder.gone(&m.me) {
		return holder, err
	}
	return m.takeOver(holder)
}

// holder returns the process that has the mark, or is about to make it. Nil means that the process is gone: it died
// before it wrote its name, or the power failed before that was on the disk.
func (m *mark) holder() (*owner, error) {
	for range 2 {
		holder, err := m.owner()
		if err != nil || holder != nil {
			return holder, err
		}
		// The name comes from beside the mark. So a living process is seen here or, when the name was moved meanwhile, there.
		if holder, err = m.alive(); err != nil || holder != nil {
			return holder, err
		}
	}
	return m.owner()
}

// alive returns a process that is about to make the mark and not gone.
func (m *mark) alive() (*owner, error) {
	besides, err := m.besides()
	for _, name := range besides {
		if !strings.HasSuffix(name, besideEnd) {
			continue
		}
		o, err := m.read(name)
		if err != nil {
			return nil, err
		}
		if o != nil && o.Token != m.me.Token && !o.gone(&m.me) {
			return o, nil
		}
	}
	return nil, err
}

// besides returns what stands beside the mark.
func (m *mark) besides() (all []string, err error) {
	names, err := m.state.d.Names(m.state.dir)
	for _, name := range names {
		if strings.HasPrefix(name, lockName+"-") {
			all = append(all, m.state.join(name))
		}
	}
	return all, disk.UnlessAbsent(err)
}

// read returns the owner that a file names, nil if it names none.
func (m *mark) read(name string) (*owner, error) {
	data, err := m.state.d.Read(name, 1<<16)
	if err != nil && !errors.Is(err, names.ErrNotRegular) {
		return nil, disk.UnlessAbsent(err)
	}
	o := new(owner)
	if json.Unmarshal(data, o) != nil || o.Token == "" {
		return nil, nil
	}
	return o, nil
}

// takeOver removes the mark of a process that is gone. It is moved away first, so that of several processes that do
// this one gets it, and then read again.
func (m *mark) takeOver(holder *owner) (*owner, error) {
	if holder == nil {
		holder = &owner{}
	}
	aside := m.name() + "-" + m.me.Token
	if err := m.state.d.FS.Rename(m.name(), aside); err != nil {
		if disk.IsAbsent(err) {
			return holder, nil // another one was faster
		}
		return nil, err
	}
	now, err := m.read(path.Join(aside, ownerName))
	if err != nil || now != nil && now.Token != holder.Token {
		// Another process has taken over in between, and this is its mark; or it cannot be read whose it is.
		return now, flatten(errors.Join(err, m.state.d.FS.Rename(aside, m.name())))
	}
	return holder, m.state.d.RemoveTree(aside)
}

// stillMine returns ErrLockLost if the mark is not this one's any more.
func (m *mark) stillMine() error {
	holder, err := m.owner()
	// A release that begins again may have removed the name already.
	if err == nil && (holder == nil && !m.leaving || holder != nil && holder.Token != m.me.Token) {
		err = ErrLockLost
	}
	return err
}

// release removes the mark, and everything beside it before that if nothing is of worth: once it is gone another run
// may begin to put things there.
func (m *mark) release() error {
	if err := m.stillMine(); err != nil {
		return err
	}
	err := m.sweep()
	empty, idle, werr := m.state.worthless(lockName)
	if err = errors.Join(err, werr); err == nil && idle {
		err = m.state.strip(empty)
	}
	m.leaving = true
	if err = errors.Join(err, m.state.d.RemoveTree(m.name())); err != nil || !idle {
		return flatten(err)
	}
	if names, err := m.state.d.Names(m.state.dir); err != nil || len(names) > 0 {
		return nil //nolint:nilerr // another program uses it, or has removed it
	}
	_ = m.state.d.Remove(m.state.dir) // as above
	return nil
}

// sweep removes what processes have left beside the mark that died while they made it or took it over. A process that
// is just writing there tries again.
func (m *mark) sweep() error {
	besides, err := m.besides()
	for _, name := range besides {
		said := name
		if !strings.HasSuffix(name, besideEnd) {
			said = path.Join(said, ownerName)
		}
		o, rerr := m.read(said)
		if rerr == nil && (o == nil || o.gone(&m.me)) {
			rerr = m.state.d.RemoveTree(name)
		}
		err = errors.Join(err, rerr)
	}
	return err
}
