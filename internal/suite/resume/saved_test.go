package resume_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/suite"
)

// A failed run resumes with the failed step, and repeats no finished step.
func TestFailedGoesOn(t *testing.T) {
	t.Parallel()
	done, works := 0, false
	p := millrace.New("p").
		Step("once", suite.Action{Do: func(_ context.Context, c *actions.Call) (actions.Outcome, error) {
			done++
			return actions.Outcome{Output: "done"}, afero.WriteFile(c.FS, "once", []byte("once\n"), 0o644)
		}}).
		Step("fails", suite.Action{Do: func(context.Context, *actions.Call) (actions.Outcome, error) {
			if !works {
				return actions.Outcome{}, errors.New("the service is down")
			}
			return actions.Outcome{}, nil
		}}).MustBuild()
	fsys, s := suite.Tree("a", "x"), new(store)
	x := millrace.Executor{Checkpoints: s}
	for range 2 {
		if _, err := x.Resume(t.Context(), fsys, p, s.saved()); !suite.Is[*millrace.StepError](err) || done != 1 {
			t.Fatalf("%v, %d times", err, done)
		}
	}
	works = true
	res, err := x.Resume(t.Context(), fsys, p, s.saved())
	if err != nil || done != 1 || res.Results[0].Output != "done" || suite.Read(t, fsys, "once") != "once\n" {
		t.Errorf("%v, %d times, %+v", err, done, res)
	}
}

// Only the time in which a process works on a run counts for its deadline.
func TestDeadlineStandsStill(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sleeps := func(d time.Duration) actions.Action {
			return suite.Action{Do: func(context.Context, *actions.Call) (actions.Outcome, error) {
				time.Sleep(d)
				return actions.Outcome{}, nil
			}}
		}
		for last, want := range map[time.Duration]string{3 * time.Second: "", 5 * time.Second: "deadline_exceeded"} {
			p := millrace.New("p").Deadline(10*time.Second).Step("a", sleeps(6*time.Second)).Step("b", sleeps(last)).Manual().MustBuild()
			fsys, s := suite.Tree("a", "x"), new(store)
			x := millrace.Executor{Checkpoints: s}
			res, err := x.Run(t.Context(), fsys, p)
			held(t, res, err)
			time.Sleep(time.Hour)
			res, err = x.Resume(t.Context(), fsys, p, s.saved())
			if millrace.ErrorCode(err) != want || *res.DeadlineMet != (want == "") {
				t.Errorf("%v: %v", last, err)
			}
			if err == nil && res.TotalDuration != 9*time.Second {
				t.Errorf("it took %v", res.TotalDuration)
			}
		}
	})
}

// A pipeline that only reads has checkpoints as well.
func TestReaderIsResumed(t *testing.T) {
	t.Parallel()
	for _, parallel := range []bool{false, true} {
		p := millrace.New("p").Options(millrace.Options{Parallel: parallel}).
			Step("find", actions.Search{Pattern: "x"}).
			Step("show", actions.ReadRanges{}).From("find").Manual().MustBuild()
		fsys, s := suite.Tree("a", "x\n", "b", "x\n"), new(store)
		x := millrace.Executor{Checkpoints: s, ReadOnly: true}
		res, err := x.Run(t.Context(), fsys, p)
		held(t, res, err)
		res, err = x.Resume(t.Context(), fsys, p, s.saved())
		if err != nil || len(res.Results) != 2 || len(res.Results[1].FilesMatched) != 2 {
			t.Errorf("%v, %+v", err, res)
		}
		if entered := len(s.entered); entered != 2 {
			t.Errorf("%d were entered, without a commit", entered)
		}
	}
}

// Checkpoints of another pipeline, or damaged checkpoints, are refused before anything is done.
func TestUnfit(t *testing.T) {
	t.Parallel()
	p := review().MustBuild()
	fsys, s := suite.Tree("a", "x\n", "b", "x\n"), new(store)
	x := millrace.Executor{Checkpoints: s}
	res, err := x.Run(t.Context(), fsys, p)
	held(t, res, err)
	good := s.list(t)
	other := millrace.New("other").Step("first", actions.Create{Path: "c", Content: ""}).Step("renamed", actions.Create{Path: "d", Content: ""}).MustBuild()
	changed := func(i int, f func(*millrace.Checkpoint)) []millrace.Checkpoint {
		list := slices.Clone(good)
		f(&list[i])
		return list
	}
	for name, c := range map[string]struct {
		p    millrace.Pipeline
		list []millrace.Checkpoint
		text string
	}{
		"another pipeline": {other, good, "checkpoint 2: the pipeline has no step 'deploy' at 1"},
		"no step":          {p, changed(0, func(c *millrace.Checkpoint) { c.Index = 7 }), "checkpoint 1: the pipeline has no step 'first' at 7"},
		"no state":         {p, changed(0, func(c *millrace.Checkpoint) { c.State = nil }), "checkpoint 1: its state: "},
		"another state":    {p, changed(0, func(c *millrace.Checkpoint) { c.State = []byte(`{"flow":{"step":2,"outcomes":"+"}}`) }), "checkpoint 1: state: "},
		"another visit":    {p, changed(0, func(c *millrace.Checkpoint) { c.Visit = 2 }), "checkpoint 1 is none of its visits"},
		"depth": {p, changed(0, func(c *millrace.Checkpoint) {
			c.State = []byte(strings.Replace(string(c.State), `{`, `{"depth":9,`, 1))
		}), "checkpoint 1 is none of its visits"},
		"a later parent": {p, changed(0, func(c *millrace.Checkpoint) { c.Parent = 1 }), "checkpoint 1: it follows none before"},
		"before itself": {p, changed(0, func(c *millrace.Checkpoint) {
			c.State = []byte(strings.Replace(string(c.State), `{`, `{"before":1,`, 1))
		}), "checkpoint 1: it follows none before"},
		"no delta": {p, changed(0, func(c *millrace.Checkpoint) { c.Delta = nil }), "the run cannot be resumed: delta 0"},
	} {
		saved := millrace.Saved{Checkpoints: func(yield func(millrace.Checkpoint, error) bool) {
			for _, c := range c.list {
				if !yield(c, nil) {
					return
				}
			}
		}}
		before := len(s.entered)
		res, err := x.Resume(t.Context(), fsys, c.p, saved)
		if err == nil || res != nil || !strings.Contains(err.Error(), c.text) || !strings.HasPrefix(err.Error(), "the run cannot be resumed: ") {
			t.Errorf("%s: %v, %+v, want %q", name, err, res, c.text)
		}
		if len(s.entered) != before {
			t.Errorf("%s: steps were done", name)
		}
	}
	broken := errors.New("the file cannot be read")
	_, err = x.Resume(t.Context(), fsys, p, millrace.Saved{Checkpoints: func(yield func(millrace.Checkpoint, error) bool) { yield(millrace.Checkpoint{}, broken) }})
	if !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	if _, err := (millrace.Executor{}).Resume(t.Context(), fsys, suite.Edit("a"), s.saved()); !suite.Is[*millrace.ExecutorError](err) {
		t.Errorf("%v", err)
	}
}

// A Checkpointer that panics ends the run with an error, and no step can handle that error.
func TestPanics(t *testing.T) {
	t.Parallel()
	for _, parallel := range []bool{false, true} {
		p := millrace.New("p").Options(millrace.Options{Parallel: parallel, ContinueOnError: true}).
			Step("a", actions.Edit{Files: []string{"a"}, OldText: "x", NewText: "y"}).Step("b", actions.Edit{Files: []string{"b"}, OldText: "x", NewText: "y"}).MustBuild()
		for kill := 1; kill <= 5; kill++ {
			fsys, s := suite.Tree("a", "x\n", "b", "x\n"), new(store)
			s.each = func() {
				if s.calls++; s.calls == 2*kill-1 { // dies counts this call too
					panic("the disk is on fire")
				}
			}
			res, err := millrace.Executor{Checkpoints: s}.Run(t.Context(), fsys, p)
			if err == nil || !strings.Contains(err.Error(), "the disk is on fire") || suite.Is[*millrace.StepError](err) || res == nil || res.Success {
				t.Errorf("call %d: %v", kill, err)
			}
			if got := suite.Read(t, fsys, "a"); got != "x\n" {
				t.Errorf("call %d: the run has written %q", kill, got)
			}
		}
	}
}

// The steps of a run share the directory that the host names, and the directory stays.
func TestShared(t *testing.T) {
	t.Parallel()
	dir, fsys := suite.Rooted(t, "a", "x\n")
	outside := filepath.Join(t.TempDir(), "of", "run")
	p := millrace.New("p").Step("where", telling{Text: "{{run.shared}}"}).MustBuild()
	for range 2 {
		res, err := millrace.Executor{Shared: outside}.Run(t.Context(), fsys, p)
		if err != nil {
			t.Fatal(err)
		}
		real, err := filepath.EvalSymlinks(outside)
		if err != nil || res.Results[0].Output != real {
			t.Errorf("the directory is %q, want %q (%v)", res.Results[0].Output, real, err)
		}
		if err := os.WriteFile(filepath.Join(outside, "kept"), nil, 0o600); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range []string{"relative", dir, filepath.Join(dir, "in"), filepath.Dir(dir)} {
		if _, err := (millrace.Executor{Shared: bad}).Run(t.Context(), fsys, p); !suite.Is[*millrace.ExecutorError](err) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "in")); err == nil {
		t.Error("the directory was made in the tree")
	}
}

// On a system directory, with moved directories, copies and whole files, a run that is killed at any call and resumed
// has the result of a run that is not killed.
func TestKilledOnDisk(t *testing.T) {
	t.Parallel()
	p := millrace.New("p").
		Step("find", actions.Search{Pattern: "x"}).
		Step("edit", actions.Edit{OldText: "x", NewText: "y"}).From("find").
		Step("copy", actions.Copy{Files: []string{"d/a"}, To: "e/f/a"}).
		Step("move", actions.Rename{Files: []string{"d/b"}, To: "b"}).
		Step("drop", actions.Delete{Files: []string{"d/c"}}).
		Step("make", actions.Create{Path: "d/c/now/a/dir", Content: strings.Repeat("z\n", 100)}).
		Step("more", actions.Edit{Files: []string{"e/f/a", "b", "d/c/now/a/dir"}, OldText: "z", NewText: "yy"}).MustBuild()
	files := []string{"d/a", "x z\n", "d/b", "x\n z\n", "d/c", "x\n", "other", "o\n"}
	_, fsys := suite.Rooted(t, files...)
	s := new(store)
	res, err := millrace.Executor{Checkpoints: s, State: millrace.State{NoSync: true}}.Run(t.Context(), fsys, p)
	want := told(res, err) + treeOf(t, fsys)
	if err != nil {
		t.Fatal(err)
	}
	for kill := 1; kill <= s.calls; kill++ {
		for _, late := range []bool{false, true} {
			_, fsys := suite.Rooted(t, files...)
			res, err := killed(t, millrace.Executor{State: millrace.State{NoSync: true}}, fsys, p, new(store), []int{kill, 2}, late)
			if got := told(res, err) + treeOf(t, fsys); got != want {
				t.Fatalf("killed at %d, late %v: %s\nwant %s", kill, late, got, want)
			}
		}
	}
}

// No byte of the results of steps is lost in checkpoints, whether or not it is valid text.
func TestBytesAreKept(t *testing.T) {
	t.Parallel()
	const odd = "caf\xe9 \xff\uFDD0ff"
	p := millrace.New("p").
		Step("say", suite.Action{Do: func(context.Context, *actions.Call) (actions.Outcome, error) {
			return actions.Outcome{
				Files: []string{odd}, Content: map[string]string{odd: odd}, Aggregated: odd, Counts: map[string]int{odd: 1},
				Renames: map[string]string{odd: odd}, Mode: odd, Reports: []actions.FileReport{{Path: odd, Error: odd}},
			}, nil
		}}).
		Step("wait", actions.Create{Path: "made", Content: "m"}).Manual().
		Step("edit", actions.Edit{OldText: "x", NewText: "y"}).From("say").MustBuild()
	_, fsys := suite.Rooted(t, odd, "x\n")
	s := new(store)
	x := millrace.Executor{Checkpoints: s, State: millrace.State{NoSync: true}}
	res, err := x.Run(t.Context(), fsys, p)
	held(t, res, err)
	before := res.Results[0]
	if res, err = x.Resume(t.Context(), fsys, p, s.saved()); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(before, res.Results[0], cmpopts.IgnoreFields(millrace.StepResult{}, "Duration")); d != "" {
		t.Errorf("(-was +is):\n%s", d)
	}
	if got := suite.Read(t, fsys, odd); got != "y\n" {
		t.Errorf("the tree has %q", got)
	}
}

// telling outputs its expanded text.
type telling struct {
	Text string `json:"text"`
}

// Spec describes the action.
func (telling) Spec() actions.Spec {
	return actions.Spec{Name: "telling", Summary: "says a text", ReadOnly: true, Context: true}
}

// Run returns the text as output.
func (a telling) Run(context.Context, *actions.Call) (actions.Outcome, error) {
	return actions.Outcome{Output: a.Text}, nil
}
