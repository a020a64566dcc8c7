package millracetemporal

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/internal/fleetlimits"
	"github.com/millrace-go/millrace/internal/show"
)

// heartbeatEvery is the interval between heartbeats of an activity without news, unless its timeout needs a shorter
// one.
const heartbeatEvery = 10 * time.Second

// beatEvery returns the interval between heartbeats for a heartbeat timeout.
func beatEvery(timeout time.Duration) time.Duration {
	if timeout <= 0 {
		return heartbeatEvery
	}
	return max(min(heartbeatEvery, timeout/3), 100*time.Millisecond)
}

// mostMessage is the longest message in bytes that goes to the server.
const mostMessage = 1000

// activities are the activities of a worker.
type activities struct{ Worker }

// runTarget runs the whole pipeline on one tree. A failure is an error whose type is the code of the outcome: the
// server retries what another attempt may fix, everything else is final.
func (a activities) runTarget(ctx context.Context, in targetInput) (report, error) {
	task, err := a.task(ctx, in)
	if err != nil {
		return report{}, err
	}
	if in.Plans != "" {
		if task.PlanDigest, err = pageItem[string](ctx, a.Blobs, in.Plans, in.Index); err != nil {
			return report{}, err
		}
		if task.PlanDigest == "" { // only the result of an earlier commit counts; a store could not return it
			task.PlanDigest, a.Fleet.Store = fleetlimits.NoPlan, nil
		}
	}
	return a.heard(ctx, task, a.Fleet.Do)
}

// planTarget computes what runTarget would do, and writes nothing.
func (a activities) planTarget(ctx context.Context, in targetInput) (report, error) {
	task, err := a.task(ctx, in)
	if err != nil {
		return report{}, err
	}
	return a.heard(ctx, task, a.Fleet.Plan)
}

// task returns the input of the fleet's worker, or the outcome of an invalid target as an error.
func (a activities) task(ctx context.Context, in targetInput) (fleet.Task, error) {
	pipeline, err := a.Blobs.Get(ctx, in.Pipeline)
	if err != nil {
		return fleet.Task{}, err
	}
	t, err := pageItem[item](ctx, a.Blobs, in.Targets, in.Index)
	if err == nil && t.Invalid != "" {
		_, err = a.reported(ctx, fleet.Outcome{Target: t.Target, Index: in.Index, Status: fleet.Failed,
			Code: fleet.CodeInvalidTarget, Message: t.Invalid, Attempts: 1}, nil)
	}
	return fleet.Task{Campaign: in.Campaign, Index: in.Index, Target: t.Target, Pipeline: pipeline}, err
}

// heard does a task and sends heartbeats to the server.
func (a activities) heard(ctx context.Context, task fleet.Task,
	do func(context.Context, fleet.Task) fleet.Outcome) (report, error) {
	beat := &beating{ctx: ctx}
	var before heartbeat // of an attempt that the server repeats
	if activity.HasHeartbeatDetails(ctx) && activity.GetHeartbeatDetails(ctx, &before) == nil {
		beat.now.Spent = before.Spent
	}
	var last *millrace.Result
	task.Observe = func(e millrace.Event) {
		if done, ok := e.(millrace.RunFinished); ok && done.Result != nil {
			last = done.Result
		}
		beat.event(e)
	}
	stop := beat.start()
	o := do(ctx, task)
	stop()
	if o.Attempts > 0 {
		o.Attempts = int(activity.GetInfo(ctx).Attempt)
	}
	if a.Fleet.Store == nil {
		o.Cost = o.Cost.Plus(before.Spent)
	} else {
		o.Cost = max(o.Cost, before.Spent) // a resumed run includes its earlier costs
	}
	beat.tell(func(now *heartbeat) { now.Spent = o.Cost })
	return a.reported(ctx, o, last)
}

// beating reports to the server that the activity is alive, and its progress.
type beating struct {
	ctx context.Context

	mu  sync.Mutex
	now heartbeat
}

// start sends heartbeats until stop is called.
func (b *beating) start() (stop func()) {
	ctx, cancel := context.WithCancel(b.ctx)
	var done sync.WaitGroup
	done.Go(func() {
		ticker := time.NewTicker(beatEvery(activity.GetInfo(b.ctx).HeartbeatTimeout))
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				b.tell(func(*heartbeat) {})
			case <-ctx.Done():
				return
			}
		}
	})
	return func() { cancel(); done.Wait() }
}

func (b *beating) event(e millrace.Event) {
	b.tell(func(now *heartbeat) {
		switch e := e.(type) {
		case millrace.StepStarted:
			*now = heartbeat{Step: short(e.Step, 100), Edits: now.Edits, Spent: now.Spent}
		case millrace.StepProgress:
			now.Done, now.Total = e.Done, e.Total
		case millrace.StepFinished:
			now.Edits += e.Result.EditsApplied
			now.Spent = now.Spent.Plus(e.Result.Cost)
		}
	})
}

func (b *beating) tell(change func(*heartbeat)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change(&b.now)
	activity.RecordHeartbeat(b.ctx, b.now)
}

// reported returns the part of an outcome that goes to the server. The whole result goes to the blobs.
func (a activities) reported(ctx context.Context, o fleet.Outcome, res *millrace.Result) (report, error) {
	r := report{Outcome: o, Plan: o.PlanDigest}
	r.Outcome.Target = fleet.Target{ID: o.Target.ID}
	r.Outcome.Message = short(o.Message, mostMessage)
	if res != nil {
		data, err := json.Marshal(res)
		if err == nil {
			r.Result, err = a.Blobs.Put(context.WithoutCancel(ctx), data)
		}
		if err != nil {
			activity.GetLogger(ctx).Warn("the result could not be kept", "target", short(o.Target.ID, 100), "error",
				err)
		}
	}
	switch o.Status {
	case fleet.Failed:
		return report{}, temporal.NewApplicationErrorWithOptions(r.Outcome.Message, o.Code,
			temporal.ApplicationErrorOptions{
				NonRetryable: !fleet.Retryable(o.Code), Details: []any{r},
			})
	case fleet.Canceled:
		return report{}, temporal.NewCanceledError(r)
	}
	return r, nil
}

// collect stores outcomes and returns their address.
func (a activities) collect(ctx context.Context, s sheet) (string, error) {
	return put(ctx, a.Blobs, s)
}

// short cuts a text to at most the given number of bytes, between characters.
func short(text string, most int) string {
	text, _ = show.Cut(text, most)
	return text
}

// bookWriter stores items in pages, with one page in memory at a time.
type bookWriter[T any] struct {
	blobs Blobs
	book  book
	page  []T
}

func (w *bookWriter[T]) add(ctx context.Context, item T) error {
	w.page = append(w.page, item)
	w.book.Count++
	if len(w.page) < w.book.Page {
		return nil
	}
	return w.flush(ctx)
}

func (w *bookWriter[T]) flush(ctx context.Context) error {
	if len(w.page) == 0 {
		return nil
	}
	ref, err := put(ctx, w.blobs, w.page)
	w.book.Pages, w.page = append(w.book.Pages, ref), nil
	return err
}

// close stores the book itself.
func (w *bookWriter[T]) close(ctx context.Context) (ref string, err error) {
	if err := w.flush(ctx); err != nil {
		return "", err
	}
	return put(ctx, w.blobs, w.book)
}

// pageItem returns the item of a book at an index.
func pageItem[T any](ctx context.Context, b Blobs, ref string, index int) (item T, err error) {
	list, err := get[book](ctx, b, ref)
	if err != nil {
		return item, err
	}
	if index < 0 || index >= list.Count || list.Page <= 0 || index/list.Page >= len(list.Pages) {
		return item, fmt.Errorf("book %s: it has no item %d", ref, index)
	}
	page, err := get[[]T](ctx, b, list.Pages[index/list.Page])
	if err != nil {
		return item, err
	}
	if index%list.Page >= len(page) {
		return item, fmt.Errorf("book %s: it has no item %d", ref, index)
	}
	return page[index%list.Page], nil
}
