package millrace

import (
	"cmp"
	"encoding/json"
	"errors"

	"github.com/millrace-go/millrace/internal/errorform"
	"github.com/millrace-go/millrace/risk"
)

// Envelope is a result in the shape of a list of calls that were made one after another:
//
//	{"results":[{"step":1,"tool":"messages_send","ok":true,"data":{"id":"111122223333444455"}},
//	            {"step":3,"tool":"exec","ok":false,"error":{"code":"exec_failed","message":"exit status 1"}}],
//	 "summary":{"total":2,"succeeded":1,"failed":1}}
//
// Summary.Failed is more than 0 exactly when the run has not succeeded.
type Envelope struct {
	// Results has one entry for each step that ran, of its last visit, in the order of execution. If the run failed and
	// no step did, a last entry says why; its tool is "run". It is never nil.
	Results []EnvelopeResult `json:"results"`
	Summary EnvelopeSummary  `json:"summary"`
	// Warnings are those of [Result.AllWarnings], nil for none.
	Warnings []string `json:"warnings,omitempty"`
}

// EnvelopeResult is what one step has done.
type EnvelopeResult struct {
	// Step is the place of the step in the pipeline, from 1. It is 0, and left out of the JSON, for the run as a whole.
	Step int `json:"step,omitempty"`
	// Tool is the tool that the step has called, or its action.
	Tool string `json:"tool"`
	OK   bool   `json:"ok"`
	// Data is what the step has returned. Of a step that returns none and has succeeded it is a map[string]any of what
	// templates take of it: "files", "files_count", "count" and "edits", and where there are any "output",
	// "aggregated_content", "content", "counts", "renames" and "risk". It is shared with the Result.
	Data any `json:"data,omitempty"`
	// Error says why it failed, nil if it has not.
	Error *EnvelopeError `json:"error,omitempty"`
	// Handled says that the failure was expected, so that the run could succeed all the same.
	Handled bool `json:"handled,omitempty"`
}

// EnvelopeError is the error of a step, or of the run.
type EnvelopeError struct {
	// Code is one of those that the function [ErrorCode] lists.
	Code    string `json:"code"`
	Message string `json:"message"`
	// Problems are those of a *[ValidationError], and Paths the files that the error is about, each once. [DescribeError]
	// sets them; [Result.Envelope] has only texts of errors, and does not.
	Problems []Problem `json:"problems,omitempty"`
	Paths    []string  `json:"paths,omitempty"`
}

// DescribeError returns an error in the form in which json.Marshal writes the error types of this module. It takes any
// error, also a wrapped one, of which json.Marshal writes nothing. It is zero for nil.
func DescribeError(err error) EnvelopeError {
	if err == nil {
		return EnvelopeError{}
	}
	e := EnvelopeError{Code: ErrorCode(err), Message: err.Error(), Paths: errorform.Paths(err)}
	if invalid, ok := errors.AsType[*ValidationError](err); ok {
		e.Problems = invalid.Problems
	}
	return e
}

// EnvelopeSummary counts the entries of an Envelope. Total is the sum of the others.
type EnvelopeSummary struct {
	Total     int `json:"total"`
	Succeeded int `json:"succeeded"`
	Failed    int `json:"failed"`
	// Handled counts the failures that were expected; they are not in Failed.
	Handled int `json:"handled,omitempty"`
}

// runTool stands for the tool in an entry that is about the run as a whole.
const runTool = "run"

// Envelope returns the result in the shape of a list of calls.
func (r *Result) Envelope() Envelope {
	e := Envelope{Results: []EnvelopeResult{}, Warnings: r.AllWarnings()}
	for _, i := range r.executed() {
		s := &r.Results[i]
		entry := EnvelopeResult{Step: i + 1, Tool: cmp.Or(s.Tool, s.Action), OK: !s.Failed(), Data: s.Data}
		switch {
		case entry.OK && s.Data == nil:
			entry.Data = s.reached()
		case !entry.OK:
			entry.Error = &EnvelopeError{Code: cmp.Or(s.ErrorCode, errorform.StepFailed), Message: s.cause()}
			entry.Handled = s.Handled
		}
		e.add(entry)
	}
	if !r.Success && e.Summary.Failed == 0 {
		e.add(EnvelopeResult{Tool: runTool, Error: &EnvelopeError{Code: cmp.Or(r.ErrorCode, errorform.Internal), Message: r.Error}})
	}
	return e
}

func (e *Envelope) add(entry EnvelopeResult) {
	e.Results = append(e.Results, entry)
	e.Summary.Total++
	switch {
	case entry.OK:
		e.Summary.Succeeded++
	case entry.Handled:
		e.Summary.Handled++
	default:
		e.Summary.Failed++
	}
}

// reached is what templates take of a step that returns no data.
func (s *StepResult) reached() map[string]any {
	files := s.FilesMatched
	if files == nil {
		files = []string{}
	}
	data := map[string]any{"files": files, "files_count": len(files), "count": s.count(), "edits": s.EditsApplied}
	add := func(name string, value any, there bool) {
		if there {
			data[name] = value
		}
	}
	add("output", s.Output, s.Output != "")
	add("aggregated_content", s.AggregatedContent, s.AggregatedContent != "")
	add("content", s.Content, len(s.Content) > 0)
	add("counts", s.Counts, len(s.Counts) > 0)
	add("renames", s.Renames, len(s.Renames) > 0)
	add("risk", s.RiskLevel.String(), s.RiskLevel != risk.Unset)
	return data
}

// MarshalJSON gives what [DescribeError] returns.
func (e *BlockedError) MarshalJSON() ([]byte, error) { return json.Marshal(DescribeError(e)) }

// MarshalJSON gives what [DescribeError] returns.
func (e *BudgetError) MarshalJSON() ([]byte, error) { return json.Marshal(DescribeError(e)) }

// MarshalJSON gives what [DescribeError] returns.
func (e *CommitError) MarshalJSON() ([]byte, error) { return json.Marshal(DescribeError(e)) }

// MarshalJSON gives what [DescribeError] returns.
func (e *ConflictError) MarshalJSON() ([]byte, error) { return json.Marshal(DescribeError(e)) }

// MarshalJSON gives what [DescribeError] returns.
func (e *DeadlineError) MarshalJSON() ([]byte, error) { return json.Marshal(DescribeError(e)) }

// MarshalJSON gives what [DescribeError] returns.
func (e *DriftError) MarshalJSON() ([]byte, error) { return json.Marshal(DescribeError(e)) }

// MarshalJSON gives what [DescribeError] returns.
func (e *ExecutionsError) MarshalJSON() ([]byte, error) { return json.Marshal(DescribeError(e)) }

// MarshalJSON gives what [DescribeError] returns.
func (e *ExecutorError) MarshalJSON() ([]byte, error) { return json.Marshal(DescribeError(e)) }

// MarshalJSON gives what [DescribeError] returns.
func (e *ExpectError) MarshalJSON() ([]byte, error) { return json.Marshal(DescribeError(e)) }

// MarshalJSON gives what [DescribeError] returns.
func (e *FileSystemError) MarshalJSON() ([]byte, error) { return json.Marshal(DescribeError(e)) }

// MarshalJSON gives what [DescribeError] returns.
func (e *HeldError) MarshalJSON() ([]byte, error) { return json.Marshal(DescribeError(e)) }

// MarshalJSON gives what [DescribeError] returns.
func (e *InterpolationError) MarshalJSON() ([]byte, error) { return json.Marshal(DescribeError(e)) }

// MarshalJSON gives what [DescribeError] returns.
func (e *LibraryError) MarshalJSON() ([]byte, error) { return json.Marshal(DescribeError(e)) }

// MarshalJSON gives what [DescribeError] returns.
func (e *PlanError) MarshalJSON() ([]byte, error) { return json.Marshal(DescribeError(e)) }

// MarshalJSON gives what [DescribeError] returns.
func (e *RetriesError) MarshalJSON() ([]byte, error) { return json.Marshal(DescribeError(e)) }

// MarshalJSON gives what [DescribeError] returns.
func (e *RunIDError) MarshalJSON() ([]byte, error) { return json.Marshal(DescribeError(e)) }

// MarshalJSON gives what [DescribeError] returns.
func (e *StepError) MarshalJSON() ([]byte, error) { return json.Marshal(DescribeError(e)) }

// MarshalJSON gives what [DescribeError] returns.
func (e *TimeoutError) MarshalJSON() ([]byte, error) { return json.Marshal(DescribeError(e)) }

// MarshalJSON gives what [DescribeError] returns.
func (e *ValidationError) MarshalJSON() ([]byte, error) { return json.Marshal(DescribeError(e)) }
