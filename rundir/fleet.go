package rundir

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"time"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/internal/panics"
	"github.com/millrace-go/millrace/internal/recordlog"
	"github.com/millrace-go/millrace/internal/show"
	"github.com/millrace-go/millrace/runs"
)

// FleetOptions describe the trees of a fleet, and how it works on its targets.
type FleetOptions struct {
	// Targets are the trees. They are read one by one, and not kept in memory. Each must be valid, see
	// [fleet.Target.Check], and less than 64 KiB long as JSON. Two targets with the same id are two runs. The sequence
	// must end within an hour.
	Targets iter.Seq2[fleet.Target, error]
	// Parallel is the number of targets that run at the same time. Zero means [Host.MaxRunning], which is the limit in any
	// case: children are counted with the other runs of the manager.
	Parallel int
	// StopAfter is the number of failed targets after which no more are begun, each time that the fleet is worked on. Zero
	// means that failures stop nothing.
	StopAfter int
	// Deadline is the time in which targets are begun, each time that the fleet is worked on. A begun target continues to
	// its end. Zero means no limit.
	Deadline time.Duration
	// Budget limits the spending of all targets of the fleet together, over all times that it is worked on. Once the money
	// is spent, or too many files or edits were made, no more targets are begun or continued. It counts the costs of runs
	// that have ended or wait, and the changes of runs that have ended. So active targets may exceed it. Bytes is not
	// supported here and must be zero. The zero Limit means no limit.
	Budget budget.Limit
	// PerSecond is the number of targets that are begun or continued per second at most, evenly spread. Zero means no
	// limit.
	PerSecond float64
}

func (o FleetOptions) check() error {
	switch {
	case o.Targets == nil:
		return errors.New("a fleet needs Targets")
	case o.Parallel < 0:
		return fmt.Errorf("FleetOptions.Parallel is %d: a negative number is not allowed", o.Parallel)
	case o.StopAfter < 0:
		return fmt.Errorf("FleetOptions.StopAfter is %d: a negative number is not allowed", o.StopAfter)
	case o.Deadline < 0:
		return fmt.Errorf("FleetOptions.Deadline is %v: a negative number is not allowed", o.Deadline)
	case o.PerSecond < 0 || math.IsNaN(o.PerSecond) || math.IsInf(o.PerSecond, 0):
		return fmt.Errorf("FleetOptions.PerSecond is %v: a number from 0 is required", o.PerSecond)
	case o.Budget.Bytes != 0:
		return errors.New("FleetOptions.Budget.Bytes: bytes are not counted here: set Executor.Budget")
	}
	if err := o.Budget.Check(); err != nil {
		return fmt.Errorf("FleetOptions.Budget: %w", err)
	}
	return nil
}

// CreateFleet creates a run that runs a pipeline on many trees, and works on it like on any other run: it is the parent
// of one run for each target, see [Store.Triggers]. The project of a child is the id of its target, and [Host.Trees]
// open its tree; the caller chooses the name of the parent's project. The targets are on disk when CreateFleet returns.
// Retry of the parent continues the children that have failed or were canceled, and begins missing ones; children that
// have succeeded, or wait for a decision, stay unchanged. Cancel cancels all children.
//
// The parent has failed if targets have failed or were canceled, or were not begun. It is Manual if only decisions
// about children are left, and ends when these are made. Its Summary counts the targets.
//
// The errors are the errors of Create; a *[fleet.TargetError] for an invalid target; and errors of Targets. Then no run
// is created. With the context of a step the error is [millrace.ErrNested].
func (m *Manager) CreateFleet(ctx context.Context, c runs.CreateParams, o FleetOptions) (runs.Run, error) {
	if isNested(ctx) {
		return runs.Run{}, millrace.ErrNested
	}
	if err := o.check(); err != nil {
		return runs.Run{}, err
	}
	n, invalid, err := m.describe(ctx, c)
	if err != nil {
		return runs.Run{}, err
	}
	if invalid == nil {
		n.steps = nil // they belong to its children
		n.files = func(number int64, c *created) error {
			c.Fleet = &fleetTargets{
				Parallel: o.Parallel, StopAfter: o.StopAfter, Deadline: o.Deadline, Budget: o.Budget,
				PerSecond: o.PerSecond,
			}
			return m.store.writeTargets(ctx, number, o.Targets, c.Fleet)
		}
	}
	return m.created(ctx, c, n, invalid)
}

// writeTargets writes the file "targets", and fills in its description.
func (s *Store) writeTargets(ctx context.Context, number int64, targets iter.Seq2[fleet.Target, error],
	about *fleetTargets) error {
	f, err := recordlog.Create(s.d.FS, s.run(number, targetsFile))
	if err != nil {
		return err
	}
	h := sha256.New()
	out := bufio.NewWriterSize(io.MultiWriter(io.NewOffsetWriter(f, 0), h), maxTarget)
	err = panics.Protect(func() error {
		for t, err := range targets {
			if err = errors.Join(err, context.Cause(ctx)); err != nil {
				return err
			}
			if err := about.add(out, t); err != nil {
				return fmt.Errorf("target %d: %w", about.Count, err)
			}
		}
		return nil
	})
	if err == nil && about.Count == 0 {
		err = errors.New("a fleet needs at least one target")
	}
	if err == nil {
		err = out.Flush()
	}
	if err == nil && s.d.Sync {
		err = f.Sync()
	}
	about.SHA256 = hex.EncodeToString(h.Sum(nil))
	return errors.Join(err, f.Close())
}

// add writes the line of a target.
func (a *fleetTargets) add(out io.Writer, t fleet.Target) error {
	if err := t.Check(); err != nil {
		return err
	}
	line, err := json.Marshal(t)
	if err != nil {
		return err
	}
	line = append(line, '\n')
	switch {
	case len(line) > maxTarget:
		return &fleet.TargetError{ID: show.Within(t.ID, 100),
			Reason: fmt.Sprintf("it has %d bytes as JSON, more than %d", len(line), maxTarget)}
	case a.Length+int64(len(line)) > maxTargets:
		return fmt.Errorf("the targets have more than %d bytes together", maxTargets)
	}
	a.Count++
	a.Length += int64(len(line))
	_, err = out.Write(line)
	return err
}

// treeError means that the tree of a run could not be opened.
type treeError struct{ err error }

func (e *treeError) Error() string { return "tree cannot be opened: " + e.err.Error() }
func (e *treeError) Unwrap() error { return e.err }

// open opens the tree of a run: the tree of its target, or of its project.
func (m *Manager) open(ctx context.Context, w *writer) (tree fleet.Tree, err error) {
	var child *childOf
	target := fleet.Target{}
	w.state(func(f *folded) { child, target.ID = f.created.Child, f.created.Project })
	if child != nil {
		if err := child.Target.decode(w.spill(), &target); err != nil {
			return tree, err
		}
	}
	err = panics.Protect(func() (err error) {
		tree, err = m.host.Trees.Open(ctx, target)
		return err
	})
	if err != nil {
		return tree, err
	}
	if err = m.checkPlace(tree.FS); err != nil && tree.Close != nil {
		err = also(err, panics.Protect(func() error { return tree.Close(context.WithoutCancel(ctx), nil, err) }))
	}
	return tree, err
}

// childEnd returns the values that the parent of the run counts, nil if it has no parent.
func (w *writer) childEnd(res *millrace.Result, err error) (c *childEnd) {
	w.state(func(f *folded) {
		if f.created.Parent > 0 {
			c = new(childEnd)
		}
	})
	if c == nil {
		return nil
	}
	if err != nil {
		c.Code = millrace.ErrorCode(err)
	}
	if _, ok := errors.AsType[*treeError](err); ok {
		c.Code = fleet.CodeTreeUnavailable
	}
	if res != nil {
		c.Risk, c.Cost = res.OverallRiskLevel, res.Cost
		if res.Success || millrace.Written(err) {
			c.Files, c.Edits = res.FilesChanged.Count(), res.TotalEdits
		}
	}
	return c
}

// parallel returns the number of targets that run at once.
func (m *Manager) parallel(wanted int) int {
	most := cap(m.places)
	if m.places == nil {
		most = maxParallel
	}
	return min(cmp.Or(wanted, most), most)
}

// maxParallel is the number of targets that run at once without another limit.
const maxParallel = 64
