package filelock

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/poll"
)

// A mark is a directory, because a directory can be moved away atomically with its contents. The process that makes the
// file "made" in it has the mark: in a layer of afero, making an existing directory is not an error. That file has the
// token of the owner, which distinguishes this mark from the next mark. Another file names the owner. It is first
// written in the directory of the mark and then moved into the mark, so that an owner that dies in between is still
// known. Such names begin with the name of the mark and a dash.
const (
	madeName  = "made"
	ownerName = "owner"
	besideEnd = ".owner"
)

// ErrLost: a lock was taken away while it was held.
var ErrLost = errors.New("the lock was lost")

// Mark is a lock in a file system, for file systems without another lock. It is not safe for concurrent use.
type Mark struct {
	disk     *disk.Disk
	name     string
	ensure   func() error
	me       owner
	leaving  bool // the mark is being removed
	vanished int  // how many times in a row the directory of the mark has disappeared during an attempt
}

// NewMark returns a mark of that name, for this process, and does not make it yet. ensure makes its directory.
func NewMark(d *disk.Disk, name string, ensure func() error) *Mark {
	return &Mark{disk: d, name: name, ensure: ensure, me: newOwner()}
}

// Claim records a file that the owner also holds a lock of. The operating system releases that lock when the process
// dies. id is the id from [Handle].
func (m *Mark) Claim(id string) { m.me.System = id }

func (m *Mark) beside() string         { return m.aside() + besideEnd }
func (m *Mark) aside() string          { return m.name + "-" + m.me.Token }
func (m *Mark) owner() (*owner, error) { return m.ownerIn(m.name) }

// Make makes the mark, and waits while another run has it. When ctx is done, the error is [capability.ErrLocked].
func (m *Mark) Make(ctx context.Context) error {
	return poll.Lock(ctx, func() error {
		holder, err := m.try()
		if errors.Is(err, fs.ErrNotExist) && m.vanished < 10 {
			// The previous holder has just removed the directory. That does not happen on every attempt.
			m.vanished++
			return m.heldBy(new(owner))
		}
		m.vanished = 0
		return cmp.Or(err, m.heldBy(holder))
	})
}

// Respect waits while a process of this machine has the mark, and makes none. It ignores marks from elsewhere, which
// may have come with the tree, and marks in memory, whose processes cannot be looked up. there reports whether the
// directory for marks exists; locked, which may be nil, returns the id of the file that this process has a system lock
// of.
func (m *Mark) Respect(ctx context.Context, there func() (bool, error), locked func() (string, error)) error {
	if m.disk.Memory {
		return nil
	}
	return poll.Lock(ctx, func() error {
		holder, err := m.respected(there, locked)
		return cmp.Or(err, m.heldBy(holder))
	})
}

// respected returns the process of this machine that has the mark, nil if there is none any more.
func (m *Mark) respected(there func() (bool, error), locked func() (string, error)) (*owner, error) {
	if ok, err := there(); err != nil || !ok {
		return nil, err
	}
	if s, err := m.disk.Look(m.name); err != nil || s.Kind != change.Dir {
		return nil, err
	}
	holder, made, err := m.holder()
	if err != nil || holder == nil || !holder.sameMachine(&m.me) {
		return nil, err
	}
	if locked != nil && m.me.System == "" && holder.System != "" {
		if m.me.System, err = locked(); err != nil {
			return nil, err
		}
	}
	if !holder.gone(&m.me) {
		return holder, nil
	}
	aside, holder, err := m.takeOver(holder, made)
	if aside != "" {
		err = errors.Join(err, m.disk.RemoveTree(aside)) // this lock has no release that sweeps
	}
	return holder, err
}

// heldBy returns the error for a mark with a holder, nil without one. If the holder may be dead, the error explains how
// to remove the mark.
func (m *Mark) heldBy(holder *owner) error {
	if holder == nil {
		return nil
	}
	text := holder.String()
	if holder.PID > 0 && !holder.known(&m.me) {
		text += "; if it is not there any more, remove " + m.name
	}
	return HeldBy(m.name, text)
}

// try makes the mark and returns nil, or returns its holder.
func (m *Mark) try() (holder *owner, err error) {
	if err := m.ensure(); err != nil {
		return nil, err
	}
	before, err := m.disk.Look(m.name)
	if err != nil {
		return nil, err
	}
	if before.Kind != change.Absent {
		if holder, err := m.check(); err != nil || holder != nil {
			return holder, err
		}
	}
	left := []string{m.beside()}
	defer func() { // also when the file system panics
		for _, name := range left {
			err = errors.Join(err, m.disk.Remove(name))
		}
	}()
	data, _ := json.Marshal(m.me) // never fails for the type
	if err := m.disk.Put(m.beside(), data, false); err != nil {
		return nil, err
	}
	switch err := m.disk.FS.Mkdir(m.name, 0o700); {
	case err == nil:
		left = []string{m.name, m.beside()}
	case !errors.Is(err, fs.ErrExist):
		return nil, err
	case before.Kind == change.Absent:
		// Another process was faster. Making the file would decide too, but a MemMapFs may let two processes make it.
		return new(owner), nil
	}
	made := path.Join(m.name, madeName)
	switch err := m.disk.Put(made, []byte(m.me.Token), false); {
	case disk.IsExist(err): // another process was faster
		left = []string{m.beside()}
		holder, err := m.check()
		return cmp.Or(holder, new(owner)), err
	case disk.IsAbsent(err): // and it was moved away since
		left = []string{m.beside()}
		return nil, fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	case err != nil:
		return nil, err
	}
	left = []string{made, m.name, m.beside()}
	if err := m.disk.FS.Rename(m.beside(), m.named(m.name, m.me.Token)); err != nil {
		if disk.IsAbsent(err) {
			left = []string{m.beside()} // it was moved away since, and m.name may be the mark of another process now
		}
		return nil, err
	}
	// The mark may have been made in a directory that its holder was just removing. Then m.name is now another directory.
	if token, err := m.made(m.name); err != nil || token != m.me.Token {
		left = []string{m.named(m.name, m.me.Token)}
		return new(owner), err
	}
	left = nil
	return nil, nil
}

// named returns the file in a mark that names the owner with that token. No other process uses this name.
func (m *Mark) named(mark, token string) string {
	if token == "" {
		return path.Join(mark, ownerName)
	}
	return path.Join(mark, ownerName+"-"+token)
}

// ownerIn returns the owner that a mark names, nil if it names none.
func (m *Mark) ownerIn(mark string) (*owner, error) {
	token, err := m.made(mark)
	if err != nil {
		return nil, err
	}
	return m.read(m.named(mark, token))
}

// check returns the holder of an existing mark, nil if nobody holds it yet. The mark of a dead holder is removed.
func (m *Mark) check() (*owner, error) {
	holder, made, err := m.holder()
	if err != nil || holder != nil && !holder.gone(&m.me) {
		return holder, err
	}
	if s, err := m.disk.Look(path.Join(m.name, madeName)); holder == nil && (err != nil || s.Kind == change.Absent) {
		return nil, err
	}
	_, holder, err = m.takeOver(holder, made)
	return holder, err
}

// holder returns the process that has the mark, or is about to write its name there, and the token of the mark. A nil
// holder means one of three cases: nobody has made the mark; the process died before it wrote its name; the power
// failed before the name was on the disk.
func (m *Mark) holder() (holder *owner, made string, err error) {
	last, same := "", 0
	for try := range 5 {
		if try > 1 {
			time.Sleep(time.Millisecond)
		}
		if made, err = m.made(m.name); err != nil {
			return nil, made, err
		}
		// The file with the owner's name is moved into the mark from the directory of the mark. So the name of a living
		// process is in the mark, or in that directory, or has just been moved.
		for _, look := range []func() (*owner, error){m.owner, m.alive, m.owner} {
			if holder, err = look(); err != nil || holder != nil {
				return holder, made, err
			}
		}
		// Marks that change quickly may each be seen without a name. The mark of a dead process does not change. In memory, a
		// name is missing for a moment while it is moved, so one look is not enough.
		now, err := m.made(m.name)
		if err != nil {
			return nil, made, err
		}
		if same++; now != made || made != last {
			same = 0
		}
		last = made
	}
	if same < 3 {
		holder = new(owner)
	}
	return holder, made, nil
}

// made returns the token in a mark, "" if it has none yet.
func (m *Mark) made(mark string) (string, error) {
	token, err := m.disk.Read(path.Join(mark, madeName), 1<<10)
	if errors.Is(err, names.ErrNotRegular) {
		err = nil
	}
	return string(token), disk.UnlessAbsent(err)
}

// alive returns another process that is about to make the mark and is not gone.
func (m *Mark) alive() (*owner, error) {
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

// besides returns the other names of the mark, which are in the same directory.
func (m *Mark) besides() (all []string, err error) {
	dir := path.Dir(m.name)
	names, err := m.disk.Names(dir)
	for _, name := range names {
		if strings.HasPrefix(name, path.Base(m.name)+"-") {
			all = append(all, path.Join(dir, name))
		}
	}
	return all, disk.UnlessAbsent(err)
}

// read returns the owner that a file names, nil if it names none.
func (m *Mark) read(name string) (*owner, error) {
	data, err := m.disk.Read(name, 1<<16)
	if err != nil && !errors.Is(err, names.ErrNotRegular) {
		return nil, disk.UnlessAbsent(err)
	}
	o := new(owner)
	if json.Unmarshal(data, o) != nil || o.Token == "" {
		return nil, nil
	}
	return o, nil
}
