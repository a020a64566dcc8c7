package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/backup"
	"github.com/millrace-go/millrace/cmd/millrace/internal/door"
)

// newShow makes `show`.
func (a *App) newShow() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show PLAN|BACKUP",
		Short: "Show a stored plan, or the changes that an undo would make",
		Long: `Show shows the changes of a plan that was stored with -o. With the id of a backup from log, it
shows the changes of an undo: the commit in reverse.`,
		Example: `  millrace show rename.plan
  millrace show rename.plan --format stat
  millrace show 20261122_101502_9f3c21d0a4b5e6f7`,
		Args: door.Args(1, 1),
		RunE: a.inTree(func(ctx context.Context, s *session, args []string) error {
			plan, err := s.namedPlan(ctx, args[0])
			if err != nil {
				return err
			}
			defer plan.Close()
			if plan, err = s.without(plan); err != nil {
				return err
			}
			defer plan.Close()
			s.flags.dryRun, s.shows = true, true
			return s.applyPlan(ctx, plan)
		}),
	}
	a.treeFlags(cmd)
	a.formatFlag(cmd, changeFormats...)
	a.exceptFlag(cmd)
	return cmd
}

// namedPlan returns the stored plan in a file, or the plan that reverts the backup with that id.
func (s *session) namedPlan(ctx context.Context, name string) (*millrace.Plan, error) {
	if _, err := os.Stat(s.base(name)); name == "-" || !errors.Is(err, fs.ErrNotExist) {
		return s.openPlan(ctx, name)
	}
	plan, err := s.x.PlanRestore(ctx, s.fs, name)
	if errors.Is(err, backup.ErrNotFound) {
		return nil, &usageError{fmt.Errorf("%s is neither a file nor the id of a backup", name)}
	}
	return plan, err
}

// openPlan opens the stored plan in a file, or in stdin for "-". It ignores a stored force: the user who commits must
// force it again.
func (s *session) openPlan(ctx context.Context, name string) (*millrace.Plan, error) {
	data, err := s.readInput(ctx, name)
	if err != nil {
		return nil, err
	}
	plan, err := s.x.OpenPlan(ctx, s.fs, data)
	if err != nil {
		return nil, &sourceError{name: name, err: err}
	}
	return plan.WithForce(s.flags.force), nil
}
