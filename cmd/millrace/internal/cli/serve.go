package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/cmd/millrace/internal/kept"
	"github.com/millrace-go/millrace/cmd/millrace/internal/web"
	"github.com/millrace-go/millrace/mcpserver/loopback"
)

// anyPort is the default address of the pages.
const anyPort = "127.0.0.1:0"

// newServe makes `serve`.
func (a *App) newServe() *cobra.Command {
	var plan, addr string
	var o kept.Options
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Decide on runs, or on a stored plan, in a browser",
		Long: `Serve prints the address of pages on this machine, with a secret in it. The pages list the runs of
the store. A run that waits is shown with its plan, and is approved or rejected there. If it waits before its commit,
its files and hunks can be taken or left. An approved run goes on in this process, until it ends or waits again.
Allow its programs as with runs approve. Serve ends with ^C.

With --plan the page shows the plan in FILE; each file and each hunk can be taken or left. Apply commits what is
taken, if the plan is still the plan that the page has shown. Reject ends with exit status 3. Serve ends with the
decision.`,
		Example: `  millrace serve
  millrace plan rename.json -o rename.plan
  millrace serve --plan rename.plan
  millrace review --web rename.plan -o some.plan   store what was taken`,
		Args: cobra.NoArgs,
		RunE: a.inTree(func(ctx context.Context, s *session, _ []string) error {
			switch {
			case plan == "" && len(s.flags.except) > 0:
				return &usageError{errors.New("--except is for --plan")}
			case plan == "" && s.flags.format != "":
				return &usageError{errors.New("--format is for --plan")}
			case plan == "":
				return s.serveRuns(ctx, o, addr)
			case o != kept.Options{}:
				return &usageError{errors.New("--store and --approve-from are for runs: leave out --plan")}
			}
			return s.reviewInBrowser(ctx, addr, plan)
		}),
	}
	a.treeFlags(cmd)
	a.formatFlag(cmd, changeFormats...)
	a.exceptFlag(cmd)
	a.allowExecFlag(cmd)
	a.commandFlags(cmd)
	a.agentFlags(cmd)
	o.Flags(cmd)
	cmd.Flags().StringVar(&plan, "plan", "", "show the stored plan in `FILE`")
	a.addrFlag(cmd, &addr)
	return cmd
}

// serveRuns serves the runs of the store. Each continued run gets its own session, with its own programs.
func (s *session) serveRuns(ctx context.Context, o kept.Options, addr string) error {
	s.progress.Done()
	t := s.door()
	t.Allow = func(ctx context.Context, p millrace.Pipeline, file string) (millrace.Executor, func(), error) {
		one := *s
		return one.door().Allow(ctx, p, file)
	}
	return badAddr(kept.Serve(ctx, s.App.door(), t, o, addr, s.opened))
}

// opened prints the address of pages.
func (s *session) opened(address string) { s.complain("millrace: open " + address) }

// badAddr converts the error for an address that other machines can reach to a usage error.
func badAddr(err error) error {
	if errors.Is(err, loopback.ErrNotLoopback) {
		return &usageError{fmt.Errorf("--addr: %w", err)}
	}
	return err
}

// addrFlag registers --addr.
func (a *App) addrFlag(cmd *cobra.Command, addr *string) {
	cmd.Flags().StringVar(addr, "addr", anyPort,
		"listen on `ADDR`, a loopback address such as 127.0.0.1:7346; port 0 is any free port")
}

// reviewInBrowser shows the stored plan in a file on a page, and applies or stores the accepted parts.
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
	}, s.opened)
	switch {
	case errors.Is(err, web.ErrRejected):
		return errDeclined
	case committed == nil:
		return badAddr(err)
	}
	s.sure = true // the result is shown as that of a change that was made
	return s.done(committed, err)
}
