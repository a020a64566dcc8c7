package millrace

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/internal/definition"
	"github.com/millrace-go/millrace/internal/exact"
	"github.com/millrace-go/millrace/internal/flow"
	"github.com/millrace-go/millrace/internal/replay"
	"github.com/millrace-go/millrace/internal/stage"
)

// runState is the State of a checkpoint. The rest of a visit comes from its Result.
type runState struct {
	Mark markKind `json:"mark,omitempty"`
	// Flow is the state of the machine of a run in sequence.
	Flow flow.State `json:"flow,omitzero"`
	// Before is the number of the previous Final checkpoint on the way of the run, 0 for none.
	Before int `json:"before,omitempty"`
	// Elapsed is the running time of the run, in nanoseconds, without the time in which no process worked on it.
	Elapsed time.Duration `json:"elapsed,omitempty"`
	// Spent are the costs of the steps, by step; nil for none.
	Spent []budget.Cost `json:"spent,omitempty"`

	// The visit: the number of deltas before its beginning, whether its condition held, and its effects.
	Depth    int       `json:"depth,omitempty"`
	Entered  bool      `json:"entered,omitempty"`
	Staged   bool      `json:"staged,omitempty"`
	Acted    bool      `json:"acted,omitempty"`
	NewText  int64     `json:"new_text,omitempty"`
	Attempts []Attempt `json:"attempts,omitempty"`
	// Exact has the texts that JSON would change, escaped: nil without such texts.
	Exact *exactTexts `json:"exact,omitempty"`
	// Taken lists the files that the commit removes.
	Taken []stage.TakenAway `json:"taken,omitempty"`
}

// exactTexts are the texts of a visit, escaped so that JSON does not change them.
type exactTexts struct {
	Result   StepResult `json:"result"`
	Attempts []Attempt  `json:"attempts,omitempty"`
}

// exactly returns the texts of a visit if JSON would change one of them, else nil.
func (v *visit) exactly() *exactTexts {
	texts := exactTexts{v.result, v.attempts}
	if exact.Survives(texts) {
		return nil
	}
	return new(exact.Map(texts, exact.Escape))
}

// stateOf returns the state of the run after an attempt of a visit.
func (r *run) stateOf(v *visit) runState {
	s := runState{
		Before: r.kept.before, Elapsed: r.kept.running(), Depth: v.depth, Entered: v.entered, Staged: v.staged,
		Acted: v.acted, NewText: v.newText, Attempts: v.attempts, Exact: v.exactly(),
	}
	if r.machine != nil {
		s.Flow = r.machine.State()
	}
	r.spent.mu.Lock()
	defer r.spent.mu.Unlock()
	if r.spent.total > 0 {
		s.Spent = slices.Clone(r.spent.steps)
	}
	return s
}

// keptCheckpoint is a checkpoint that Resume has read.
type keptCheckpoint struct {
	Checkpoint
	state runState
}

// takenUp is the progress from which a resumed run continues.
type takenUp struct {
	all  []keptCheckpoint // the first has number 1
	last int              // the number of the Final checkpoint to continue after, 0 for the beginning
	way  []int            // the numbers of the Final checkpoints on the way there, including last
}

// read collects the checkpoints.
func (s *Saved) read(p definition.Pipeline) (*takenUp, error) {
	up := new(takenUp)
	if s == nil || s.Checkpoints == nil {
		return up, nil
	}
	for c, err := range s.Checkpoints {
		if err != nil {
			return nil, fmt.Errorf("the run cannot be resumed: %w", err)
		}
		k := keptCheckpoint{Checkpoint: c}
		if err := json.Unmarshal(c.State, &k.state); err != nil {
			return nil, up.unfit("its state: %v", err)
		}
		isCommit := c.Index == p.Len() && c.Step == "" && !c.Final && k.state.Mark == markCommit
		if !isCommit && (c.Index < 0 || c.Index >= p.Len() || p.Steps[c.Index].ID != c.Step) {
			return nil, up.unfit("the pipeline has no step '%s' at %d", c.Step, c.Index)
		}
		if n := len(up.all); c.Parent < 0 || c.Parent > n || k.state.Before < 0 || k.state.Before > n ||
			len(k.state.Spent) > p.Len() {
			return nil, up.unfit("it follows none before")
		}
		up.all = append(up.all, k)
	}
	return up, nil
}

// unfit returns the error that the next checkpoint does not belong to this run.
func (up *takenUp) unfit(format string, args ...any) error {
	return fmt.Errorf("the run cannot be resumed: checkpoint %d: %s", len(up.all)+1, fmt.Sprintf(format, args...))
}

// at returns the checkpoint with a number, which must exist.
func (up *takenUp) at(number int) *keptCheckpoint { return &up.all[number-1] }

// end sets the checkpoint from which the run continues.
func (up *takenUp) end(number int) {
	up.last, up.way = number, nil
	for ; number > 0; number = up.at(number).state.Before {
		up.way = append(up.way, number)
	}
	slices.Reverse(up.way)
}

// inSequence finds the last Final checkpoint that did not end the run early, and restores the machine there.
func (up *takenUp) inSequence(m *flow.Machine) error {
	for number := len(up.all); number > 0; number-- {
		c := up.at(number)
		if !c.Final {
			continue
		}
		if err := m.Restore(c.state.Flow); err != nil {
			return fmt.Errorf("the run cannot be resumed: checkpoint %d: %w", number, err)
		}
		if _, goesOn := m.At(); goesOn || m.Completed() {
			up.end(number)
			if len(up.way) != len(m.History()) {
				return fmt.Errorf("the run cannot be resumed: checkpoint %d follows %d visits, there are %d", number,
					len(m.History()), len(up.way))
			}
			return nil
		}
	}
	return m.Restore(flow.State{Visit: 1, Attempt: 1})
}

// wasParallel reports whether the checkpoints are from a parallel run: they do not have the state of a machine.
func (up *takenUp) wasParallel() bool {
	return up != nil && slices.ContainsFunc(up.all, func(c keptCheckpoint) bool {
		return c.Final && c.state.Flow == flow.State{}
	})
}

// inParallel continues after the last Final checkpoint, and leaves out the steps that have ended the run.
func (up *takenUp) inParallel(continues bool) {
	for number := len(up.all); number > 0 && up.last == 0; number-- {
		if up.at(number).Final {
			up.end(number)
		}
	}
	up.way = slices.DeleteFunc(up.way, func(number int) bool {
		res := up.at(number).Result
		return res.Failed() && !res.Handled && !continues
	})
}

// deltas returns the deltas up to the checkpoint to continue from, and the numbers of their checkpoints.
func (up *takenUp) deltas() (deltas [][]byte, numbers []int) {
	for number := up.last; number > 0; number = up.at(number).Parent {
		deltas, numbers = append(deltas, up.at(number).Delta), append(numbers, number)
	}
	slices.Reverse(deltas)
	slices.Reverse(numbers)
	return deltas, numbers
}

// taken returns the files removed by commits that have begun and were undone.
func (up *takenUp) taken() (all []stage.TakenAway) {
	for _, c := range up.all {
		all = append(all, c.state.Taken...)
	}
	return all
}

// marks returns the marks after the checkpoint to continue from.
func (up *takenUp) marks() map[visitKey]marked {
	marks := make(map[visitKey]marked)
	for _, c := range up.all[up.last:] {
		at := visitKey{c.Index, c.Visit}
		now := marks[at]
		now.held, now.last = now.held || c.state.Mark == markHeld, c.state.Mark
		marks[at] = now
	}
	return marks
}

// carry makes the run a resumed run.
func (up *takenUp) carry(r *run, k *keeping) {
	k.number = len(up.all)
	for _, c := range up.all { // costs stay, even for steps that are repeated
		if !c.Final {
			continue
		}
		k.elapsed = c.state.Elapsed
		// The costs of unfinished steps count with their answers.
		if c.Index < len(c.state.Spent) {
			r.spent.steps[c.Index] = c.state.Spent[c.Index]
		}
	}
	for _, cost := range r.spent.steps {
		r.spent.total = r.spent.total.Plus(cost)
	}
}

// visits adds the finished visits to the run.
func (up *takenUp) visits(r *run, keeper *stage.Keeper) (saves []stage.Savepoint, err error) {
	var history []flow.Visit
	if r.machine != nil {
		history = r.machine.History()
	}
	for i, number := range up.way {
		c := up.at(number)
		c.restoreTexts()
		v := c.visit()
		if r.machine == nil {
			r.now[v.step], r.last[v.step] = v, v
			continue
		}
		if h := history[i]; h.Step != v.step || h.Visit != v.number || v.depth < 0 || v.depth > keeper.Depth() &&
			!h.Discarded {
			return nil, fmt.Errorf("the run cannot be resumed: checkpoint %d is none of its visits", number)
		}
		v.discarded = history[i].Discarded
		save := stage.Savepoint{}
		if !v.discarded {
			save = keeper.Savepoint(v.depth)
		}
		saves = append(saves, save)
		r.visited = append(r.visited, v)
		r.see(v)
		r.last[v.step] = v
		if !v.result.Skipped {
			r.forget(v)
		}
		var bypassed []int
		if history[i].By != flow.ByRetry {
			for j := v.step + 1; j < history[i].To; j++ {
				bypassed = append(bypassed, j)
			}
		}
		r.pass(v, history[i].By, history[i].To, bypassed)
	}
	return saves, nil
}

// restoreTexts restores the texts of a checkpoint that JSON has changed.
func (c *keptCheckpoint) restoreTexts() {
	if c.state.Exact != nil {
		texts := exact.Map(*c.state.Exact, exact.Unescape)
		c.Result, c.state.Attempts = texts.Result, texts.Attempts
	}
}

// visit returns the visit of a Final checkpoint.
func (c *keptCheckpoint) visit() *visit {
	v := &visit{
		step: c.Index, number: c.Visit, result: c.Result.clone(), staged: c.state.Staged, newText: c.state.NewText,
		entered: c.state.Entered, acted: c.state.Acted, attempts: c.state.Attempts, cost: c.Result.Cost,
		depth: c.state.Depth,
	}
	if c.Result.Failed() {
		// it has no attempts left
		v.err = &replay.Error{Text: v.result.cause(), ErrorCode: v.result.ErrorCode, Final: true}
	} else {
		v.outcome = v.result.outcome()
	}
	return v
}

// outcome returns the outcome that take has copied into the result.
func (s *StepResult) outcome() actions.Outcome {
	return actions.Outcome{
		Files: s.FilesMatched, Content: s.Content, Aggregated: s.AggregatedContent, Output: s.Output, Data: s.Data,
		Edits: s.EditsApplied, Counts: s.Counts, Renames: s.Renames, Reports: s.Files, FilesModified: s.FilesModified,
		FilesSkipped: s.FilesSkipped, Mode: s.Mode, LeftOut: s.LeftOut,
	}
}

// driftOf returns the error with the steps that have read the changed paths, and whether a step from there on has acted
// outside of the tree.
func (up *takenUp) driftOf(err error, numbers []int, outside func(step int) bool) error {
	drift, ok := errors.AsType[*stage.DriftError](err)
	if !ok {
		return fmt.Errorf("the run cannot be resumed: %w", err)
	}
	e, first := new(DriftError), len(numbers)
	for _, d := range drift.Drifts {
		step := up.at(numbers[d.Delta]).Step
		e.Drifts = append(e.Drifts, Drift{Path: d.Path, Reason: d.Reason, Step: step})
		if d.Delta < first {
			first, e.From = d.Delta, step
		}
	}
	from := slices.IndexFunc(up.all, func(c keptCheckpoint) bool { return c.Step == e.From })
	for _, c := range up.all[from:] {
		if e.Outside == "" && c.Step != "" && (c.state.Mark == markBegun || c.Attempt > 0 && outside(c.Index)) {
			e.Outside = c.Step
		}
	}
	return e
}
