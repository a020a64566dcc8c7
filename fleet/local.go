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

// Schedule implements [Scheduler]. The pipeline of the campaign is run as it is, so that it may have actions and
// functions of the host that no Decoder knows. Memory grows with Parallel, and not with the number of targets.
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
	defer func() { // also if done ends this goroutine
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
		<-s.places // only now, so that what done has learned is known when the next target is taken
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

// schedule is one call of Schedule.
type schedule struct {
	worker   Worker
	campaign Campaign
	digest   string
	targets  iter.Seq2[Target, error]
	places   chan struct{} // as many as are worked on
	outcomes chan Outcome  // closed when all is over
	err      error         // of the targets; to be read when outcomes is closed
}

// begin begins the targets, one when there is a place for it.
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

// work sends one outcome, whatever happens.
func (s *schedule) work(ctx context.Context, t Task) {
	o := t.outcome()
	o.fail(ctx, errors.New("the worker has ended its goroutine"), "")
	defer func() { s.outcomes <- o }()
	if observe := s.campaign.Observe; observe != nil {
		t.Observe = func(e millrace.Event) { observe(Event{Event: e, Target: t.Target.ID, Index: t.Index}) }
	}
	o = s.worker.do(ctx, t, s.campaign.Pipeline, s.digest, runs)
}
