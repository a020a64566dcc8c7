package millrace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/millrace-go/millrace/backup"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/backups"
	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/errorform"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/preview"
)

// ConflictError means that files have changed since the plan was made. Nothing was written, or all of it was undone. Of
// a commit that is taken back, [Plan.Reject] leaves the paths out.
type ConflictError struct {
	// Conflicts has an entry for each such path, in path order.
	Conflicts []Conflict
	// Restores is the id of the backup that was to be restored, "" if it was a pipeline that was to be committed.
	Restores string
	Err      error

	step bool // a step has found it, of which nothing is staged
}

// Conflict is one path that is not what the plan expects.
type Conflict = change.Problem

// Error names the first ten paths, counts the others, and ends with what to change.
func (e *ConflictError) Error() string {
	head, advice := "the tree has changed since the plan was made", "Plan again"
	if e.Restores != "" {
		advice = "Make these paths what they were then, or leave them out"
	}
	switch {
	case e.step:
		head, advice = "the tree has changed since the step was shown it", "Run the step again: it works on what is there now then"
	case e.Restores != "" && is[*backup.DamagedError](e.Err):
		head = fmt.Sprintf("commit %s cannot be taken back at these paths", e.Restores)
	case e.Restores != "":
		head = "the tree has changed since the commit that is to be taken back"
	}
	texts := make([]string, len(e.Conflicts))
	for i, c := range e.Conflicts {
		texts[i] = c.String()
	}
	return head + ": " + names.Few(texts, "; ") + ". " + advice
}

// Paths returns the paths of the conflicts.
func (e *ConflictError) Paths() []string {
	paths := make([]string, len(e.Conflicts))
	for i, one := range e.Conflicts {
		paths[i] = one.Path
	}
	return paths
}

// Unwrap returns the error of the commit.
func (e *ConflictError) Unwrap() error { return e.Err }

// Code returns "conflict".
func (e *ConflictError) Code() string { return errorform.Conflict }

// Conflicts returns the paths at which a plan of [Executor.PlanRestore] cannot be carried out, in path order: files
// that have changed since the commit that it takes back, and files whose backup is damaged. The plan cannot be
// committed or shown until [Plan.Reject] has left them out. It is empty for a plan of a pipeline, which Commit
// compares with the tree.
func (p *Plan) Conflicts() []Conflict {
	list := slices.Clone(p.drifted)
	if p.damaged != nil {
		for _, d := range p.damaged.Files {
			list = append(list, Conflict{Path: d.Path, Reason: "its backup is damaged: " + d.Reason})
		}
	}
	slices.SortStableFunc(list, func(a, b Conflict) int { return cmp.Compare(a.Path, b.Path) })
	return list
}

// conflict returns the error of the conflicts at some paths and below them, at all paths if none are named.
func (p *Plan) conflict(paths ...string) error {
	list := p.Conflicts()
	if len(paths) > 0 {
		chosen, _ := preview.Chosen(p.changes, paths...)
		list = slices.DeleteFunc(list, func(c Conflict) bool {
			return !touched(chosen, c.Path) &&
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

// drifts compares the tree with what the plan of a restore rests on. Changes that are made already are left out; the
// other paths that have changed are conflicts of the plan. store is nil for a plan that was stored.
func (p *Plan) drifts(ctx context.Context, store *backups.Store) error {
	err := commit.Check(ctx, p.tree.commitOptions(nil), p.changes)
	found, ok := errors.AsType[*commit.Conflict](err)
	if !ok {
		return err
	}
	var kept []fsutil.Change
	for _, c := range p.changes {
		made := false
		if store != nil && slices.ContainsFunc(found.Paths, func(at Conflict) bool { return touches(c, at.Path) }) {
			if made, err = store.IsMade(c); err != nil {
				return err
			}
		}
		if !made {
			kept = append(kept, c)
		}
	}
	p.changes = kept
	p.drifted = slices.DeleteFunc(found.Paths, func(at Conflict) bool { return !touched(kept, at.Path) })
	return nil
}

// withoutConflicts prepares the plan q, which is p without the changes at some paths: only conflicts of what is left
// remain.
func (p *Plan) withoutConflicts(q *Plan, paths []string) {
	q.drifted = slices.DeleteFunc(slices.Clone(p.drifted),
		func(at Conflict) bool { return !touched(q.changes, at.Path) })
	if p.damaged == nil {
		return
	}
	var left []backup.Damage
	for _, d := range p.damaged.Files {
		if !slices.ContainsFunc(paths, func(name string) bool { return names.Within(d.Path, name) }) {
			left = append(left, d)
		}
	}
	if q.damaged = nil; len(left) > 0 {
		q.damaged = &backup.DamagedError{ID: p.damaged.ID, Files: left}
	}
}

// changesAt returns the paths of changes for paths that may be those of conflicts: a path that a file moves from, one
// in a directory that goes, or one whose backup is damaged, which has no change.
func (p *Plan) changesAt(paths []string) []string {
	var at []string
	for _, name := range paths {
		if _, err := preview.Chosen(p.changes, name); err == nil {
			at = append(at, name)
			continue
		}
		known := p.damaged != nil &&
			slices.ContainsFunc(p.damaged.Files, func(d backup.Damage) bool { return names.Within(d.Path, name) })
		for _, c := range p.drifted {
			for _, of := range p.changes {
				if names.Within(c.Path, name) && touches(of, c.Path) {
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

// touched reports whether a change in the list touches a path.
func touched(changes []fsutil.Change, name string) bool {
	return slices.ContainsFunc(changes, func(c fsutil.Change) bool { return touches(c, name) })
}

// touches reports whether a change is about a path: its own, its old path, or a path below a directory that
// goes.
func touches(c fsutil.Change, name string) bool {
	return name == c.Path || name == c.From || c.Old.Kind == change.Dir && names.Within(name, c.OldPath())
}
