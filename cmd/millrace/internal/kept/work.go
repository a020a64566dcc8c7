package kept

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/cmd/millrace/internal/door"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/risk"
	"github.com/millrace-go/millrace/rundir"
	"github.com/millrace-go/millrace/runs"
)

// Options are the flags of commands that work on runs. The zero Options mean no flags.
type Options struct {
	// Store is the directory of --store, "" for the one of the configuration or of the tree.
	Store string
	// ApproveFrom is the word of --approve-from, "" for none.
	ApproveFrom string
	// Review asks about each hunk of a plan, and not only about the whole plan.
	Review bool
}

// storeFlag registers --store.
func (o *Options) storeFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.Store, "store", "",
		"`DIR` of the runs; by default the store of the configuration, or "+rundir.DefaultDir+" of the tree")
}

// Flags registers --store and --approve-from.
func (o *Options) Flags(cmd *cobra.Command) {
	o.storeFlag(cmd)
	cmd.Flags().StringVar(&o.ApproveFrom, "approve-from", "",
		"hold a change from this `LEVEL` of risk until it is approved: low, medium, high, critical")
	words := []string{"low", "medium", "high", "critical"}
	complete := cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveKeepOrder)
	_ = cmd.RegisterFlagCompletionFunc("approve-from", complete) // its only error is a missing flag
}

// worker works on the runs of a store.
type worker struct {
	p     door.Program
	t     door.Tree
	o     Options
	store *rundir.Store
}

// Run starts a run of a pipeline that comes from a file, and works on it until it ends or waits.
func Run(ctx context.Context, p door.Program, t door.Tree, o Options, pipeline millrace.Pipeline, file string) error {
	return with(p, t, o, func(w *worker) error {
		gate, err := w.gate()
		if err != nil {
			return err
		}
		return w.work(ctx, pipeline, file, func(m *rundir.Manager) (runs.Run, error) {
			return m.Create(ctx, runs.CreateParams{
				Project: project, Pipeline: pipeline, Source: runs.SourceCLI, ApproveFrom: gate,
			})
		})
	})
}

// gate returns the level of --approve-from.
func (w *worker) gate() (risk.Level, error) {
	level, err := risk.Parse(w.o.ApproveFrom)
	if err != nil {
		return level, w.p.Usage(fmt.Errorf("--approve-from: %w", err))
	}
	return level, nil
}

// with opens the store.
func with(p door.Program, t door.Tree, o Options, do func(w *worker) error) (err error) {
	dir, err := t.StoreDir(o.Store)
	if err != nil {
		return err
	}
	store, closing, err := Open(t.FS, dir, t.Executor)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closing()) }()
	return do(&worker{p, t, o, store})
}

// manage returns a manager that may run the programs of the pipeline, if the user allows them.
func (w *worker) manage(
	ctx context.Context, pipeline millrace.Pipeline, file string,
) (m *rundir.Manager, done func(), err error) {
	gate, err := w.gate()
	if err != nil {
		return nil, nil, err
	}
	if gate == risk.Unset && w.p.OnTerminal() && !w.p.Yes() {
		gate = risk.Low // the user is asked
	}
	x, done, err := w.t.Allow(ctx, pipeline, file)
	if err != nil {
		return nil, nil, err
	}
	m, err = w.store.Manage(rundir.Host{Executor: x, Trees: Tree(w.t.FS), User: w.p.User(), ApproveFrom: gate})
	if err != nil {
		done()
		return nil, nil, err
	}
	return m, done, nil
}

// work starts or continues a run of the pipeline by calling verb, and works on it until it ends or waits. At a
// terminal, a waiting run is shown and the user is asked.
func (w *worker) work(
	ctx context.Context, pipeline millrace.Pipeline, file string, verb func(m *rundir.Manager) (runs.Run, error),
) error {
	m, done, err := w.manage(ctx, pipeline, file)
	if err != nil {
		return err
	}
	defer done()
	run, err := verb(m)
	if err == nil {
		run, err = w.follow(ctx, m, run)
	}
	closed := m.Close(ctx)
	if ctx.Err() != nil {
		if run.ID != "" {
			w.p.Talk("run %s is kept; go on with: millrace runs resume %s", run.ID, run.ID)
		}
		return context.Cause(ctx)
	}
	if err = errors.Join(err, closed); err != nil {
		return err
	}
	return w.ended(run)
}

// follow waits for a run. In case of an error, it also returns the run as far as known.
func (w *worker) follow(ctx context.Context, m *rundir.Manager, run runs.Run) (runs.Run, error) {
	for {
		now, err := m.Wait(ctx, run.Ref())
		if err != nil {
			return run, err
		}
		run = now
		if run.Status != runs.Manual || !w.p.OnTerminal() || w.p.Yes() {
			return run, nil
		}
		play, err := w.ask(ctx, m, run)
		if err != nil || play == nil {
			return run, err
		}
		if _, err := m.Jobs().Play(ctx, heldJob(run), *play); err != nil {
			return run, err
		}
	}
}

// heldJob returns the job that a waiting run is played by.
func heldJob(run runs.Run) runs.JobRef {
	return runs.JobRef{Project: run.Project, ID: run.Held.JobID}
}

// ask shows the plan of a run, and asks the user. Nil means that the run continues to wait.
func (w *worker) ask(ctx context.Context, m *rundir.Manager, run runs.Run) (*runs.PlayParams, error) {
	plan, err := m.Held(ctx, run.Ref())
	if err != nil {
		return nil, err
	}
	defer plan.Close()
	taken, left := plan.Result(), map[string][]int(nil)
	if w.o.Review {
		var whole bool
		if taken, left, whole, err = w.t.Review(ctx, plan); err != nil {
			return nil, err
		}
		if err := w.mayLeave(ctx, run, left, whole); err != nil {
			return nil, err
		}
	} else if err := w.t.Show(plan); err != nil {
		return nil, err
	}
	force := plan.Result().WouldBlock
	word, answers := "y", "Approve? [y]es [N]o, it waits  "
	if force || taken.OverallRiskLevel >= risk.High {
		word, answers = "yes", "Type yes to approve it all the same; [N]o, it waits  "
	}
	answer, err := w.p.Ask(ctx, fmt.Sprintf("run %s waits: %s\n%s", run.ID, fsutil.Visible(reason(run)), answers))
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	answer = strings.ToLower(strings.TrimSpace(answer))
	if err != nil || answer != "yes" && answer != word {
		return nil, nil
	}
	return &runs.PlayParams{Force: force, PlanDigest: run.Held.PlanDigest, Leave: left}, nil
}

// mayLeave returns why a run cannot leave out what was left in a review, or nil.
func (w *worker) mayLeave(ctx context.Context, run runs.Run, left map[string][]int, whole bool) error {
	if !whole {
		return fmt.Errorf("run %[1]s waits: it leaves out whole hunks, and a hunk was split or edited; "+
			"millrace run NAME -p makes any part", run.ID)
	}
	if len(left) == 0 {
		return nil
	}
	job, err := w.store.Job(ctx, heldJob(run))
	if err == nil && job.Kind != runs.JobCommit {
		err = fmt.Errorf("run %[1]s waits before step '%[2]s', which goes on with the whole change; "+
			"millrace runs reject %[1]s ends it", run.ID, fsutil.Visible(job.Name))
	}
	return err
}

// ended prints the result of a run, and returns the error for the exit status.
func (w *worker) ended(run runs.Run) error {
	if w.p.Format() == door.FormatJSON {
		if err := w.p.WriteJSON(run); err != nil {
			return err
		}
		if run.Status.Final() {
			return nil
		}
		return w.p.Said(wordOf(run))
	}
	switch {
	case run.Status.Final() && run.Result != nil:
		return w.t.Done(run.Result)
	case run.Status.Final():
		w.p.Talk("run %s is %s", run.ID, run.Status)
		return nil
	case run.Status == runs.Manual:
		w.p.Talk("run %s waits: %s", run.ID, fsutil.Visible(reason(run)))
		w.p.Talk("%s", toDecide(run))
	default:
		return failure(run)
	}
	return w.p.Said(wordOf(run))
}

// failure returns the error of a run that has not reached its end.
func failure(run runs.Run) error {
	ending := "is " + string(run.Status)
	if run.Status == runs.Failed {
		ending = "has failed"
	}
	err := fmt.Errorf("run %s %s: %s", run.ID, ending, run.Reason)
	if run.Resumable {
		err = fmt.Errorf("%w\ngo on with: %s", err, further(run))
	}
	if run.Result == nil {
		return err
	}
	switch state := run.Result.Commit.State; state {
	case millrace.CommitPending, millrace.CommitRolledBack:
		return &millrace.CommitError{State: state, Err: err}
	}
	return err
}

// wordOf returns the word for the exit status of a run that is not done.
func wordOf(run runs.Run) string {
	switch {
	case run.Status == runs.Manual:
		return "waits"
	case run.Result != nil && run.Result.Commit.State == millrace.CommitPending:
		return "recovery_needed"
	case run.Result != nil && run.Result.Commit.State == millrace.CommitRolledBack:
		return "commit_failed"
	}
	return string(run.Status)
}
