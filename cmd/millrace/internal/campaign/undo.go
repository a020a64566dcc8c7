package campaign

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/backup"
	"github.com/millrace-go/millrace/cmd/millrace/internal/door"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/fsutil"
)

// newUndo returns the command `fleet undo`.
func newUndo(p door.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use: "undo CAMPAIGN", Short: "Undo the changes of a campaign that were not pushed",
		Long: `Undo undoes the change of a campaign in each tree. In a repository it removes the commit and its branch. A tree
is left alone, and the exit status is 1, if its commit was pushed or has another commit on top, or if its files have
changed since. The .millrace.yaml files limit undo as they limit fleet run. Without a terminal undo needs -y. An
undone campaign is not repeated: give the next campaign another name.`,
		Example: "  millrace fleet undo licence-2026\n  millrace fleet undo - -y",
		Args:    door.Args(1, 1), ValidArgsFunction: complete(p),
		RunE: p.InTree(func(ctx context.Context, t door.Tree, args []string) (err error) {
			o, err := load(p, args[0], true)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, o.close()) }()
			return o.undo(ctx, p, t)
		}),
	}
	p.YesFlag(cmd)
	p.ProjectFlag(cmd)
	p.FormatFlag(cmd, reportFormats...)
	return cmd
}

// undo reverts the changes of the campaign, tree by tree.
func (o *opened) undo(ctx context.Context, p door.Program, t door.Tree) error {
	var changed []record
	for i, r := range o.outcomes() {
		if _, ended := o.last[i]; !ended && !o.Planned { // its process may have been killed
			r.Outcome.RunID = fleet.RunID(o.ID, r.Outcome.Target.ID, o.pipeline.Digest(), "")
		}
		if out := r.Outcome; out.Status == fleet.Success && out.Files == 0 {
			continue
		}
		if r.Phase != phasePlan && r.Outcome.RunID != "" &&
			!(r.Phase == phaseUndo && r.Outcome.Status == fleet.Success) {
			changed = append(changed, r)
		}
	}
	if len(changed) == 0 {
		p.Talk("campaign %s has nothing to take back", o.ID)
		return nil
	}
	if !p.Yes() {
		if !p.OnTerminal() {
			return p.Usage(errors.New("no terminal to ask at: -y undoes the campaign without a question"))
		}
		answer, err := p.Ask(ctx, fmt.Sprintf("Take back campaign %s in %d trees? [y]es [N]o  ", o.ID, len(changed)))
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if answer = strings.ToLower(strings.TrimSpace(answer)); err != nil || answer != "y" && answer != "yes" {
			p.Talk("nothing was changed")
			return p.Said("declined")
		}
	}
	show := newTable(p, o.campaign, len(changed))
	defer show.end()
	failed := false
	for _, r := range changed {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		done, err := o.takeBack(ctx, t, r.Outcome)
		if _, ended := o.last[r.Outcome.Index]; !done && (err == nil || !ended && errors.Is(err, fs.ErrNotExist)) {
			continue // the run has changed nothing
		}
		r.Phase, r.Outcome.Status, r.Outcome.Code, r.Outcome.Message = phaseUndo, fleet.Success, "", ""
		if err != nil {
			failed = true
			r.Outcome.Status, r.Outcome.Code, r.Outcome.Message = fleet.Failed, millrace.ErrorCode(err), err.Error()
		}
		if err := o.add(r); err != nil {
			return err
		}
		if err := show.outcome(phaseUndo, r.Outcome); err != nil {
			return err
		}
	}
	if f := p.Format(); f != "" && f != door.FormatReport {
		if err := o.report(p); err != nil {
			return err
		}
	}
	if failed {
		return p.Said("failed")
	}
	return nil
}

// takeBack reverts the changes in one tree. done is false if the campaign has changed nothing there.
func (o *opened) takeBack(ctx context.Context, t door.Tree, out fleet.Outcome) (done bool, err error) {
	x := t.Executor
	x.Observe = nil
	if o.Git != nil {
		return o.takeBackCommit(ctx, t, x, out.Target)
	}
	tree, err := o.trees().Open(ctx, out.Target)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, tree.Close(ctx, nil, nil)) }()
	backups, err := x.ListBackups(ctx, tree.FS)
	if err != nil {
		return false, err
	}
	for _, b := range backups {
		if b.RunID != out.RunID || b.Err != nil || b.Restores != "" {
			continue
		}
		if err := o.limiting(t)(&x, out.Target, tree.FS); err != nil {
			return false, err
		}
		_, err := x.Restore(ctx, tree.FS, b.ID)
		if errors.Is(err, backup.ErrUndone) {
			return true, nil
		}
		return err == nil, err
	}
	if out.Files > 0 {
		return false, errors.New("the tree has no backup of this change")
	}
	return false, nil
}

// takeBackCommit is takeBack for a repository.
func (o *opened) takeBackCommit(
	ctx context.Context, t door.Tree, x millrace.Executor, target fleet.Target,
) (done bool, err error) {
	dir, err := o.Git.Dir(target)
	if err != nil {
		return false, err
	}
	root, err := fsutil.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return o.Git.Undo(ctx, x, target)
	}
	if err != nil {
		return false, err
	}
	limited := errors.Join(o.limiting(t)(&x, target, root), root.Close())
	x.ReadOnly = x.ReadOnly || limited != nil // a tree without a change needs no limits
	if done, err = o.Git.Undo(ctx, x, target); err != nil && limited != nil {
		err = limited
	}
	return done, err
}
