package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace/cmd/millrace/internal/door"
	"github.com/millrace-go/millrace/cmd/millrace/internal/review"
)

// newReview makes `review`.
func (a *App) newReview() *cobra.Command {
	var inBrowser bool
	var addr string
	cmd := &cobra.Command{
		Use:   "review PLAN",
		Short: "Review a stored plan hunk by hunk, and apply the taken hunks",
		Long: `Review shows each hunk of the plan in the file PLAN and asks for a key: y takes it, n leaves it, ?
lists the others. At the end it asks whether to apply the taken hunks; with -o it stores them as a plan instead.
The questions need a terminal. The keys are:

` + shifted(review.Help) + `

A created, deleted, renamed or binary file, or a file with a new mode, is a single decision. s splits a renamed
and edited file into its hunks. Run and the other commands that change files review with -p. --web shows the plan
on a page instead, as serve does; it needs no terminal.`,
		Example: `  millrace plan rename.json -o all.plan
  millrace review all.plan                review and apply
  millrace review all.plan -o some.plan   review and store what was taken`,
		Args: door.Args(1, 1),
		RunE: a.inTree(func(ctx context.Context, s *session, args []string) error {
			switch {
			case inBrowser:
				return s.reviewInBrowser(ctx, addr, args[0])
			case addr != anyPort:
				return &usageError{errors.New("--addr is for --web")}
			}
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
	cmd.Flags().BoolVar(&inBrowser, "web", false, "review in a browser, at the printed address")
	a.addrFlag(cmd, &addr)
	return cmd
}

// shifted returns a text indented as an example in a help text.
func shifted(text string) string { return "    " + strings.ReplaceAll(text, "\n", "\n    ") }
