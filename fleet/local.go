package fleet

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"strconv"
	"sync"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/errorform"
	"github.com/millrace-go/millrace/internal/panics"
)

// Local is a scheduler of goroutines.
type Local struct {
	Worker Worker
	// Parallel is how many targets are worked on at the same time. Zero means GOMAXPROCS; a negative number is an
	// error.
	Parallel int
}

// Schedule implements [Scheduler]. The pipeline of the campaign is run directly, so it may have actions and functions
// of the host that no Decoder has. Memory grows with Parallel, not with the number of targets.
func (l Local) Schedule(ctx context.Context, c Campaign, targets iter.Seq2[Target, error],
	done func(Outcome) error) error {
	if l.Parallel < 0 {
		return &errorform.FieldError{Field: "Local.Parallel", Value: strconv.Itoa(l.Parallel),
			Reason: "a negative number is not allowed"}
	}
	if err := errors.Join(l.Worker.Check(), c.Check()); err != nil {
		return err
	}
	working, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s := &schedule{
		worker: l.Worker, campaign: c, digest: c.Pipeline.Digest(), targets: targets,
		places: make(chan struct{}, parallel(l.Parallel)), outcomes: make(chan Outcome),
	}
	go s.begin(working)
	defer func() { // even if done ends this goroutine
		cancel(nil)
		for range s.outcomes {
			<-s.places
		}
	}()
	var failed error
	for o := range s.outcomes {
		if failed == nil {
			if failed = panics.Protect(func() error { return done(o) }); failed != nil {
				cancel(failed)
			}
		}
		<-s.places // only now, so that done has counted the outcome before the next target is read
	}
	if failed != nil {
		return failed
	}
	if s.err != nil {
		return s.err
	}
	return context.Cause(ctx)
}

func parallel(n int) int {
	if n == 0 {
		return runtime.GOMAXPROCS(0)
	}
	return n
}

// schedule is a call of Schedule.
type schedule struct {
	worker   Worker
	campaign Campaign
	digest   string
	targets  iter.Seq2[Target, error]
	places   chan struct{} // an entry for each running target
	outcomes chan Outcome  // closed at the end
	err      error         // of the targets; read it after outcomes is closed
}

// begin begins the targets, each when there is a place for it.
func (s *schedule) begin(ctx context.Context) {
	var work sync.WaitGroup
	defer close(s.outcomes)
	defer work.Wait()
	s.err = errors.New("targets: they have ended their goroutine")
	s.err = panics.Protect(func() error {
		s.places <- struct{}{}
		index := 0
		for t, err := range s.targets {
			if err != nil {
				return err
			}
			task := Task{Campaign: s.campaign.ID, Index: index, Target: t}
			work.Go(func() { s.work(ctx, task) })
			if ctx.Err() != nil {
				return nil
			}
			index++
			s.places <- struct{}{}
		}
		return nil
	})
}

// work sends one outcome in any case.
func (s *schedule) work(ctx context.Context, t Task) {
	o := t.outcome()
	o.fail(ctx, errors.New("the worker has ended its goroutine"), "")
	defer func() { s.outcomes <- o }()
	if observe := s.campaign.Observe; observe != nil {
		t.Observe = func(e millrace.Event) { observe(Event{Event: e, Target: t.Target.ID, Index: t.Index}) }
	}
	o = s.worker.do(ctx, t, s.campaign.Pipeline, s.digest, runs)
}
