package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace/cmd/millrace/internal/review"
)

// newReview makes `review`.
func (a *App) newReview() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "review PLAN",
		Short: "Decide on a stored plan hunk by hunk, and apply what was taken",
		Long: `Review shows each hunk of the plan in the file PLAN and asks for a key: y takes it, n leaves it, ? lists the others.
In the end it asks whether to apply what was taken; with -o it stores that as a plan instead. The questions are asked at
the terminal, so it needs one. The keys are:

` + shifted(review.Help) + `

A file that is created, deleted, renamed or binary, and one that gets another mode, is one decision; s splits a file that
is renamed and edited into its hunks. Run and the other commands that change files review with -p.`,
		Example: `  millrace plan rename.json -o all.plan
  millrace review all.plan                review and apply
  millrace review all.plan -o some.plan   review and store what was taken`,
		Args: cobra.ExactArgs(1),
		RunE: a.inTree(func(ctx context.Context, s *session, args []string) error {
			plan, err := s.openPlan(ctx, args[0])
			if err != nil {
				return err
			}
			defer plan.Close()
			if plan, err = s.without(plan); err != nil {
				return err
			}
			defer plan.Close()
			s.flags.review = true
			return s.applyPlan(ctx, plan)
		}),
	}
	a.treeFlags(cmd)
	a.formatFlag(cmd, changeFormats...)
	a.storeFlag(cmd)
	a.exceptFlag(cmd)
	return cmd
}

// shifted returns the lines of a text as an example in a help text.
func shifted(text string) string { return "    " + strings.ReplaceAll(text, "\n", "\n    ") }
