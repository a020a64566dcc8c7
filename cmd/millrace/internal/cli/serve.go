package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/cmd/millrace/internal/web"
	"github.com/millrace-go/millrace/mcpserver/loopback"
)

// anyPort is the address of pages that no flag gives another address.
const anyPort = "127.0.0.1:0"

// newServe makes `serve`.
func (a *App) newServe() *cobra.Command {
	var plan, addr string
	cmd := &cobra.Command{
		Use:   "serve --plan PLAN",
		Short: "Review a stored plan in a browser, and apply the taken hunks",
		Long: `Serve prints the address of a page on this machine, with a secret in it. The page shows the plan in
the file PLAN; each file and each hunk can be taken or left. Apply commits what is taken, if the plan is still the
plan that the page has shown. Reject ends with exit status 3. Serve ends with the decision.`,
		Example: `  millrace plan rename.json -o rename.plan
  millrace serve --plan rename.plan
  millrace review --web rename.plan              the same
  millrace review --web rename.plan -o some.plan store what was taken`,
		Args: cobra.NoArgs,
		RunE: a.inTree(func(ctx context.Context, s *session, _ []string) error {
			if plan == "" {
				return &usageError{errors.New("--plan: the file of a stored plan is needed")}
			}
			return s.reviewInBrowser(ctx, addr, plan)
		}),
	}
	a.treeFlags(cmd)
	a.formatFlag(cmd, changeFormats...)
	a.exceptFlag(cmd)
	cmd.Flags().StringVar(&plan, "plan", "", "show the stored plan in `FILE`")
	a.addrFlag(cmd, &addr)
	return cmd
}

// addrFlag registers --addr.
func (a *App) addrFlag(cmd *cobra.Command, addr *string) {
	cmd.Flags().StringVar(addr, "addr", anyPort,
		"listen on `ADDR`, a loopback address such as 127.0.0.1:7346; port 0 is any free port")
}

// reviewInBrowser shows the stored plan in a file on a page, and applies or stores what is taken there.
func (s *session) reviewInBrowser(ctx context.Context, addr, name string) error {
	if name == "-" {
		return &usageError{errors.New("the plan is opened again when it is applied: write it to a file")}
	}
	s.progress.Done()
	var committed *millrace.Result
	err := web.Decide(ctx, addr, web.Plan{
		Open: func(ctx context.Context) (*millrace.Plan, error) {
			plan, err := s.openPlan(ctx, name)
			if err != nil {
				return nil, err
			}
			return s.without(plan)
		},
		Make: func(ctx context.Context, taken *millrace.Plan) (done string, err error) {
			if s.flags.store != "" {
				return "Stored in " + s.flags.store + ".", s.storePlan(taken)
			}
			shieldPipe()
			if committed, err = taken.Commit(ctx); err != nil {
				return "", err
			}
			return s.summary(committed), nil
		},
	}, func(address string) { fmt.Fprintf(s.Stderr, "millrace: open %s\n", address) })
	switch {
	case errors.Is(err, web.ErrRejected):
		return errDeclined
	case errors.Is(err, loopback.ErrNotLoopback):
		return &usageError{fmt.Errorf("--addr: %w", err)}
	case committed == nil:
		return err
	}
	s.sure = true // the result is shown as the result of a change that is made
	return s.done(committed, err)
}
