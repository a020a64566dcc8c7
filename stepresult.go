package millrace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/internal/definition"
	"github.com/millrace-go/millrace/internal/errorform"
	"github.com/millrace-go/millrace/internal/params"
	"github.com/millrace-go/millrace/internal/planfile"
	"github.com/millrace-go/millrace/risk"
)

// StepResult is the result of a step.
type StepResult struct {
	StepID string `json:"step_id"`
	Action string `json:"action"`
	// Tool is the tool that the step has called, "" for steps that call none.
	Tool string `json:"tool,omitempty"`
	// Success means that the step has not failed. A skipped step is a success too, and Skipped.
	Success    bool   `json:"success"`
	Skipped    bool   `json:"skipped,omitempty"`
	SkipReason string `json:"skip_reason,omitempty"`
	// FilesMatched are the files that were found, read, changed or created, depending on the action.
	FilesMatched []string `json:"files_matched,omitempty"`
	// Content maps paths to the text that was read.
	Content           map[string]string `json:"content,omitempty"`
	AggregatedContent string            `json:"aggregated_content,omitempty"`
	EditsApplied      int               `json:"edits_applied,omitempty"`
	Counts            map[string]int    `json:"counts,omitempty"`
	// Renames maps old paths to new ones.
	Renames map[string]string `json:"renames,omitempty"`
	// Files has details of single files, such as their hashes.
	Files []actions.FileReport `json:"files,omitempty"`
	// FilesModified and FilesSkipped, for pattern_replace, are the numbers of changed files and of other files that match
	// its glob.
	FilesModified *int `json:"files_modified,omitempty"`
	FilesSkipped  *int `json:"files_skipped,omitempty"`
	// LeftOut counts the chosen files that a search did not look into, by reason.
	LeftOut []actions.LeftOut `json:"left_out,omitempty"`
	// Mode is how an "auto" pattern was read: "literal" or "regex".
	Mode  string `json:"mode,omitempty"`
	Error string `json:"error,omitempty"`
	// ErrorCode is the code of that error, see the function [ErrorCode], "" for none: "step_failed" for an
	// error without a code of its own.
	ErrorCode string `json:"error_code,omitempty"`
	// Handled means that the failure was expected: by a later step, or by an on_fail or retry_if of this step.
	Handled  bool     `json:"handled,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
	// Output is a text that the action has returned, also for a failed step. Few actions have an output.
	Output string `json:"output,omitempty"`
	// Data is the data that the action has returned for templates, in the types of JSON, also for a failed step. Nil for
	// none.
	Data any `json:"data,omitempty"`
	// Visits is the number of visits of the step. Attempts is the number of attempts in the last visit, whose result this
	// is. Both are 0 if there was at most one.
	Visits   int `json:"visits,omitempty"`
	Attempts int `json:"attempts,omitempty"`
	// Jump is the jump after the step, by next, on_fail or retry_if.
	Jump *Jump `json:"jump,omitempty"`
	// Cost is the cost of the attempts of this visit; in JSON a number of dollars.
	Cost budget.Cost `json:"cost_usd,omitzero"`
	// RiskLevel is judged by the files that this step changed and its edits. Unset for steps that cannot write.
	RiskLevel risk.Level    `json:"risk_level,omitzero"`
	Duration  time.Duration `json:"-"`
}

// Failed reports whether the step ran and did not succeed.
func (s StepResult) Failed() bool { return !s.Success && !s.Skipped }

// ran reports whether the step did its work, as the condition step_succeeded asks.
func (s StepResult) ran() bool { return s.Success && !s.Skipped }

// take copies an outcome into the result, with sorted lists.
func (s *StepResult) take(out *actions.Outcome) {
	slices.Sort(out.Files)
	out.Files = slices.Compact(out.Files)
	s.FilesMatched = out.Files
	s.Content, s.AggregatedContent, s.Output, s.Data = out.Content, out.Aggregated, out.Output, out.Data
	s.EditsApplied, s.Counts, s.Renames = out.Edits, out.Counts, out.Renames
	s.report(out.Reports)
	s.FilesModified, s.FilesSkipped, s.Mode, s.LeftOut = out.FilesModified, out.FilesSkipped, out.Mode, out.LeftOut
}

// report sets the reports on single files, in path order.
func (s *StepResult) report(files []actions.FileReport) {
	slices.SortStableFunc(files, func(a, b actions.FileReport) int { return strings.Compare(a.Path, b.Path) })
	s.Files = files
}

// count returns the sum of the step's counts, {{step.count}} in templates.
func (s StepResult) count() int {
	n := 0
	for _, c := range s.Counts {
		n += c
	}
	return n
}

// stepCode returns the code of the error of a failed step, "" for nil.
func stepCode(err error) string {
	if err == nil {
		return ""
	}
	return ErrorCode(&StepError{Err: err})
}

// cause returns the message of a failed step without the action before it.
func (s *StepResult) cause() string {
	return strings.TrimPrefix(s.Error, s.Action+" failed: ")
}

// stepResults are decoded one by one, and no more of them than a pipeline has steps, for any length of the text.
type stepResults []StepResult

// UnmarshalJSON implements [json.Unmarshaler].
func (l *stepResults) UnmarshalJSON(data []byte) error {
	*l = stepResults{}
	return planfile.EachElement(data, func(dec *json.Decoder) error {
		if len(*l) == definition.MaxSteps {
			return fmt.Errorf("there are results of more than %d steps", definition.MaxSteps)
		}
		var s StepResult
		err := dec.Decode(&s)
		*l = append(*l, s)
		return err
	})
}

type plainStepResult StepResult

// MarshalJSON returns the form of docs/json-results.md.
func (s StepResult) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		plainStepResult
		Duration millis `json:"duration"`
	}{plainStepResult(s), millis(s.Duration)})
}

// UnmarshalJSON reads the JSON of MarshalJSON.
func (s *StepResult) UnmarshalJSON(data []byte) error {
	var v struct {
		plainStepResult
		Duration millis          `json:"duration"`
		Data     json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return err
	}
	*s = StepResult(v.plainStepResult)
	s.Duration = time.Duration(v.Duration)
	if s.Failed() && s.Error != "" && s.ErrorCode == "" {
		s.ErrorCode = errorform.StepFailed // from a version that stored no codes
	}
	var err error
	s.Data, err = readData(v.Data)
	return err
}

// readData reads data from JSON, with all digits of whole numbers.
func readData(data json.RawMessage) (v any, err error) {
	if len(data) == 0 {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return params.Tree(v)
}

func cloneReports(list []actions.FileReport) []actions.FileReport {
	list = slices.Clone(list)
	for i := range list {
		r := &list[i]
		r.EditsApplied, r.EditsFailed, r.Replacements = definition.Cloned(r.EditsApplied), definition.Cloned(
			r.EditsFailed), definition.Cloned(r.Replacements)
		r.FailedEdits, r.RangeHashes = slices.Clone(r.FailedEdits), slices.Clone(r.RangeHashes)
		r.Size, r.WouldModify = definition.Cloned(r.Size), definition.Cloned(r.WouldModify)
	}
	return list
}

// clone returns a deep copy of the result.
func (s StepResult) clone() StepResult {
	s.FilesMatched, s.Files, s.Warnings = slices.Clone(s.FilesMatched), cloneReports(s.Files), slices.Clone(s.Warnings)
	s.Content, s.Counts, s.Renames = maps.Clone(s.Content), maps.Clone(s.Counts), maps.Clone(s.Renames)
	s.Data = definition.ClonedTree(s.Data)
	s.LeftOut = slices.Clone(s.LeftOut)
	for i := range s.LeftOut {
		s.LeftOut[i].Files = slices.Clone(s.LeftOut[i].Files)
	}
	s.FilesModified, s.FilesSkipped, s.Jump = definition.Cloned(s.FilesModified), definition.Cloned(
		s.FilesSkipped), definition.Cloned(s.Jump)
	return s
}

// millis is a duration in JSON: milliseconds with at most three decimals.
type millis time.Duration

func (m millis) MarshalJSON() ([]byte, error) {
	return json.Marshal(math.Round(float64(m)/float64(time.Microsecond)) / 1000)
}

func (m *millis) UnmarshalJSON(data []byte) error {
	var ms float64
	if err := json.Unmarshal(data, &ms); err != nil {
		return err
	}
	*m = millis(math.Round(ms*1000) * float64(time.Microsecond))
	return nil
}

// Visit is one arrival at a step, in [Result.History].
type Visit struct {
	StepID string `json:"step_id"`
	// Visit counts the arrivals at this step, from 1.
	Visit int `json:"visit"`
	// Outcome is "success", "failed", "skipped", or "retry" if a retry_if held and jumped back.
	Outcome string `json:"outcome"`
	// Attempts has an entry for each run of the action. A skipped visit has none.
	Attempts []Attempt `json:"attempts,omitempty"`
	// Jump is the jump after the visit, by next, on_fail or retry_if. Nil if the next step in the list follows.
	Jump *Jump `json:"jump,omitempty"`
	// Discarded means that the staged changes of the visit were undone by a later restart, or at the end of the run.
	Discarded bool `json:"discarded,omitempty"`
	// Duration is the time of all attempts and of the waits between them; in JSON "duration", in milliseconds.
	Duration time.Duration `json:"-"`
}

// The outcomes of visits.
const (
	visitSuccess = "success"
	visitFailed  = "failed"
	visitSkipped = "skipped"
	visitRetry   = "retry"
)

// Attempt is a run of an action.
type Attempt struct {
	// Error is its error, the first 4 KiB of it, "" for none. ErrorCode is the code of the error, as in [StepResult].
	Error     string        `json:"error,omitempty"`
	ErrorCode string        `json:"error_code,omitempty"`
	Duration  time.Duration `json:"-"` // in JSON "duration", in milliseconds
}

// Jump is a jump from a step to a step that need not be the next in the list.
type Jump struct {
	// To is the id of the target step.
	To string `json:"to"`
	// By is the field of the step that makes the jump: "next", "on_fail" or "retry_if".
	By string `json:"by"`
}

// longestAttemptError is the number of bytes of an error that an Attempt keeps.
const longestAttemptError = 4 << 10

// clone returns a deep copy of the visit.
func (v Visit) clone() Visit {
	v.Attempts, v.Jump = slices.Clone(v.Attempts), definition.Cloned(v.Jump)
	return v
}

type plainVisit Visit

type visitJSON struct {
	plainVisit
	Duration millis `json:"duration"`
}

// MarshalJSON writes the duration in milliseconds.
func (v Visit) MarshalJSON() ([]byte, error) {
	return json.Marshal(visitJSON{plainVisit(v), millis(v.Duration)})
}

// UnmarshalJSON reads the JSON of MarshalJSON.
func (v *Visit) UnmarshalJSON(data []byte) error {
	var j visitJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	*v = Visit(j.plainVisit)
	v.Duration = time.Duration(j.Duration)
	return nil
}

type plainAttempt Attempt

type attemptJSON struct {
	plainAttempt
	Duration millis `json:"duration"`
}

// MarshalJSON writes the duration in milliseconds.
func (a Attempt) MarshalJSON() ([]byte, error) {
	return json.Marshal(attemptJSON{plainAttempt(a), millis(a.Duration)})
}

// UnmarshalJSON reads the JSON of MarshalJSON.
func (a *Attempt) UnmarshalJSON(data []byte) error {
	var j attemptJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	*a = Attempt(j.plainAttempt)
	a.Duration = time.Duration(j.Duration)
	return nil
}
