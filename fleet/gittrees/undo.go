package gittrees

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/backup"
	"github.com/millrace-go/millrace/fleet"
)

// pushed returns the error for a commit that the remote where has too.
func (o *opened) pushed(where string) error {
	return fmt.Errorf("commit %.12s was pushed to '%s': it is not taken back. Revert it there", o.mark.Commit, where)
}

// Undo undoes the work of the campaign in the tree of a target: the change of the files, by
// [millrace.Executor.Restore], the commit and its branch. Then the tree is on its former branch. done is false if the
// tree has nothing to undo. A commit that was pushed, a commit on top of it, and files that have changed since, are
// errors, and nothing is undone.
func (t Trees) Undo(ctx context.Context, x millrace.Executor, target fleet.Target) (done bool, err error) {
	if err := t.Check(); err != nil {
		return false, err
	}
	dir, err := t.Dir(target)
	if err != nil {
		return false, err
	}
	o, err := t.locked(ctx, target, dir)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, o.release()) }()
	if o.mark == nil || o.mark.State == stateUndone {
		return false, nil
	}
	head, err := o.head(ctx)
	if err != nil {
		return false, err
	}
	if o.mark.State == stateCommitting && head != o.mark.Base {
		if err := o.adopt(ctx, head); err != nil {
			return false, err
		}
	}
	m := o.mark
	switch {
	case m.Commit == "":
		return false, errors.New("the campaign has not come to its end here: run fleet retry first")
	case head != m.Commit && head != m.Base:
		return false, fmt.Errorf("the tree is not on commit %.12s of the campaign", m.Commit)
	}
	if err := o.unpushed(ctx); err != nil {
		return false, err
	}
	if err := o.restore(ctx, x); err != nil {
		return false, err
	}
	if err := o.back(ctx, head); err != nil {
		return false, err
	}
	m.State = stateUndone
	return true, t.writeMark(o.own, m)
}

// restore undoes the change of the files. A change that is undone already is not an error.
func (o *opened) restore(ctx context.Context, x millrace.Executor) error {
	if o.mark.Backup == "" {
		return errors.New("the change has no backup")
	}
	_, err := x.Restore(ctx, o.fs, o.mark.Backup)
	if errors.Is(err, backup.ErrUndone) {
		return nil
	}
	return err
}

// back moves the branch of the tree back to the commit at which the campaign began.
func (o *opened) back(ctx context.Context, head string) error {
	m := o.mark
	if head == m.Commit {
		switch {
		case m.Branch != m.Head && m.Head != "":
			if _, err := o.run(ctx, "", "symbolic-ref", "HEAD", m.Head); err != nil {
				return err
			}
		case m.Branch != m.Head: // it was on no branch
			if _, err := o.run(ctx, "", "update-ref", "--no-deref", "HEAD", m.Base, m.Commit); err != nil {
				return err
			}
		case m.Base == "":
			if _, err := o.run(ctx, "", "update-ref", "-d", "HEAD", m.Commit); err != nil {
				return err
			}
		default:
			if _, err := o.run(ctx, "", "update-ref", "HEAD", m.Base, m.Commit); err != nil {
				return err
			}
		}
	}
	if m.Branch != m.Head && m.Branch != "" {
		tip, _, err := o.ask(ctx, "rev-parse", "--verify", "--quiet", m.Branch)
		if err != nil {
			return err
		}
		if tip == m.Commit {
			if _, err := o.run(ctx, "", "update-ref", "-d", m.Branch, m.Commit); err != nil {
				return err
			}
		}
	}
	args := []string{"reset", "--quiet"}
	if m.Base == "" {
		args = []string{"rm", "--cached", "--force", "--quiet", "--ignore-unmatch"}
	}
	_, err := o.run(ctx, nulList(m.Paths), append(args, "--pathspec-from-file=-", "--pathspec-file-nul")...)
	return err
}

// unpushed returns an error if a remote has the commit, according to this repository or to the remote itself.
func (o *opened) unpushed(ctx context.Context) error {
	known, err := o.run(ctx, "", "for-each-ref", "--contains", o.mark.Commit, "--count=1", "--format=%(refname:short)",
		"refs/remotes")
	if err != nil {
		return err
	}
	if known = strings.TrimSpace(known); known != "" {
		return o.pushed(known)
	}
	remotes, err := o.run(ctx, "", "remote")
	if err != nil {
		return err
	}
	for _, remote := range strings.Fields(remotes) {
		out, err := o.run(ctx, "", "ls-remote", "--heads", "--", remote)
		if err != nil {
			return fmt.Errorf("remote '%s' cannot be asked for the commit: %w", remote, err)
		}
		for line := range strings.Lines(out) {
			id, ref, _ := strings.Cut(strings.TrimSpace(line), "\t")
			pushed := id == o.mark.Commit
			if !pushed && ref == o.mark.Branch && id != o.mark.Base {
				if pushed, err = o.contains(ctx, id); err != nil {
					return fmt.Errorf("remote '%s' has a newer %s: fetch it first: %w", remote, ref, err)
				}
			}
			if pushed {
				return o.pushed(remote)
			}
		}
	}
	return nil
}

// contains reports whether a commit has the commit of the campaign in its history.
func (o *opened) contains(ctx context.Context, id string) (bool, error) {
	_, yes, err := o.ask(ctx, "merge-base", "--is-ancestor", o.mark.Commit, id)
	return yes, err
}
