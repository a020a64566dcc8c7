package millrace

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/definition"
	"github.com/millrace-go/millrace/internal/errorform"
	"github.com/millrace-go/millrace/internal/kinds"
	"github.com/millrace-go/millrace/internal/outcome"
	"github.com/millrace-go/millrace/internal/panics"
	"github.com/millrace-go/millrace/internal/params"
	"github.com/millrace-go/millrace/internal/stage"
	"github.com/millrace-go/millrace/internal/worded"
	"github.com/millrace-go/millrace/wording"
)

// call returns the argument of the action. After over is called, the call has no further effect: a goroutine that the
// action has left running must not change a reported result.
func (r *run) call(
	s definition.Step, view *stage.Stage, files []string, res *StepResult,
) (call *actions.Call, over func()) {
	limits := r.x.stepLimits(r.p)
	warnings := outcome.WarningsTo(&res.Warnings, limits.ShownBytes())
	progress := &stepProgress{notify: r.notify, now: StepProgress{Step: s.ID}}
	call = &actions.Call{
		FS: (*fsutil.Stage)(view), Step: s.ID, Files: files, Limits: limits, DryRun: r.x.DryRun,
		Force: r.p.Options.Force, FilesWanted: r.wanted(s.ID),
		EditsExpected: s.Expect.MinEdits != nil || s.Expect.MaxEdits != nil,
		Workers:       r.x.workers(),
		Logger:        r.log.With("step", s.ID),
		Commands:      r.x.Commands,
		OnWarning:     warnings.Add,
		Words:         r.x.Words,
	}
	if r.x.Observe != nil {
		call.OnProgress, call.OnBytes = progress.files, progress.bytes
	}
	if s.Input == definition.InputPrevious {
		if in, _ := r.previous(); in != nil {
			call.Inputs = append(call.Inputs, actions.Result{Step: in.result.StepID, Outcome: in.outcome})
		}
	}
	for _, ref := range s.Inputs() {
		if in := r.seen(ref); in != nil {
			if len(s.Inputs()) > 1 && !in.result.ran() {
				what := "failed"
				if in.result.Skipped {
					what = "was skipped"
				}
				call.Warnf("input step '%s' %s, so it gives nothing to this one", ref, what)
			}
			call.Inputs = append(call.Inputs, actions.Result{Step: ref, Outcome: in.outcome})
		}
	}
	return call, func() { warnings.End(); progress.end() }
}

// expect returns the step's expect, or the host's for a writing step without its own.
func (r *run) expect(s definition.Step) definition.Expect {
	if r.x.RequireMatches && s.Expect == (definition.Expect{}) && !s.Action.Spec().ReadOnly {
		one := 1
		return definition.Expect{MinFiles: &one}
	}
	return s.Expect
}

// filesOf returns the files for the step to work on: canonical, each once, in the given order. An invalid name stays
// unchanged.
func (r *run) filesOf(s definition.Step, action actions.Action) []string {
	var names []string
	if s.Input == definition.InputPrevious {
		if v, _ := r.previous(); v != nil {
			names = v.result.FilesMatched
		}
	} else if ins := s.Inputs(); len(ins) > 0 && action.Spec().Input != actions.InputNone {
		for _, ref := range ins {
			if in := r.result(ref); in != nil {
				names = append(names, in.FilesMatched...)
			}
		}
	} else {
		of, _ := params.Of(action) // the pipeline's check covers the error
		for _, param := range definition.FileParams(action.Spec()) {
			switch v, _ := of.Get(param); {
			case !v.IsValid():
			case v.Type() == reflect.TypeFor[[]string]():
				names = append(names, v.Interface().([]string)...)
			case v.Kind() == reflect.String && v.Len() > 0:
				names = append(names, v.String())
			case v.Type() == reflect.TypeFor[map[string]string]():
				names = append(names, slices.Sorted(maps.Keys(v.Interface().(map[string]string)))...)
			}
		}
	}
	files := make([]string, 0, len(names))
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		canonical, err := r.stage.Canonical(name)
		if err == nil && (strings.HasSuffix(name, "/") || strings.HasSuffix(name, "/.")) {
			// Stat also reports a bad link, and a file that is named as a directory; the canonical name hides that.
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

// wanted reports whether any step may use the files of the step with that id.
func (r *run) wanted(id string) bool {
	return slices.ContainsFunc(r.p.Steps, func(s definition.Step) bool {
		return s.Input == definition.InputPrevious || slices.Contains(s.Inputs(), id)
	})
}

// noFiles returns the reason why a step that works on files has none.
func noFiles(s definition.Step) error {
	part := wording.Part{Kind: kinds.NoFiles}
	switch ins := s.Inputs(); {
	case s.Input == definition.InputPrevious:
		part.Text = "the step that was executed before matched no files"
	case len(ins) == 0:
		part.Kind, part.Text = kinds.EmptyList, "the list of files is empty"
	case len(ins) == 1:
		part.Text = fmt.Sprintf("input step '%s' matched no files", ins[0])
	default:
		part.Text = "the input steps matched no files"
	}
	return worded.Errorf("%v", part)
}

// checkExpect returns an *ExpectError if a number is out of bounds.
func checkExpect(e definition.Expect, files, edits int) error {
	if e.MinFiles != nil && files < *e.MinFiles || e.MaxFiles != nil && files > *e.MaxFiles {
		return &ExpectError{What: "files", Got: files, Min: e.MinFiles, Max: e.MaxFiles}
	}
	if e.MinEdits != nil && edits < *e.MinEdits || e.MaxEdits != nil && edits > *e.MaxEdits {
		return &ExpectError{What: "edits", Got: edits, Min: e.MinEdits, Max: e.MaxEdits}
	}
	return nil
}

// retries returns the number of attempts that a visit of a step may have after the first, in this run.
func (r *run) retries(i int) int {
	if n := r.p.Steps[i].MaxRetries; n != nil {
		return *n
	}
	return r.specs[i].Retries
}

// inSequence reports whether the steps run one at a time. They do if the pipeline asks for that, if jumps depend on the
// run, or if each step needs the results of all steps before it. The numbers of changed files and bytes can shrink
// again, so their limits can only be checked after each step in sequence. The remaining money and attempts depend on
// the attempts before. A resumed run that began in parallel stays parallel, even if the host has set a budget since.
func (r *run) inSequence(up *takenUp) bool {
	limit := r.spent.limit
	switch {
	case !r.p.Options.Parallel || r.p.Jumps() || r.p.MaxAttempts > 0:
		return true
	case up.wasParallel():
		return false
	case limit.Files > 0 || limit.Bytes > 0:
		return true
	}
	attempts := 0
	for i := range r.p.Steps {
		attempts += 1 + r.retries(i)
	}
	return attempts > r.p.Len() && (!limit.IsZero() || attempts > definition.MaxAttempts)
}

// outwardBackoff is the default wait of a step that reaches out of the stage.
const outwardBackoff = time.Second

// backoff returns the wait before the second attempt of a step.
func (r *run) backoff(i int) time.Duration {
	s := r.p.Steps[i]
	if s.Backoff == 0 && definition.ReachesOut(s.Action) {
		return outwardBackoff
	}
	return s.Backoff
}

// retryable reports whether another attempt of the action may succeed after the error. An error with a method Retryable
// decides. A refusal by the host or the pipeline is final. Otherwise an action of package actions that only works on
// files does the same again, so only errors of the system are retried. For other actions an error may pass.
func retryable(action actions.Action, err error) bool {
	if said, ok := errors.AsType[interface {
		error
		Retryable() bool
	}](err); ok {
		return said.Retryable()
	}
	switch {
	case is[*InterpolationError](err), is[*actions.LimitError](err), is[*panics.Error](err),
		errors.Is(err, errGoexit):
		return false
	case is[*TimeoutError](err): // for any error of the action
		return true
	case isAny(err, fsutil.ErrDenied, fsutil.ErrNotAllowed, fsutil.ErrReadOnlyPath, fsutil.ErrEscape,
		fsutil.ErrNotPortable,
		ErrReadOnly, ErrNested, context.Canceled):
		return false
	case errors.Is(err, fsutil.ErrLocked), is[*ConflictError](err), !ofPackageActions(action):
		return true
	}
	return isAny(err, syscall.EIO, syscall.EAGAIN, syscall.EBUSY, syscall.EINTR, syscall.EMFILE, syscall.ENFILE,
		syscall.ETIMEDOUT, syscall.ESTALE)
}

// readable calls all methods of an error that a run will call, and returns the error. The methods belong to the action,
// so a panic in them, as for a nil pointer, is a panic of the action. A later panic would stop the program.
func readable(action actions.Action, err error) error {
	if err != nil {
		_, _, _ = err.Error(), stepCode(err), retryable(action, err)
	}
	return err
}

// ofPackageActions reports whether an action is part of millrace, and works only on files.
func ofPackageActions(action actions.Action) bool {
	if definition.ReachesOut(action) {
		return false
	}
	t := reflect.TypeOf(action)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.PkgPath() == reflect.TypeFor[actions.Search]().PkgPath()
}

// attemptOf returns the record of an attempt.
func attemptOf(err error, took time.Duration) Attempt {
	a := Attempt{Duration: took, Error: errorText(err), ErrorCode: stepCode(err)}
	if n := longestAttemptError; len(a.Error) > n {
		for range utf8.UTFMax - 1 {
			if !utf8.RuneStart(a.Error[n]) {
				n--
			}
		}
		a.Error = a.Error[:n]
	}
	return a
}

// RetriesError means that a retry_if of a step still holds after the last allowed backward jump. The changes that the
// step has staged in this visit are discarded.
type RetriesError struct {
	// Step is the id of the step that the jump leads to. Visits is the number of its visits.
	Step   string
	Visits int
	// Holds is the condition, or the keyword in quotes.
	Holds string
	// Err is the error of the step itself, nil if it had succeeded.
	Err error
}

// Error returns "retry_if: 'still failing' holds after 4 visits of 'auto-fix'", and then the step's own error.
func (e *RetriesError) Error() string {
	text := fmt.Sprintf("retry_if: %s holds after %d visits of '%s'", e.Holds, e.Visits, e.Step)
	if e.Err != nil {
		text += fmt.Sprintf(": %v", e.Err)
	}
	return text
}

// Unwrap returns the error of the step itself.
func (e *RetriesError) Unwrap() error { return e.Err }

// Code returns "retries_exhausted".
func (e *RetriesError) Code() string { return errorform.RetriesExhausted }

// TimeoutError means that an attempt has taken longer than the timeout of its step.
type TimeoutError struct {
	// After is the timeout.
	After time.Duration
	// Err is the error of the action, nil if it succeeded after that time.
	Err error
}

// Error names the time.
func (e *TimeoutError) Error() string { return fmt.Sprintf("not done after %v (timeout)", e.After) }

// Unwrap returns the error of the action.
func (e *TimeoutError) Unwrap() error { return e.Err }

// Code returns "timeout".
func (e *TimeoutError) Code() string { return errorform.Timeout }

// executionsError reports that a run has made as many attempts as it may, see [Pipeline.MaxAttempts]. All that was
// staged is discarded.
type executionsError struct {
	// Step is the id of the next step to run.
	Step string
	// Limit is the number of attempts.
	Limit int
}

// Error names the number and the step.
func (e *executionsError) Error() string {
	return fmt.Sprintf("the run has made all its %d attempts before step '%s'", e.Limit, e.Step)
}

// Code returns "too_many_executions".
func (e *executionsError) Code() string { return errorform.TooManyExecutions }
