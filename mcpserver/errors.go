package mcpserver

import (
	"errors"
	"fmt"
	"strings"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/backup"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/runs"
)

// nextError is an error that knows better than its code what the model should do. code is another code, "" for that of err.
type nextError struct {
	err  error
	next string
	code string
}

func (e *nextError) Error() string { return e.err.Error() }
func (e *nextError) Unwrap() error { return e.err }

// planError says that there is no such plan, or not the one that was meant.
func planError(next, format string, args ...any) error {
	return &nextError{err: &millrace.PlanError{Err: fmt.Errorf(format, args...)}, next: next}
}

// failure is the answer to a call that has failed, within limit bytes. What there is of an answer already stands before the
// error. What to do next is never cut.
func failure(a *answer, err error, limit int) *answer {
	var b strings.Builder
	if a != nil {
		for _, text := range a.texts {
			b.WriteString(text + "\n")
		}
	}
	code := codeOf(err)
	var invalid *millrace.ValidationError
	if errors.As(err, &invalid) {
		problems(&b, code, invalid.Problems)
	} else {
		fmt.Fprintf(&b, "%s: %s\n", code, visible(err.Error()))
	}
	last := "next: " + next(err, code)
	body := cut(strings.TrimSuffix(b.String(), "\n"), limit-len(last)-1)
	// Some clients show the model the data alone, if there are some, so an error has none.
	return &answer{texts: []string{body + "\n" + last}, failed: true}
}

// codeOf is the code of an error, which its first line begins with.
func codeOf(err error) string {
	var n *nextError
	if errors.As(err, &n) && n.code != "" {
		return n.code
	}
	var state *runs.StateError
	var file *actions.FileError
	code := millrace.ErrorCode(err)
	switch {
	case code != codeInternal:
	case errors.Is(err, runs.ErrNotFound), errors.Is(err, backup.ErrNotFound):
		return "not_found"
	case errors.As(err, &state):
		return "wrong_state"
	case errors.Is(err, runs.ErrBusy):
		return "locked"
	case errors.As(err, &file):
		return "step_failed"
	}
	return code
}

// codeInternal is the code of what is not a mistake of the caller.
const codeInternal = "internal"

// mistaken is an error of arguments that only the call itself could find, unless it has a code of its own.
func mistaken(err error, next string) error {
	code := codeOf(err)
	if code == codeInternal {
		code = "invalid_arguments"
	}
	return &nextError{err: err, code: code, next: next}
}

// problems writes one line for each problem, so that all of them can be mended at once.
func problems(b *strings.Builder, code string, list []millrace.Problem) {
	plural := "s"
	if len(list) == 1 {
		plural = ""
	}
	fmt.Fprintf(b, "%s: %d problem%s\n", code, len(list), plural)
	for _, p := range list {
		pointer := p.Pointer
		if pointer == "" {
			pointer = "/"
		}
		fmt.Fprintf(b, "%s: %s", visible(pointer), visible(p.Message))
		if p.Hint != "" {
			fmt.Fprintf(b, " (%s)", visible(p.Hint))
		}
		b.WriteByte('\n')
	}
}

// next is what to do about an error.
func next(err error, code string) string {
	var n *nextError
	if errors.As(err, &n) {
		return n.next
	}
	var blocked *millrace.BlockedError
	switch {
	case errors.As(err, &blocked) && blocked.Host:
		return "ask the user: this limit is the host's, and no call can lift it"
	case errors.As(err, &blocked):
		return "a person can run millrace apply, or restart the server with --allow-force; or plan a smaller change"
	}
	switch code {
	case "invalid_pipeline":
		return "correct all of this and send the call again; describe_actions lists the actions and their parameters"
	case "invalid_plan", "conflict", "drift", "incomplete_plan":
		return "call plan_pipeline again and look at what it shows"
	case "step_failed", "expect_failed", "INTERPOLATION_FAILED":
		return "read the file again with fs_read, correct the step and send the call again"
	case "read_only":
		return "ask the user: this server only reads; plan_pipeline shows what a change would be"
	case "limit", "budget_exceeded", "too_many_executions", "retries_exhausted":
		return "narrow the step to fewer files or less text, and send the call again"
	case "locked", "bulkhead_saturated", "timeout", "deadline_exceeded":
		return "send the call again in a moment"
	case "not_found":
		return "list what there is with history or browse_pipelines, and send the call again with one of these"
	case "wrong_state":
		return "look at it with browse_pipelines: its status does not allow this"
	case "canceled":
		return "nothing: the call was canceled; history tells whether it was applied before that"
	case "recovery_needed":
		return "ask the user to run millrace recover"
	}
	return "ask the user"
}

// visible is a text whose lines do nothing but being shown.
func visible(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = fsutil.Visible(line)
	}
	return strings.Join(lines, "\n")
}
