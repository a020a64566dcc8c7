package millrace

import (
	"context"
	"encoding/json"

	"github.com/millrace-go/millrace/fsutil"
)

// Checkpointer keeps how far a run has come, so that another process can go on with it: see [Executor.Checkpoints] and
// [Executor.Resume]. An error of a method ends the run with that error, and nothing is committed; what was kept before
// stays good. The methods are called from several goroutines in a run in parallel, but Keep never at the same time as
// another Keep.
//
// A Checkpointer that has the method of an [Approver] is shown what is to be committed.
type Checkpointer interface {
	// Enter is called before each attempt, and before the commit of what was changed: the Step of the position is "" then,
	// and its Index the number of steps. An error that matches ErrHold ends the run in front of it, with a *HeldError.
	// Steps that are skipped are not entered.
	Enter(ctx context.Context, at Position) error
	// Keep is called after each attempt, one at a time, and once for each visit that was skipped. The run goes on when it
	// returns. What it is given must not be changed, and is not changed later. An attempt that the end of its context has
	// cut short is not kept, nor is one that the process did not live to see the end of.
	Keep(ctx context.Context, c Checkpoint) error
	// Spill is where the run puts the bytes of files that it has written as a whole: those that a Delta names. They are
	// needed as long as the run is to be resumed. It is asked for once a run, and its bytes must still be there, at the same
	// offsets, when the run is resumed.
	Spill() fsutil.Spill
}

// Position is a place in a run: an attempt of a visit of a step, or the commit.
type Position struct {
	// Step is the id of the step, Index its place in the pipeline, from 0. The commit has "" and the number of steps.
	Step  string `json:"step"`
	Index int    `json:"index"`
	// Visit counts the arrivals at the step, and Attempt the attempts in that visit, both from 1. Attempt is 0 for a visit
	// that was skipped; of the commit both are 0.
	Visit   int `json:"visit,omitempty"`
	Attempt int `json:"attempt,omitempty"`
}

// Checkpoint is what came of an attempt, and what it takes to go on behind it. Its fields can be kept as JSON.
//
// One without a Result (its StepID is "") is a mark: that the run was held at the position, or that an attempt which acts
// outside of the tree has begun there. It has neither a Delta nor a job of its own, but it has to be kept among the
// others and given back with them: it is what lets a run that is resumed go through where it was held.
type Checkpoint struct {
	Position
	// Result is what the step has done, as it stands in the Result of a run. Of an attempt that is followed by another one
	// it is that attempt's.
	Result StepResult `json:"result"`
	// Final says that the visit is over. A run goes on behind a Final checkpoint.
	Final bool `json:"final,omitempty"`
	// State is the interpreter's, and of no use to others.
	State json.RawMessage `json:"state,omitempty"`
	// Parent is the number of the checkpoint whose Delta this one's follows, 0 for none: checkpoints are numbered from 1,
	// those of [Saved] first, in the order in which they were kept.
	Parent int `json:"parent,omitempty"`
	// Delta is what has changed on the stage since Parent, nil if that cannot be anything. It is bytes, of any value.
	Delta []byte `json:"delta,omitempty"`
}
