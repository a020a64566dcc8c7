package kept

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace/cmd/millrace/internal/door"
	"github.com/millrace-go/millrace/cmd/millrace/internal/render"
	"github.com/millrace-go/millrace/runs"
)

// listing selects the runs to list.
type listing struct {
	status string
	all    bool
}

// mostListed is the maximum number of runs listed without --all.
const mostListed = 20

func (l *listing) flags(cmd *cobra.Command) {
	words := make([]string, 0, len(runs.Statuses()))
	for _, s := range runs.Statuses() {
		words = append(words, string(s))
	}
	cmd.Flags().StringVar(&l.status, "status", "", "list only runs of this `STATUS`: "+strings.Join(words, ", "))
	_ = cmd.RegisterFlagCompletionFunc("status", cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	cmd.Flags().BoolVar(&l.all, "all", false, "list all runs, and not only the 20 newest")
}

// list writes the runs.
func (w *worker) list(ctx context.Context, l listing) error {
	f := runs.Filter{Project: project, Status: runs.Status(l.status)}
	if err := f.Check(); err != nil {
		return w.p.Usage(fmt.Errorf("--status: %w", err))
	}
	all, more := []runs.Run{}, false
	err := each(ctx, w.store, f, func(r runs.Run) bool {
		if more = !l.all && len(all) == mostListed; !more {
			all = append(all, r)
		}
		return !more
	})
	if err != nil {
		return err
	}
	switch w.p.Format() {
	case door.FormatNone:
		return nil
	case door.FormatJSON:
		return w.p.WriteJSON(map[string]any{"runs": all, "more": more})
	}
	if len(all) == 0 && l.status == "" {
		w.p.Talk("no runs are kept here: --keep of millrace run keeps a run")
	}
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, r := range all {
		_, _ = fmt.Fprintln(table, strings.TrimRight(w.line(r), "\t")) // a Builder never fails
	}
	_ = table.Flush()
	if more {
		defer w.p.Talk("there are more: --all lists them")
	}
	return w.p.WriteReport(b.String())
}

// line returns a run as a line.
func (w *worker) line(r runs.Run) string {
	why := ""
	if !r.Status.Final() {
		why = render.Line(reason(r))
	}
	if r.Foreign {
		why = "not signed by you: " + why
	}
	cells := []string{r.ID, string(r.Status), render.Line(r.Name), w.p.Ago(r.UpdatedAt), render.Line(r.User), why}
	return strings.Join(cells, "\t")
}

// show describes a run.
func (w *worker) show(ctx context.Context, run runs.Run) error {
	jobs, err := w.jobs(ctx, run, false)
	if err != nil {
		return err
	}
	switch w.p.Format() {
	case door.FormatNone:
		return nil
	case door.FormatJSON:
		return w.p.WriteJSON(map[string]any{"run": run, "jobs": jobs})
	}
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	row := func(name, text string) {
		if text != "" {
			_, _ = fmt.Fprintf(table, "%s\t%s\n", name, render.Line(text)) // a Builder never fails
		}
	}
	row("run", run.ID+", "+run.RunID)
	row("name", run.Name)
	row("status", string(run.Status))
	row("reason", reason(run))
	row("user", run.User)
	row("source", run.Source)
	row("created", w.p.Ago(run.CreatedAt))
	row("updated", w.p.Ago(run.UpdatedAt))
	row("pipeline", run.SHA)
	if h := run.Held; h != nil {
		row("would change", fmt.Sprintf("%d files, %d edits, risk %s", h.Files, h.Edits, h.Risk))
		row("digest", h.PlanDigest)
	}
	_ = table.Flush()
	b.WriteString("\n")
	for _, j := range jobs {
		why := j.Reason
		if isHeld(run, j) {
			why = reason(run)
		}
		line := fmt.Sprintf("  %s\t%s\t%s\t%s", render.Line(j.Name), j.Action, j.Status, render.Line(why))
		_, _ = fmt.Fprintln(table, strings.TrimRight(line, "\t"))
	}
	_ = table.Flush()
	switch {
	case run.Status == runs.Manual:
		fmt.Fprintf(&b,
			"\nmillrace runs diff %[1]s shows the change, millrace runs approve %[1]s makes it, "+
				"millrace runs reject %[1]s ends the run\n", run.ID)
	case run.Resumable && run.Status.Ended():
		fmt.Fprintf(&b, "\n%s goes on with it\n", further(run))
	}
	return w.p.WriteReport(b.String())
}

// jobs returns all jobs of a run, or the latest of each step.
func (w *worker) jobs(ctx context.Context, run runs.Run, retried bool) ([]runs.Job, error) {
	all := []runs.Job{}
	f := runs.JobFilter{IncludeRetried: retried, Paging: runs.Paging{PerPage: runs.MaxPerPage}}
	for f.Page = 1; f.Page > 0; {
		page, err := w.store.Jobs(ctx, run.Ref(), f)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Items...)
		f.Page = page.NextPage
	}
	return all, nil
}

// newLog returns the command `runs log`.
func newLog(p door.Program) *cobra.Command {
	var o Options
	var follow bool
	cmd := &cobra.Command{
		Use: "log RUN[/STEP]", Short: "Show the log of a run, or of a step",
		Args: door.Args(1, 1), ValidArgsFunction: complete(p, &o),
		RunE: p.InTree(func(ctx context.Context, t door.Tree, args []string) error {
			return with(p, t, o, func(w *worker) error {
				arg, step, _ := strings.Cut(args[0], "/")
				run, err := find(ctx, p, w.store, arg)
				if err != nil {
					return err
				}
				return w.log(ctx, run, step, follow)
			})
		}),
	}
	o.storeFlag(cmd)
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "continue until the run ends or waits")
	return cmd
}

// inTime orders jobs by the time at which they were begun. A step that is done again has a later number than the steps
// after it, which were counted before.
func inTime(jobs []runs.Job) {
	slices.SortStableFunc(jobs, func(a, b runs.Job) int {
		switch {
		case a.StartedAt.IsZero() && b.StartedAt.IsZero():
			return 0
		case a.StartedAt.IsZero():
			return 1
		case b.StartedAt.IsZero():
			return -1
		}
		return a.StartedAt.Compare(b.StartedAt)
	})
}

// log writes the log lines of the jobs of a run, or of one step, in the order in which the jobs were begun.
func (w *worker) log(ctx context.Context, run runs.Run, step string, follow bool) error {
	next := make(map[string]int)
	known := step == ""
	for {
		now, err := w.store.Get(ctx, run.Ref()) // read before its jobs, so that its status also holds for them
		if err != nil {
			return err
		}
		jobs, err := w.jobs(ctx, run, true)
		if err != nil {
			return err
		}
		inTime(jobs)
		for _, j := range jobs {
			if step != "" && j.Name != step {
				continue
			}
			known = true
			if err := w.lines(ctx, j, step == "", next); err != nil {
				return err
			}
		}
		switch {
		case !known:
			return w.p.Usage(fmt.Errorf("run %s has no step %q", run.ID, step))
		case !follow || now.Status.Ended() || now.Status == runs.Manual:
			return nil
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

// lines writes the log lines of a job that were not written yet.
func (w *worker) lines(ctx context.Context, j runs.Job, named bool, next map[string]int) error {
	for {
		start := max(next[j.ID], 1)
		log, err := w.store.Logs(ctx, j.Ref(), runs.LogRange{Start: start, Limit: runs.MaxLines})
		if err != nil {
			return err
		}
		for line := range strings.Lines(log.Trace) {
			if line = strings.TrimSuffix(line, "\n"); named {
				line = render.Line(j.Name) + "  " + line
			}
			if err := w.p.WriteShown(line); err != nil {
				return err
			}
		}
		next[j.ID] = start + log.ShownLines
		if !log.HasMore {
			return nil
		}
	}
}

// pause waits before a run is checked again.
func pause(ctx context.Context) error {
	timer := time.NewTimer(pollWait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// newWatch returns the command `runs watch`.
func newWatch(p door.Program) *cobra.Command {
	const short = "Print the statuses of a run until it ends or waits"
	return looking(p, "watch RUN", short, func(w *worker, ctx context.Context, run runs.Run) error {
		shown := runs.Status("")
		for {
			now, err := w.store.Get(ctx, run.Ref())
			if err != nil {
				return err
			}
			over := now.Status.Ended() || now.Status == runs.Manual
			if now.Status != shown && p.Format() != door.FormatNone && p.Format() != door.FormatJSON {
				if err := p.WriteReport(strings.TrimRight(w.line(now), "\t") + "\n"); err != nil {
					return err
				}
			}
			shown = now.Status
			switch {
			case over && now.Status.Final() && p.Format() != door.FormatJSON:
				return nil
			case over && p.Format() == door.FormatJSON:
				return w.ended(now)
			case over:
				return p.Said(wordOf(now))
			}
			if err := pause(ctx); err != nil {
				return err
			}
		}
	})
}
