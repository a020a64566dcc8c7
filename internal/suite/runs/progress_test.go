package runs_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/suite"
)

// TestProgress checks that the progress of a step only grows, ends with all files, and is reported within large files.
func TestProgress(t *testing.T) {
	t.Parallel()
	fsys := afero.NewMemMapFs()
	const files, size = 150, 100
	for i := range files {
		if err := afero.WriteFile(fsys, fmt.Sprintf("d/f%d", i), append(bytes.Repeat([]byte("a"), size-2), "x\n"...), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const large = 50 << 20
	if err := afero.WriteFile(fsys, "large", bytes.Repeat([]byte("0123456789abcde\n"), large/16), 0o644); err != nil {
		t.Fatal(err)
	}
	p := millrace.New("progress").
		Step("find", actions.Search{Path: "d", Pattern: "x"}).
		Step("count", actions.CountOccurrences{Pattern: "a"}).From("find").
		Step("list", actions.List{Path: "d"}).
		Step("large", actions.Search{Path: "large", Pattern: "nothing"}).
		MustBuild()
	said := map[string][]millrace.StepProgress{}
	finished := map[string]bool{}
	x := millrace.Executor{Workers: 4, Observe: func(e millrace.Event) {
		switch e := e.(type) {
		case millrace.StepProgress:
			said[e.Step] = append(said[e.Step], e)
			if finished[e.Step] {
				t.Errorf("progress of a step that is done: %+v", e)
			}
		case millrace.StepFinished:
			finished[e.Step] = true
		}
	}}
	if _, err := x.Run(t.Context(), fsys, p); err != nil {
		t.Fatal(err)
	}
	for step, want := range map[string]struct {
		events, total int // total is the total known before the end
		last          millrace.StepProgress
	}{
		// every 64 files
		"find":  {3, 0, millrace.StepProgress{Step: "find", Done: files, Total: files, Bytes: files * size}},
		"count": {files, files, millrace.StepProgress{Step: "count", Done: files, Total: files, Bytes: files * size}},
		"list":  {3, 0, millrace.StepProgress{Step: "list", Done: files, Total: files}},
		"large": {4, 0, millrace.StepProgress{Step: "large", Done: 1, Total: 1, Bytes: large}}, // every 16 MiB
	} {
		events := said[step]
		if len(events) != want.events {
			t.Errorf("%s: %d events, want %d: %+v", step, len(events), want.events, events)
			continue
		}
		if last := events[len(events)-1]; last != want.last {
			t.Errorf("%s ends with %+v, want %+v", step, last, want.last)
		}
		for i, e := range events[:len(events)-1] {
			if next := events[i+1]; e.Total != want.total || next.Done < e.Done || next.Bytes < e.Bytes {
				t.Errorf("%s: %+v is before %+v", step, e, next)
			}
		}
	}
}

// TestProgressOutOfOrder: an action of another program may report progress from several goroutines, and the slow report
// is late.
func TestProgressOutOfOrder(t *testing.T) {
	t.Parallel()
	p := millrace.New("late").Step("s", suite.Action{Do: func(_ context.Context, c *actions.Call) (actions.Outcome, error) {
		for _, done := range []int{1, 3, 2, 4} {
			c.OnProgress(done, 4)
		}
		c.OnBytes(5)
		return actions.Outcome{}, nil
	}}).MustBuild()
	var got []int
	x := millrace.Executor{Observe: func(e millrace.Event) {
		if e, ok := e.(millrace.StepProgress); ok {
			got = append(got, e.Done)
		}
	}}
	if _, err := x.Run(t.Context(), afero.NewMemMapFs(), p); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, []int{1, 3, 4}) {
		t.Errorf("progress %v", got)
	}
}
