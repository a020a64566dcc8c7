package millrace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/backup"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/backups"
	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/preview"
)

// ListBackups returns the backups that Restore can use, the newest first. A backup that cannot be used, because it is
// damaged or not of this user, is in the list with the reason in Err. When ctx is done, the error is its cause.
func (x Executor) ListBackups(ctx context.Context, fsys afero.Fs) ([]backup.Info, error) {
	t, err := x.openTree(fsys)
	if err != nil {
		return nil, err
	}
	defer t.done()
	store, err := t.backups()
	if err != nil {
		return nil, err
	}
	return store.List(ctx)
}

// VerifyBackup reads all files of a backup and compares them with the hashes from the commit. It writes nothing. The
// error is a *backups.DamagedError that lists the damaged files, or reports an unknown backup (backup.ErrNotFound) or a
// backup that cannot be trusted, or is the cause why ctx is done.
func (x Executor) VerifyBackup(ctx context.Context, fsys afero.Fs, backupID string) error {
	t, err := x.openTree(fsys)
	if err != nil {
		return err
	}
	defer t.done()
	store, err := t.backups()
	if err != nil {
		return err
	}
	b, err := store.Load(backupID)
	if err != nil {
		return err
	}
	return b.Verify(ctx)
}

// Restore undoes the changes of a commit: bytes, modes, times, links, names. It is a commit itself, so it can be
// interrupted and undone, and the Result has a backup id of its own. Restore skips paths that have their old state
// already or that another Restore has restored; if no path remains, the error matches backup.ErrUndone. Files that have
// changed since, and files whose backup is damaged, are a *ConflictError that names all of them, and then nothing is
// restored. Policy holds here too: ReadOnly, and AllowedPaths for every path of the backup; risk is
// not judged. With DryRun nothing is written.
//
// It is [Executor.PlanRestore] and [Plan.Commit] in one call, under one lock, and reads each changed file once in place
// of twice. Like Run, it does not notice a write through a memory mapping after that.
func (x Executor) Restore(ctx context.Context, fsys afero.Fs, backupID string) (*Result, error) {
	t, err := x.openOuter(ctx, fsys)
	if err != nil {
		return nil, err
	}
	defer t.done()
	started := RunStarted{Pipeline: restoreName(backupID), Phase: PhaseCommit, DryRun: x.DryRun}
	return t.told(ctx, started, func(ctx context.Context) (*Result, error) {
		switch {
		case x.DryRun:
			p, err := t.planRestore(ctx, backupID)
			if err != nil {
				return nil, err
			}
			if err := p.conflict(); err != nil {
				return p.outcome(commit.Report{}, err)
			}
			return p.result, nil
		case x.ReadOnly:
			return nil, &readOnlyError{"executor is read-only, and to restore is to write: do it with another one, or with DryRun"}
		}
		return t.write(ctx, func(lock io.Closer) (*Result, error) {
			begin := time.Now() // the plan reads all files now
			p, err := t.restorePlan(ctx, backupID)
			if err != nil {
				return nil, err
			}
			if err := p.conflict(); err != nil {
				return p.outcome(commit.Report{}, err)
			}
			return p.commit(ctx, lock, begin)
		})
	})
}

// restoreName returns the name of a restore, which has no pipeline.
func restoreName(backupID string) string { return "restore " + backupID }

// PlanRestore plans an [Executor.Restore], and writes nothing. The plan is like any other plan: it can be shown,
// trimmed with [Plan.Reject] and [Plan.RejectHunks] to undo only a part, stored, and committed. Its commit makes a
// backup, so that the restore can be undone too. Its risk is not judged, with two exceptions: [Executor.OpenPlan]
// judges a stored plan like any plan, and so does [Plan.Revise] if a part has another text.
//
// Files that have changed since the commit, or whose backup is damaged, are conflicts of the plan: Commit, WriteDiff
// and Files return a *ConflictError that names all of them, until [Plan.Reject] has left them out. [Plan.Conflicts]
// lists them.
//
// The error reports an unknown backup (backup.ErrNotFound), a backup that cannot be trusted, a commit that was undone
// already (backup.ErrUndone), or the paths that the host does not allow.
func (x Executor) PlanRestore(ctx context.Context, fsys afero.Fs, backupID string) (*Plan, error) {
	t, err := x.openOuter(ctx, fsys)
	if err != nil {
		return nil, err
	}
	defer t.done()
	p, err := t.planRestore(ctx, backupID)
	if err != nil {
		return nil, err
	}
	return p.keep(), nil
}

// planRestore is restorePlan for verbs that take no lock.
func (t *tree) planRestore(ctx context.Context, backupID string) (*Plan, error) {
	t.warnOfUnfinished()
	p, err := t.restorePlan(ctx, backupID)
	if err == nil {
		p.result.Warnings = t.notes.Take(p.result.Warnings)
	}
	return p, err
}

// restorePlan returns the plan that undoes a backup.
func (t *tree) restorePlan(ctx context.Context, backupID string) (*Plan, error) {
	store, err := t.backups()
	if err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	b, err := store.Load(backupID)
	if err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	taken, by, err := store.TakenBack(ctx, backupID)
	if err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	changes, err := b.Changes(ctx, taken)
	damaged, isDamaged := errors.AsType[*backups.DamagedError](err)
	if err != nil && !isDamaged {
		return nil, fmt.Errorf("restore: %w", err)
	}
	guard := t.policy
	for _, c := range changes {
		for _, name := range []string{c.Path, c.OldPath()} {
			if err := guard.CheckWrite(name); err != nil {
				return nil, fmt.Errorf("restore %s: %w", backupID, err)
			}
		}
	}
	if err := guard.CheckChanges(t.look(), changes); err != nil {
		return nil, fmt.Errorf("restore %s: %w", backupID, err)
	}
	t.x.RunID = "" // a restore is not a run that can be repeated
	p := &Plan{
		tree: t, name: restoreName(backupID), mutates: true, changes: changes, restores: backupID, undoes: true,
		damaged: damaged,
	}
	if err := p.drifts(ctx, store); err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	if len(p.changes) == 0 && damaged == nil && (len(changes) > 0 || len(taken) > 0) {
		return nil, &undoneError{id: backupID, by: by}
	}
	p.digest = func() string { return change.HashOf([]byte(p.name)).String() } // a restore has no pipeline
	p.result = &Result{
		Name: p.name, Success: true, DryRun: true, Results: []StepResult{}, Restores: backupID,
		Commit: CommitOutcome{State: CommitNone},
	}
	if lost := b.NotKept(); len(lost) > 0 {
		p.result.Warnings = append(p.result.Warnings, "not restored, because the commit kept nothing of it: "+
			names.Few(lost, ", "))
	}
	p.judge()
	return p, nil
}

// Conflicts returns the paths at which a plan of [Executor.PlanRestore] cannot be carried out, in path order: files
// that have changed since the commit to undo, and files whose backup is damaged. The plan cannot be committed or shown
// until [Plan.Reject] has left them out. It is empty for a plan of a pipeline, because Commit compares that with the
// tree.
func (p *Plan) Conflicts() []Conflict {
	list := slices.Clone(p.drifted)
	for _, d := range p.damage() {
		list = append(list, Conflict{Path: d.Path, Reason: "its backup is damaged: " + d.Reason})
	}
	slices.SortStableFunc(list, func(a, b Conflict) int { return cmp.Compare(a.Path, b.Path) })
	return list
}

// damage returns the files of a restore that have a damaged backup.
func (p *Plan) damage() []backups.Damage {
	if p.damaged == nil {
		return nil
	}
	return p.damaged.Files
}

// conflict returns the error of the conflicts at some paths and below them, at all paths if none are given.
func (p *Plan) conflict(paths ...string) error {
	list := p.Conflicts()
	if len(paths) > 0 {
		chosen, _ := preview.Chosen(p.changes, paths...)
		list = slices.DeleteFunc(list, func(c Conflict) bool {
			return !preview.Touched(chosen, c.Path) &&
				!slices.ContainsFunc(paths, func(name string) bool { return names.Within(c.Path, name) })
		})
	}
	if len(list) == 0 {
		return nil
	}
	e := &ConflictError{Conflicts: list, Restores: p.restores, Err: fsutil.ErrDrift}
	if p.damaged != nil {
		e.Err = errors.Join(p.damaged, fsutil.ErrDrift)
	}
	return e
}

// drifts compares the tree with the state that the plan of a restore expects. Changes that are already made are left
// out; other changed paths are conflicts of the plan. store is nil for a stored plan.
func (p *Plan) drifts(ctx context.Context, store *backups.Store) error {
	err := commit.Check(ctx, p.tree.commitOptions(nil), p.changes)
	found, ok := errors.AsType[*commit.Conflict](err)
	if !ok {
		return err
	}
	var kept []change.Change
	for _, c := range p.changes {
		made := false
		if store != nil && slices.ContainsFunc(found.Paths, func(at Conflict) bool { return preview.Touches(c, at.Path) }) {
			if made, err = store.IsMade(c); err != nil {
				return err
			}
		}
		if !made {
			kept = append(kept, c)
		}
	}
	p.changes = kept
	p.drifted = slices.DeleteFunc(found.Paths, func(at Conflict) bool { return !preview.Touched(kept, at.Path) })
	return nil
}

// reopened completes a stored plan of a restore. The JSON of a plan has neither conflicts nor owners and attributes of
// files.
func (p *Plan) reopened(ctx context.Context) error {
	store, err := p.tree.backups()
	if err == nil {
		err = store.AddMeta(p.restores, p.changes)
	}
	if err != nil {
		p.result.Warnings = append(p.result.Warnings,
			fmt.Sprintf("owners and attributes of files may not be restored, because the backup cannot be read: %v", err))
	}
	return p.drifts(ctx, nil)
}

// withoutConflicts prepares the plan q, which is p without the changes at some paths: it keeps only the conflicts of
// the remaining changes.
func (p *Plan) withoutConflicts(q *Plan, paths []string) {
	q.drifted = slices.DeleteFunc(slices.Clone(p.drifted),
		func(at Conflict) bool { return !preview.Touched(q.changes, at.Path) })
	if p.damaged == nil {
		return
	}
	var left []backups.Damage
	for _, d := range p.damaged.Files {
		if !slices.ContainsFunc(paths, func(name string) bool { return names.Within(d.Path, name) }) {
			left = append(left, d)
		}
	}
	if q.damaged = nil; len(left) > 0 {
		q.damaged = &backups.DamagedError{ID: p.damaged.ID, Files: left}
	}
}

// changesAt returns the paths of changes for paths that may be conflicts. Such a path may be the old name of a renamed
// file, or be in a deleted directory. A path with a damaged backup has no change.
func (p *Plan) changesAt(paths []string) []string {
	var at []string
	for _, name := range paths {
		if _, err := preview.Chosen(p.changes, name); err == nil {
			at = append(at, name)
			continue
		}
		known := false
		for _, d := range p.damage() {
			if !names.Within(d.Path, name) {
				continue
			}
			known = true
			if _, err := preview.Chosen(p.changes, d.MovedTo); d.MovedTo != "" && err == nil {
				at = append(at, d.MovedTo) // the file stays at the new name
			}
		}
		for _, c := range p.drifted {
			for _, of := range p.changes {
				if names.Within(c.Path, name) && preview.Touches(of, c.Path) {
					at, known = append(at, of.Path), true
				}
			}
		}
		if !known {
			at = append(at, name) // which is refused
		}
	}
	return at
}
