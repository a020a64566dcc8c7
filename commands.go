package millrace

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/internal/definition"
)

// checkCommands returns a *ValidationError if a step is to run a command that the host does not allow. What a template is
// to say is held against that when the command is to run.
func (x Executor) checkCommands(ctx context.Context, p Pipeline) error {
	if !slices.ContainsFunc(p.steps, func(s Step) bool {
		_, runs := execOf(s.Action)
		_, asks := promptOf(s.Action) // perhaps in a workspace, which is made by the policy too
		return runs || asks
	}) {
		return nil
	}
	if err := x.Commands.Valid(); err != nil {
		return &ExecutorError{Field: "Commands", Err: err}
	}
	e := new(ValidationError)
	for i, s := range p.steps {
		a, ok := execOf(s.Action)
		if !ok {
			continue
		}
		var err error
		if p.knowsCommand(i, a) {
			err = x.Commands.Permit(ctx, commandOf(s.ID, a))
		} else {
			err = x.Commands.Supported()
		}
		if err == nil || ctx.Err() != nil {
			continue // which the run meets itself
		}
		param := "command"
		if a.Shell != "" {
			param = "shell"
		}
		problem := Problem{
			Pointer: fmt.Sprintf("/steps/%d/params/%s", i, param), Code: definition.CodeDenied, Message: fmt.Sprintf("step '%s': %v", s.ID, err), Step: s.ID,
		}
		if denied, ok := errors.AsType[*command.DeniedError](err); ok {
			problem.Hint = denied.Hint
		}
		e.Problems = append(e.Problems, problem)
	}
	if len(e.Problems) > 0 {
		return e
	}
	return nil
}

// commandOf is what the policy of the host is asked about.
func commandOf(step string, a actions.Exec) command.Command {
	return command.Command{Step: step, Words: a.Words(), Shell: a.Shell != "", Env: a.Env}
}

// permitted returns why the host does not allow what templates have made of the command of a visit, before a tree is made
// real for it, or an answer is looked up. One without templates was asked about before the first step.
func (r *run) permitted(ctx context.Context, v *visit, a actions.Exec) error {
	if original, _ := execOf(r.p.steps[v.step].Action); r.p.knowsCommand(v.step, original) {
		return nil
	}
	return r.x.Commands.Permit(ctx, commandOf(v.result.StepID, a))
}

// knowsCommand reports whether no template has a part in what a step is going to run.
func (p Pipeline) knowsCommand(i int, a actions.Exec) bool {
	texts := append([]string{a.Command, a.Shell}, a.Args...)
	for _, value := range a.Env {
		texts = append(texts, value)
	}
	templates := p.compiled[i].texts.Sources()
	return len(p.steps[i].Bind) == 0 && !slices.ContainsFunc(texts, func(text string) bool { return templates[text] })
}

// printed tells the observer what the command of a visit prints, until end is called. Secrets are hidden already.
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

// noArguments returns why a command is not to run: a list among its arguments has nothing in it. A formatter of no files
// would read its input, and others would take all files.
func (r *run) noArguments(ctx context.Context, i int) string {
	if _, ok := r.p.steps[i].Action.(actions.Exec); !ok {
		return ""
	}
	empty := r.p.compiled[i].texts.Empty("/args", r.values(ctx, i))
	if empty == "" {
		return ""
	}
	return fmt.Sprintf("the command was not run, for %s is an empty list", empty)
}
