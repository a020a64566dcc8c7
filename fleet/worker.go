package fleet

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/internal/errorform"
	"github.com/millrace-go/millrace/internal/panics"
)

// defaultRetries is the default of [Worker.Retries].
const defaultRetries = 3

// firstWait is the time before the first retry of a target. It doubles each time.
const firstWait = time.Second

// Worker runs pipelines on the trees that a scheduler passes to it. It is safe for concurrent use as long as its fields
// are not changed.
type Worker struct {
	// Executor is the policy for every tree. The Worker sets its RunID. Its Recorder may serve all trees: the records of
	// one tree are not used for another. Its Checkpoints belong to one run and must be nil: so a pipeline with a Manual
	// step is refused, unless there is a Store.
	Executor millrace.Executor
	// Decoder reads the pipelines of tasks in JSON.
	Decoder millrace.Decoder
	// Trees open the trees.
	Trees Trees
	// Store keeps the runs of this worker. If the worker of a target has died, another worker with the same store
	// continues the run instead of starting again. Nil keeps nothing. See [Store].
	Store Store
	// Retries is the number of retries of a target whose outcome has a transient code: tree_unavailable, locked, conflict
	// and recovery_needed. All other outcomes are final. Zero means 3, a negative number means no retries, for schedulers
	// that retry themselves.
	Retries int
	// Sleep waits before a retry: 1 s, then twice as long each time. It returns early, with an error, if ctx is done. Nil
	// means a timer.
	Sleep func(ctx context.Context, d time.Duration) error
}

// Task is the work of a worker: one pipeline on one tree. Its JSON form may be sent to another machine.
type Task struct {
	// Campaign is the id of the campaign.
	Campaign string `json:"campaign"`
	// Index is the position of the target in its campaign, from 0.
	Index  int    `json:"index"`
	Target Target `json:"target"`
	// Pipeline is the pipeline in JSON.
	Pipeline []byte `json:"pipeline,omitempty"`
	// PlanDigest, if not empty, is the digest of the approved plan, see [Worker.Plan]: the plan to commit must have it, or
	// the outcome is [CodePlanChanged] and nothing is written.
	PlanDigest string `json:"plan_digest,omitempty"`
	// Observe receives the events of the run, like the Observe of the worker's Executor, which is called too. Nil means no
	// observer.
	Observe func(millrace.Event) `json:"-"`
}

// RunID returns the [millrace.Executor.RunID] of a target: 32 hexadecimal digits, the same for the same campaign,
// target, digest of the pipeline and base of the tree. So any number of attempts, by any number of workers, commits
// once.
func RunID(campaign, target, digest, base string) string {
	hash := sha256.New()
	for _, field := range []string{campaign, target, digest, base} {
		hash.Write(binary.BigEndian.AppendUint64(nil, uint64(len(field))))
		hash.Write([]byte(field))
	}
	return hex.EncodeToString(hash.Sum(nil)[:16])
}

// Do runs the whole pipeline on the tree, and retries if the outcome is Retryable, see Retries. Several workers may
// call it for one task, at the same time or later: the tree's lock admits one worker, and the others get its result,
// Replayed. The changes are in the tree if the Status is Success or Skipped, and are not if it is Canceled; for a
// failed target the Code states the state of the tree. Do does not panic, whatever Trees and observers do.
func (w Worker) Do(ctx context.Context, t Task) Outcome { return w.decoded(ctx, t, runs) }

// Plan computes the effect of Do, and writes nothing: the outcome has the number of files and edits, the risk, and the
// digest of the plan. A pipeline with a step that acts outside of the tree fails with [millrace.ErrIncomplete]. Trees
// are closed with a Result that has DryRun set.
func (w Worker) Plan(ctx context.Context, t Task) Outcome { return w.decoded(ctx, t, plans) }

func (w Worker) decoded(ctx context.Context, t Task, run how) Outcome {
	begun := time.Now()
	p, err := w.Decoder.Decode(t.Pipeline)
	if err != nil {
		o := t.outcome()
		o.fail(ctx, err, "")
		o.Duration = time.Since(begun)
		return o
	}
	return w.do(ctx, t, p, p.Digest(), run)
}

// do is Do or Plan for a decoded pipeline.
func (w Worker) do(ctx context.Context, t Task, p millrace.Pipeline, digest string, run how) Outcome {
	begun := time.Now()
	retries := w.Retries
	if retries == 0 {
		retries = defaultRetries
	}
	var spent budget.Cost
	for attempt, wait := 1, firstWait; ; attempt, wait = attempt+1, 2*wait {
		o, final := w.attempt(ctx, t, p, digest, run)
		if w.Store == nil {
			spent = spent.Plus(o.Cost)
		} else {
			spent = max(spent, o.Cost) // a resumed run includes its earlier costs
		}
		o.Cost, o.Attempts = spent, attempt
		if !final && attempt <= retries && Retryable(o.Code) {
			err := w.sleep(ctx, wait)
			if err == nil {
				continue
			}
			if o.Code != errorform.RecoveryNeeded { // a tree that is half written is not a cancellation
				o.Status, o.Code, o.Message = Canceled, errorform.Canceled, message(
					fmt.Errorf("canceled before it was tried again: %s",
						o.Message))
			}
		}
		o.Duration = time.Since(begun)
		return o
	}
}

// sleep waits between attempts.
func (w Worker) sleep(ctx context.Context, d time.Duration) error {
	if w.Sleep != nil {
		return panics.Protect(func() error { return w.Sleep(ctx, d) })
	}
	return sleep(ctx, d)
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// attempt opens the tree, runs, and closes. final means that another attempt does not help, with any code.
func (w Worker) attempt(ctx context.Context, t Task, p millrace.Pipeline, digest string,
	run how) (o Outcome, final bool) {
	o = t.outcome()
	if err := errors.Join(w.Check(), t.Target.Check()); err != nil {
		o.fail(ctx, err, "")
		return o, true
	}
	if ctx.Err() != nil {
		o.fail(ctx, context.Cause(ctx), errorform.Canceled)
		return o, true
	}
	var tree Tree
	if err := panics.Protect(func() (err error) { tree, err = w.Trees.Open(ctx, t.Target); return err }); err != nil {
		_, wrong := errors.AsType[*TargetError](err)
		code := CodeTreeUnavailable
		if wrong {
			code = CodeInvalidTarget
		}
		o.fail(ctx, fmt.Errorf("tree cannot be opened: %w", err), code)
		return o, wrong || panicked(err)
	}
	o.RunID = RunID(t.Campaign, t.Target.ID, digest, tree.Base)
	x := w.executor(t, o.RunID, tree.Base)
	var res *millrace.Result
	err := panics.Protect(func() (err error) {
		res, o.PlanDigest, err = run(ctx, w, t.Target, x, tree.FS, p)
		return err
	})
	if tree.Close != nil {
		closing := panics.Protect(func() error { return tree.Close(ctx, res, err) })
		if err == nil && closing != nil {
			err = fmt.Errorf("tree cannot be closed: %w", closing)
			final = panicked(closing)
		}
	}
	o.take(ctx, res, err)
	return o, final || panicked(err)
}

// panicked reports whether an error comes from a panic, which would happen again each time.
func panicked(err error) bool {
	_, ok := errors.AsType[*panics.Error](err)
	return ok
}

// Check returns an error for the first field with a value that is not allowed.
func (w Worker) Check() error {
	switch {
	case w.Trees == nil:
		return &errorform.FieldError{Field: "Worker.Trees", Value: "nil",
			Reason: "a Trees value is required"}
	case w.Executor.Checkpoints != nil:
		return &errorform.FieldError{Field: "Worker.Executor.Checkpoints", Value: "set",
			Reason: "checkpoints belong to one run, and a fleet has many"}
	}
	return nil
}

// executor returns the worker's executor for one run.
func (w Worker) executor(t Task, runID, base string) millrace.Executor {
	x := w.Executor
	x.RunID = runID
	if x.Recorder != nil {
		x.Recorder = recorder{x.Recorder, t.Target.ID, base}
	}
	if t.PlanDigest != "" {
		x.Checkpoints = approved(t.PlanDigest)
	}
	switch host := x.Observe; {
	case t.Observe == nil:
	case host == nil:
		x.Observe = t.Observe
	default:
		x.Observe = func(e millrace.Event) {
			defer t.Observe(e) // even if the other observer panics
			host(e)
		}
	}
	return x
}
