package millrace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/definition"
	"github.com/millrace-go/millrace/internal/errorform"
	"github.com/millrace-go/millrace/internal/kinds"
	"github.com/millrace-go/millrace/internal/panics"
	"github.com/millrace-go/millrace/internal/stage"
	"github.com/millrace-go/millrace/internal/worded"
	"github.com/millrace-go/millrace/risk"
	"github.com/millrace-go/millrace/wording"
)

// ErrHold is returned by [Checkpointer.Enter] and [Approver.Approve] to stop a run before its next attempt or its
// commit. An error that wraps it has the reason: fmt.Errorf("waits for Ann: %w", ErrHold).
var ErrHold = errors.New("the run is held")

// ErrManual reports that a pipeline has a step that waits for a person, see [Step.Manual], and that the executor
// cannot keep a waiting run.
var ErrManual = errors.New(
	"the pipeline has a manual step, which waits for a person, and this executor cannot keep a waiting run: " +
		"set Executor.Checkpoints, or run it with dry_run")

// Approver is an optional interface of a [Checkpointer]: it sees the plan before Enter is called for the commit, even
// if limits or risk block the plan.
type Approver interface {
	// Approve returns nil to continue; a blocked change stays blocked. An error that matches ErrHold ends the run with a
	// *HeldError at the commit, another error ends the run with that error. The plan must not be committed or closed, nor
	// used after Approve returns; the plan of the *HeldError can be used.
	Approve(ctx context.Context, plan *Plan) error
}

// Trimmer is an optional interface of an [Approver]: it leaves out a part of a plan that it has approved.
type Trimmer interface {
	// Trim returns the plan that is committed: the approved plan, or a plan that its Reject, RejectHunks or Revise has
	// returned. Limits and risk can still block that plan. Errors are handled as the errors of Approve.
	Trim(ctx context.Context, plan *Plan) (*Plan, error)
}

// HeldError reports that a run waits for a decision: at a Manual step, at an interrupted step that may have had its
// effect outside of the tree, or where the [Checkpointer] has asked for it. A Result is returned with it. Nothing was
// written, and no lock is held; [Executor.Resume] continues. Its code is "held".
type HeldError struct {
	// At is the next attempt, or the commit.
	At Position
	// Reason is the reason, with advice.
	Reason string
	// Plan has the changes staged so far, or all changes to commit. It can be read, including its Digest, but neither
	// stored as JSON nor committed. Close it when it is no longer needed.
	Plan *Plan

	inParts
}

// inParts is a message in its parts, nil if it has none.
type inParts struct{ message *worded.Error }

// As sets target to the message in its parts, for a door of the project.
func (p inParts) As(target any) bool { return p.message != nil && p.message.Give(target) }

// asks sets the reason.
func (e *HeldError) asks(format string, args ...any) {
	e.message = worded.Errorf(format, args...)
	e.Reason = e.message.Error()
}

// Error returns "run is held: step 'deploy' is manual: play to run it".
func (e *HeldError) Error() string { return "run is held: " + e.Reason }

// Code returns "held".
func (e *HeldError) Code() string { return errorform.Held }

// heldBy returns the error of a run that a [Checkpointer] holds at a position.
func heldBy(at Position, err error) *HeldError {
	reason := strings.TrimSuffix(err.Error(), ": "+ErrHold.Error())
	if err.Error() == ErrHold.Error() {
		reason = "the host holds it before the commit"
		if at.Step != "" {
			reason = fmt.Sprintf("the host holds it before step '%s'", at.Step)
		}
	}
	held := &HeldError{At: at, Reason: reason}
	if message, ok := errors.AsType[*worded.Error](err); ok && message.Error() == reason {
		held.message = message
	}
	return held
}

// mayWait returns ErrManual if a step waits for a person and no Checkpointer can keep the run.
func mayWait(p definition.Pipeline, c Checkpointer) error {
	if c == nil && slices.ContainsFunc(p.Steps, func(s definition.Step) bool { return s.Manual }) {
		return ErrManual
	}
	return nil
}

// end returns the result of Run for a plan that is not committed. The plan is nil for a run that could not be resumed.
func (p *Plan) end(err error) (*Result, error) {
	if p == nil {
		return nil, err
	}
	held, ok := err.(*HeldError)
	if !ok {
		return p.outcome(commit.Report{}, err)
	}
	p.held, p.failed = held, err
	p.result.failed(err)
	held.Plan = p.keep()
	res := p.result.clone()
	res.DryRun = false
	return res, err
}

// mayCommit returns the plan that a run commits: its own plan, or the trimmed plan of the Checkpointer, which must be
// closed. The error is the reason why it must not be committed now.
func (p *Plan) mayCommit(ctx context.Context) (*Plan, error) {
	c := p.tree.x.Checkpoints
	if c == nil || len(p.changes) == 0 {
		return p, p.blocked()
	}
	at := Position{Index: p.result.TotalSteps}
	ask := func(do func() error) error {
		err := panics.Protect(do)
		if errors.Is(err, ErrHold) {
			return heldBy(at, err)
		}
		return err
	}
	if a, ok := c.(Approver); ok {
		if err := ask(func() error { return a.Approve(ctx, p) }); err != nil {
			return p, err
		}
	}
	left := p
	if t, ok := c.(Trimmer); ok {
		err := ask(func() (err error) {
			left, err = t.Trim(ctx, p)
			return err
		})
		switch {
		case err != nil:
			return p, err
		case left == nil || left.tree != p.tree:
			return p, errors.New("the host has trimmed another plan")
		}
	}
	if left != p {
		left.since, left.markCommit, left.acted = p.since, p.markCommit, p.acted
	}
	return left, left.entered(ctx, at, ask)
}

// entered notes that a run commits the plan now, if nothing blocks that.
func (p *Plan) entered(ctx context.Context, at Position, ask func(do func() error) error) error {
	if err := p.blocked(); err != nil || len(p.changes) == 0 {
		return err
	}
	taken, err := stage.TakenBy(ctx, p.changes)
	if err != nil {
		return &canceledError{cause: context.Cause(ctx), ended: ctx.Err()}
	}
	if err := p.markCommit(ctx, at, taken); err != nil {
		return err
	}
	return ask(func() error { return p.tree.x.Checkpoints.Enter(ctx, at) })
}

// blocked returns the reason why the plan is blocked, or nil.
func (p *Plan) blocked() error {
	if p.block != nil {
		return p.block
	}
	return nil
}

// BlockedError means that the limits or the risk forbid the change. Nothing was written.
type BlockedError struct {
	// Reason is the whole message. Its advice about force has the words of Executor.Words.
	Reason string
	// Level is the risk of the whole change, judged by Files and Edits.
	Level risk.Level
	Files int
	Edits int
	// Host means that force does not help: the limit is the host's ceiling, or a budget.
	Host bool
	// Budget is the exceeded budget. Nil if another limit, or the risk, blocks the change.
	Budget *BudgetError

	path string // the file that is read-only, "" for other reasons
}

// Error returns the reason.
func (e *BlockedError) Error() string { return e.Reason }

// Paths returns the file that is read-only, if that is the reason.
func (e *BlockedError) Paths() []string {
	if e.path == "" {
		return nil
	}
	return []string{e.path}
}

// Unwrap returns the *BudgetError, if a budget is exceeded.
func (e *BlockedError) Unwrap() error {
	if e.Budget == nil {
		return nil
	}
	return e.Budget
}

// Code returns "blocked", or "budget_exceeded" if a budget is exceeded.
func (e *BlockedError) Code() string {
	if e.Budget != nil {
		return e.Budget.Code()
	}
	return errorform.Blocked
}

// block returns the reason why a change of that size may not be committed, or nil. spent is nil unless it exceeds a
// budget.
func (x Executor) block(files, edits int, level risk.Level, force bool, spent *BudgetError) *BlockedError {
	blocked := func(host bool, advice wording.Part, format string, args ...any) *BlockedError {
		reason := worded.Errorf("%v%v", worded.Errorf(format, args...), advice)
		return &BlockedError{Reason: wording.Of(reason, x.Words), Level: level, Files: files, Edits: edits, Host: host}
	}
	noForce := wording.Part{Kind: kinds.Hint, Text: ", force does not help"}
	limit := cmp.Or(x.MaxFiles, DefaultMaxFiles)
	switch {
	case x.Ceiling != risk.Unset && level > x.Ceiling && files+edits > 0:
		return blocked(true, noForce, "operation blocked due to %s risk. %v", level, wording.Part{Kind: kinds.Ceiling,
			Text: "The host allows no more than " + x.Ceiling.String(), Value: x.Ceiling.String()})
	case spent != nil:
		b := blocked(true, noForce, "%v", spent)
		b.Budget = spent
		return b
	case force:
		return nil
	case limit > 0 && files > limit:
		return blocked(false, useForce("bypass"), "too many files affected (%d > %d)", files, limit)
	case level >= risk.High:
		return blocked(false, useForce("proceed"), "operation blocked due to %s risk", level)
	default:
		return nil
	}
}

// useForce is the advice to set force for a change that is blocked.
func useForce(do string) wording.Part {
	return wording.Part{Kind: kinds.UseForce, Text: ". Use force=true to " + do}
}

// BudgetError means that a budget, of the pipeline or [Executor.Budget], does not allow the next step or the commit.
// All staged changes are discarded.
type BudgetError struct {
	// The unit: "usd", "files", "edits" or "bytes".
	What string
	// Limit is the allowed amount, and Spent the used amount; "usd" is in millionths of a dollar, like a budget.Cost.
	Limit, Spent int64
	// Step is the id of the next step to run, "" if all steps were done and the commit was next.
	Step string
}

// Error returns "budget of $3.00 is spent ($3.02) before step 'x'".
func (e *BudgetError) Error() string {
	before := ""
	if e.Step != "" {
		before = fmt.Sprintf(" before step '%s'", e.Step)
	}
	if e.What == budgetUSD {
		return fmt.Sprintf("budget of %v is spent (%v)%s", budget.Cost(e.Limit), budget.Cost(e.Spent), before)
	}
	return fmt.Sprintf("budget of %d %s is exceeded (%d)%s", e.Limit, e.What, e.Spent, before)
}

// Code returns "budget_exceeded".
func (e *BudgetError) Code() string { return errorform.BudgetExceeded }

// budgetUSD is the value of BudgetError.What for money.
const budgetUSD = "usd"

// exceeded returns an error if the changes of a run, so far or in all, are larger than the budget allows. Otherwise it
// returns a nil pointer.
func exceeded(limit budget.Limit, use budget.Use, step string) *BudgetError {
	e := &BudgetError{What: limit.Exceeded(use), Step: step}
	switch e.What {
	case "files":
		e.Limit, e.Spent = int64(limit.Files), int64(use.Files)
	case "edits":
		e.Limit, e.Spent = int64(limit.Edits), int64(use.Edits)
	case "bytes":
		e.Limit, e.Spent = limit.Bytes, use.Bytes
	default:
		return nil
	}
	return e
}

// used returns the use of a budget by changes.
func used(changes []change.Change, edits int, cost budget.Cost) budget.Use {
	use := budget.Use{USD: cost, Files: filesChanged(changes).Count(), Edits: edits}
	for _, c := range changes {
		if c.Old.Hash != c.New.Hash { // only files have hashes and sizes
			use.Bytes += c.New.Size
		}
	}
	return use
}

// budgetReport returns the budget with its use, nil without a budget.
func budgetReport(limit budget.Limit, use budget.Use) *budget.Report {
	if limit.IsZero() {
		return nil
	}
	return new(limit.Report(use))
}
