package millrace

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/definition"
	"github.com/millrace-go/millrace/internal/errorform"
	"github.com/millrace-go/millrace/internal/preview"
	"github.com/millrace-go/millrace/risk"
)

// Result is the result of a run. Its JSON is listed in docs/json-results.md; durations are milliseconds there. Lists
// are in path order or in the order of the steps, never in the order in which work finished.
type Result struct {
	Name           string `json:"name"`
	Success        bool   `json:"success"`         // no step has failed unhandled, and nothing was blocked or in conflict
	TotalSteps     int    `json:"total_steps"`     // steps of the pipeline
	CompletedSteps int    `json:"completed_steps"` // steps that succeeded or were skipped
	// Results has an entry for each step that ran or was skipped, in the order of the pipeline.
	Results []StepResult `json:"results"`
	// History has each visit of a step in the order of execution, if a step was visited or attempted several times, or
	// led to another step than the next in the list. Nil otherwise: then Results is complete. Of more than 200
	// visits those that were skipped are left out.
	History []Visit `json:"history,omitempty"`
	// BackupID is the id of the backup for [Executor.Restore]. Empty if none was made.
	BackupID string `json:"backup_id,omitempty"`
	// FilesAffected are the files that any step has matched, changed or not.
	FilesAffected []string `json:"files_affected"`
	// FilesChanged are the files that differ at the end.
	FilesChanged FilesChanged `json:"files_changed"`
	// TotalEdits is the sum of the steps' replacements.
	TotalEdits int `json:"total_edits"`
	// OverallRiskLevel is judged by FilesChanged and TotalEdits; for a failed run, by its steps one by one and TotalEdits.
	// Unset if no step can write.
	OverallRiskLevel risk.Level `json:"overall_risk_level,omitzero"`
	// RollbackPerformed means that changes were staged, or even written, and undone.
	RollbackPerformed bool `json:"rollback_performed,omitempty"`
	DryRun            bool `json:"dry_run"`
	// WouldBlock, in a dry run, means that a real run would be refused. BlockReason is the reason, also for a refused run.
	WouldBlock  bool          `json:"would_block,omitempty"`
	BlockReason string        `json:"block_reason,omitempty"`
	Commit      CommitOutcome `json:"commit"`
	// Incomplete, in a dry run, means that a step which acts outside of the tree was not run, and neither were steps that
	// depend on it. Such a plan cannot be committed: ErrIncomplete.
	Incomplete bool `json:"incomplete,omitempty"`
	// Guarantee describes the events that the commit was safe against. Empty if there was nothing to write.
	Guarantee Guarantee `json:"guarantee,omitempty"`
	// Error is the message of the error that the run returned.
	Error string `json:"error,omitempty"`
	// ErrorCode is the result of the function [ErrorCode] for that error, "" for none.
	ErrorCode string `json:"error_code,omitempty"`
	// Warnings are messages for the user that are not failures.
	Warnings []string `json:"warnings,omitempty"`
	// Verbose means that WriteReport lists everything.
	Verbose bool `json:"verbose,omitempty"`
	// RunID is the id given by [Executor.RunID].
	RunID string `json:"run_id,omitempty"`
	// Classification is the classification of the pipeline.
	Classification string `json:"classification,omitempty"`
	// Cost is the cost of all attempts of the run, including failed ones; in JSON a number of dollars.
	Cost budget.Cost `json:"total_cost_usd,omitzero"`
	// Budget is the budget of the pipeline and the host, with its use. Nil without a budget.
	Budget *budget.Report `json:"budget,omitempty"`
	// DeadlineMet means that the run was done before its deadline, or ended for another reason. Nil without a deadline.
	DeadlineMet *bool `json:"deadline_met,omitempty"`
	// Restores is the id of the backup that was restored. Empty for a pipeline.
	Restores string `json:"restores,omitempty"`
	// Replayed means that the run had been committed before: this is the stored result.
	Replayed bool `json:"replayed,omitempty"`
	// TotalDuration is the time from the start of the first step to the end of the commit.
	TotalDuration time.Duration `json:"-"`
}

// AllWarnings returns the warnings of the run and then the warnings of its steps, in their order, each with its step:
// "step 'fix': old_text matches nothing in a.txt".
func (r *Result) AllWarnings() []string {
	all := slices.Clone(r.Warnings)
	for _, s := range r.Results {
		for _, warning := range s.Warnings {
			all = append(all, fmt.Sprintf("step '%s': %s", s.StepID, warning))
		}
	}
	return all
}

// CommitState is the outcome of a commit.
type CommitState string

// The states in which a commit can end.
const (
	CommitNone       CommitState = "none"             // there was nothing to write, or nothing was tried
	CommitApplied    CommitState = "applied"          // the tree is as planned
	CommitRolledBack CommitState = "rolled_back"      // the tree is as before
	CommitPending    CommitState = "pending_recovery" // the tree needs Recover
)

// CommitOutcome is the outcome of a commit.
type CommitOutcome struct {
	State CommitState `json:"state"`
}

// Guarantee is the worst event that a commit was safe against, a text: each value includes those after it.
type Guarantee = commit.Guarantee

// Events that a commit survives. They depend on the file system, and on [Executor.State.NoSync].
const (
	PowerLoss = commit.PowerLoss // "power_loss": the machine stops at any moment, if the disk is honest about fsync
	Kill      = commit.Kill      // "kill": the process is killed at any moment
	Failure   = commit.Failure   // "error": an operation fails; the tree does not outlive the process anyway
)

// failed sets the error that the run returns, nil for none.
func (r *Result) failed(err error) {
	r.Success, r.Error, r.ErrorCode = err == nil, errorText(err), ErrorCode(err)
}

// committed sets the outcome of the commit.
func (r *Result) committed(report commit.Report, err error) {
	r.DryRun, r.WouldBlock = false, false
	for i := range r.Results {
		for j := range r.Results[i].Files {
			f := &r.Results[i].Files[j]
			f.WouldModify, f.Preview = nil, "" // fields of a dry run
		}
	}
	r.BackupID = report.BackupID
	r.Commit, r.Guarantee = CommitOutcome{State: CommitNone}, report.Guarantee
	r.Warnings = append(r.Warnings, report.Warnings...)
	switch failed, ok := errors.AsType[*CommitError](err); {
	case report.Committed:
		r.Commit.State = CommitApplied
	case ok:
		r.Commit.State = failed.State
	case report.RolledBack:
		r.Commit.State = CommitRolledBack
	}
	r.RollbackPerformed = r.RollbackPerformed || r.Commit.State == CommitRolledBack
	r.failed(err)
	if err != nil {
		// Staged changes that were not written are discarded, for any reason.
		r.RollbackPerformed = r.RollbackPerformed || r.Commit.State == CommitNone && r.FilesChanged.Count() > 0
	}
}

// FilesChanged lists the files that differ at the end, each in one list. Directories are not listed.
type FilesChanged struct {
	Created  []string      `json:"created,omitempty"`
	Modified []string      `json:"modified,omitempty"`
	Deleted  []string      `json:"deleted,omitempty"`
	Renamed  []RenamedFile `json:"renamed,omitempty"`
}

// RenamedFile is a file that has another name at the end, and perhaps other bytes.
type RenamedFile struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// Count returns the number of files that differ.
func (f FilesChanged) Count() int {
	return len(f.Created) + len(f.Modified) + len(f.Deleted) + len(f.Renamed)
}

// codeOfOld returns the code of a failed run whose result was stored without a code by an earlier version.
func (r *Result) codeOfOld() string {
	switch failed, ok := r.failedStep().(*StepError); {
	case r.Commit.State == CommitPending:
		return errorform.RecoveryNeeded
	case r.BlockReason != "" && r.Error == r.BlockReason:
		return errorform.Blocked
	case ok:
		return r.Results[failed.Index].ErrorCode
	}
	return errorform.Internal
}

type plainResult Result

// MarshalJSON returns the form of docs/json-results.md.
func (r Result) MarshalJSON() ([]byte, error) {
	if r.Results == nil {
		r.Results = []StepResult{}
	}
	if r.FilesAffected == nil {
		r.FilesAffected = []string{}
	}
	if r.Commit.State == "" {
		r.Commit.State = CommitNone
	}
	return json.Marshal(struct {
		plainResult
		TotalDuration millis `json:"total_duration"`
	}{plainResult(r), millis(r.TotalDuration)})
}

// UnmarshalJSON reads the JSON of MarshalJSON.
func (r *Result) UnmarshalJSON(data []byte) error {
	var v struct {
		plainResult
		Results       stepResults `json:"results"`
		TotalDuration millis      `json:"total_duration"`
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return err
	}
	*r = Result(v.plainResult)
	r.Results = v.Results
	r.TotalDuration = time.Duration(v.TotalDuration)
	if !r.Success && r.Error != "" && r.ErrorCode == "" {
		r.ErrorCode = r.codeOfOld()
	}
	return nil
}

// clone returns a deep copy, so that a caller cannot change the plan's result.
func (r *Result) clone() *Result {
	c := *r
	c.Results = make([]StepResult, len(r.Results))
	for i, s := range r.Results {
		c.Results[i] = s.clone()
	}
	c.FilesAffected, c.Warnings = slices.Clone(r.FilesAffected), slices.Clone(r.Warnings)
	c.History = slices.Clone(r.History)
	for i, v := range c.History {
		c.History[i] = v.clone()
	}
	c.Budget, c.DeadlineMet = clonedReport(r.Budget), definition.Cloned(r.DeadlineMet)
	f := &c.FilesChanged
	f.Created, f.Modified = slices.Clone(f.Created), slices.Clone(f.Modified)
	f.Deleted, f.Renamed = slices.Clone(f.Deleted), slices.Clone(f.Renamed)
	return &c
}

// filesChanged sorts the changes of files into lists. A change between a file and a directory counts as the change of
// the file.
func filesChanged(changes []change.Change) FilesChanged {
	var f FilesChanged
	for _, c := range preview.FileChanges(changes, changes) {
		switch c.Kind {
		case change.Renamed:
			f.Renamed = append(f.Renamed, RenamedFile{From: c.From, To: c.Path})
		case change.Modified:
			f.Modified = append(f.Modified, c.Path)
		case change.Deleted:
			f.Deleted = append(f.Deleted, c.Path)
		case change.Created:
			f.Created = append(f.Created, c.Path)
		}
	}
	return f
}

// failedStep returns the error of the first step that failed unhandled, as far as the result has it, or nil.
func (r *Result) failedStep() error {
	for i, s := range r.Results {
		if s.Failed() && !s.Handled {
			return &StepError{Step: s.StepID, Index: i, Action: s.Action,
				Err: errorform.New(s.ErrorCode, s.cause())}
		}
	}
	if !r.Success {
		return errorform.New(r.ErrorCode, r.Error)
	}
	return nil
}

// String returns the compact line: "OK: 4/4 steps | 12 files | 45 edits | medium risk". The files are those that differ
// at the end, or, if no step can write, the matched files. A dry run of a run that would be refused reports that: "OK:
// 2/2 steps | 60 files | 60 edits | high risk | would be blocked".
//
// For a restore it names the backup: "OK: restored 20250213_120530_abc123def4567890 | 12 files".
func (r *Result) String() string {
	if r.Restores != "" {
		return r.restoreLine()
	}
	if !r.Success {
		return fmt.Sprintf("FAIL: %d/%d steps | %s", r.CompletedSteps, r.TotalSteps, fsutil.Visible(r.failure()))
	}
	line := fmt.Sprintf("OK: %d/%d steps | %d files | %d edits", r.CompletedSteps, r.TotalSteps, r.filesCounted(),
		r.TotalEdits)
	if r.OverallRiskLevel > risk.Low {
		line += " | " + strings.ToLower(r.OverallRiskLevel.String()) + " risk"
	}
	if r.WouldBlock {
		line += " | would be blocked"
	}
	return line
}

// restoreLine is String for a restore, which has no steps.
func (r *Result) restoreLine() string {
	switch {
	case !r.Success:
		return fmt.Sprintf("FAIL: restore %s | %s", r.Restores, fsutil.Visible(r.failure()))
	case r.DryRun:
		return fmt.Sprintf("OK: would restore %s | %d files", r.Restores, r.FilesChanged.Count())
	default:
		return fmt.Sprintf("OK: restored %s | %d files", r.Restores, r.FilesChanged.Count())
	}
}

// failure returns the first unhandled error of a step, or the error of the run as a whole.
func (r *Result) failure() string {
	for _, s := range r.Results {
		if s.Failed() && !s.Handled {
			return s.Error
		}
	}
	if r.BlockReason != "" {
		return r.BlockReason
	}
	return r.Error
}

// filesCounted returns the number of files for a report: changed by a run, or found by a search.
func (r *Result) filesCounted() int {
	if r.OverallRiskLevel == risk.Unset {
		return len(r.FilesAffected)
	}
	return r.FilesChanged.Count()
}

// clonedReport returns a deep copy of a report.
func clonedReport(r *budget.Report) *budget.Report {
	if r == nil {
		return nil
	}
	c := *r
	c.Files, c.Edits, c.Bytes = definition.Cloned(r.Files), definition.Cloned(r.Edits), definition.Cloned(r.Bytes)
	return &c
}
