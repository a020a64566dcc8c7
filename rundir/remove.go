package rundir

import (
	"context"
	"fmt"
	"os"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/runs"
)

// Remove removes a run that has ended, with all its files, like retention: the children of a fleet are removed at the
// next pruning. The error is a *[runs.StateError] for a run that is active or waits, or an error of the other verbs.
func (m *Manager) Remove(ctx context.Context, ref runs.RunRef) error {
	if isNested(ctx) {
		return millrace.ErrNested
	}
	l, err := m.store.find(ctx, ref)
	if err != nil {
		return err
	}
	release, err := m.claim(ctx, l.number)
	if err != nil {
		return err
	}
	defer release()
	w, err := m.store.own(l.number)
	if err != nil {
		return err
	}
	var run runs.Run
	w.state(func(f *folded) { run = shownRun{folded: f, number: w.number}.run() })
	if status := w.status(); !status.Ended() {
		refused := &runs.StateError{
			Verb: "remove", What: runs.ThingRun, ID: run.ID, Status: status, Reason: "cancel it first",
		}
		return also(refused, w.close())
	}
	shared, err := m.store.sharedDir(run.RunID)
	if err == nil {
		err = os.RemoveAll(shared)
	}
	if err != nil {
		return also(fmt.Errorf("the shared directory of run %s: %w", run.ID, err), w.close())
	}
	return (&pruner{m: m, now: m.store.now()}).discard(w)
}

// Pipeline returns the pipeline of a run with the values that its variables got when it was created. d reads it. It is
// for hosts that check the pipeline of a run before they continue the run.
func (s *Store) Pipeline(ctx context.Context, ref runs.RunRef, d millrace.Decoder) (millrace.Pipeline, error) {
	l, err := s.find(ctx, ref)
	if err != nil {
		return millrace.Pipeline{}, err
	}
	data := &lazyData{layout: s.layout, number: l.number}
	defer data.Close()
	text, err := l.created.Pipeline.bytes(data)
	if err != nil {
		return millrace.Pipeline{}, err
	}
	p, err := d.Decode(text)
	if err != nil {
		return millrace.Pipeline{}, err
	}
	var given []runs.Variable
	if err := l.created.Variables.decode(data, &given); err != nil {
		return millrace.Pipeline{}, err
	}
	return runs.WithVariables(p, given, noFile)
}
