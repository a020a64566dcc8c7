package commit

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"syscall"

	"github.com/millrace-go/millrace/backup"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/journal"
	"github.com/millrace-go/millrace/internal/panics"
)

// Leftover is an unfinished transaction, and the result of resolving it.
type Leftover struct {
	backup.Leftover
	// Err is the reason why it is suspicious, or the error of resolving it: a *PendingError, or a *RollbackConflict, after
	// which it is resolved.
	Err error
}

// Recovery lists the leftover transactions, in the order of their ids.
type Recovery struct {
	Leftovers []Leftover
	Warnings  []string
}

// Err returns the errors of all leftovers.
func (r Recovery) Err() error { return r.errors(func(error) bool { return true }) }

// Pending returns the errors of the leftovers that still block the next transaction.
func (r Recovery) Pending() error {
	return r.errors(func(err error) bool { return errors.Is(err, ErrRecoveryRequired) })
}

func (r Recovery) errors(wanted func(err error) bool) error {
	var errs []error
	for _, l := range r.Leftovers {
		if wanted(l.Err) {
			errs = append(errs, l.Err)
		}
	}
	return flatten(errors.Join(errs...))
}

// Recover resolves all leftover transactions: an interrupted transaction is undone, a committed transaction becomes a
// backup. It locks the tree unless the caller has the lock. The error is about the lock or the state directory,
// otherwise it is Recovery.Err.
func Recover(ctx context.Context, o Options) (Recovery, error) {
	if o.Lock == nil { // with the lock, a check before saves nothing
		if work, litter, err := Left(o); err != nil || !work && !litter {
			return Recovery{}, err
		}
	}
	var r Recovery
	err := o.locked(ctx, func() (err error) {
		if r, err = recoverLocked(ctx, &o); err == nil {
			err = r.Err()
		}
		return err
	})
	return r, err
}

// Left reports whether there are transactions for Recover to resolve, and whether the state directory exists with
// nothing worth keeping. If neither, nothing must be locked or written.
func Left(o Options) (work, litter bool, err error) {
	state := o.state()
	names, err := state.transactions(journal.TxDir)
	if err != nil || len(names) > 0 {
		return err == nil, false, err
	}
	_, litter, err = state.worthless(lockName) // the lock may be of a dead process
	return false, litter, err
}

func recoverLocked(ctx context.Context, o *Options) (Recovery, error) {
	r, err := survey(ctx, o, journal.TxDir, (*txn).resolve)
	if err != nil {
		return r, err
	}
	if err := o.state().tidy(); err != nil {
		r.Warnings = append(r.Warnings, "state directory: "+err.Error())
	}
	return r, nil
}

// survey loads all transactions in a directory of the state directory and calls do for each.
func survey(ctx context.Context, o *Options, in string, do func(t *txn, l *Leftover)) (Recovery, error) {
	var r Recovery
	state := o.state()
	names, err := state.transactions(in)
	if err != nil || len(names) == 0 {
		return r, err
	}
	key, err := journal.KeyFor(o.FS, o.Key)
	if err != nil {
		return r, err
	}
	for _, name := range names {
		if ctx.Err() != nil {
			return r, context.Cause(ctx)
		}
		t := o.newTxn(key.Bytes, state.join(in, name))
		l := Leftover{Leftover: backup.Leftover{ID: name, Directory: t.dir}}
		t.load(&l)
		do(t, &l)
		r.Warnings = append(r.Warnings, t.trouble.told()...)
		r.Leftovers = append(r.Leftovers, l)
	}
	return r, nil
}

// load determines the status and reads the plan.
func (t *txn) load(l *Leftover) {
	if err := t.loadPlan(l); err != nil {
		l.Status, l.Reason = backup.LeftoverSuspicious, err.Error()
		l.Err = &PendingError{ID: l.ID, Dir: l.Directory, Suspicious: true, Err: err}
	}
}

func (t *txn) loadPlan(l *Leftover) error {
	s, err := t.state.lookDir(t.dir)
	if err != nil {
		return err
	}
	found := ""
	for _, mark := range []string{journal.PlanFile, journal.DoneFile} {
		switch m, err := t.Look(path.Join(t.dir, mark)); {
		case err != nil:
			return err
		case m.Kind == change.Absent:
		case found != "":
			return fmt.Errorf("it has both a file %q and a file %q", found, mark)
		default:
			found = mark
		}
	}
	if found == "" {
		l.Status = backup.LeftoverUntouched
		return nil
	}
	if err := t.readPlan(found, s); err != nil {
		return err
	}
	l.Status = backup.LeftoverInterrupted
	if found == journal.DoneFile {
		l.Status = backup.LeftoverCommitted
	}
	l.Pipeline, l.RunID = t.plan.Pipeline, t.plan.RunID
	for _, e := range t.entries {
		l.Paths = append(l.Paths, e.Path)
	}
	return nil
}

func (t *txn) readPlan(mark string, at change.State) error {
	data, err := journal.Read(t.Disk, path.Join(t.dir, mark))
	if err != nil {
		return err
	}
	dir, err := placeOf(t.Disk, t.dir, at)
	if err != nil {
		return err
	}
	trusted := t.opts.Trust != "" && t.opts.Trust == path.Base(t.dir)
	var p *journal.Plan
	if trusted {
		p, err = journal.DecodeTrusted(data)
	} else {
		p, err = journal.Decode(data, t.key)
	}
	if err != nil {
		return err
	}
	if trusted {
		p.Adopt(dir)
	}
	if p.Ino == 0 {
		dir = at.ID // the plan is from before handles were used to identify directories
	}
	if err := p.CheckPlace(path.Base(t.dir), t.state.dir, dir, len(t.key) > 0); err != nil {
		return err
	}
	if at.ID.Ino == 0 &&
		slices.ContainsFunc(p.Records, func(r journal.Record) bool { return r.Old.ID.Ino != 0 || r.New.ID.Ino != 0 }) {
		// this file system has no identities, unlike the file system that the plan was made through
		p.ForgetIdentities()
	}
	t.plan = p
	entries := make([]*entry, len(p.Records))
	for i := range p.Records {
		entries[i] = &entry{Record: &p.Records[i], want: p.Records[i].New}
	}
	t.setEntries(entries)
	return nil
}

// resolve completes or undoes the transaction.
func (t *txn) resolve(l *Leftover) {
	switch l.Status {
	case backup.LeftoverUntouched:
		l.Err = t.pending(panics.Protect(t.removeUntouched))
	case backup.LeftoverCommitted:
		l.Err = t.pending(panics.Protect(t.finishCommitted))
	case backup.LeftoverInterrupted:
		if l.Err = t.pending(panics.Protect(t.reprobe)); l.Err == nil {
			l.Err = t.undo()
		}
	}
}

// removeUntouched removes a transaction without a plan. The process that removed the plan may have died before the
// removal was durable. If the plan came back with a power cut, it would be undone on top of later changes.
func (t *txn) removeUntouched() error {
	if err := t.SyncAnyDir(t.dir); err != nil {
		return err
	}
	t.removeRest()
	return nil
}

// finishCommitted makes the commit durable before anything relies on it: the process that marked the commit may have
// died before the mark was durable.
func (t *txn) finishCommitted() error {
	if err := t.reprobe(); err != nil {
		return err
	}
	if err := t.SyncDir(t.dir); err != nil {
		return err
	}
	_, err := t.clean()
	return err
}

// reprobe is probe in a directory where a probe may have been interrupted. A full disk may have no room to probe: then
// the abilities in the plan are used.
func (t *txn) reprobe() error {
	if err := t.Unprobe(t.dir); err != nil {
		return err
	}
	err := t.Probe(t.dir)
	if t.plan.Can == nil || !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) {
		return err
	}
	t.Adopt(t.plan.Can)
	return t.Unprobe(t.dir)
}
