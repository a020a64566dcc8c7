package told_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/suite"
)

// TestProgress: the line names the step and the phase of the commit, and is removed after each run.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w strings.Builder
		line := millrace.Progress(&w)
		shows := func(e millrace.Event, want string) {
			t.Helper()
			w.Reset()
			time.Sleep(time.Second)
			line.Observe(e)
			if want != "" && want != "\r\x1b[K" {
				want = "\r\x1b[?7l" + want + "\x1b[K\x1b[?7h"
			}
			if w.String() != want {
				t.Errorf("%#v: %q, want %q", e, w.String(), want)
			}
		}
		shows(millrace.RunStarted{}, "")
		shows(millrace.StepStarted{Step: "a", Action: "search"}, "step a: search")
		shows(millrace.StepProgress{Step: "a", Done: 3}, "step a: 3 files")
		shows(millrace.StepProgress{Step: "a", Done: 3, Total: 7}, "step a: 3 of 7 files")
		shows(millrace.StepFinished{Step: "a"}, "")
		shows(millrace.CommitPhase{Phase: "back up"}, "commit, back up")
		shows(millrace.CommitPhase{Phase: "apply", Done: 1, Total: 2}, "commit, apply: 1 of 2")
		shows(millrace.CommitPhase{Phase: "collect", Bytes: 33 << 20}, "commit, collect, 33 MiB")
		shows(millrace.RunFinished{}, "\r\x1b[K")
		shows(millrace.StepStarted{Step: "b\n", Action: "search"}, `step b\n: search`)
		line.Clear()
		line.Done()
		shows(millrace.StepStarted{Step: "c", Action: "search"}, "")
	})
	var none *millrace.ProgressLine
	none.Observe(millrace.StepStarted{})
	none.Clear()
	none.Done()
}

// TestProgressOfRun: the line can observe a run, and a short run shows nothing.
func TestProgressOfRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w strings.Builder
		x := millrace.Executor{Observe: millrace.Progress(&w).Observe}
		p, err := millrace.New("n").Step("a", actions.Create{Path: "b.txt", Content: "b"}).Build()
		fstest.Must(t, err)
		_, err = x.Run(t.Context(), suite.Tree(), p)
		fstest.Must(t, err)
		if w.String() != "" {
			t.Errorf("the line shows %q", w.String())
		}
	})
}
