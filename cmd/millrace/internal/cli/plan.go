package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace/cmd/millrace/internal/door"
)

// newPlan makes `plan`.
func (a *App) newPlan() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plan NAME|FILE|- [VAR=VALUE…]",
		Short: "Show what a pipeline would change",
		Long: `Plan shows the changes of the pipeline called NAME, or of the pipeline in FILE, or in stdin for -.
It never changes a file of the tree. -o stores the plan, for show, review and apply. VAR=VALUE sets a variable, as
with run.`,
		Example: `  millrace plan rename from=Old to=New
  millrace plan rename.json
  millrace plan rename.json -o rename.plan && millrace apply rename.plan`,
		Args: door.Args(1, -1),
		RunE: a.inTree(func(ctx context.Context, s *session, args []string) error {
			p, err := s.readPipeline(ctx, args[0], args[1:])
			if err != nil {
				return err
			}
			done, err := s.allowInFile(ctx, p.Pipeline, p.file)
			if err != nil {
				return err
			}
			defer done()
			s.flags.dryRun, s.shows = true, true
			return s.change(ctx, p.Pipeline)
		}),
	}
	cmd.ValidArgsFunction = a.completePipeline
	a.treeFlags(cmd)
	a.formatFlag(cmd, changeFormats...)
	a.checkFlag(cmd)
	a.storeFlag(cmd)
	a.exceptFlag(cmd)
	a.forceFlags(cmd)
	a.expectFlag(cmd)
	a.allowExecFlag(cmd)
	a.commandFlags(cmd)
	a.agentFlags(cmd)
	a.deadlineFlag(cmd)
	return cmd
}
