package millrace

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/definition"
	"github.com/millrace-go/millrace/internal/errorform"
	"github.com/millrace-go/millrace/tool"
)

// The executor does not replace the action of a step by one that is bound to a tool: templates, Equal, Digest and the
// JSON form are all about the action as it stands in the pipeline. What a run needs of the tool is its Spec, which is
// worked out once when the run begins, and the call, which the action is handed when it runs.

// specs are what the actions of the steps say of themselves; where a step calls a tool, with what that says.
func (p Pipeline) specs(tools tool.Set) []actions.Spec {
	specs := make([]actions.Spec, len(p.steps))
	for i, s := range p.steps {
		specs[i] = s.Action.Spec()
		if a, ok := toolOf(s.Action); ok {
			t, _ := tools.Spec(a.Tool)
			specs[i].Outside, specs[i].Costs, specs[i].Retries = !t.Pure, t.Costs, t.Retries
		}
	}
	return specs
}

// mayAct returns an error if the host only reads, and a step acts outside of the tree.
func (x Executor) mayAct(p Pipeline) error {
	if !x.ReadOnly {
		return nil
	}
	for i, spec := range p.specs(x.Tools) {
		if spec.Outside {
			return &readOnlyError{fmt.Sprintf("executor is read-only and step '%s' acts outside of the tree: run it with dry_run", p.steps[i].ID)}
		}
	}
	return nil
}

// whyNot says why the step of a visit is not to run, or "". What acts outside of the tree does not in a dry run, and what
// would have come of it is not known to the steps that refer to it.
func (r *run) whyNot(ctx context.Context, v *visit) (string, error) {
	if v.uncalled = r.uncalledFor(v.step); v.uncalled != "" {
		return fmt.Sprintf("'%s' was not called", v.uncalled), nil
	}
	reason, err := r.skipReason(ctx, v.step)
	if reason == "" && err == nil {
		if reason = r.noArguments(ctx, v.step); reason != "" {
			v.result.Warnings = append(v.result.Warnings, reason)
		}
	}
	if err != nil || reason != "" || !r.x.DryRun || !r.specs[v.step].Outside {
		return reason, err
	}
	v.uncalled = v.result.StepID
	if a, ok := toolOf(r.p.steps[v.step].Action); ok {
		return fmt.Sprintf("tool '%s' acts outside of the tree and is not called in a dry run", a.Tool), nil
	}
	return fmt.Sprintf("%s acts outside of the tree and is not run in a dry run", v.result.Action), nil
}

// uncalledFor returns the id of a step that was not called in this dry run and that a step depends on, itself or by way of
// others, or "".
func (r *run) uncalledFor(i int) string {
	if !r.x.DryRun {
		return ""
	}
	s, texts := r.p.steps[i], r.p.compiled[i].texts
	refs := append(s.inputs(), texts.Refs()...)
	if ref := s.When.StepRef(); ref != "" {
		refs = append(refs, ref)
	}
	first := r.p.Len()
	for _, ref := range refs {
		if v := r.seen(ref); v != nil && v.uncalled != "" {
			first = min(first, v.step)
		}
	}
	if first < r.p.Len() {
		return r.seen(r.p.steps[first].ID).uncalled
	}
	if s.Input != definition.InputPrevious && s.When.Type() != condition.TypePrevError && !texts.Names(definition.RootPrev) && !r.p.isTold(i) {
		return ""
	}
	return r.uncalledBefore(i)
}

// uncalledBefore returns the id of a step that would have been executed after the one that was the last before step i,
// had it been called, or "".
func (r *run) uncalledBefore(i int) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	skipped := r.now[:i]
	if r.machine != nil {
		skipped = r.visited
	}
	for _, v := range slices.Backward(skipped) {
		switch {
		case v == nil:
		case v.uncalled != "":
			return v.uncalled
		case !v.result.Skipped:
			return ""
		}
	}
	return ""
}

// caller calls a tool of the host for a visit.
func (r *run) caller(v *visit, call *actions.Call) func(context.Context, string, map[string]any) (actions.Outcome, error) {
	return func(ctx context.Context, name string, args map[string]any) (actions.Outcome, error) {
		res, err := r.x.Tools.Call(ctx, name, tool.Call{
			Args: args, Step: v.result.StepID, Key: r.callKey(v), Visit: call.Visit, Attempt: call.Attempt,
			Spend: call.Spend, Log: call.Log().With("tool", name),
		})
		return actions.Outcome{Output: res.Output, Data: res.Data}, err
	}
}

// callKey names a visit to services outside, so that they can tell another attempt from another call. Under a RunID it is
// the same when the run is done again, as after a crash before its commit; else each run has keys of its own.
func (r *run) callKey(v *visit) string {
	parts := []string{"millrace call", r.identity(), v.result.StepID, strconv.Itoa(v.number)}
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// identityOf returns what no other run has, but the same one done again under its RunID.
func (x Executor) identityOf(p Pipeline) func() string {
	return func() string {
		if x.RunID != "" {
			return x.RunID + "\x00" + p.Digest()
		}
		return rand.Text()
	}
}

// ErrIncomplete says that a plan cannot be committed, for a step that acts outside of the tree was not run when it was
// made, and what follows from that is not known.
var ErrIncomplete = errorform.New(errorform.IncompletePlan, "plan is incomplete, for a step that acts outside of the tree was not run: run the pipeline instead")

// outsideSteps notes what a run has done outside of the tree, or has left undone because it is a dry run.
func (p *Plan) outsideSteps(r *run) {
	visits := r.visited
	if r.machine == nil {
		visits = r.shown()
	}
	told := make(map[string]bool)
	for _, v := range visits {
		id := v.result.StepID
		if told[id] {
			continue
		}
		if v.acted {
			told[id] = true
			p.acted = append(p.acted, fmt.Sprintf("what step '%s' has done outside of the tree is not taken back", id))
		}
		if v.uncalled == id {
			told[id] = true
			p.result.Incomplete = true
			p.result.Warnings = append(p.result.Warnings,
				fmt.Sprintf("the plan is incomplete, for step '%s' acts outside of the tree and was not run: run the pipeline instead", id))
		}
	}
}
