package millrace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/backups"
	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/journal"
	"github.com/millrace-go/millrace/internal/panics"
)

// Commit makes the change: all of it, or nothing. The Result is the plan's Result with the outcome of the commit; it is
// returned with an error too, except for ErrCommitted and ErrNested. Commit works once; after an error that leaves the
// tree unchanged, it may be tried again. If the plan's executor has DryRun set, Commit writes nothing: it returns the
// plan's Result and own error.
//
// Errors: ErrCommitted, ErrNested, ErrReadOnly, ErrIncomplete, the plan's own error if a step has failed, a
// *BlockedError, a *ConflictError that names every path that has changed since the plan, a *CommitError, an
// *ExecutorError for a RunID that cannot be used, or the context's error. An error that matches fs.ErrClosed
// reports that [Plan.Close] was called. A Commit that succeeds closes the plan.
func (p *Plan) Commit(ctx context.Context) (*Result, error) {
	if err := refuseNested(ctx); err != nil {
		return nil, err
	}
	return p.tree.told(ctx, RunStarted{
		Pipeline: p.name, Phase: PhaseCommit, Classification: p.result.Classification, Steps: p.result.TotalSteps,
		DryRun: p.tree.x.DryRun,
	}, p.commitOnce)
}

// commitOnce is Commit with the claim that makes sure that a plan is committed once.
func (p *Plan) commitOnce(ctx context.Context) (*Result, error) {
	if p.tree.x.DryRun {
		if err := p.conflict(); err != nil {
			return p.outcome(commit.Report{}, err)
		}
		return p.Result(), p.failed
	}
	if !p.claim() {
		return nil, ErrCommitted
	}
	done, err := p.reading()
	if err != nil {
		p.release()
		return p.outcome(commit.Report{}, err)
	}
	defer done()
	res, err := p.commitAlone(ctx)
	switch {
	case err == nil || res.Commit.State == CommitApplied:
		_ = p.Close() // the plan is not read again
	case res.Commit.State != CommitPending:
		p.release()
	}
	return res, err
}

func (p *Plan) claim() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	free := !p.committed
	p.committed = true
	return free
}

func (p *Plan) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.committed = false
}

// commitAlone commits a plan for which no lock is held yet.
func (p *Plan) commitAlone(ctx context.Context) (*Result, error) {
	switch {
	case p.abandoned, p.held != nil:
		return p.outcome(commit.Report{}, p.failed)
	case p.mutates && p.tree.x.ReadOnly:
		return p.outcome(commit.Report{}, ErrReadOnly)
	case p.result.Incomplete:
		return p.outcome(commit.Report{}, ErrIncomplete)
	case p.block != nil:
		return p.outcome(commit.Report{}, p.block)
	case p.conflict() != nil:
		return p.outcome(commit.Report{}, p.conflict())
	case len(p.changes) == 0:
		return p.outcome(commit.Report{}, p.failed)
	}
	res, err := p.tree.write(ctx, func(lock io.Closer) (*Result, error) {
		if done, err := p.tree.storedRun(p.digest); done != nil || err != nil {
			return done, err
		}
		return p.commit(ctx, lock, time.Time{})
	})
	if res == nil {
		return p.outcome(commit.Report{}, err)
	}
	return res, err
}

// commit commits under the lock, after [tree.write] has recovered. The plan must not be blocked. A file that was read
// since the given time is not hashed again if nothing indicates that it has changed: that is for a run and
// for a restore, which have just read it. The zero time is for a plan, which may be days old: writes through a memory
// mapping may leave the file's times unchanged.
func (p *Plan) commit(ctx context.Context, lock io.Closer, since time.Time) (*Result, error) {
	if len(p.changes) == 0 {
		return p.outcome(commit.Report{}, p.failed)
	}
	start := time.Now()
	t := p.tree
	// Steps were checked against the policy as they ran; the tree may have changed since then. A restore has just been
	// checked as a whole.
	if !p.undoes || since.IsZero() {
		if err := t.policy.CheckChanges(t.look(), p.changes); err != nil {
			return p.outcome(commit.Report{}, err)
		}
	}
	o := t.commitOptions(lock)
	o.Pipeline, o.DropBackup, o.ReadSince = p.name, p.options.NoBackup, since
	o.ID, o.Restores, o.Recovered = journal.NewID(start), p.restores, true
	key, err := journal.KeyFor(t.fs, t.x.State.Key)
	if err != nil {
		return p.outcome(commit.Report{}, p.translate(ctx, commit.Report{}, err))
	}
	if t.x.RunID != "" && key.Missing == nil {
		// The stored result is the result of a successful commit: it is only seen after the commit.
		res := p.result.clone()
		res.committed(commit.Report{BackupID: o.ID, Committed: true}, committedAllTheSame(p.failed))
		res.TotalDuration += time.Since(start)
		data, err := json.Marshal(res)
		if err == nil {
			data, err = journal.EncodeRun(key.Bytes, t.x.RunID, p.digest(), data)
		}
		if err != nil {
			return p.outcome(commit.Report{}, &ExecutorError{Field: fieldRunID, Value: t.x.RunID, Err: err})
		}
		o.RunID, o.Result = t.x.RunID, data
	}
	report, err := commit.Apply(ctx, o, p.changes)
	if err == nil {
		err = committedAllTheSame(p.failed)
	} else {
		err = p.translate(ctx, report, err)
	}
	res, err := p.outcome(report, err)
	res.TotalDuration += time.Since(start)
	res.Warnings = append(res.Warnings, t.keyWarnings(key)...)
	if report.Committed {
		if err := t.prune(report.BackupID); err != nil {
			res.Warnings = append(res.Warnings,
				fmt.Sprintf("old backups, results or conflicts could not be removed: %v", err))
		}
	}
	t.x.logger().InfoContext(ctx, "pipeline finished", "pipeline", p.name, "result", res.String(), "backup",
		res.BackupID, "state", res.Commit.State)
	return res, err
}

// committedAllTheSame returns the error of a failed step, marked as committed because the changes of the other steps
// were committed.
func committedAllTheSame(err error) error {
	if step, ok := errors.AsType[*StepError](err); ok {
		told := *step
		told.Committed = true
		return &told
	}
	return err
}

// outcome returns the plan's result with the outcome of the commit.
func (p *Plan) outcome(report commit.Report, err error) (*Result, error) {
	res := p.result.clone()
	res.committed(report, err)
	if err != nil && !res.Success && !report.Committed {
		res.Warnings = append(res.Warnings, p.acted...)
	}
	return res, err
}

// translate turns an error of the commit into an error of this package.
func (p *Plan) translate(ctx context.Context, report commit.Report, err error) error {
	if c, ok := errors.AsType[*commit.Conflict](err); ok && !errors.Is(err, commit.ErrRecoveryRequired) {
		return &ConflictError{Conflicts: c.Paths, Restores: p.restores, Err: err}
	}
	e := &CommitError{Step: p.result.TotalSteps, Restores: p.restores, State: CommitNone, Err: p.tree.limited(err)}
	switch {
	case errors.Is(err, commit.ErrRecoveryRequired), errors.Is(err, commit.ErrIndeterminate):
		e.State = CommitPending
	case is[*commit.RollbackConflict](err): // everything was undone except the paths that it names
		e.State = CommitRolledBack
	case ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx))):
		return &canceledError{cause: err, ended: ctx.Err()}
	case report.RolledBack:
		e.State = CommitRolledBack
	}
	return e
}

// commitOptions returns the common options of all transactions on the tree.
func (t *tree) commitOptions(lock io.Closer) commit.Options {
	o := commit.Options{FS: t.fs, StateDir: t.stateDir, Lock: lock, Key: t.x.State.Key, NoSync: t.x.State.NoSync,
		InPlace: t.x.InPlace, Workers: t.x.Workers}
	if t.x.Observe != nil {
		o.Observe = func(phase string) { t.x.Observe(CommitPhase{Phase: phase}) }
		o.Progress = func(phase string, done, total int, bytes int64) {
			t.x.Observe(CommitPhase{Phase: phase, Done: done, Total: total, Bytes: bytes})
		}
	}
	return o
}

// storedRun returns the result of the executor's run if it was committed on this tree, or nil. The error is the error
// of the step that had failed in that run, if any.
func (t *tree) storedRun(digest func() string) (*Result, error) {
	if t.x.RunID == "" {
		return nil, nil
	}
	key, err := journal.KeyFor(t.fs, t.x.State.Key)
	if err != nil || key.Missing != nil {
		return nil, err // without a key, a stored result could be forged; the commit warns of it
	}
	data, err := journal.ReadRun(t.fs, t.stateDir, key.Bytes, t.x.RunID, digest)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var res Result
	if err == nil {
		if err = json.Unmarshal(data, &res); err != nil {
			err = fmt.Errorf("stored result: %w", err)
		}
	}
	if err != nil {
		return nil, &ExecutorError{Field: fieldRunID, Value: t.x.RunID, Err: err}
	}
	res.Replayed = true
	return &res, committedAllTheSame(res.failedStep())
}

// keyWarnings returns warnings about the effects of a missing key, nil if there is a key.
func (t *tree) keyWarnings(key journal.Key) []string {
	if key.Missing == nil {
		return nil
	}
	const way = "Set Executor.State.Key, or make the directory for settings of this user writable"
	warnings := []string{fmt.Sprintf("journal and backups are not signed, because %v. %s", key.Missing, way)}
	if t.x.RunID != "" {
		warnings = append(warnings,
			fmt.Sprintf("the result of run id %q is not stored, because %v. %s", t.x.RunID, key.Missing, way))
	}
	return warnings
}

var errPlanClosed = fmt.Errorf("the plan was closed, or committed: %w", fs.ErrClosed)

// Close releases the resources of the plan: the directory, if the executor has opened it for a file system such as
// afero.OsFs, and a temporary file with staged text beyond some megabytes. A successful Commit releases them too, and
// so does the garbage collector for a forgotten plan; Close does it at once. A directory that the caller has opened
// stays open, and so does everything that other plans made from this plan need.
//
// Afterwards Result, Changes and similar methods still work. Methods that need to read files, such as WriteDiff,
// RejectHunks, MarshalJSON and Commit, return an error that matches fs.ErrClosed. A running Commit is not disturbed.
// Closing again does nothing.
func (p *Plan) Close() error {
	p.mu.Lock()
	closed := p.closed
	p.closed = true
	p.mu.Unlock()
	if closed {
		return nil
	}
	return p.tree.held.Drop()
}

// reading keeps the plan open until the caller is done.
func (p *Plan) reading() (done func(), err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || !p.tree.held.Use() {
		return nil, errPlanClosed
	}
	return p.tree.done, nil
}

// keep makes the plan a user of the tree's resources, until it is closed.
func (p *Plan) keep() *Plan {
	p.closed = !p.tree.held.Use()
	return p
}

// prune removes backups that the host does not want to keep. latest is the backup just made. The lock is held. The
// commit is already made, so the run's context no longer matters, and a panic of the file system becomes an error.
func (t *tree) prune(latest string) error {
	return panics.Protect(func() error {
		store, err := t.backups()
		if err != nil {
			return err
		}
		ctx, now := context.Background(), time.Now()
		_, err = store.Prune(ctx, t.x.State.Backups, now, latest)
		err = errors.Join(err, store.PruneConflicts(ctx, t.x.State.Conflicts, now))
		if t.x.RunID != "" { // otherwise this run has stored no new result
			err = errors.Join(err, store.PruneRuns(ctx, t.x.State.Results, now, t.x.RunID))
		}
		return err
	})
}

// restoredFiles returns the files that a restore writes or removes.
func restoredFiles(changes []change.Change) []string {
	files := []string{}
	for _, c := range changes {
		if c.New.Kind == change.File || c.Old.Kind == change.File {
			files = append(files, c.Path)
		}
	}
	return files
}

// backups opens the backups of the tree.
func (t *tree) backups() (*backups.Store, error) {
	return backups.Open(t.fs, t.stateDir, t.x.State.Key)
}
