package millracetest

import (
	"context"
	"encoding/json"
	"errors"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/txtarfs"
)

func asType[E error](err error) (E, bool) { return errors.AsType[E](err) }

// lasting is the part of a result that must be equal in each run of a case.
type lasting struct {
	Step    millrace.StepResult
	Changed millrace.FilesChanged
	Edits   int
}

func lastingOf(res *millrace.Result) lasting {
	var l lasting
	if res == nil {
		return l
	}
	for _, s := range res.Results {
		if s.StepID == "action" {
			l.Step = s
		}
	}
	l.Step.Duration = 0
	l.Step.Files = slices.Clone(l.Step.Files)
	for i := range l.Step.Files {
		l.Step.Files[i].LastModified = time.Time{} // each run has its own tree
	}
	l.Changed, l.Edits = res.FilesChanged, res.TotalEdits
	return l
}

// decoded runs the case with the pipeline that was decoded from JSON.
func (c *contract) decoded(t testing.TB, one Case, p millrace.Pipeline, first *millrace.Result, want string) {
	t.Helper()
	fsys := one.openTree(t)
	res, _ := millrace.Executor{Workers: 1}.Run(t.Context(), fsys, p)
	if diff := cmp.Diff(lastingOf(first), lastingOf(res)); diff != "" {
		t.Errorf("the action that was read from JSON has another result (-Go +JSON):\n%s", diff)
	}
	Equal(t, fsys, want)
}

// parallel runs the case with several goroutines.
func (c *contract) parallel(t testing.TB, one Case, first *millrace.Result, want string) {
	t.Helper()
	for _, o := range []millrace.Options{{}, {Parallel: true}} {
		p, err := c.pipeline(one, o)
		if err != nil {
			t.Errorf("parallel steps are refused: %v", err)
			return
		}
		fsys := one.openTree(t)
		res, _ := millrace.Executor{Workers: 8}.Run(t.Context(), fsys, p)
		if diff := cmp.Diff(lastingOf(first), lastingOf(res)); diff != "" {
			t.Errorf("with several goroutines (parallel: %t) the result is another (-one goroutine +several):\n%s",
				o.Parallel, diff)
		}
		Equal(t, fsys, want)
	}
}

// canceled calls the action with a context that has ended. The executor would not start such a step.
func (c *contract) canceled(t testing.TB, one Case, first *millrace.Result) {
	t.Helper()
	stage := fsutil.NewStage(one.openTree(t))
	call := actions.Call{FS: stage, Step: "action", Files: filesOf(one, first), Visit: 1, Attempt: 1}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	done := make(chan any, 1)
	go func() {
		defer func() {
			panicked := recover()
			stage.Close()
			done <- panicked
		}()
		_, _ = one.Action.Run(ctx, &call)
	}()
	timer := time.NewTimer(c.patience)
	defer timer.Stop()
	select {
	case panicked := <-done:
		if panicked != nil {
			t.Errorf("the action panics when its context has ended: %v", panicked)
		}
	case <-timer.C:
		t.Errorf("the action still runs %v after its context has ended", c.patience)
	}
}

// filesOf returns the files that the executor gave to the action.
func filesOf(one Case, res *millrace.Result) []string {
	if one.Input != nil && res != nil && len(res.Results) > 0 {
		return res.Results[0].FilesMatched
	}
	var params struct {
		Files []string `json:"files"`
	}
	// A template in place of a list has no files.
	data, err := json.Marshal(one.Action)
	if err != nil || json.Unmarshal(data, &params) != nil {
		return nil
	}
	return params.Files
}

// dryRun makes a plan, commits it, and compares both with the run.
func (c *contract) dryRun(t testing.TB, one Case, p millrace.Pipeline, run *millrace.Result, want string) {
	t.Helper()
	fsys := one.openTree(t)
	plan, err := millrace.Executor{}.Plan(t.Context(), fsys, p)
	if err != nil {
		t.Errorf("the run has no error, but the dry run has: %v", err)
		return
	}
	defer plan.Close()
	before, err := parseTree(txtarfs.Parse([]byte(one.Tree)).Files)
	if err != nil {
		t.Fatalf("millracetest: %v", err)
	}
	if diff := diffTree(t, fsys, before); diff != "" {
		t.Errorf("the dry run has written to the tree (-before +after):\n%s", diff)
		return
	}
	if diff := cmp.Diff(lastingOf(run), lastingOf(plan.Result())); diff != "" {
		t.Errorf("the dry run has another result (-run +dry run):\n%s", diff)
	}
	var names []string
	for _, change := range plan.Outline() {
		names = append(names, change.Path, change.From)
	}
	c.touches(t, one, plan.Result(), names)
	if _, err := plan.Commit(t.Context()); err != nil {
		t.Errorf("the commit of the dry run fails: %v", err)
		return
	}
	Equal(t, fsys, want)
}

// changedNames returns the files that a run has changed.
func changedNames(c millrace.FilesChanged) []string {
	names := slices.Concat(c.Created, c.Modified, c.Deleted)
	for _, r := range c.Renamed {
		names = append(names, r.From, r.To)
	}
	return names
}

// touches compares the names that a plan or a run has changed with the paths that Touches returns.
func (c *contract) touches(t testing.TB, one Case, res *millrace.Result, names []string) {
	t.Helper()
	toucher, ok := one.Action.(actions.Toucher)
	if !ok {
		return
	}
	_, writes, known := toucher.Touches()
	if !known {
		return
	}
	for _, s := range res.Results {
		if s.StepID == "input" {
			writes = append(slices.Clone(writes), s.FilesMatched...)
		}
	}
	allowed := func(name string) bool {
		return slices.ContainsFunc(writes, func(w string) bool {
			w = path.Clean(w)
			return w == "." || name == w || strings.HasPrefix(name, w+"/")
		})
	}
	for _, name := range names {
		if name != "" && !allowed(name) && !above(name, writes) {
			t.Errorf("the action has written %s, but Touches returns %q", name, writes)
		}
	}
}

// above reports whether a path is a parent directory of a written file.
func above(dir string, writes []string) bool {
	return slices.ContainsFunc(writes, func(w string) bool { return strings.HasPrefix(path.Clean(w), dir+"/") })
}

// rolledBack runs the case with a later step that fails.
func (c *contract) rolledBack(t testing.TB, one Case) {
	t.Helper()
	p, err := c.pipeline(one, millrace.Options{}, actions.Fail{Message: "a later step fails"})
	if err != nil {
		t.Errorf("millracetest: %v", err)
		return
	}
	fsys := one.openTree(t)
	if _, err := (millrace.Executor{}).Run(t.Context(), fsys, p); err == nil {
		t.Error("millracetest: a later step fails, but the run has no error")
	}
	Equal(t, fsys, one.Tree)
}
