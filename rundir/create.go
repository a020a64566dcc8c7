package rundir

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"runtime"
	"time"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/filelock"
	"github.com/millrace-go/millrace/internal/journal"
	"github.com/millrace-go/millrace/internal/recordlog"
	"github.com/millrace-go/millrace/runs"
)

// newRun describes a new run. The store adds its number, id, and place.
type newRun struct {
	created
	// pipeline is the JSON of the pipeline as read, nil if it could not be read.
	pipeline  []byte
	variables []runs.Variable
	steps     []stepName
	// status is runs.Created, runs.Scheduled, or runs.Failed with a reason for an invalid pipeline.
	status runs.Status
	reason string
	// target is the fleet.Target, in JSON, for a run with a Child.
	target []byte
	// files writes the files, to which the first record refers, into the directory of the run. Nil means that there are
	// none.
	files func(number int64, c *created) error
}

// create creates a run: its number, its directory, its first record. When it returns, the run is durable and listed.
// The caller works on the run with the writer, or closes it at once so that another process may take the run. The error
// matches [runs.ErrNoKey].
func (s *Store) create(ctx context.Context, n newRun) (*writer, error) {
	if len(n.steps) > maxJobs-1 {
		return nil, fmt.Errorf("%d steps are too many for a durable run, which has at most %d jobs", len(n.steps),
			maxJobs)
	}
	key, err := s.writeKey()
	if err != nil {
		return nil, err
	}
	if err := s.prepareStore(); err != nil {
		return nil, err
	}
	number, f, err := s.allocate(ctx)
	if err != nil {
		return nil, err
	}
	var w *writer
	if n.files != nil {
		err = n.files(number, &n.created)
	}
	if err == nil {
		w, err = s.begin(number, f, key, n)
	} else {
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		// Without a first record it is invisible; files that cannot be removed now are swept later.
		return nil, errors.Join(err, s.d.RemoveTree(s.layout.run(number)))
	}
	return w, nil
}

// begin creates the files of a run with a number, and writes the first record to its file of records. That file is
// closed after an error.
func (s *Store) begin(number int64, f recordlog.File, key []byte, n newRun) (_ *writer, err error) {
	lock, err := s.takeLock(number)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	w := s.newWriter(number, lock)
	w.run = new(folded)
	w.records = recordlog.NewWriter(f, key, recordlog.Start())
	w.data = recordlog.NewData(s.openFor(number, dataFile, w.made), 0)
	w.made()
	r, err := w.first(n)
	if err == nil {
		err = w.append(r)
	}
	if err == nil {
		err = s.d.SyncAnyDir(path.Dir(s.layout.run(number)))
	}
	if err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

// first returns the first record of a run.
func (w *writer) first(n newRun) (*record, error) {
	c := n.created
	now := w.s.now().UTC()
	c.Version, c.Number, c.ID, c.StepCount = 1, w.number, cmp.Or(c.ID, journal.NewID(now)), len(n.steps)
	at, err := w.s.d.Look(w.s.layout.run(w.number))
	if err != nil {
		return nil, err
	}
	c.Dev, c.Ino = at.ID.Dev, at.ID.Ino
	if n.pipeline != nil {
		if c.Pipeline, err = w.blob(n.pipeline); err != nil {
			return nil, err
		}
	}
	if len(n.variables) > 0 {
		if c.Variables, err = w.value(n.variables); err != nil {
			return nil, err
		}
	}
	if c.Child != nil {
		of := *c.Child
		if of.Target, err = w.blob(n.target); err != nil {
			return nil, err
		}
		c.Child = &of
	}
	for _, v := range n.variables {
		c.Keys = append(c.Keys, v.Key)
	}
	if c.Steps, err = w.value(n.steps); err != nil {
		return nil, err
	}
	return &record{Kind: kindCreated, Time: now, Status: n.status, Reason: n.reason, Created: &c}, nil
}

// makeDir creates a directory whose name is durable when it returns. An existing directory is not an error.
func (s *Store) makeDir(name string) error {
	err := s.d.FS.Mkdir(name, 0o700)
	if disk.IsExist(err) {
		at, lerr := s.d.Look(name)
		if lerr != nil || at.Kind == change.Dir {
			return lerr
		}
		return notADir(name)
	}
	if err != nil {
		return err
	}
	return s.d.SyncAnyDir(path.Dir(name))
}

// prepareStore creates a missing store, and keeps version control away from it. A run that ends on the tree
// removes empty directories of the state directory. Then prepareStore starts again, because that rarely happens twice.
// A store with its format file stays.
func (s *Store) prepareStore() (err error) {
	for range 10 {
		if err = s.makeStore(); !disk.IsAbsent(err) {
			return err
		}
	}
	return err
}

func (s *Store) makeStore() error {
	ok, err := s.present()
	if err != nil {
		return err
	}
	if ok {
		return s.ensureIgnore() // the store may have come with the tree, or be older than the ignore file
	}
	for _, dir := range disk.Above(s.dir) {
		if dir == "/" {
			continue
		}
		if err := s.makeDir(dir); err != nil {
			return err
		}
	}
	if err := s.ensureIgnore(); err != nil {
		return err
	}
	// It is written under another name first: half of it would look like the file of another program.
	temp := s.path(formatFile + "-" + journal.NewID(time.Now()))
	if err := s.d.Put(temp, []byte(formatText), true); err != nil {
		return err
	}
	if err := s.d.FS.Rename(temp, s.path(formatFile)); err != nil {
		return errors.Join(err, s.d.Remove(temp))
	}
	return s.d.SyncAnyDir(s.dir)
}

// ensureIgnore keeps version control away from a store in a state directory, which has its own ignore file only after
// the first commit. Another directory belongs to the caller, and so does a .gitignore in it.
func (s *Store) ensureIgnore() error {
	if path.Base(s.dir) != journal.StoreDir {
		return nil
	}
	return journal.EnsureIgnore(s.d, s.dir, false)
}

// discard removes a run, which is invisible when it returns; the writer is closed. The caller must keep a run that
// others may need, such as the child of a fleet.
func (w *writer) discard() error {
	s := w.s
	w.mu.Lock()
	defer w.mu.Unlock()
	// Until the removal is certain, the slot of the index must not be trusted.
	e := w.entry()
	e.tooLong = true
	w.replaceSlot(e)
	if w.index != nil && s.d.Sync && w.index.Sync() != nil {
		w.dropIndex()
	}
	to := s.path(trashDir, journal.NewID(time.Now())) // a new id, because the id of a foreign run may be any text
	err := s.makeDir(s.path(trashDir))
	if err == nil {
		err = w.moveTo(to)
	}
	if err == nil {
		err = s.d.SyncAnyDir(path.Dir(s.layout.run(w.number)))
	}
	if err == nil {
		e.removed = true
		w.replaceSlot(e)
	}
	// The lock belongs to the file, wherever it is. If the lock is a mark next to the file, the mark is removed with it.
	if cerr := w.closeAll(); err == nil && !errors.Is(cerr, filelock.ErrLost) {
		err = cerr
	}
	if w.index != nil {
		w.dropIndex()
	}
	if err != nil {
		return err
	}
	return s.d.RemoveTree(to)
}

// moveTo renames the directory of the run. If a directory with open files cannot be renamed, all of them are closed
// first, including the lock: another process that has begun to use the run then fails, as it would a moment later.
func (w *writer) moveTo(to string) error {
	err := w.s.d.FS.Rename(w.s.layout.run(w.number), to)
	if err == nil || runtime.GOOS != "windows" {
		return err
	}
	index := w.index
	w.index = nil
	cerr := w.closeAll()
	w.index = index
	return errors.Join(w.s.d.FS.Rename(w.s.layout.run(w.number), to), cerr)
}

// emptyTrash removes the leftovers of a process that was killed in discard.
func (s *Store) emptyTrash() error {
	if at, err := s.d.Look(s.path(trashDir)); err != nil || at.Kind != change.Dir {
		return err // a link may have come with the store
	}
	names, err := s.d.Names(s.path(trashDir))
	err = disk.UnlessAbsent(err)
	for _, name := range names {
		err = errors.Join(err, s.d.RemoveTree(s.path(trashDir, name)))
	}
	return err
}
