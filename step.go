package millrace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/millrace-go/millrace/risk"
	"github.com/millrace-go/millrace/template"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/panics"
	"github.com/millrace-go/millrace/internal/params"
	"github.com/millrace-go/millrace/internal/stage"
)

var errGoexit = errors.New("the action has ended its goroutine")

// runStep runs one step, or skips it, and records its result.
func (r *run) runStep(ctx context.Context, i int) {
	s := r.p.steps[i]
	spec := s.Action.Spec()
	res := StepResult{StepID: s.ID, Action: spec.Name}
	start := time.Now()
	r.notify(StepStarted{Step: s.ID, Index: i, Action: spec.Name})
	ended := false
	defer func() {
		if !ended { // as t.FailNow does in a test
			r.finish(i, res, errGoexit)
		}
	}()

	// What goes wrong outside of the action's Run must not take the program down either.
	err := panics.Protect(func() error {
		reason, err := r.skipReason(i)
		if err != nil || reason != "" {
			res.Skipped, res.SkipReason = reason != "", reason
			return err
		}
		return r.perform(ctx, i, spec, &res)
	})
	res.Duration = time.Since(start)
	ended = true
	r.finish(i, res, err)
}

// finish records the result of a step, logs it and tells the observer.
func (r *run) finish(i int, res StepResult, err error) {
	s := r.p.steps[i]
	if err != nil {
		res.Error = stepMessage(res.Action, err)
		res.Handled = r.handled[s.ID]
	}
	res.Success = err == nil
	r.mu.Lock()
	r.results[i], r.errs[i] = &res, err
	if err != nil && !res.Handled && !r.p.options.ContinueOnError {
		r.stopAt = min(r.stopAt, i)
	}
	r.mu.Unlock()
	if err != nil {
		var p *actions.PanicError
		if errors.As(err, &p) {
			r.log.Error("action panicked", "step", s.ID, "panic", p.Value, "stack", string(p.Stack))
		}
		r.log.Info("step failed", "step", s.ID, "error", err)
	} else {
		r.log.Debug("step finished", "step", s.ID, "skipped", res.Skipped, "files", len(res.FilesMatched), "edits", res.EditsApplied)
	}
	r.notify(StepFinished{Step: s.ID, Index: i, Result: res, Duration: res.Duration})
}

// skipReason says why the step is not to run, or "". A step whose only input was skipped or has failed has nothing to
// work on, unless its own condition is about that very step.
func (r *run) skipReason(i int) (string, error) {
	s := r.p.steps[i]
	if !s.When.IsZero() {
		when, err := r.expandCondition(i)
		if err != nil {
			return "", err
		}
		holds, reason, err := when.Holds(facts{r})
		if err != nil {
			return "", err
		}
		if !holds {
			return reason, nil
		}
	}
	if s.Action.Spec().Input == actions.InputNone {
		return "", nil // its inputs only say what it runs after
	}
	first := ""
	for _, ref := range s.inputs() {
		in := r.result(ref)
		switch {
		case s.When.StepRef() == ref, in != nil && in.ran():
			return "", nil
		case first != "":
		case in != nil && in.Skipped:
			first = fmt.Sprintf("input step '%s' was skipped", ref)
		default:
			first = fmt.Sprintf("input step '%s' failed", ref)
		}
	}
	return first, nil
}

// perform runs the action of a step from savepoint to result.
func (r *run) perform(ctx context.Context, i int, spec actions.Spec, res *StepResult) error {
	s := r.p.steps[i]
	action, kept, err := r.expand(i)
	if err != nil {
		return err
	}
	view := r.stage.For(s.ID, spec.ReadOnly)
	files := r.filesOf(s, action)
	if spec.Input == actions.InputFiles && len(files) == 0 {
		res.Warnings = append(res.Warnings, noFiles(s))
		if !spec.ReadOnly {
			res.RiskLevel = r.x.Risk.Assess(0, 0)
		}
		return r.expect(s).check(0, 0)
	}

	call := r.call(s, view, files, res)
	call.Kept = kept
	savepoint, succeeded := r.stage.Savepoint(), false
	defer func() { // also where the action ends its goroutine
		if !succeeded && !spec.ReadOnly {
			r.stage.Rollback(savepoint)
		}
	}()
	var out actions.Outcome
	err = panics.Protect(func() (err error) {
		out, err = action.Run(ctx, call)
		return err
	})
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		// An action's own idea of which files it has matched is what the guard counts for those that only read.
		err = r.expect(s).check(len(out.Files), out.Edits)
		if expect, ok := errors.AsType[*ExpectError](err); ok {
			expect.Notes = res.Warnings // such as the lines that come nearest to what was looked for
		}
	}
	if err != nil {
		res.report(out.Reports) // what is wrong with which file
		return err
	}
	succeeded = true
	res.take(&out)
	r.outcomes[i] = out
	if !spec.ReadOnly {
		changed := r.stage.ChangedSince(savepoint)
		r.staged[i] = len(changed) > 0
		res.RiskLevel = r.x.Risk.Assess(len(changed), out.Edits)
		for _, path := range changed {
			r.notify(FileStaged{Step: s.ID, Path: path})
		}
	}
	return nil
}

func noFiles(s Step) string {
	switch ins := s.inputs(); len(ins) {
	case 0:
		return "the list of files is empty"
	case 1:
		return fmt.Sprintf("input step '%s' matched no files", ins[0])
	default:
		return "the input steps matched no files"
	}
}

// call makes what the action is given. What it warns of is kept in the order of the text, for several goroutines may
// warn in any order.
func (r *run) call(s Step, view *stage.Stage, files []string, res *StepResult) *actions.Call {
	var mu sync.Mutex
	call := &actions.Call{
		FS: (*fsutil.Stage)(view), Step: s.ID, Files: files, Limits: r.x.stepLimits(r.p), DryRun: r.x.DryRun, FilesWanted: r.wanted(s.ID),
		EditsExpected: s.Expect.MinEdits != nil || s.Expect.MaxEdits != nil,
		Workers:       r.x.workers(),
		Logger:        r.log.With("step", s.ID),
		OnWarning: func(message string) {
			mu.Lock()
			defer mu.Unlock()
			at, _ := slices.BinarySearch(res.Warnings, message)
			res.Warnings = slices.Insert(res.Warnings, at, message)
		},
	}
	if r.x.Observe != nil {
		p := &stepProgress{notify: r.notify, now: StepProgress{Step: s.ID}}
		call.OnProgress, call.OnBytes = p.files, p.bytes
	}
	for _, ref := range s.inputs() {
		if in := r.result(ref); in != nil {
			if len(s.inputs()) > 1 && !in.ran() {
				call.Warnf("input step '%s' %s, so it gives nothing to this one", ref, map[bool]string{true: "was skipped", false: "failed"}[in.Skipped])
			}
			call.Inputs = append(call.Inputs, actions.Result{Step: ref, Outcome: r.outcomes[r.p.index[ref]]})
		}
	}
	return call
}

// wanted reports whether a step takes the files of the one with that id.
func (r *run) wanted(id string) bool {
	return slices.ContainsFunc(r.p.steps, func(s Step) bool { return slices.Contains(s.inputs(), id) })
}

// filesOf returns the files that the step works on: canonical, each once, in the order they were given. A name that
// is no good stays as it is.
func (r *run) filesOf(s Step, action actions.Action) []string {
	var names []string
	if ins := s.inputs(); len(ins) > 0 && action.Spec().Input != actions.InputNone {
		for _, ref := range ins {
			if in := r.result(ref); in != nil {
				names = append(names, in.FilesMatched...)
			}
		}
	} else {
		for _, param := range fileParams(action.Spec()) {
			switch v, _ := params.Get(action, param); {
			case !v.IsValid():
			case v.Type() == reflect.TypeFor[[]string]():
				names = append(names, v.Interface().([]string)...)
			case v.Kind() == reflect.String && v.Len() > 0:
				names = append(names, v.String())
			}
		}
	}
	files := make([]string, 0, len(names))
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		canonical, err := r.stage.Canonical(name)
		if err == nil && (strings.HasSuffix(name, "/") || strings.HasSuffix(name, "/.")) {
			// It asks for what a link leads to, and for a directory, which the canonical name does not tell any more.
			if _, err = r.stage.Stat(name); err == nil {
				canonical, err = r.stage.Resolve(name)
			}
		}
		if err != nil {
			canonical = name // the action meets the error at this file, and can say what becomes of the others
		}
		if !seen[canonical] {
			seen[canonical] = true
			files = append(files, canonical)
		}
	}
	return files
}

// take shows an outcome in the result, once its lists are sorted.
func (s *StepResult) take(out *actions.Outcome) {
	slices.Sort(out.Files)
	out.Files = slices.Compact(out.Files)
	s.FilesMatched = out.Files
	s.Content, s.AggregatedContent = out.Content, out.Aggregated
	s.EditsApplied, s.Counts, s.Renames = out.Edits, out.Counts, out.Renames
	s.report(out.Reports)
	s.FilesModified, s.FilesSkipped, s.Mode = out.FilesModified, out.FilesSkipped, out.Mode
}

// report takes what is said of single files, in path order.
func (s *StepResult) report(files []actions.FileReport) {
	slices.SortStableFunc(files, func(a, b actions.FileReport) int { return strings.Compare(a.Path, b.Path) })
	s.Files = files
}

// expect is what the step expects, or what the host does of a step that writes and does not say.
func (r *run) expect(s Step) Expect {
	if r.x.RequireMatches && s.Expect == (Expect{}) && !s.Action.Spec().ReadOnly {
		one := 1
		return Expect{MinFiles: &one}
	}
	return s.Expect
}

// facts shows a run to a condition.
type facts struct{ r *run }

// Step implements [condition.Facts].
func (f facts) Step(id string) (condition.StepFacts, bool) {
	if _, ok := f.r.p.index[id]; !ok {
		return condition.StepFacts{}, false
	}
	return f.r.result(id).facts(), true
}

// Exists implements [condition.Facts]: on the stage as it is now, inside the allowed paths only.
func (f facts) Exists(path string) (bool, error) {
	switch _, err := f.r.stage.Stat(path); {
	case err == nil:
		return true, nil
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fsutil.ErrNotDir):
		return false, nil
	default:
		return false, err
	}
}

// field is what a template takes of the step. ok is false if there is no such field.
func (s *StepResult) field(name string) (v any, ok bool) {
	switch name {
	case template.FieldCount:
		return s.count(), true
	case template.FieldEdits:
		return s.EditsApplied, true
	case template.FieldFilesCount:
		return len(s.FilesMatched), true
	case template.FieldFiles:
		return s.FilesMatched, true
	case template.FieldAggregated:
		return s.AggregatedContent, true
	case template.FieldRisk:
		return max(s.RiskLevel, risk.Low).String(), true
	default:
		return nil, false
	}
}

// facts is what a condition asks of the step, nil for one that has not run.
func (s *StepResult) facts() condition.StepFacts {
	if s == nil {
		return condition.StepFacts{}
	}
	return condition.StepFacts{
		Ran: !s.Skipped, Succeeded: s.ran(), Failed: s.Failed(), Skipped: s.Skipped, Files: len(s.FilesMatched), Count: s.count(),
	}
}
