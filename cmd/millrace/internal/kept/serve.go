package kept

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/cmd/millrace/internal/door"
	"github.com/millrace-go/millrace/cmd/millrace/internal/web"
	"github.com/millrace-go/millrace/rundir"
	"github.com/millrace-go/millrace/runs"
)

// Serve serves the pages of the runs until ctx is done. Approved runs continue in this process; their changes are held
// for approval on the page, from the level of --approve-from, or else from low risk.
func Serve(
	ctx context.Context, p door.Program, t door.Tree, o Options, addr string, ready func(address string),
) error {
	o.ApproveFrom = cmp.Or(o.ApproveFrom, "low")
	return with(p, t, o, func(w *worker) error {
		s := &serving{worker: w}
		err := web.ServeRuns(ctx, addr, web.Runs{
			List: func(ctx context.Context, number int) (runs.Page[runs.Run], error) {
				all, err := w.store.List(ctx, runs.Filter{
					Project: project, Paging: runs.Paging{Page: number, PerPage: runs.MaxPerPage},
				})
				for i := range all.Items {
					all.Items[i].Reason = pageReason(all.Items[i])
				}
				return all, err
			},
			Get: func(ctx context.Context, id string) (run runs.Run, jobs []runs.Job, err error) {
				if run, err = w.store.Get(ctx, runs.RunRef{Project: project, ID: id}); err == nil {
					jobs, err = w.jobs(ctx, run, false)
				}
				run.Reason = pageReason(run)
				for i := range jobs {
					if isHeld(run, jobs[i]) {
						jobs[i].Reason = run.Reason
					}
				}
				return run, jobs, err
			},
			Held: s.held, Approve: s.approve, Reject: s.reject,
		}, ready)
		s.going.Wait()
		return errors.Join(err, s.failed)
	})
}

// serving makes decisions about runs for pages.
type serving struct {
	*worker
	mu     sync.Mutex // for permissions, because the user may be asked about them
	going  sync.WaitGroup
	failed error // not shown on any page
}

// manager returns a manager that may run the programs of a run, as far as the user allows them.
func (s *serving) manager(ctx context.Context, run runs.Run) (m *rundir.Manager, done func(), err error) {
	if run.Foreign {
		return nil, nil, runs.ErrForeign
	}
	pipeline, err := s.store.Pipeline(ctx, run.Ref(), millrace.Decoder{})
	if err != nil {
		return nil, nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.manage(ctx, pipeline, "run "+run.ID)
}

// held opens the plan of a run. Its sources exist until closing is called.
func (s *serving) held(ctx context.Context, run runs.Run) (plan *millrace.Plan, closing func() error, err error) {
	m, done, err := s.manager(ctx, run)
	if err != nil {
		return nil, nil, err
	}
	closing = func() error {
		defer done()
		return m.Close(context.WithoutCancel(ctx))
	}
	if plan, err = m.Held(ctx, run.Ref()); err != nil {
		return nil, nil, errors.Join(err, closing())
	}
	return plan, closing, nil
}

func (s *serving) reject(ctx context.Context, run runs.Run) error {
	m, err := s.store.Manage(rundir.Host{Executor: s.t.Executor, Trees: Tree(s.t.FS), User: s.p.User()})
	if err != nil {
		return err
	}
	_, err = reject(ctx, s.p, m, run, "")
	return errors.Join(err, m.Close(ctx))
}

// approve plays the job that a run waits for, and works on the run until it ends or waits again.
func (s *serving) approve(ctx context.Context, run runs.Run, decision runs.PlayParams) error {
	m, done, err := s.manager(ctx, run)
	if err != nil {
		return err
	}
	if _, err := m.Jobs().Play(ctx, heldJob(run), decision); err != nil {
		err = errors.Join(err, m.Close(ctx))
		done()
		return err
	}
	s.going.Go(func() {
		defer done()
		_, err := m.Wait(ctx, run.Ref())
		if ctx.Err() != nil {
			err = nil // the unfinished run is held, so that another process can continue it
		}
		err = errors.Join(err, m.Close(context.WithoutCancel(ctx)))
		s.mu.Lock()
		defer s.mu.Unlock()
		s.failed = errors.Join(s.failed, err)
	})
	return nil
}
