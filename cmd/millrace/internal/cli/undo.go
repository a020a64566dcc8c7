package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace/backup"
	"github.com/millrace-go/millrace/cmd/millrace/internal/door"
)

// newUndo makes `undo`.
func (a *App) newUndo() *cobra.Command {
	var last bool
	cmd := &cobra.Command{
		Use:   "undo [ID]",
		Short: "Undo a commit",
		Long: `Undo undoes the commit with this id, or else the newest commit that is neither undone nor an undo
itself. The undo is shown and asked about like any change. It is a separate commit, which redo reverses.

Files that have changed since, and files whose backup is damaged, are a conflict, exit status 4, and then nothing
is undone. --except excludes such files, and -p decides hunk by hunk. Excluded files can be undone later. A file that
was undone in part counts as undone: redo it first to undo the rest.

Without a terminal it needs an id, or --last: a previous command may have failed, and then the newest commit is an
older change. With -q, every command that commits prints only the id of its commit.`,
		Example: `  millrace undo
  millrace undo 20261122_101502_9f3c2a7be1d04f58 -n
  millrace undo --except CHANGELOG.md --except 'docs/**'
  id=$(millrace run -qy rename.json) && go vet ./... || millrace undo -y "$id"`,
		Args:              door.Args(0, 1),
		ValidArgsFunction: a.completeBackups,
		RunE: a.inTree(func(ctx context.Context, s *session, args []string) error {
			switch {
			case len(args) == 1 && last:
				return &usageError{errors.New("undo takes an id or --last, not both")}
			case len(args) == 1:
				return s.restore(ctx, args[0])
			case !last && !s.onTerminal():
				return &usageError{errors.New(
					"without a terminal, undo needs --last, or the id of a commit: millrace log lists the ids")}
			}
			h, err := s.history(ctx)
			if err != nil {
				return err
			}
			for {
				id, err := h.lastCommit()
				if err != nil {
					return err
				}
				if err = s.restore(ctx, id); !errors.Is(err, backup.ErrUndone) {
					return err
				}
				h = slices.DeleteFunc(h, func(i backup.Info) bool { return i.ID == id }) // its files are as before it
			}
		}),
	}
	a.restoreFlags(cmd)
	cmd.Flags().BoolVar(&last, "last", false, "undo the newest commit, also of another program")
	return cmd
}

// newRedo makes `redo`.
func (a *App) newRedo() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "redo [ID]",
		Short: "Redo an undone commit",
		Long: `Redo reverses the undo with this id, or else the newest undo not yet reversed, so the change is
applied again. It is shown and asked about like any change.`,
		Example: `  millrace redo
  millrace redo -y`,
		Args:              door.Args(0, 1),
		ValidArgsFunction: a.completeUndos,
		RunE: a.inTree(func(ctx context.Context, s *session, args []string) error {
			h, err := s.history(ctx)
			if err != nil {
				return err
			}
			id := ""
			if len(args) > 0 {
				id = args[0]
			} else if id, err = h.lastUndo(); err != nil {
				return err
			}
			for _, i := range h {
				if i.ID == id && i.Err == nil && !h.isUndo(i) {
					return &usageError{fmt.Errorf("%s is not an undo: millrace undo takes it back", i.ID)}
				}
				if i.ID == id {
					s.redone = i.Restores
				}
			}
			return s.restore(ctx, id)
		}),
	}
	a.restoreFlags(cmd)
	return cmd
}

// restoreFlags registers the flags of commands that revert a commit. Their risk is not assessed, so they have no flag
// for it.
func (a *App) restoreFlags(cmd *cobra.Command) {
	a.reachFlags(cmd)
	a.eventsFlag(cmd)
	a.formatFlag(cmd, changeFormats...)
	a.decideFlags(cmd)
	a.storeFlag(cmd)
	cmd.Flags().BoolVarP(&a.flags.review, "review", "p", false, "decide on the change hunk by hunk first")
	a.exceptFlag(cmd)
}

// history reads the commits of the tree.
func (s *session) history(ctx context.Context) (history, error) {
	infos, err := s.x.ListBackups(ctx, s.fs)
	return infos, err
}

// restore reverts a commit, except for the paths of --except.
func (s *session) restore(ctx context.Context, id string) error {
	plan, err := s.x.PlanRestore(ctx, s.fs, id)
	switch {
	case errors.Is(err, backup.ErrNotFound):
		return &usageError{fmt.Errorf("unknown backup %q: millrace log lists them", id)}
	case err != nil:
		return err
	}
	defer plan.Close()
	if plan, err = s.without(plan); err != nil {
		return err
	}
	defer plan.Close()
	return s.applyPlan(ctx, plan)
}
