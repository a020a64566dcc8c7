package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fleet"
)

// If one target panics, or ends its goroutine, the other targets are not affected.
func TestPanics(t *testing.T) {
	t.Parallel()
	trees, targets := plant(t, 12)
	open := opener(func(ctx context.Context, target fleet.Target) (fleet.Tree, error) {
		tree, err := trees.Open(ctx, target)
		switch target.Root {
		case "tree-001":
			panic("open")
		case "tree-002":
			runtime.Goexit()
		case "tree-003":
			tree.Close = func(context.Context, *millrace.Result, error) error { panic("close") }
		case "tree-004":
			tree.FS = nil
		}
		return tree, err
	})
	var got kept
	f := fleet.Fleet{
		Scheduler: fleet.Local{Worker: fleet.Worker{Trees: open, Executor: millrace.Executor{Observe: func(millrace.Event) { panic("host") }}}, Parallel: 2},
		Observe:   func(millrace.Event) { panic("observe") },
	}
	sum, err := f.Run(t.Context(), fleet.Campaign{ID: "c", Pipeline: edit()}, fleet.Targets(targets...), got.sink)
	if err != nil || sum.Failed != 4 || sum.Success != 8 {
		t.Fatalf("%+v, %v", sum, err)
	}
	want := map[int]string{
		1: "tree_unavailable 1: tree cannot be opened: panic: open",
		2: "internal 0: the worker has ended its goroutine",
		3: "internal 1: tree cannot be closed: panic: close",
		4: "internal 1: file system is nil",
	}
	for i, o := range got.sorted(t, 12) {
		text := ""
		if o.Status != fleet.Success {
			text = fmt.Sprintf("%s %d: %s", o.Code, o.Attempts, o.Message)
		}
		if text != want[i] {
			t.Errorf("%d: %s, want %s", i, text, want[i])
		}
	}
}

// A mistake in the list of targets ends the run with an error, and the outcomes until then are reported.
func TestTargetsFail(t *testing.T) {
	t.Parallel()
	trees, targets := plant(t, 6)
	f := fleet.Fleet{Scheduler: fleet.Local{Worker: fleet.Worker{Trees: trees}, Parallel: 2}}
	for name, end := range map[string]func(yield func(fleet.Target, error) bool){
		"error":  func(yield func(fleet.Target, error) bool) { yield(fleet.Target{}, os.ErrClosed) },
		"panic":  func(func(fleet.Target, error) bool) { panic(os.ErrClosed) },
		"goexit": func(func(fleet.Target, error) bool) { runtime.Goexit() },
	} {
		list := func(yield func(fleet.Target, error) bool) {
			for _, target := range targets[:4] {
				if !yield(target, nil) {
					return
				}
			}
			end(yield)
		}
		sum, err := f.Run(t.Context(), fleet.Campaign{ID: "c", Pipeline: edit()}, list, nil)
		if err == nil || name != "goexit" && !errors.Is(err, os.ErrClosed) || sum.Success != 4 || sum.Targets != 4 ||
			sum.Stopped != "internal" {
			t.Errorf("%s: %+v, %v", name, sum, err)
		}
	}
}

// odd is a scheduler made from a function.
type odd func(targets iter.Seq2[fleet.Target, error], done func(fleet.Outcome) error) error

func (o odd) Schedule(_ context.Context, _ fleet.Campaign, targets iter.Seq2[fleet.Target, error],
	done func(fleet.Outcome) error) error {
	return o(targets, done)
}

// A scheduler that breaks its contract is detected.
func TestSchedulers(t *testing.T) {
	t.Parallel()
	_, targets := plant(t, 5)
	for name, test := range map[string]struct {
		odd  odd
		want string
	}{
		"loses": {func(targets iter.Seq2[fleet.Target, error], done func(fleet.Outcome) error) error {
			for range targets {
			}
			return nil
		}, "fleet: scheduler has returned without the outcomes of 5 targets"},
		"twice": {func(targets iter.Seq2[fleet.Target, error], done func(fleet.Outcome) error) error {
			for target := range targets {
				if err := errors.Join(done(fleet.Outcome{Target: target}), done(fleet.Outcome{Target: target})); err != nil {
					return err
				}
			}
			return nil
		}, "fleet: scheduler: scheduler has given more outcomes than there were targets"},
		"fails":  {func(iter.Seq2[fleet.Target, error], func(fleet.Outcome) error) error { return os.ErrClosed }, "fleet: scheduler: file already closed"},
		"panics": {func(iter.Seq2[fleet.Target, error], func(fleet.Outcome) error) error { panic("oops") }, "fleet: scheduler: panic: oops"},
	} {
		sum, err := fleet.Fleet{Scheduler: test.odd}.Run(t.Context(), fleet.Campaign{ID: "c", Pipeline: edit()},
			fleet.Targets(targets...), nil)
		if err == nil || err.Error() != test.want || sum.Stopped != "internal" {
			t.Errorf("%s: %v, %+v", name, err, sum)
		}
		if name == "fails" && sum.Skipped != 5 {
			t.Errorf("%s: %+v", name, sum)
		}
	}
}

// A scheduler cancels its running targets when their outcomes are no longer accepted.
func TestLocalEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		trees, targets := plant(t, 9)
		var opened atomic.Int32
		open := opener(func(ctx context.Context, target fleet.Target) (fleet.Tree, error) {
			opened.Add(1)
			if target.Root == "tree-000" {
				return trees.Open(ctx, target)
			}
			<-ctx.Done()
			return fleet.Tree{}, context.Cause(ctx)
		})
		local := fleet.Local{Worker: fleet.Worker{Trees: open}, Parallel: 2}
		err := local.Schedule(t.Context(), fleet.Campaign{ID: "c", Pipeline: edit()}, fleet.Targets(targets...), func(fleet.Outcome) error { return os.ErrClosed })
		if err != os.ErrClosed || opened.Load() > 3 {
			t.Errorf("%v, %d trees were opened", err, opened.Load())
		}
	})
}
