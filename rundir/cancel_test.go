package rundir_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/runs"
)

// A cancel during the moment in which a run starts to wait is not lost.
func TestCancel_atHold(t *testing.T) {
	t.Parallel()
	for _, other := range []bool{false, true} {
		p := newPlace(t, "a.txt", "one\n")
		h := p.host()
		closing, goOn := make(chan bool), make(chan bool)
		h.Trees = openTree(func(id string) (fleet.Tree, error) {
			return fleet.Tree{FS: p.tree, Close: func(context.Context, *millrace.Result, error) error {
				closing <- true
				<-goOn
				return nil
			}}, nil
		})
		m := manage(t, p.store, h)
		run := create(t, m, manualStep)
		<-closing
		by := m
		if other {
			by = manage(t, p.open(t), p.host())
		}
		type result struct {
			run runs.Run
			err error
		}
		done := make(chan result)
		go func() {
			r, err := by.Cancel(t.Context(), run.Ref())
			done <- result{r, err}
		}()
		time.Sleep(300 * time.Millisecond)
		close(goOn)
		got := <-done
		if got.err != nil || got.run.Status != runs.Canceled {
			t.Errorf("other %v: canceled, but it is %s, %v", other, got.run.Status, got.err)
		}
	}
}

// A reader of a waiting run does not make its cancel fail.
func TestCancel_lookedAt(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "a.txt", "one\n")
	m := manage(t, p.store, p.host())
	run := wait(t, m, create(t, m, manualStep), runs.Manual)
	h := p.host()
	opening, goOn := make(chan bool), make(chan bool)
	h.Trees = openTree(func(id string) (fleet.Tree, error) {
		opening <- true
		<-goOn
		return fleet.Tree{FS: p.tree}, nil
	})
	looking := manage(t, p.open(t), h)
	var wg sync.WaitGroup
	wg.Go(func() {
		plan, err := looking.Held(t.Context(), run.Ref())
		if err == nil {
			err = plan.Close()
		}
		if err != nil {
			t.Error(err)
		}
	})
	<-opening
	wg.Go(func() {
		time.Sleep(500 * time.Millisecond)
		close(goOn)
	})
	got, err := m.Cancel(t.Context(), run.Ref())
	if err != nil || got.Status != runs.Canceled {
		t.Errorf("it is %s, %v", got.Status, err)
	}
	wg.Wait()
}
