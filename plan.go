package millrace

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/backups"
	"github.com/millrace-go/millrace/internal/definition"
	"github.com/millrace-go/millrace/internal/errorform"
	"github.com/millrace-go/millrace/internal/journal"
	"github.com/millrace-go/millrace/internal/planfile"
	"github.com/millrace-go/millrace/internal/stage"
)

// Plan is a change that was computed but not made: the exact effect of a pipeline on a tree. It is immutable except for
// Commit, which works once, and safe for concurrent use. It can be written as JSON and opened by another process with
// [Executor.OpenPlan].
type Plan struct {
	tree    *tree
	stage   *stage.Stage // the source of the changes; nil for a stored plan
	name    string
	options definition.Options
	budget  budget.Limit  // of the pipeline; the host's budget applies as well
	digest  func() string // of the pipeline; computed only when needed
	mutates bool
	since   time.Time // the tree was not read before this time
	result  *Result
	changes []change.Change
	// restores is the id of the backup to restore, "" for a pipeline. As long as all changes come unchanged from the
	// backup, their risk is not judged.
	restores string
	undoes   bool
	moved    []string              // paths of files that a stored plan shows by the old text that it holds
	drifted  []Conflict            // paths that a restore cannot take back, in path order
	damaged  *backups.DamagedError // nil if the backup that is taken back is whole
	block    *BlockedError
	failed   error
	// abandoned means that there is nothing to commit because a step has failed unhandled.
	abandoned bool
	held      *HeldError // nil for a run that does not wait
	// markCommit keeps a checkpoint that the commit begins, with the files that the commit removes. It is nil for a plan
	// that does not come from a run.
	markCommit func(ctx context.Context, at Position, taken []stage.TakenAway) error
	// acted describes effects of the run that cannot be undone, for a run that fails.
	acted []string

	mu        sync.Mutex
	committed bool
	closed    bool
}

// Changes returns the differences between the tree and the plan in path order. Their splices are shared and must not be
// modified. New.Hash is computed now if it was not needed so far, and is zero for an edited file that another program
// has written to since.
func (p *Plan) Changes() []change.Change {
	changes := slices.Clone(p.changes)
	for i, c := range changes {
		if summed, err := stage.Summed(c); err == nil {
			changes[i] = summed
		}
	}
	return changes
}

// collect reads the changes from the stage and judges them, if the run is still in time.
func (p *Plan) collect(ctx context.Context, stage *stage.Stage, inTime func() error) error {
	if !p.mutates {
		return inTime()
	}
	defer stage.During(ctx, collected(p.tree.notify))()
	changes, err := stage.Outline()
	if err != nil {
		return collectError(err, p.result.TotalSteps)
	}
	if err := inTime(); err != nil {
		return err
	}
	p.changes = changes
	p.weigh()
	return nil
}

// weigh warns of odd changes, and counts and judges all changes. It treats the changes of a run and of a stored plan
// alike, because a stored plan may understate its risk.
func (p *Plan) weigh() {
	warnings := backups.LinkWarnings(p.tree.fs, p.tree.stateDir, p.changes)
	for _, c := range p.changes {
		for _, name := range []string{c.From, c.Path} {
			if fsutil.Visible(name) != name {
				warnings = append(warnings, fmt.Sprintf(
					"the name %+q has characters that are not seen, or that turn the writing direction", name))
			}
		}
	}
	for _, warning := range warnings {
		if !slices.Contains(p.result.Warnings, warning) {
			p.result.Warnings = append(p.result.Warnings, warning)
		}
	}
	p.judge()
}

// collectError returns the error for changes that cannot be computed: a source file has changed since, or the file
// system fails.
func collectError(err error, steps int) error {
	err = fmt.Errorf("work out changes: %w", err)
	// A MemMapFs returns io.ErrUnexpectedEOF for a file that becomes shorter while it is read.
	drift := errors.Is(err, fsutil.ErrDrift) || errors.Is(err, io.ErrUnexpectedEOF)
	if e, ok := errors.AsType[*stage.DriftError](err); ok {
		conflict := &ConflictError{Err: err}
		for _, d := range e.Drifts {
			conflict.Conflicts = append(conflict.Conflicts, Conflict{Path: d.Path, Reason: driftReason(d)})
		}
		return conflict
	}
	if at, ok := errors.AsType[*fs.PathError](err); ok && drift {
		return &ConflictError{Conflicts: []Conflict{{Path: at.Path, Reason: "what its content is made from has changed since it was read"}}, Err: err}
	}
	return &CommitError{Step: steps, State: CommitNone, Err: err}
}

// driftReason returns the reason of a conflict that a stage has found.
func driftReason(d stage.Drift) string {
	if d.Reason == stage.DriftCreated {
		return "has been created by another program"
	}
	return "another program has changed what is in the directory since the step listed it"
}

// judge counts the changes and checks them against the limits: first the host's ceiling and the budget, which force
// does not lift, then the number of files and the risk.
func (p *Plan) judge() {
	res, x := p.result, p.tree.x
	res.FilesChanged = filesChanged(p.changes)
	if p.undoes {
		res.FilesAffected = restoredFiles(p.changes)
		return
	}
	files, edits := res.FilesChanged.Count(), max(res.TotalEdits, p.view().Count(p.changes))
	res.OverallRiskLevel = x.Risk.Assess(files, edits)
	limit, use := p.budget.Within(x.Budget), used(p.changes, edits, res.Cost)
	res.Budget = budgetReport(limit, use)
	p.block = x.block(files, edits, res.OverallRiskLevel, p.options.Force, exceeded(limit, use, ""))
	if p.block == nil && !p.options.Force {
		p.block = x.readOnlyFiles(p.changes)
		if p.block != nil {
			p.block.Level, p.block.Files, p.block.Edits = res.OverallRiskLevel, files, edits
		}
	}
	res.WouldBlock, res.BlockReason = p.block != nil, ""
	if p.block != nil {
		res.BlockReason = p.block.Reason
	}
}

// planVersion is the version of the JSON of a plan. Other versions are refused.
const planVersion = 1

// PlanError means that a stored plan cannot be opened: it is damaged, of another version, or asks for something that
// the host forbids.
type PlanError struct {
	// Path is the path of the refused change, or "".
	Path string
	Err  error
}

// Error names the path.
func (e *PlanError) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("invalid plan: %v", e.Err)
	}
	return fmt.Sprintf("invalid plan: %s: %v", e.Path, e.Err)
}

// Paths returns the path of the refused change, "" if the error is not about a change.
func (e *PlanError) Paths() []string { return []string{e.Path} }

// Unwrap returns the reason.
func (e *PlanError) Unwrap() error { return e.Err }

// Code returns "invalid_plan".
func (e *PlanError) Code() string { return errorform.InvalidPlan }

type planJSON struct {
	Version int                `json:"version"`
	Name    string             `json:"name"`
	Options definition.Options `json:"options"`
	Digest  string             `json:"digest"`
	Mutates bool               `json:"mutates"`
	// Budget is the budget of the pipeline, nil for none.
	Budget *planBudget `json:"budget,omitempty"`
	// Restores is the id of the backup that the plan restores, "" for a pipeline.
	Restores string           `json:"restores,omitempty"`
	Result   *Result          `json:"result"`
	Changes  planfile.Changes `json:"changes"`
}

// planBudget is a budget in a stored plan, always as an object.
type planBudget struct {
	USD   budget.Cost `json:"usd,omitzero"`
	Files int         `json:"files,omitzero"`
	Edits int         `json:"edits,omitzero"`
	Bytes int64       `json:"bytes,omitzero"`
}

// planError returns a *PlanError for an error of package planfile.
func planError(err error) error {
	if e, ok := err.(*planfile.Error); ok {
		return &PlanError{Path: e.Path, Err: e.Err}
	}
	return err
}

// MarshalJSON writes the plan with all bytes to write, so that [Executor.OpenPlan] can commit exactly those. A plan
// that has failed cannot be stored.
func (p *Plan) MarshalJSON() ([]byte, error) {
	if p.abandoned || p.held != nil {
		return nil, fmt.Errorf("a plan that cannot be committed cannot be stored: %w", p.failed)
	}
	if err := p.conflict(); err != nil {
		return nil, err
	}
	done, err := p.reading()
	if err != nil {
		return nil, err
	}
	defer done()
	changes, err := planfile.Store(p.changes, p.tree.x.limits())
	if err != nil {
		return nil, planError(err)
	}
	v := planJSON{
		Version: planVersion, Name: p.name, Options: p.options, Digest: p.digest(), Mutates: p.mutates,
		Restores: p.restores, Result: p.result, Changes: changes,
	}
	if !p.budget.IsZero() {
		v.Budget = new(planBudget(p.budget))
	}
	return json.Marshal(v)
}

// OpenPlan opens a plan that was stored as JSON, to look at it or to commit it to fsys, the tree it was made for. It is
// judged again by this executor's policy, every path of it is checked, and nothing is written. The error is a
// *PlanError for a plan that cannot be trusted. Its text may be invalid JSON or have unknown fields. Or it makes a
// change that no step makes, such as setting the setuid bit of a file or making a link that leads out of the tree. A
// plan contains the old text of small files: if such a file has changed or is gone, the plan is shown as it was made,
// with a warning, and Commit returns the conflict. The risk is computed from the changes, not taken from the plan. A
// splice counts as one edit, of any length, like a replacement by a step. An existing file that is written as a whole
// counts an edit for each differing line. Commit checks that the tree is still the planned tree. A plan in which a step
// had failed, with ContinueOnError, has failed here as well.
//
// FilesChanged, risk and reasons to block are computed again. The results of the steps, and TotalEdits, their sum, are
// taken from the plan. So is the pipeline of the plan: with [Executor.RunID] the commit counts as a commit of this
// pipeline, so a plan that a stranger may have written should be committed without a RunID.
func (x Executor) OpenPlan(ctx context.Context, fsys afero.Fs, data []byte) (*Plan, error) {
	t, err := x.openTree(fsys)
	if err != nil {
		return nil, err
	}
	defer t.done()
	var v planJSON
	limits := planfile.Limits{MaxBytes: cmp.Or(x.MaxPlanBytes, DefaultMaxPlanBytes),
		MaxDepth: definition.JSONDepth(x.MaxJSONDepth)}
	byHand := map[reflect.Type]string{
		reflect.TypeFor[Result](): "total_duration", reflect.TypeFor[StepResult](): "duration",
		reflect.TypeFor[Visit](): "duration", reflect.TypeFor[Attempt](): "duration",
	}
	if err := planfile.Decode(data, &v, limits, byHand); err != nil {
		return nil, planError(err)
	}
	if v.Version != planVersion || v.Result == nil {
		return nil, &PlanError{Err: fmt.Errorf("version %d is not known, this is version %d", v.Version, planVersion)}
	}
	p := &Plan{
		tree: t, name: v.Name, options: v.Options, digest: func() string { return v.Digest }, mutates: v.Mutates ||
			len(v.Changes) > 0, result: v.Result, restores: v.Restores,
	}
	if cost := v.Result.Cost; cost < 0 {
		return nil, &PlanError{Err: fmt.Errorf("it has cost %v, which is less than nothing", cost)}
	}
	if v.Budget != nil {
		p.budget = budget.Limit(*v.Budget)
		if err := p.budget.Check(); err != nil {
			return nil, &PlanError{Err: err}
		}
	}
	if v.Restores != "" {
		if !journal.ValidID(v.Restores) {
			return nil, &PlanError{Err: fmt.Errorf("restores %q, which is not an id of a backup", v.Restores)}
		}
		t.x.RunID = "" // a restore is not a run that can be repeated
	}
	p.result.Restores = v.Restores
	p.result.DryRun, p.result.BackupID, p.result.Commit = true, "", CommitOutcome{State: CommitNone}
	p.result.Replayed = false
	p.failed = p.result.failedStep()
	changes, moved, err := planfile.Tree{FS: t.fs, Guard: t.policy, Limits: x.limits()}.Adopt(ctx, v.Changes)
	if err != nil {
		return nil, planError(err)
	}
	p.changes, p.moved = changes, moved
	if p.restores != "" {
		if err := p.reopened(ctx); err != nil {
			return nil, err
		}
	}
	p.weigh()
	return p.keep(), nil
}

// WithForce returns the plan with or without force, which lifts the limit on files, the levels of risk and the
// protection of read-only files. The plan is judged again. So a person can approve the shown plan without planning
// again. The host's ceiling, paths and other limits still apply. The two plans are committed separately; the second
// commit of the same change is a conflict.
func (p *Plan) WithForce(force bool) *Plan {
	q := p.copied()
	q.options.Force = force
	if !q.abandoned && q.mutates {
		q.judge()
	}
	return q
}

// Digest returns a SHA-256, as 64 hexadecimal digits, of the effect of Commit: kind and path of each change, its source
// path, the replaced file, hash, mode and target before and after, whether a deleted file is kept, and whether there
// will be a backup. It is the same for a plan and for the plan that [Executor.OpenPlan] reads from its JSON, and
// depends neither on the program that planned it nor on force: to approve a digest is to approve these bytes.
//
// Digest may read files: fsutil.ErrDrift reports a changed file. A plan that cannot be committed has no digest.
func (p *Plan) Digest() (string, error) {
	if p.abandoned {
		return "", fmt.Errorf("a plan that cannot be committed has no digest: %w", p.failed)
	}
	return planfile.Digest(p.changes, p.options.NoBackup)
}
