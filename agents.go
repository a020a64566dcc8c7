package millrace

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/agent"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/bulkhead"
	"github.com/millrace-go/millrace/internal/definition"
	"github.com/millrace-go/millrace/internal/interpolate"
	"github.com/millrace-go/millrace/internal/strictjson"
)

// checkHost returns an error if a step asks something of the host that it does not have, or does not allow.
func (x Executor) checkHost(ctx context.Context, p Pipeline) error {
	if err := p.checkTools(x.Tools); err != nil {
		return err
	}
	if err := x.checkCommands(ctx, p); err != nil {
		return err
	}
	return p.checkAgents(x.Agents)
}

// checkAgents returns a *ValidationError if a step asks an agent that there is not.
func (p Pipeline) checkAgents(agents map[string]agent.Agent) error {
	e := new(ValidationError)
	for i, s := range p.steps {
		a, ok := promptOf(s.Action)
		if !ok || agents[a.Agent] != nil {
			continue
		}
		problem := Problem{Pointer: fmt.Sprintf("/steps/%d/params/agent", i), Code: definition.CodeBadAgent, Step: s.ID}
		names := slices.DeleteFunc(slices.Sorted(maps.Keys(agents)), func(name string) bool { return name == "" || agents[name] == nil })
		if problem.Message = fmt.Sprintf("step '%s': there is no agent '%s'", s.ID, shortened(a.Agent)); a.Agent == "" {
			problem.Message = fmt.Sprintf("step '%s': there is no agent for steps that name none", s.ID)
		}
		near, isNear := strictjson.Nearest(a.Agent, names)
		switch {
		case isNear && a.Agent != "":
			problem.Hint = fmt.Sprintf("did you mean '%s'?", near)
		case len(names) > 0:
			problem.Hint = "the agents are " + strings.Join(names, ", ")
		case len(agents) > 0:
			problem.Hint = "leave agent out for the one that the host offers"
		default:
			problem.Hint = "the host offers no agents"
		}
		e.Problems = append(e.Problems, problem)
	}
	if len(e.Problems) > 0 {
		return e
	}
	return nil
}

// isTold reports whether a step asks an agent that is told what the step before has said.
func (p Pipeline) isTold(i int) bool {
	a, ok := promptOf(p.steps[i].Action)
	return ok && a.Context != actions.ContextNone
}

// act lets the action of a visit run, one that asks something of the host within the bulkheads that are about it.
func (r *run) act(ctx context.Context, v *visit, action actions.Action, call *actions.Call) (actions.Outcome, error) {
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
	if a, ok := toolOf(action); ok {
		if problems := r.x.Tools.Check(a.Tool, a.Args, nil); len(problems) > 0 {
			p := problems[0] // a template has given it: all else was checked before the first step
			return actions.Outcome{}, &InterpolationError{Pointer: "/args" + p.Pointer, Err: errors.New(p.Message)}
		}
		bulkheads, call.CallTool = []string{"tool", "tool:" + a.Tool}, r.caller(v, call)
		if outside {
			return ask()
		}
		return r.recorded(ctx, v, action, call, ask)
	}
	if a, ok := promptOf(action); ok {
		a = a.Within(definition.CloneSandbox(r.p.bounds.sandbox)) // which the agent may change
		bulkheads, call.Previous, call.AskAgent = promptBulkheads(a), r.told(v, a), r.asker(v, a, call)
		action = a
		return r.recorded(ctx, v, action, call, ask)
	}
	if a, ok := execOf(action); ok {
		if err := r.permitted(ctx, v, a); err != nil {
			return actions.Outcome{}, err
		}
		bulkheads = []string{"exec"}
		return r.recorded(ctx, v, action, call, ask)
	}
	return ask()
}

// promptBulkheads are those that are about a step that asks.
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

// told is what an agent is told of the step before, nil for nothing.
func (r *run) told(v *visit, a actions.Prompt) *agent.Previous {
	if a.Context == actions.ContextNone {
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

// asker asks an agent of the host for a visit, and adds to the request what only the run knows.
func (r *run) asker(v *visit, a actions.Prompt, call *actions.Call) func(context.Context, string, *agent.Request) (agent.Reply, error) {
	return func(ctx context.Context, name string, request *agent.Request) (agent.Reply, error) {
		request.RunID, request.Left = r.x.RunID, r.left()
		if a.Workspace != actions.WorkspaceNone || r.namesShared(v.step) {
			shared, err := r.scratch.SharedDir(ctx)
			if err != nil {
				call.Warnf("there is no directory for the steps to share: %v", err)
			}
			request.Shared = shared
		}
		request.Sandbox.Timeout = r.timeout(r.p.steps[v.step])
		reply, err := r.x.Agents[name].Ask(ctx, request)
		if err != nil {
			_ = err.Error() // which panics for a nil pointer in an error, and then has to do so here
			if named, ok := err.(*agent.Error); ok && named.Agent == "" {
				err = named.Err // it is told once that the agent has failed
			}
			err = &agent.Error{Agent: name, Err: err}
		}
		r.notify(AgentReplied{
			Step: v.result.StepID, Visit: request.Visit, Attempt: request.Attempt, Agent: name, Model: reply.Model,
			InputTokens: reply.InputTokens, OutputTokens: reply.OutputTokens,
		})
		return reply, err
	}
}

// namesShared reports whether a template of a step names the directory that the steps of a run share.
func (r *run) namesShared(i int) bool {
	return slices.ContainsFunc(r.p.compiled[i].texts.References(), func(ref interpolate.Reference) bool {
		return ref.Root == definition.RootRun && ref.Field == definition.FieldShared
	})
}

// left is what is left of the money of a run, zero if there is no limit.
func (r *run) left() budget.Cost {
	limit := r.spent.limit.USD
	if limit <= 0 {
		return 0
	}
	return max(1, limit-r.totalCost())
}
