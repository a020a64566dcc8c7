package kept

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/cmd/millrace/internal/door"
	"github.com/millrace-go/millrace/rundir"
	"github.com/millrace-go/millrace/runs"
)

// newApprove returns the command `runs approve`.
func newApprove(p door.Program) *cobra.Command {
	var o Options
	var digest string
	var force bool
	cmd := &cobra.Command{
		Use: "approve RUN", Short: "Approve a waiting run",
		Args: door.Args(1, 1), ValidArgsFunction: complete(p, &o),
		Long: `Approve shows the changes of a waiting run, asks, and continues the run. Exactly the shown changes
are written: if the changes differ by then, the run waits again. In a script --digest names the reviewed plan, and
-y approves the waiting plan. With -p you go through the hunks, and the run leaves out the hunks that you leave. A run
that waits before a step goes on with the whole change.`,
		Example: `  millrace runs approve 12
  millrace runs approve - --digest 4f2a…
  millrace runs approve 12 -p
  millrace runs approve 12 -y`,
		RunE: p.InTree(func(ctx context.Context, t door.Tree, args []string) error {
			return with(p, t, o, func(w *worker) error {
				return w.goOn(ctx, args[0], func(m *rundir.Manager, run runs.Run) (runs.Run, error) {
					return w.approve(ctx, m, run, digest, force)
				})
			})
		}),
	}
	cmd.Flags().StringVar(&digest, "digest", "", "approve only the plan with this `DIGEST`, as printed by runs show")
	cmd.Flags().BoolVarP(&o.Review, "review", "p", false, "go through the hunks before the run is approved")
	cmd.Flags().BoolVar(&force, "force", false, "pass the limit on files and the levels of risk, up to the ceiling")
	workFlags(p, cmd, &o)
	cmd.MarkFlagsMutuallyExclusive("review", "digest")
	cmd.MarkFlagsMutuallyExclusive("review", "yes")
	return cmd
}

// approve plays the job that a run waits for. Without a digest and -y the user is asked.
func (w *worker) approve(
	ctx context.Context, m *rundir.Manager, run runs.Run, digest string, force bool,
) (runs.Run, error) {
	switch {
	case run.Status != runs.Manual || run.Held == nil:
		return run, w.p.Usage(fmt.Errorf("run %s does not wait for a decision: its status is %s", run.ID, run.Status))
	case digest == "" && !w.p.Yes() && w.p.OnTerminal():
		return run, nil // follow asks the user
	case digest == "" && !w.p.Yes():
		return run, w.p.Usage(fmt.Errorf(
			"no terminal to ask at: look at it with millrace runs diff %s, then give --digest %s, or -y",
			run.ID, run.Held.PlanDigest))
	case digest == "":
		digest = run.Held.PlanDigest
	case digest != run.Held.PlanDigest:
		return run, fmt.Errorf(
			"the plan of run %[1]s differs from the reviewed plan: its digest is %[2]s; "+
				"look at it again with: millrace runs diff %[1]s",
			run.ID, run.Held.PlanDigest)
	}
	_, err := m.Jobs().Play(ctx, heldJob(run), runs.PlayParams{PlanDigest: digest, Force: force})
	return run, err
}

// newDiff returns the command `runs diff`.
func newDiff(p door.Program) *cobra.Command {
	var o Options
	cmd := &cobra.Command{
		Use: "diff RUN", Short: "Show the changes of a waiting run",
		Args: door.Args(1, 1), ValidArgsFunction: complete(p, &o),
		RunE: p.InTree(func(ctx context.Context, t door.Tree, args []string) error {
			return with(p, t, o, func(w *worker) error { return w.diff(ctx, args[0]) })
		}),
	}
	o.storeFlag(cmd)
	p.ProgramFlags(cmd)
	p.FormatFlag(cmd, "diff", "stat", "names", "jsonl", "html", "lsp", door.FormatNone)
	return cmd
}

// diff shows the plan of a waiting run.
func (w *worker) diff(ctx context.Context, arg string) (err error) {
	run, err := find(ctx, w.p, w.store, arg)
	if err != nil {
		return err
	}
	if run.Status != runs.Manual {
		return w.p.Usage(fmt.Errorf("run %s does not wait for a decision: its status is %s", run.ID, run.Status))
	}
	pipeline, err := w.store.Pipeline(ctx, run.Ref(), millrace.Decoder{})
	if err != nil {
		return err
	}
	m, done, err := w.manage(ctx, pipeline, "run "+run.ID)
	if err != nil {
		return err
	}
	defer done()
	defer func() { err = errors.Join(err, m.Close(ctx)) }()
	plan, err := m.Held(ctx, run.Ref())
	if err != nil {
		return err
	}
	if run.Held != nil && run.Held.Files == 0 {
		w.p.Talk("run %s has changed nothing so far", run.ID)
	}
	return errors.Join(w.t.Show(plan), plan.Close())
}
