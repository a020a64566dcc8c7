package mcpserver

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/backup"
	"github.com/millrace-go/millrace/runs"
)

// nextError is an error with better advice for the model than its code would give, unless next is "". A code other than
// "" replaces the code of err.
type nextError struct {
	err  error
	next string
	code string
}

func (e *nextError) Error() string { return e.err.Error() }
func (e *nextError) Unwrap() error { return e.err }

// planError reports that the plan does not exist, or is not the intended plan.
func planError(next, format string, args ...any) error {
	return &nextError{err: &millrace.PlanError{Err: fmt.Errorf(format, args...)}, next: next}
}

// failure returns the answer to a call that has failed, each part within limit bytes. The part of the answer that
// exists comes before the error. The advice is never cut.
func (c *call) failure(a *answer, err error) *answer {
	limit := c.cfg.MaxResult
	failed := &answer{failed: true, data: map[string]any{}}
	if a != nil {
		failed.texts, failed.links = a.texts, a.links
		maps.Copy(failed.data, a.data)
	}
	var b strings.Builder
	told := errorData{Code: c.codeOf(err), Message: visible(err.Error()), Path: visible(pathOf(err))}
	told.Next = next(err, told.Code)
	if told.Next == personForces && c.cfg.AllowForce {
		told.Next = "send it as a pipeline with force, or make a smaller change"
	}
	if invalid, ok := errors.AsType[*millrace.ValidationError](err); ok {
		told.Problems = shownProblems(invalid.Problems)
		problems(&b, told.Code, invalid.Problems)
		told.Message = strings.TrimSpace(strings.TrimPrefix(b.String(), told.Code+": "))
	} else {
		fmt.Fprintf(&b, "%s: %s\n", told.Code, told.Message)
	}
	last := "next: " + told.Next
	body := cut(strings.TrimSuffix(b.String(), "\n"), limit-len(last)-1)
	failed.texts = append(failed.texts, body+"\n"+last)
	told.Message = cut(told.Message, limit/4)
	failed.data["success"], failed.data["error"] = false, told
	if failed.data["summary"] == nil {
		first, _, _ := strings.Cut(body, "\n")
		failed.data["summary"] = first
	}
	return failed
}

// personForces is the advice for a change that needs force.
const personForces = "a person can run millrace apply, or restart the server with --allow-force; " +
	"or plan a smaller change"

// correctPipeline is the advice for mistakes in a pipeline.
const correctPipeline = "correct all of this and send the call again; " +
	"describe_actions lists the actions and their parameters"

// takesPipeline reports whether the arguments of a tool contain a pipeline.
func takesPipeline(tool string) bool {
	return slices.Contains([]string{"batch_operations", "plan_pipeline", "pipeline", "mcp_pipeline",
		runs.CommandManage},
		tool)
}

// codeOf returns the code of an error of this call. Mistakes outside a pipeline are mistakes in the arguments.
func (c *call) codeOf(err error) string {
	code := codeOf(err)
	if code != "invalid_pipeline" {
		return code
	}
	args, ok := errors.AsType[*runs.ArgsError](err)
	if !takesPipeline(c.tool.name) || ok && slices.ContainsFunc(args.Problems, outsideOfPipeline) {
		return codeArguments
	}
	return code
}

// outsideOfPipeline reports whether a problem with the arguments of a command is outside the pipeline of the call.
func outsideOfPipeline(p millrace.Problem) bool { return !strings.HasPrefix(p.Pointer, "/definition") }

// errorData is an error in the data of an answer.
type errorData struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	// Path is the file that caused the error, "" without a file or with several.
	Path     string             `json:"path,omitempty"`
	Problems []millrace.Problem `json:"problems,omitempty"`
	Next     string             `json:"next"`
}

// shownProblems returns problems with texts that are safe to display.
func shownProblems(list []millrace.Problem) []millrace.Problem {
	list = slices.Clone(list)
	for i := range list {
		p := &list[i]
		p.Pointer, p.Message, p.Hint = visible(p.Pointer), visible(p.Message), visible(p.Hint)
	}
	return list
}

// pathOf returns the file that an error names.
func pathOf(err error) string {
	if e, ok := errors.AsType[*actions.FileError](err); ok {
		return e.Path
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Path
	}
	return ""
}

// codeOf returns the code of an error, which is also the start of its first line.
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
		return failedCode
	}
	return code
}

// codeArguments is the code of mistakes in the arguments of a call, outside of any pipeline in them.
const codeArguments = "invalid_arguments"

// causeDenied is the cause if a file cannot be written.
const causeDenied = "permission_denied"

// codeInternal is the code of an error that is not a mistake of the caller.
const codeInternal = "internal"

// failedCode is the error code of a failed step, and of a failed entry.
const failedCode = "step_failed"

// mistaken returns an error of the arguments that only the call itself could find. An error with a code of its own
// keeps it.
func mistaken(err error, next string) error {
	code := codeOf(err)
	if code == codeInternal {
		code = codeArguments
	}
	return &nextError{err: err, code: code, next: next}
}

// problems writes one line for each problem, so that a model can correct all of them at once.
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

// next returns the advice for an error.
func next(err error, code string) string {
	var n *nextError
	if errors.As(err, &n) && n.next != "" {
		return n.next
	}
	var blocked *millrace.BlockedError
	switch {
	case errors.As(err, &blocked) && blocked.Host:
		return "ask the user: this limit is the host's, and no call can lift it"
	case errors.As(err, &blocked):
		return personForces
	}
	if code == failedCode {
		return remedy(actions.ReportOf("", err).Cause)
	}
	switch code {
	case codeArguments:
		return "correct all of this and send the call again"
	case "invalid_pipeline":
		return correctPipeline
	case "invalid_plan", "conflict", "drift", "incomplete_plan":
		return "call plan_pipeline again and look at what it shows"
	case "expect_failed", "INTERPOLATION_FAILED":
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

// remedy returns the advice for a file that could not be read or edited, by the cause in its report.
func remedy(cause string) string {
	switch cause {
	case "read_only":
		return "ask the user: the host lets this file be read only"
	case causeDenied:
		return "ask the user: the file or its directory cannot be written"
	case "already_applied":
		return "nothing if the edit was made before; else read the file with fs_read, and copy the text to replace from it"
	case "text_not_found":
		return "read the file with fs_read, and copy the text to replace from it as it is"
	case "not_unique":
		return "give more lines of the text around the one place, or set replace_all"
	case "out_of_range":
		return "read the file with fs_read for the numbers of its lines"
	case "stale":
		return "read it again with fs_read, and give the hash that is shown"
	case "no_hash":
		return "read the file with fs_read, and give its content_hash"
	case "exists":
		return "set overwrite to replace it, or edit it with str_replace"
	case "outside_root":
		return "give a path in the root; fs_read with the mode Directory lists it"
	case "not_found":
		return "correct the path; fs_read with the mode Glob finds names, and the command create makes a new file"
	case "not_recursive":
		return "set recursive to delete the directory with all that is in it"
	case "is_directory":
		return "give the path of a file; fs_read with the mode Directory lists them"
	}
	return "read the file again with fs_read, correct the step and send the call again"
}
