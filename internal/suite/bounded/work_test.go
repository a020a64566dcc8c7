package bounded_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/budget"
)

// work is an action that costs something, takes time, writes a file and fails, as its fields demand.
type work struct {
	costs  []budget.Cost // cost of each attempt, the last one repeats; nil for an action that costs nothing
	takes  time.Duration
	deaf   bool   // ignores the end of its context
	file   string // the file to write; "" for an action that only reads
	text   string
	edits  int
	fails  int // the number of attempts that fail
	output string
	log    *log
}

// log records the ids of the steps that ran, an entry for each attempt.
type log struct {
	mu    sync.Mutex
	steps []string
}

func (l *log) add(step string) (before int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.steps {
		if s == step {
			before++
		}
	}
	l.steps = append(l.steps, step)
	return before
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.steps, " ")
}

func (w work) Spec() actions.Spec {
	return actions.Spec{Name: "work", Summary: "does some work", ReadOnly: w.file == "", Costs: w.costs != nil}
}

// Touches lets steps of different files run at the same time.
func (w work) Touches() (reads, writes []string, known bool) {
	if w.file != "" {
		writes = []string{w.file}
	}
	return nil, writes, true
}

var errFails = errors.New("it does not work")

func (w work) Run(ctx context.Context, c *actions.Call) (actions.Outcome, error) {
	before := w.log.add(c.Step)
	if len(w.costs) > 0 {
		c.Spend(w.costs[min(before, len(w.costs)-1)])
	}
	if w.takes > 0 {
		done := ctx.Done()
		if w.deaf {
			done = nil
		}
		select {
		case <-time.After(w.takes):
		case <-done:
			return actions.Outcome{}, ctx.Err()
		}
	}
	out := actions.Outcome{Edits: w.edits, Output: w.output}
	if w.file != "" {
		if err := afero.WriteFile(c.FS, w.file, []byte(w.text), 0o644); err != nil {
			return out, err
		}
		out.Files = []string{w.file}
	}
	if before < w.fails {
		return out, errFails
	}
	return out, nil
}

// ran returns the ids of the steps in a result that were executed.
func ran(res *millrace.Result) string {
	var ids []string
	for _, s := range res.Results {
		if !s.Skipped {
			ids = append(ids, s.StepID)
		}
	}
	return strings.Join(ids, " ")
}

// watched returns an executor that records the events of a kind.
func watched[E millrace.Event](x millrace.Executor) (millrace.Executor, *[]E) {
	var mu sync.Mutex
	events := new([]E)
	x.Observe = func(e millrace.Event) {
		mu.Lock()
		defer mu.Unlock()
		if e, ok := e.(E); ok {
			*events = append(*events, e)
		}
	}
	return x, events
}

// untouched fails the test if the tree has other files.
func untouched(t testing.TB, fsys afero.Fs, files ...string) {
	t.Helper()
	entries, err := afero.ReadDir(fsys, ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !slices.Contains(files, e.Name()) && e.Name() != millrace.DefaultStateDir {
			t.Errorf("the tree has %s", fmt.Sprintf("%q", e.Name()))
		}
	}
}
