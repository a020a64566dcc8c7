package kept

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/cmd/millrace/internal/config"
	"github.com/millrace-go/millrace/cmd/millrace/internal/door"
	"github.com/millrace-go/millrace/cmd/millrace/internal/render"
	"github.com/millrace-go/millrace/rundir"
	"github.com/millrace-go/millrace/runs"
)

// NewRuns returns the command `runs` with its subcommands.
func NewRuns(p door.Program) *cobra.Command {
	var o Options
	var l listing
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "List, approve and resume the runs that are kept",
		Long: `Runs lists the runs kept by "run --keep" and "mcp --store", the newest first. A line has the
number, the status, the name, the time, the user, and the reason of a waiting or failed run. RUN is a number, the
beginning of a run id with at least 8 characters, or - or last for the newest run.

A run whose process was killed is listed as failed. "runs resume 12" continues after the last completed step,
and "runs resume 12/fix" does the step fix and the later steps again. To continue a run, allow its programs again.
The run keeps its --approve-from; of two levels the lower counts. The exit status is 7 if a run waits for a decision.`,
		Example: `  millrace runs
  millrace runs --status manual
  millrace runs diff -
  millrace runs approve 12 -y
  millrace runs resume 12/fix`,
		Args: cobra.NoArgs,
		RunE: p.InTree(func(ctx context.Context, t door.Tree, _ []string) error {
			return with(p, t, o, func(w *worker) error { return w.list(ctx, l) })
		}),
	}
	o.storeFlag(cmd)
	l.flags(cmd)
	p.FormatFlag(cmd, door.FormatReport, door.FormatJSON, door.FormatNone)
	cmd.AddCommand(
		looking(p, "show RUN", "Describe a run, with its steps", (*worker).show),
		newLog(p),
		newDiff(p),
		newApprove(p),
		deciding(p, "reject RUN", "Reject a waiting run, which ends it", reject),
		deciding(p, "cancel RUN", "Cancel a run, also a run of another process", cancel),
		working(p, "retry RUN", "Resume a failed or canceled run", retry),
		working(p, "resume RUN[/STEP]", "Resume a run, or return to the state before a step", resume),
		deciding(p, "rm RUN", "Remove a run that has ended", remove),
		newPrune(p),
		newWatch(p),
	)
	return cmd
}

// decision applies a decision to a run, or to one step of it.
type decision func(ctx context.Context, p door.Program, m *rundir.Manager, run runs.Run, step string) (runs.Run, error)

func cancel(ctx context.Context, _ door.Program, m *rundir.Manager, run runs.Run, _ string) (runs.Run, error) {
	return m.Cancel(ctx, run.Ref())
}

func reject(ctx context.Context, p door.Program, m *rundir.Manager, run runs.Run, _ string) (runs.Run, error) {
	if run.Status != runs.Manual {
		return run, p.Usage(fmt.Errorf("run %s does not wait for a decision: its status is %s", run.ID, run.Status))
	}
	return m.Cancel(ctx, run.Ref())
}

func retry(ctx context.Context, _ door.Program, m *rundir.Manager, run runs.Run, _ string) (runs.Run, error) {
	return m.Retry(ctx, run.Ref())
}

func resume(ctx context.Context, p door.Program, m *rundir.Manager, run runs.Run, step string) (runs.Run, error) {
	held := p.Usage(fmt.Errorf("run %s waits for a decision: %s", run.ID, toDecide(run)))
	what := run.ID
	switch {
	case step != "":
		what += "/" + step
	case run.Status == runs.Manual:
		return run, held
	}
	after, err := m.Resume(ctx, what)
	if refused, ok := errors.AsType[*runs.StateError](err); ok && refused.Status == runs.Manual {
		return run, held
	}
	return after, err
}

func remove(ctx context.Context, _ door.Program, m *rundir.Manager, run runs.Run, _ string) (runs.Run, error) {
	return runs.Run{}, m.Remove(ctx, run.Ref())
}

// looker shows a run.
type looker func(w *worker, ctx context.Context, run runs.Run) error

// looking returns a command that shows a run.
func looking(p door.Program, use, short string, look looker) *cobra.Command {
	var o Options
	cmd := &cobra.Command{Use: use, Short: short, Args: door.Args(1, 1), ValidArgsFunction: complete(p, &o)}
	cmd.RunE = p.InTree(func(ctx context.Context, t door.Tree, args []string) error {
		return with(p, t, o, func(w *worker) error {
			run, err := find(ctx, p, w.store, args[0])
			if err != nil {
				return err
			}
			return look(w, ctx, run)
		})
	})
	o.storeFlag(cmd)
	p.FormatFlag(cmd, door.FormatReport, door.FormatJSON, door.FormatNone)
	return cmd
}

// deciding returns a command that decides about a run, and does not work on it. At a terminal it asks first, without
// -y.
func deciding(p door.Program, use, short string, decide decision) *cobra.Command {
	verb, _, _ := strings.Cut(use, " ")
	cmd := looking(p, use, short, func(w *worker, ctx context.Context, run runs.Run) error {
		if sure, err := w.sure(ctx, verb, run); !sure {
			return err
		}
		m, err := w.store.Manage(rundir.Host{Executor: w.t.Executor, Trees: Tree(w.t.FS), User: p.User()})
		if err != nil {
			return err
		}
		after, err := decide(ctx, p, m, run, "")
		switch err := errors.Join(err, m.Close(ctx)); {
		case err != nil:
			return err
		case p.Format() == door.FormatJSON && after.ID != "":
			return p.WriteJSON(after)
		case after.ID != "":
			p.Talk("run %s is %s", after.ID, after.Status)
		}
		return nil
	})
	p.YesFlag(cmd)
	return cmd
}

// sure reports whether the user confirms the decision about a run. The error is the end of a command that was declined.
func (w *worker) sure(ctx context.Context, verb string, run runs.Run) (bool, error) {
	if w.p.Yes() || !w.p.OnTerminal() {
		return true, nil
	}
	answer, err := w.p.Ask(ctx, fmt.Sprintf("%s run %s, %s, which is %s? [y]es [N]o  ",
		strings.ToUpper(verb[:1])+verb[1:], run.ID, render.Line(run.Name), run.Status))
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	if answer = strings.ToLower(strings.TrimSpace(answer)); err == nil && (answer == "y" || answer == "yes") {
		return true, nil
	}
	w.p.Talk("nothing was changed")
	return false, w.p.Said("declined")
}

// working returns a command that continues a run.
func working(p door.Program, use, short string, verb decision) *cobra.Command {
	var o Options
	cmd := &cobra.Command{Use: use, Short: short, Args: door.Args(1, 1), ValidArgsFunction: complete(p, &o)}
	cmd.RunE = p.InTree(func(ctx context.Context, t door.Tree, args []string) error {
		arg, step := args[0], ""
		if strings.Contains(use, "/") {
			arg, step, _ = strings.Cut(arg, "/")
		}
		return with(p, t, o, func(w *worker) error {
			return w.goOn(ctx, arg, func(m *rundir.Manager, run runs.Run) (runs.Run, error) {
				return verb(ctx, p, m, run, step)
			})
		})
	})
	workFlags(p, cmd, &o)
	return cmd
}

// workFlags registers the flags of commands that work on a run.
func workFlags(p door.Program, cmd *cobra.Command, o *Options) {
	o.Flags(cmd)
	p.ProgramFlags(cmd)
	p.YesFlag(cmd)
	p.FormatFlag(cmd, door.FormatReport, door.FormatJSON, door.FormatNone)
}

// goOn works on the run given by an argument.
func (w *worker) goOn(
	ctx context.Context, arg string, verb func(m *rundir.Manager, run runs.Run) (runs.Run, error),
) error {
	run, err := find(ctx, w.p, w.store, arg)
	if err != nil {
		return err
	}
	if run.Foreign { // checked before anything is asked
		return fmt.Errorf("run %s: %w", run.ID, runs.ErrForeign)
	}
	pipeline, err := w.store.Pipeline(ctx, run.Ref(), millrace.Decoder{})
	if err != nil {
		return err
	}
	return w.work(ctx, pipeline, "run "+run.ID, func(m *rundir.Manager) (runs.Run, error) { return verb(m, run) })
}

// newPrune returns the command `runs prune`.
func newPrune(p door.Program) *cobra.Command {
	var o Options
	var keep int
	var age string
	cmd := &cobra.Command{
		Use: "prune", Short: "Remove old runs that have ended", Args: cobra.NoArgs,
		Long: `Prune removes ended runs, the oldest first. It keeps waiting and active runs, and the newest run. A
call removes at most 100 runs.`,
		RunE: p.InTree(func(ctx context.Context, t door.Tree, _ []string) error {
			retention := rundir.Retention{Keep: keep}
			switch {
			case keep < 0:
				return p.Usage(errors.New("--keep: it must be at least 0"))
			case keep == 0 && age == "":
				return p.Usage(errors.New("runs prune needs --keep N or --older-than AGE"))
			case age != "":
				old, ok := config.ParseAge(age)
				if !ok {
					return p.Usage(fmt.Errorf("--older-than %q: write 30d, 12h or 90m", age))
				}
				retention.MaxAge = old
			}
			return with(p, t, o, func(w *worker) error { return w.prune(ctx, retention) })
		}),
	}
	o.storeFlag(cmd)
	cmd.Flags().IntVar(&keep, "keep", 0, "keep the `N` newest runs")
	cmd.Flags().StringVar(&age, "older-than", "", "remove runs that are older than `AGE`, such as 30d or 12h")
	return cmd
}

// prune removes the runs that the retention does not keep.
func (w *worker) prune(ctx context.Context, r rundir.Retention) error {
	total := func() (int, error) {
		page, err := w.store.List(ctx, runs.Filter{Project: project, Paging: runs.Paging{PerPage: 1}})
		return page.Total, err
	}
	before, err := total()
	if err != nil {
		return err
	}
	m, err := w.store.Manage(rundir.Host{Executor: w.t.Executor, Trees: Tree(w.t.FS), User: w.p.User(), Retention: r})
	if err == nil {
		err = m.Close(ctx)
	}
	if err != nil {
		return err
	}
	after, err := total()
	if err == nil {
		w.p.Talk("%d runs were removed, %d are left", before-after, after)
	}
	return err
}

// complete completes the ids of runs.
func complete(p door.Program, o *Options) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var words []string
		t, err := p.Open()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		defer t.FS.Close()
		err = with(p, t, *o, func(w *worker) error {
			return each(cmd.Context(), w.store, runs.Filter{Project: project}, func(r runs.Run) bool {
				words = append(words,
					cobra.CompletionWithDesc(r.ID, render.Line(fmt.Sprintf("%s, %s", r.Status, r.Name))))
				return len(words) < mostOffered
			})
		})
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// mostOffered is the maximum number of runs offered to a shell.
const mostOffered = 50

// pollWait is the interval for checking a run of another process.
const pollWait = 200 * time.Millisecond
