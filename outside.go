package millrace

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/agent"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/bulkhead"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/definition"
	"github.com/millrace-go/millrace/internal/emptied"
	"github.com/millrace-go/millrace/internal/errorform"
	"github.com/millrace-go/millrace/internal/interpolate"
	"github.com/millrace-go/millrace/internal/scratch"
	"github.com/millrace-go/millrace/internal/stage"
	"github.com/millrace-go/millrace/internal/workspace"
	"github.com/millrace-go/millrace/tool"
)

// whyNot returns the reason not to run the step of a visit, or "". A step that acts outside of the tree does not run in
// a dry run, so steps that refer to it have no result to work on.
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
	if a, ok := definition.ToolOf(r.p.Steps[v.step].Action); ok {
		return fmt.Sprintf("tool '%s' acts outside of the tree and is not called in a dry run", a.Tool), nil
	}
	return fmt.Sprintf("%s acts outside of the tree and is not run in a dry run", v.result.Action), nil
}

// uncalledFor returns the id of a step that was not called in this dry run and that step i depends on, directly or
// through others, or "".
func (r *run) uncalledFor(i int) string {
	if !r.x.DryRun {
		return ""
	}
	s, texts := r.p.Steps[i], r.p.Compiled[i].Texts
	refs := append(s.Inputs(), texts.Refs()...)
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
		return r.seen(r.p.Steps[first].ID).uncalled
	}
	if s.Input != definition.InputPrevious && !s.AfterError() &&
		!texts.Names(definition.RootPrev) && !r.p.IsTold(i) {
		return ""
	}
	return r.uncalledBefore(i)
}

// uncalledBefore returns the id of a step that was not called, but would otherwise have been the last step executed
// before step i, or "".
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

// caller returns a function that calls a tool of the host for a visit.
func (r *run) caller(
	v *visit, call *actions.Call,
) func(context.Context, string, map[string]any) (actions.Outcome, error) {
	return func(ctx context.Context, name string, args map[string]any) (actions.Outcome, error) {
		res, err := r.x.Tools.Call(ctx, name, tool.Call{
			Args: args, Step: v.result.StepID, Key: r.callKey(v), Visit: call.Visit, Attempt: call.Attempt,
			Spend: call.Spend, Log: call.Log().With("tool", name),
		})
		return actions.Outcome{Output: res.Output, Data: res.Data}, err
	}
}

// callKey identifies a visit for outside services, so that they can distinguish another attempt from another call. With
// a RunID the key is the same if the run is repeated, for example after a crash before its commit. Without a RunID each
// run has its own keys.
func (r *run) callKey(v *visit) string {
	parts := []string{"millrace call", r.identity(), v.result.StepID, strconv.Itoa(v.number)}
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// identityOf returns a text that only this run has, or with a RunID only repetitions of this run.
func (x Executor) identityOf(p definition.Pipeline) func() string {
	return func() string {
		if x.RunID != "" {
			return x.RunID + "\x00" + p.Digest()
		}
		return rand.Text()
	}
}

// act runs the action of a visit. An action that asks something of the host runs within its bulkheads.
func (r *run) act(ctx context.Context, v *visit, action actions.Action, call *actions.Call) (actions.Outcome, error) {
	ctx = emptied.With(ctx, r.emptyIn(ctx, v.step))
	outside := r.specs[v.step].Outside
	var bulkheads []string
	ask := func() (actions.Outcome, error) {
		release, err := bulkhead.Acquire(ctx, r.x.Bulkheads, bulkheads...)
		if err != nil {
			return actions.Outcome{}, err
		}
		defer release()
		v.acted = outside
		return action.Run(ctx, call)
	}
	if a, ok := definition.ToolOf(action); ok {
		if problems := r.x.Tools.Check(a.Tool, a.Args, nil); len(problems) > 0 {
			p := problems[0] // the value comes from a template: everything else was checked before the first step
			return actions.Outcome{}, &InterpolationError{Pointer: "/args" + p.Pointer, Err: errors.New(p.Message)}
		}
		bulkheads, call.CallTool = []string{"tool", "tool:" + a.Tool}, r.caller(v, call)
		if outside {
			return ask()
		}
		return r.recorded(ctx, v, action, call, ask)
	}
	if a, ok := definition.PromptOf(action); ok {
		a = a.Within(definition.CloneSandbox(r.p.Bounds.Sandbox)) // which the agent may change
		bulkheads, call.Previous, call.AskAgent = promptBulkheads(a), r.told(v, a), r.asker(v, a, call)
		action = a
		return r.recorded(ctx, v, action, call, ask)
	}
	if a, ok := definition.ExecOf(action); ok {
		if err := r.permitted(ctx, v, a); err != nil {
			return actions.Outcome{}, err
		}
		bulkheads = []string{"exec"}
		return r.recorded(ctx, v, action, call, ask)
	}
	return ask()
}

// promptBulkheads returns the names of the bulkheads for a prompt.
func promptBulkheads(a actions.Prompt) []string {
	names := []string{"prompt"}
	if a.Agent != "" {
		names = append(names, "agent:"+a.Agent)
	}
	if a.GPU != nil && *a.GPU {
		names = append(names, "gpu")
	}
	return names
}

// told returns the report of the step before for an agent, nil for none.
func (r *run) told(v *visit, a actions.Prompt) *agent.Previous {
	if !definition.IsTold(a) {
		return nil
	}
	before := r.before(v.step)
	if before == nil {
		return nil
	}
	p := &agent.Previous{Step: before.result.StepID, Error: before.result.Error, ErrorCode: before.result.ErrorCode}
	p.Output, p.Truncated = agent.Tail(before.result.Output)
	return p
}

// asker returns a function that asks an agent of the host for a visit, and adds data of the run to the request.
func (r *run) asker(
	v *visit, a actions.Prompt, call *actions.Call,
) func(context.Context, string, *agent.Request) (agent.Reply, error) {
	return func(ctx context.Context, name string, request *agent.Request) (agent.Reply, error) {
		request.RunID, request.Left = r.x.RunID, r.left()
		if definition.HasTree(a) || r.namesShared(v.step) {
			shared, err := r.scratch.SharedDir(ctx)
			if err != nil {
				call.Warnf("there is no directory for the steps to share: %v", err)
			}
			request.Shared = shared
		}
		request.Sandbox.Timeout = r.timeout(r.p.Steps[v.step])
		reply, err := r.x.Agents[name].Ask(ctx, request)
		if err != nil {
			_ = err.Error() // which panics for a nil pointer in an error, and then has to do so here
			if named, ok := err.(*errorform.OutsideError); ok && named.Kind == errorform.Agent && named.Name == "" {
				err = named.Err // the failure of the agent is reported once
			}
			err = &errorform.OutsideError{Kind: errorform.Agent, Name: name, Err: err}
		}
		r.notify(AgentReplied{
			Step: v.result.StepID, Visit: request.Visit, Attempt: request.Attempt, Agent: name, Model: reply.Model,
			InputTokens: reply.InputTokens, OutputTokens: reply.OutputTokens,
		})
		return reply, err
	}
}

// namesShared reports whether a template of a step refers to the shared directory of the run.
func (r *run) namesShared(i int) bool {
	return slices.ContainsFunc(r.p.Compiled[i].Texts.References(), func(ref interpolate.Reference) bool {
		return ref.Root == definition.RootRun && ref.Field == definition.FieldShared
	})
}

// left returns the remaining money of a run, zero without a limit.
func (r *run) left() budget.Cost {
	limit := r.spent.limit.USD
	if limit <= 0 {
		return 0
	}
	return max(1, limit-r.totalCost())
}

// permitted returns the reason why the host refuses the command of a visit after its templates are expanded. It runs
// before a workspace is created or a recorded answer is looked up. A command without templates was already checked
// before the first step.
func (r *run) permitted(ctx context.Context, v *visit, a actions.Exec) error {
	if original, _ := definition.ExecOf(r.p.Steps[v.step].Action); r.p.KnowsCommand(v.step, original) {
		return nil
	}
	return r.x.Commands.Permit(ctx, commandOf(v.result.StepID, a))
}

// printed sends the output of a visit's command to the observer, until end is called. Secrets are already hidden.
func (r *run) printed(v *visit, call *actions.Call) (end func()) {
	if r.x.Observe == nil {
		return func() {}
	}
	var mu sync.Mutex
	over := false
	call.OnOutput = func(stream, text string) {
		mu.Lock()
		defer mu.Unlock()
		if !over {
			r.notify(StepOutput{Step: v.result.StepID, Visit: v.number, Stream: stream, Text: text})
		}
	}
	return func() {
		mu.Lock()
		defer mu.Unlock()
		over = true
	}
}

// noArguments returns the reason not to run a command: a list among its arguments is empty. A formatter without files
// would read its input, and other programs would process all files.
func (r *run) noArguments(ctx context.Context, i int) string {
	if _, ok := r.p.Steps[i].Action.(actions.Exec); !ok {
		return ""
	}
	empty := r.emptyIn(ctx, i)("/args")
	if empty == "" {
		return ""
	}
	return fmt.Sprintf("the command was not run, because %s is an empty list", empty)
}

// emptyIn returns a function that names a template of step i whose value is an empty list, see
// [interpolate.Texts.Empty].
func (r *run) emptyIn(ctx context.Context, i int) func(param string) string {
	return func(param string) string { return r.p.Compiled[i].Texts.Empty(param, r.values(ctx, i)) }
}

// workspaceOf allows the action of a visit to open workspaces until end is called.
func (r *run) workspaceOf(v *visit, view *stage.Stage, call *actions.Call) (end func()) {
	a := &workspace.Attempt{
		Space: &r.scratch, View: view, Call: call, Action: v.result.Action, Exclusive: r.specs[v.step].Exclusive,
		Mask:      r.x.Commands.Mask,
		Retryable: func(err error) bool { return retryable(r.p.Steps[v.step].Action, err) },
		Bring: func(ctx context.Context, changes []scratch.Change) (actions.Outcome, error) {
			return r.bring(ctx, v, view, call, changes)
		},
	}
	call.OpenWorkspace = a.Open
	return a.End
}

// overtaken returns the error of a step whose changes are void, because another program has written to the same paths
// while the step worked on its copy.
func (r *run) overtaken(drift *stage.DriftError) error {
	reasons := map[string]string{
		"created": "has been created by another program", "removed": "has been removed by another program",
		"entries": "another program has changed what is in the directory",
	}
	e := &ConflictError{Err: fsutil.ErrDrift, step: true}
	for _, d := range drift.Drifts {
		e.Conflicts = append(e.Conflicts, Conflict{
			Path: r.x.Commands.Mask(d.Path), Reason: cmp.Or(reasons[d.Reason], "has been changed by another program"),
		})
	}
	return e
}

// bring stages changes that were made outside of the stage as changes of a visit.
func (r *run) bring(
	ctx context.Context, v *visit, view *stage.Stage, call *actions.Call, changes []scratch.Change,
) (actions.Outcome, error) {
	out, err := workspace.Bring(ctx, view, call, changes, &v.brought)
	if drift, ok := errors.AsType[*stage.DriftError](err); ok {
		return actions.Outcome{}, r.overtaken(drift)
	}
	if err == nil {
		v.changes = append(v.changes, changes...)
	}
	return out, err
}
