package campaign

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/cmd/millrace/internal/door"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/rundir"
)

// limits are the limits for the work on a campaign.
type limits struct {
	jobs      int
	stopAfter int
	deadline  time.Duration
}

// trees returns the trees of a campaign.
func (c campaign) trees() fleet.Trees {
	if c.Git != nil {
		return *c.Git
	}
	return fleet.Dirs{}
}

// limiting returns the function that applies the limits of the projects to the executor for a target.
func (c campaign) limiting(open door.Tree) func(x *millrace.Executor, t fleet.Target, fsys afero.Fs) error {
	return func(x *millrace.Executor, t fleet.Target, fsys afero.Fs) error {
		dir, err := t.Root, error(nil)
		if c.Git != nil {
			dir, err = c.Git.Dir(t)
		}
		if err == nil {
			err = open.Limit(x, fsys, dir)
		}
		if err != nil {
			return &fleet.TargetError{ID: t.ID, Reason: strings.ReplaceAll(err.Error(), "\n", "; ")}
		}
		return nil
	}
}

// work runs the pipeline on targets, and stores each outcome. A plan is a dry run.
func (o *opened) work(
	ctx context.Context, p door.Program, t door.Tree, l limits, phase string, only []int,
) (sum fleet.Summary, err error) {
	x, done, err := t.Allow(ctx, o.pipeline, o.File)
	if err != nil {
		return sum, err
	}
	defer done()
	x.Observe = nil // it observes a single tree
	x.DryRun = x.DryRun || phase == phasePlan
	keeping := &store{limit: o.limiting(t), id: o.ID, dir: filepath.Join(o.dir, diffsDir), shown: o.shown}
	if o.shown != nil {
		x.Recorder = o.shown.answers
	}
	w := fleet.Worker{Executor: x, Trees: o.trees()}
	if !x.DryRun {
		runs, err := rundir.Open(o.root, "runs", rundir.Options{Key: x.State.Key, NoSync: x.State.NoSync})
		if err != nil {
			return sum, err
		}
		m, err := runs.Manage(rundir.Host{Executor: x, Trees: w.Trees, User: p.User()})
		if err != nil {
			return sum, err
		}
		defer func() { err = errors.Join(err, m.Close(context.WithoutCancel(ctx))) }()
		keeping.runs = m
	}
	keeping.index = make(map[string]int, len(o.Targets))
	for i, t := range o.Targets {
		keeping.index[t.ID] = i
	}
	w.Store = keeping
	show := newTable(p, o.campaign, len(only))
	defer show.end()
	f := fleet.Fleet{
		Scheduler: fleet.Local{Worker: w, Parallel: l.jobs}, StopAfter: l.stopAfter, Deadline: l.deadline,
		Observe: show.observe,
	}
	if text := p.Budget(); text != "" {
		most, err := budget.Parse(text)
		if err != nil || most <= 0 {
			return sum, p.Usage(fmt.Errorf("--budget %s: write an amount of dollars, such as 3.00", text))
		}
		f.Budget.USD = most
	}
	targets := func(yield func(fleet.Target, error) bool) {
		for _, i := range only {
			if !yield(o.Targets[i], nil) {
				return
			}
		}
	}
	return f.Run(ctx, fleet.Campaign{ID: o.ID, Pipeline: o.pipeline}, iter.Seq2[fleet.Target, error](targets),
		func(out fleet.Outcome) error {
			out.Index = only[out.Index]
			if err := o.add(record{Phase: phase, Outcome: out}); err != nil {
				return err
			}
			return show.outcome(phase, out)
		})
}

// store is the [fleet.Store] of a campaign: it stores the diff of each tree in the directory of the runs.
type store struct {
	runs  *rundir.Manager // nil for a dry run
	limit func(x *millrace.Executor, t fleet.Target, fsys afero.Fs) error
	id    string // of the campaign
	dir   string
	index map[string]int
	shown *shown // nil if the user is not asked
}

// RunTarget implements [fleet.Store].
func (s *store) RunTarget(ctx context.Context, x millrace.Executor, t fleet.Target, fsys afero.Fs,
	p millrace.Pipeline) (res *millrace.Result, err error) {
	if err := s.limit(&x, t, fsys); err != nil {
		return nil, err
	}
	diff := &differ{store: s, target: t.ID}
	if s.runs != nil {
		x.Checkpoints = diff
		res, err = s.runs.RunTarget(ctx, x, t, fsys, p)
	} else {
		res, err = diff.plan(ctx, x, fsys, p)
	}
	if !diff.written && (res == nil || !res.Replayed) { // the diff of an earlier plan, or nothing
		if wrong := os.Remove(diff.name()); wrong != nil && !errors.Is(wrong, fs.ErrNotExist) {
			err = errors.Join(err, wrong)
		}
	}
	return res, err
}

// diffName returns the name of the file with the diff of a target.
func diffName(index int) string { return strconv.Itoa(index) + ".diff" }

// differ writes the diff of a plan to a file before the plan is committed. It refuses a plan that was not shown.
type differ struct {
	store   *store
	target  string
	written bool
}

// plan plans a tree that a question is about, or a dry run.
func (d *differ) plan(ctx context.Context, x millrace.Executor, fsys afero.Fs, p millrace.Pipeline) (
	*millrace.Result, error) {
	plan, err := x.Plan(ctx, fsys, p)
	if plan == nil {
		return nil, err
	}
	defer plan.Close()
	res := plan.Result()
	if err == nil {
		err = d.store.shown.add(d.target, plan)
	}
	if err == nil && res.WouldBlock {
		err = &millrace.BlockedError{Reason: res.BlockReason, Level: res.OverallRiskLevel}
	}
	if err == nil {
		err = d.write(plan)
	}
	return res, err
}

// name returns the name of the file.
func (d *differ) name() string { return filepath.Join(d.store.dir, diffName(d.store.index[d.target])) }

func (d *differ) write(plan *millrace.Plan) error {
	f, err := os.OpenFile(d.name(), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	d.written = true
	return errors.Join(plan.WriteDiff(f), f.Close())
}

// Enter and Keep implement [millrace.Checkpointer]. They store nothing, because the runs do.
func (*differ) Enter(context.Context, millrace.Position) error { return nil }

func (*differ) Keep(context.Context, millrace.Checkpoint) error { return nil }

// Spill returns nil, so that the run decides where to spill bytes.
func (*differ) Spill() fsutil.Spill { return nil }

// Approve implements [millrace.Approver].
func (d *differ) Approve(_ context.Context, plan *millrace.Plan) error {
	if err := d.write(plan); err != nil {
		return err
	}
	return d.store.shown.check(d.store.id, d.target, plan)
}

// diff returns the diff of a target, nil if none was written.
func (o *opened) diff(index int) (io.ReadCloser, error) {
	f, err := os.Open(filepath.Join(o.dir, diffsDir, diffName(index)))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return f, err
}
