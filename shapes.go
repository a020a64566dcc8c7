package millrace

import (
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/internal/errorform"
	"github.com/millrace-go/millrace/risk"
)

// Envelope is a result in the form of a list of calls that were made one after another:
//
//	{"results":[{"step":1,"tool":"messages_send","ok":true,"data":{"id":"111122223333444455"}},
//	            {"step":3,"tool":"exec","ok":false,"error":{"code":"exec_failed","message":"exit status 1"}}],
//	 "summary":{"total":2,"succeeded":1,"failed":1}}
//
// Summary.Failed is more than 0 exactly if the run has not succeeded.
type Envelope struct {
	// Results has an entry for the last visit of each step that ran, in the order of execution. If the run failed without
	// a failed step, a last entry has the reason; its tool is "run". It is never nil.
	Results []EnvelopeResult `json:"results"`
	Summary EnvelopeSummary  `json:"summary"`
	// Warnings are the warnings of [Result.AllWarnings], nil for none.
	Warnings []string `json:"warnings,omitempty"`
}

// EnvelopeResult is the result of a step.
type EnvelopeResult struct {
	// Step is the place of the step in the pipeline, from 1. It is 0, and left out of the JSON, for the run as a whole.
	Step int `json:"step,omitempty"`
	// Tool is the name of the tool that the step has called, or of its action.
	Tool string `json:"tool"`
	OK   bool   `json:"ok"`
	// Data is the data of the step. If a successful step returns none, it is a map[string]any of the values that templates
	// can use: "files", "files_count", "count" and "edits", and if there are any "output", "aggregated_content",
	// "content", "counts", "renames" and "risk". It is shared with the Result.
	Data any `json:"data,omitempty"`
	// Error is the reason of the failure, nil if the step has not failed.
	Error *EnvelopeError `json:"error,omitempty"`
	// Handled means that the failure was expected, so that the run could succeed.
	Handled bool `json:"handled,omitempty"`
}

// EnvelopeError is the error of a step, or of the run.
type EnvelopeError struct {
	// Code is a code from the list at the function [ErrorCode].
	Code    string `json:"code"`
	Message string `json:"message"`
	// Problems are the problems of a *[ValidationError]. Paths are the files of the error, each once. [DescribeError] sets
	// them; [Result.Envelope] only has the texts of errors, and does not.
	Problems []Problem `json:"problems,omitempty"`
	Paths    []string  `json:"paths,omitempty"`
}

// DescribeError returns an error in the JSON form of the error types of this module. It accepts any error, also a
// wrapped error, which json.Marshal alone would lose. It is zero for nil.
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

// runTool is the tool of an entry for the run as a whole.
const runTool = "run"

// Envelope returns the result as a list of calls.
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
		e.add(EnvelopeResult{Tool: runTool,
			Error: &EnvelopeError{Code: cmp.Or(r.ErrorCode, errorform.Internal), Message: r.Error}})
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

// reached returns the values for templates of a step without data.
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

// MarshalJSON returns the JSON of [DescribeError].
func (e *BlockedError) MarshalJSON() ([]byte, error) { return json.Marshal(DescribeError(e)) }

// MarshalJSON returns the JSON of [DescribeError].
func (e *BudgetError) MarshalJSON() ([]byte, error) { return json.Marshal(DescribeError(e)) }

// MarshalJSON returns the JSON of [DescribeError].
func (e *CommitError) MarshalJSON() ([]byte, error) { return json.Marshal(DescribeError(e)) }

// MarshalJSON returns the JSON of [DescribeError].
func (e *ConflictError) MarshalJSON() ([]byte, error) { return json.Marshal(DescribeError(e)) }

// MarshalJSON returns the JSON of [DescribeError].
func (e *DeadlineError) MarshalJSON() ([]byte, error) { return json.Marshal(DescribeError(e)) }

// MarshalJSON returns the JSON of [DescribeError].
func (e *DriftError) MarshalJSON() ([]byte, error) { return json.Marshal(DescribeError(e)) }

// MarshalJSON gives what [DescribeError] returns.
func (e *executionsError) MarshalJSON() ([]byte, error) { return json.Marshal(DescribeError(e)) }

// MarshalJSON returns the JSON of [DescribeError].
func (e *ExecutorError) MarshalJSON() ([]byte, error) { return json.Marshal(DescribeError(e)) }

// MarshalJSON returns the JSON of [DescribeError].
func (e *ExpectError) MarshalJSON() ([]byte, error) { return json.Marshal(DescribeError(e)) }

// MarshalJSON returns the JSON of [DescribeError].
func (e *FileSystemError) MarshalJSON() ([]byte, error) { return json.Marshal(DescribeError(e)) }

// MarshalJSON returns the JSON of [DescribeError].
func (e *HeldError) MarshalJSON() ([]byte, error) { return json.Marshal(DescribeError(e)) }

// MarshalJSON returns the JSON of [DescribeError].
func (e *InterpolationError) MarshalJSON() ([]byte, error) { return json.Marshal(DescribeError(e)) }

// MarshalJSON gives what [DescribeError] returns.
func (e *libraryError) MarshalJSON() ([]byte, error) { return json.Marshal(DescribeError(e)) }

// MarshalJSON returns the JSON of [DescribeError].
func (e *PlanError) MarshalJSON() ([]byte, error) { return json.Marshal(DescribeError(e)) }

// MarshalJSON returns the JSON of [DescribeError].
func (e *RetriesError) MarshalJSON() ([]byte, error) { return json.Marshal(DescribeError(e)) }

// MarshalJSON gives what [DescribeError] returns.
func (e *StepError) MarshalJSON() ([]byte, error) { return json.Marshal(DescribeError(e)) }

// MarshalJSON returns the JSON of [DescribeError].
func (e *TimeoutError) MarshalJSON() ([]byte, error) { return json.Marshal(DescribeError(e)) }

// MarshalJSON gives what [DescribeError] returns.
func (e *undoneError) MarshalJSON() ([]byte, error) { return json.Marshal(DescribeError(e)) }

// MarshalJSON gives what [DescribeError] returns.
func (e *ValidationError) MarshalJSON() ([]byte, error) { return json.Marshal(DescribeError(e)) }

// Final returns the text of the step that ran last: its output, or else its aggregated content. It is "" if that step
// has neither, or if no step ran.
func (r *Result) Final() string {
	ran := r.executed()
	if len(ran) == 0 {
		return ""
	}
	last := &r.Results[ran[len(ran)-1]]
	return cmp.Or(last.Output, last.AggregatedContent)
}

// StepsExecuted returns the number of steps that ran, each counted once, with success or failure. A step whose last
// visit was skipped has not run.
func (r *Result) StepsExecuted() int { return len(r.executed()) }

// executed returns the indices in Results of the steps that ran, in the order of their last visits. Without History
// that is the order of the pipeline.
func (r *Result) executed() []int {
	visited := make(map[string]int)
	for i, v := range r.History {
		visited[v.StepID] = i
	}
	var ran []int
	for i := range r.Results {
		if !r.Results[i].Skipped {
			ran = append(ran, i)
		}
	}
	slices.SortStableFunc(ran, func(a, b int) int {
		return cmp.Compare(visited[r.Results[a].StepID], visited[r.Results[b].StepID])
	})
	return ran
}

// Summary is a short form of a result, with one result per step. In JSON every field is always present, except
// warnings:
//
//	{"run_id":"a3f9c2d1","steps_executed":4,"total_steps":5,"final":"Coverage: 87%","all_results":{"run-tests":{"step_id":"run-tests"}},
//	 "total_cost_usd":0.42,"total_duration_seconds":118.204,"budget":{"limit":3,"spent":0.42,"exceeded":false},
//	 "deadline_met":true,"classification":"internal"}
type Summary struct {
	// RunID is [Executor.RunID], "" without.
	RunID string
	// StepsExecuted is the number of steps that ran, TotalSteps the number of steps of the pipeline.
	StepsExecuted, TotalSteps int
	// Final is the text of the step that ran last, see [Result.Final].
	Final string
	// AllResults has the results of the steps that ran, by id. They share memory with the Result. It is never nil.
	AllResults map[string]StepResult
	// TotalCost is the cost of the run; in JSON "total_cost_usd".
	TotalCost budget.Cost
	// TotalDuration is the TotalDuration of the Result; in JSON "total_duration_seconds", with at most three decimals.
	TotalDuration time.Duration
	// Budget is the limit of the run and the spent amount. Without a budget the limit is 0, in JSON null.
	Budget budget.Report
	// DeadlineMet is false if the run was ended by its deadline, and true without one.
	DeadlineMet bool
	// Classification is the classification of the pipeline, "" without.
	Classification string
	// Warnings are the warnings of [Result.AllWarnings]; in JSON an empty list is left out.
	Warnings []string
}

// Summary returns the short form of the result.
func (r *Result) Summary() Summary {
	s := Summary{
		RunID: r.RunID, StepsExecuted: r.StepsExecuted(), TotalSteps: r.TotalSteps, Final: r.Final(),
		AllResults: make(map[string]StepResult), TotalCost: r.Cost, TotalDuration: r.TotalDuration,
		Budget: budget.Report{Spent: r.Cost}, DeadlineMet: r.DeadlineMet == nil || *r.DeadlineMet,
		Classification: r.Classification, Warnings: r.AllWarnings(),
	}
	if r.Budget != nil {
		s.Budget = *r.Budget
	}
	for _, i := range r.executed() {
		s.AllResults[r.Results[i].StepID] = r.Results[i]
	}
	return s
}

// seconds is a duration in JSON: seconds with at most three decimals. It is rounded from microseconds, the precision of
// a result in JSON, so that a result that was read returns the same.
type seconds time.Duration

func (s seconds) MarshalJSON() ([]byte, error) {
	return json.Marshal(math.Round(math.Round(float64(s)/float64(time.Microsecond))/1000) / 1000)
}

func (s *seconds) UnmarshalJSON(data []byte) error {
	var n float64
	if err := json.Unmarshal(data, &n); err != nil {
		return err
	}
	*s = seconds(math.Round(n*1000) * float64(time.Millisecond))
	return nil
}

// summaryJSON has the fields of Summary, in the order of the text.
type summaryJSON struct {
	RunID          string                `json:"run_id"`
	StepsExecuted  int                   `json:"steps_executed"`
	TotalSteps     int                   `json:"total_steps"`
	Final          string                `json:"final"`
	AllResults     map[string]StepResult `json:"all_results"`
	TotalCost      budget.Cost           `json:"total_cost_usd"`
	TotalDuration  seconds               `json:"total_duration_seconds"`
	Budget         budget.Report         `json:"budget"`
	DeadlineMet    bool                  `json:"deadline_met"`
	Classification string                `json:"classification"`
	Warnings       []string              `json:"warnings,omitempty"`
}

// MarshalJSON returns the form above.
func (s Summary) MarshalJSON() ([]byte, error) {
	if s.AllResults == nil {
		s.AllResults = map[string]StepResult{}
	}
	return json.Marshal(summaryJSON{
		s.RunID, s.StepsExecuted, s.TotalSteps, s.Final, s.AllResults, s.TotalCost, seconds(s.TotalDuration), s.Budget,
		s.DeadlineMet, s.Classification, s.Warnings,
	})
}

// UnmarshalJSON reads the JSON of MarshalJSON.
func (s *Summary) UnmarshalJSON(data []byte) error {
	var v summaryJSON
	if err := json.Unmarshal(data, &v); err != nil {
		return err
	}
	*s = Summary{
		v.RunID, v.StepsExecuted, v.TotalSteps, v.Final, v.AllResults, v.TotalCost, time.Duration(v.TotalDuration),
		v.Budget, v.DeadlineMet, v.Classification, v.Warnings,
	}
	return nil
}
