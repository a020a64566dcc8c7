package millrace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/backups"
	"github.com/millrace-go/millrace/internal/stage"
	"github.com/millrace-go/millrace/risk"
)

// Plan is a change that has been worked out and not been made: what a pipeline would do to a tree, exactly. It is
// immutable but for Commit, which works once, and safe for concurrent use. It can be written as JSON and taken up
// by another process with [Executor.OpenPlan].
type Plan struct {
	tree    *tree
	stage   *stage.Stage // what the changes read from; nil for a plan that was stored
	name    string
	options Options
	digest  func() string // of the pipeline; few ask for it
	mutates bool
	since   time.Time // nothing of the tree was read before
	result  *Result
	changes []fsutil.Change
	// restores is the id of the backup that is taken back, "" for a pipeline. As long as what is done comes straight from
	// the backup, the risk of it is not judged.
	restores string
	undoes   bool
	block    *BlockedError
	failed   error
	// foreign says that it came as JSON, or that nobody has counted its edits: they are counted by what it does.
	foreign bool
	// abandoned says that there is nothing to commit because a step has failed unhandled.
	abandoned bool

	mu        sync.Mutex
	committed bool
	closed    bool
}

// Result returns what the run would report. It is a copy.
func (p *Plan) Result() *Result { return p.result.clone() }

// Changes returns the differences between the tree and the plan in path order. Their splices are shared and must not be
// modified. New.Hash is worked out now where nobody has needed it so far, and is zero for an edited file that somebody else has
// written to meanwhile.
func (p *Plan) Changes() []fsutil.Change {
	changes := slices.Clone(p.changes)
	for i, c := range changes {
		if summed, err := c.Summed(); err == nil {
			changes[i] = summed
		}
	}
	return changes
}

func cloneReports(list []actions.FileReport) []actions.FileReport {
	list = slices.Clone(list)
	for i := range list {
		r := &list[i]
		r.EditsApplied, r.EditsFailed, r.Replacements = cloned(r.EditsApplied), cloned(r.EditsFailed), cloned(r.Replacements)
		r.FailedEdits, r.RangeHashes = slices.Clone(r.FailedEdits), slices.Clone(r.RangeHashes)
		r.Size, r.WouldModify = cloned(r.Size), cloned(r.WouldModify)
	}
	return list
}

// clone copies the result so deep that a caller cannot change the plan's.
func (r *Result) clone() *Result {
	c := *r
	c.Results = make([]StepResult, len(r.Results))
	for i, s := range r.Results {
		s.FilesMatched, s.Files, s.Warnings = slices.Clone(s.FilesMatched), cloneReports(s.Files), slices.Clone(s.Warnings)
		s.Content, s.Counts, s.Renames = maps.Clone(s.Content), maps.Clone(s.Counts), maps.Clone(s.Renames)
		s.FilesModified, s.FilesSkipped = cloned(s.FilesModified), cloned(s.FilesSkipped)
		c.Results[i] = s
	}
	c.FilesAffected, c.Warnings = slices.Clone(r.FilesAffected), slices.Clone(r.Warnings)
	f := &c.FilesChanged
	f.Created, f.Modified = slices.Clone(f.Created), slices.Clone(f.Modified)
	f.Deleted, f.Renamed = slices.Clone(f.Deleted), slices.Clone(f.Renamed)
	return &c
}

// plan gathers what the steps have done. The error is the one that Run returns.
func (r *run) plan(ctx context.Context, t *tree) (*Plan, error) {
	p := &Plan{tree: t, stage: r.stage, name: r.p.name, options: r.p.options, digest: sync.OnceValue(r.p.Digest), mutates: r.p.Mutates()}
	p.result = r.gather()
	p.failed = r.firstError(ctx)
	p.abandoned = ctx.Err() != nil || r.stopAt < r.p.Len()
	if p.failed != nil {
		p.result.Success = false
	}
	if p.mutates && p.abandoned {
		p.result.OverallRiskLevel = r.riskSoFar(p.result)
	}
	if !p.abandoned {
		if err := p.settle(r.stage); err != nil {
			p.failed, p.abandoned = err, true
			p.result.Success = false
		}
	}
	p.result.RollbackPerformed = p.abandoned && r.rolledBack()
	if step, ok := p.failed.(*StepError); ok {
		step.RolledBack = p.result.RollbackPerformed
	}
	if p.failed != nil {
		p.result.Error = p.failed.Error()
	}
	r.notify(RiskJudged{
		Level: p.result.OverallRiskLevel, Files: p.result.FilesChanged.Count(), Edits: p.result.TotalEdits,
		Blocked: p.result.BlockReason,
	})
	return p, p.failed
}

// riskSoFar is the level of a run that failed: the highest of its steps, and that of all their edits. What the steps have
// changed together does not count, for it depends on how many of them ran beside the one that failed.
func (r *run) riskSoFar(res *Result) risk.Level {
	level := r.x.Risk.Assess(0, res.TotalEdits)
	for _, s := range res.Results {
		level = max(level, s.RiskLevel)
	}
	return level
}

// rolledBack reports whether a step that had done its work was taken back, because all is given up. What a failed
// step had staged of itself does not count: how far it got can depend on the schedule, and so do steps that ran beside
// the failed one, and in sequence would not have.
func (r *run) rolledBack() bool {
	for i, staged := range r.staged {
		if staged && i <= r.stopAt && r.errs[i] == nil {
			return true
		}
	}
	return false
}

// gather makes the result of the steps alone. Steps after the first unhandled failure are left out although they may
// have run beside it.
func (r *run) gather() *Result {
	res := &Result{
		Name: r.p.name, Success: true, TotalSteps: r.p.Len(), DryRun: true, Verbose: r.p.options.Verbose, RunID: r.x.RunID,
		Commit: CommitOutcome{State: CommitNone}, FilesAffected: []string{}, Results: []StepResult{},
	}
	for _, w := range r.p.warnings {
		res.Warnings = append(res.Warnings, w.String())
	}
	affected := make(map[string]bool)
	for i, s := range r.results {
		if s == nil || i > r.stopAt {
			continue
		}
		res.Results = append(res.Results, *s)
		if s.Failed() {
			continue
		}
		res.CompletedSteps++
		res.TotalEdits += s.EditsApplied
		for _, f := range s.FilesMatched {
			affected[f] = true
		}
	}
	res.FilesAffected = append(res.FilesAffected, slices.Sorted(maps.Keys(affected))...)
	return res
}

// firstError returns the error of the first step that failed unhandled, or why the run was cut short.
func (r *run) firstError(ctx context.Context) error {
	for i, err := range r.errs {
		if err == nil || i > r.stopAt || r.results[i].Handled {
			continue
		}
		if ctx.Err() != nil {
			break // a step that was cancelled has not failed by itself
		}
		s := r.p.steps[i]
		return &StepError{Step: s.ID, Index: i, Action: s.Action.Spec().Name, Err: err}
	}
	if ctx.Err() != nil {
		return fmt.Errorf("pipeline canceled: %w", context.Cause(ctx))
	}
	return nil
}

// settle takes the changes from the stage and judges them.
func (p *Plan) settle(stage *stage.Stage) error {
	if !p.mutates {
		return nil
	}
	changes, err := stage.Outline()
	if err != nil {
		return p.unsettled(err)
	}
	p.changes = changes
	p.result.Warnings = append(p.result.Warnings, backups.LinkWarnings(p.tree.fs, p.tree.stateDir, changes)...)
	for _, c := range changes {
		for _, name := range []string{c.From, c.Path} {
			if fsutil.Visible(name) != name {
				p.result.Warnings = append(p.result.Warnings,
					fmt.Sprintf("the name %+q has characters that are not seen, or that turn the writing direction", name))
			}
		}
	}
	p.judge()
	return nil
}

// unsettled is the error of changes that cannot be worked out: what is staged is made from a file that somebody else has
// written to meanwhile, or the file system fails.
func (p *Plan) unsettled(err error) error {
	err = fmt.Errorf("work out changes: %w", err)
	// A MemMapFs says io.ErrUnexpectedEOF of a file that has become shorter while it is read.
	drift := errors.Is(err, fsutil.ErrDrift) || errors.Is(err, io.ErrUnexpectedEOF)
	if at, ok := errors.AsType[*fs.PathError](err); ok && drift {
		return &ConflictError{Conflicts: []Conflict{{Path: at.Path, Reason: "what its content is made from has changed since it was read"}}, Err: err}
	}
	return &CommitError{Step: p.result.TotalSteps, State: CommitNone, Err: err}
}

// judge counts the changed files and holds them, and the edits, against the limits: first the number of
// files, then the risk.
func (p *Plan) judge() {
	res, x := p.result, p.tree.x
	res.FilesChanged = filesChanged(p.changes)
	if p.undoes {
		res.FilesAffected = restoredFiles(p.changes)
		return
	}
	files, edits := res.FilesChanged.Count(), res.TotalEdits
	if p.foreign {
		edits = max(edits, p.counted())
	}
	res.OverallRiskLevel = x.Risk.Assess(files, edits)
	p.block = x.block(files, edits, res.OverallRiskLevel, p.options.Force)
	if p.block == nil && !p.options.Force {
		p.block = readOnlyFiles(p.changes)
		if p.block != nil {
			p.block.Level, p.block.Files, p.block.Edits = res.OverallRiskLevel, files, edits
		}
	}
	res.WouldBlock, res.BlockReason = p.block != nil, ""
	if p.block != nil {
		res.BlockReason = p.block.Reason
	}
}

// block returns why a change of that size may not be committed, or nil.
func (x Executor) block(files, edits int, level risk.Level, force bool) *BlockedError {
	blocked := func(host bool, format string, args ...any) *BlockedError {
		return &BlockedError{Reason: fmt.Sprintf(format, args...), Level: level, Files: files, Edits: edits, Host: host}
	}
	limit := cmp.Or(x.MaxFiles, DefaultMaxFiles)
	switch {
	case x.Ceiling != risk.Unset && level > x.Ceiling && files+edits > 0:
		return blocked(true, "operation blocked due to %s risk. The host allows no more than %s, force does not help", level, x.Ceiling)
	case force:
		return nil
	case limit > 0 && files > limit:
		return blocked(false, "too many files affected (%d > %d). Use force=true to bypass", files, limit)
	case level >= risk.High:
		return blocked(false, "operation blocked due to %s risk. Use force=true to proceed", level)
	default:
		return nil
	}
}

// readOnlyFiles blocks writing to files that their owner may not write to, and taking them away: somebody has protected them. It
// goes by the mode alone, for root may write to everything.
func readOnlyFiles(changes []fsutil.Change) *BlockedError {
	blocked := func(name, do string) *BlockedError {
		return &BlockedError{Reason: fmt.Sprintf("file %s is read-only. Use force=true to %s it", name, do)}
	}
	for _, c := range changes {
		switch {
		case isReadOnly(c.Replaced):
			return blocked(c.Path, "replace")
		case !isReadOnly(c.Old):
		case c.Kind == fsutil.Renamed:
			return blocked(c.From, "rename")
		case c.New.Kind == change.Absent:
			return blocked(c.Path, "delete")
		case c.New.Kind != change.File || c.Old.Hash != c.New.Hash:
			return blocked(c.Path, "write to")
		}
	}
	return nil
}

func isReadOnly(s change.State) bool {
	const ownerWrite = 0o200
	return s.Kind == change.File && s.Mode&ownerWrite == 0
}

// filesChanged sorts the changes of files into lists. A change between a file and a directory counts as what happened
// to the file.
func filesChanged(changes []fsutil.Change) FilesChanged {
	var f FilesChanged
	isFile := func(s change.State) bool { return s.Kind == change.File || s.Kind == change.Symlink }
	for _, c := range changes {
		switch was, is := isFile(c.Old), isFile(c.New); {
		case !was && !is:
		case c.Kind == fsutil.Renamed:
			f.Renamed = append(f.Renamed, RenamedFile{From: c.From, To: c.Path})
		case was && is:
			f.Modified = append(f.Modified, c.Path)
		case was:
			f.Deleted = append(f.Deleted, c.Path)
		default:
			f.Created = append(f.Created, c.Path)
		}
	}
	return f
}
