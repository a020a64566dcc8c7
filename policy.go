package millrace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/agent"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/definition"
	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/guard"
	"github.com/millrace-go/millrace/internal/kinds"
	"github.com/millrace-go/millrace/internal/nearest"
	"github.com/millrace-go/millrace/internal/outcome"
	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/millrace-go/millrace/internal/show"
	"github.com/millrace-go/millrace/internal/stage"
	"github.com/millrace-go/millrace/internal/worded"
	"github.com/millrace-go/millrace/wording"
)

// policy returns the policy for all paths of a run on the tree.
func (x Executor) policy(fsys afero.Fs, stateDir string) (guard.Policy, error) {
	g := guard.Policy{Reserved: stateDir, Portable: x.PortableNames, Denied: x.DeniedPaths, ReadOnly: x.ReadOnlyPaths}
	for _, list := range []struct {
		field string
		globs []string
	}{{"DeniedPaths", x.DeniedPaths}, {"ReadOnlyPaths", x.ReadOnlyPaths}} {
		if err := (guard.Policy{Denied: list.globs}).Validate(); err != nil {
			return g, &ExecutorError{Field: list.field, Err: err}
		}
	}
	var err error
	if g.Allowed, err = x.allowed(fsys); err != nil {
		return g, err
	}
	if err := closeConfig(&g, fsys); err != nil {
		return g, err
	}
	return g, nil
}

// allowed returns the canonical AllowedPaths. A path that leads through a link is refused unless the target is allowed
// too: the tree, which may come from a stranger, must not decide what may be read and written.
func (x Executor) allowed(fsys afero.Fs) ([]string, error) {
	plain := stage.New(fsys)
	defer plain.Close()
	if x.AllowedPaths == nil {
		return nil, nil
	}
	allowed := []string{}
	leadsTo := make(map[string]string)
	for _, name := range x.AllowedPaths {
		canonical, err := plain.Canonical(name)
		if err != nil {
			return nil, &ExecutorError{Field: "AllowedPaths", Value: name, Err: err}
		}
		// A path that does not exist yet, or leads nowhere, stays as written: a link created there later is not followed.
		if resolved, err := plain.Resolve(canonical); err == nil && resolved != canonical {
			leadsTo[canonical] = resolved
			continue
		}
		allowed = append(allowed, canonical)
	}
	for _, name := range x.AllowedPaths {
		canonical, _ := plain.Canonical(name)
		to, linked := leadsTo[canonical]
		if linked && !slices.ContainsFunc(allowed, func(dir string) bool { return fsutil.Within(to, dir) }) {
			return nil, &ExecutorError{Field: "AllowedPaths", Value: name, Err: fmt.Errorf(
				"%w: it leads through a symbolic link to %q. Allow that as well if it is meant", fsutil.ErrNotAllowed,
				to)}
		}
	}
	return allowed, nil
}

var errIsConfigDir = errors.New("it is the directory in which the key of this user is kept: run on another one")

// closeConfig hides the directory for the user's key and configuration, if it is in the tree, and pins the links of the
// tree that lead there, or out of the tree. Directories are compared by identity, because the path of a
// tree is unknown.
func closeConfig(g *guard.Policy, fsys afero.Fs) error {
	config, err := os.UserConfigDir()
	if err != nil || disk.InMemory(fsys) {
		return nil // then the user has no key
	}
	top, err := fsys.Stat(".")
	if err != nil {
		return nil // the tree does not exist yet
	}
	trace, err := rootfs.TraceName(filepath.Join(config, "millrace"))
	if err != nil {
		return fmt.Errorf("the directory of the user's configuration: %w", err)
	}
	for _, link := range trace.Links {
		if name, ok := rootfs.In(top, link); ok && name != "." {
			g.Pinned = append(g.Pinned, name)
		}
	}
	switch name, ok := rootfs.In(top, trace.End); {
	case ok && name == ".":
		return errIsConfigDir
	case ok:
		g.Closed = append(g.Closed, name)
	}
	return nil
}

// DefaultMaxPlanBytes is the longest stored plan of the zero [Executor], in bytes. Whole files may be in it.
const DefaultMaxPlanBytes = 64 << 20

// limits returns the host's limits for each step.
func (x Executor) limits() actions.Limits {
	return actions.Limits{
		MaxFileBytes: x.Limits.MaxFileBytes, MaxMatches: x.Limits.MaxMatches, MaxOutputBytes: x.Limits.MaxOutputBytes,
		MaxPatternBytes: x.Limits.MaxPatternBytes,
	}
}

// stepLimits returns the limits of each step of a pipeline. Steps that only read stage nothing, so they have no share
// of MaxStagedBytes.
func (x Executor) stepLimits(p definition.Pipeline) actions.Limits {
	writers := 0
	for _, s := range p.Steps {
		if !s.Action.Spec().ReadOnly {
			writers++
		}
	}
	l := x.limits()
	l.MaxShownBytes = share(cmp.Or(x.Limits.MaxShownBytes, outcome.DefaultShownBytes), p.Len())
	l.MaxStagedBytes = share(cmp.Or(x.Limits.MaxStagedBytes, outcome.DefaultStagedBytes), writers)
	return l
}

// share returns the share of a limit for each of that many steps. It does not depend on the needs of other steps,
// because then it would depend on the order in which they run. Negative stays negative: no limit.
func share(total int64, steps int) int64 {
	if total < 0 {
		return total
	}
	return max(1, total/int64(max(1, steps)))
}

// workers returns the number of goroutines that a run may use.
func (x Executor) workers() int {
	if x.Workers > 0 {
		return x.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// lockWait returns the time to wait for another run. A negative LockWait becomes some hundred years.
func (x Executor) lockWait() time.Duration {
	if x.State.LockWait < 0 {
		return math.MaxInt64
	}
	return cmp.Or(x.State.LockWait, DefaultLockWait)
}

// checkHost returns an error if a step needs something from the host that the host does not have or does not allow.
func (x Executor) checkHost(ctx context.Context, p definition.Pipeline) error {
	if err := p.CheckTools(x.Tools); err != nil {
		return err
	}
	if err := x.checkCommands(ctx, p); err != nil {
		return err
	}
	return checkAgents(p, x.Agents)
}

// checkAgents returns a *ValidationError if a step asks a missing agent.
func checkAgents(p definition.Pipeline, agents map[string]agent.Agent) error {
	e := new(ValidationError)
	for i, s := range p.Steps {
		a, ok := definition.PromptOf(s.Action)
		if !ok || agents[a.Agent] != nil {
			continue
		}
		problem := Problem{Pointer: fmt.Sprintf("/steps/%d/params/agent", i), Code: definition.CodeBadAgent, Step: s.ID}
		names := slices.DeleteFunc(slices.Sorted(maps.Keys(agents)),
			func(name string) bool { return name == "" || agents[name] == nil })
		if problem.Message = fmt.Sprintf("step '%s': unknown agent '%s'", s.ID, show.Name(a.Agent)); a.Agent == "" {
			problem.Message = fmt.Sprintf("step '%s': no agent is set for steps without an agent", s.ID)
		}
		near, isNear := nearest.Of(a.Agent, names)
		switch {
		case isNear && a.Agent != "":
			problem.Hint = fmt.Sprintf("did you mean '%s'?", near)
		case len(names) > 0:
			problem.Hint = "the agents are " + strings.Join(names, ", ")
		case len(agents) > 0:
			problem.Hint = "leave agent out for the agent that the host offers"
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

// checkCommands returns a *ValidationError if a step would run a command that the host does not allow. Commands with
// templates are checked just before they run.
func (x Executor) checkCommands(ctx context.Context, p definition.Pipeline) error {
	if !slices.ContainsFunc(p.Steps, func(s definition.Step) bool {
		_, runs := definition.ExecOf(s.Action)
		_, asks := definition.PromptOf(s.Action) // perhaps in a workspace, which depends on the policy too
		return runs || asks
	}) {
		return nil
	}
	if err := x.Commands.Valid(); err != nil {
		return &ExecutorError{Field: "Commands", Err: err}
	}
	e := new(ValidationError)
	for i, s := range p.Steps {
		a, ok := definition.ExecOf(s.Action)
		if !ok {
			continue
		}
		var err error
		if p.KnowsCommand(i, a) {
			err = x.Commands.Permit(ctx, commandOf(s.ID, a))
		} else {
			err = x.Commands.Supported()
		}
		if err == nil || ctx.Err() != nil {
			continue // the run reports this error itself
		}
		param := "command"
		if a.Shell != "" {
			param = "shell"
		}
		step := wording.Part{Kind: kinds.InStep, Text: fmt.Sprintf("step '%s': ", s.ID), Value: s.ID}
		problem := Problem{
			Pointer: fmt.Sprintf("/steps/%d/params/%s", i, param), Code: definition.CodeDenied,
			Message: step.Text + err.Error(), Step: s.ID, Err: worded.Errorf("%v%w", step, err),
		}
		if denied, ok := errors.AsType[*command.DeniedError](err); ok {
			problem.Hint = denied.Hint
			problem.Err = worded.Errorf("%v%w%v", step, err, hintOf(denied))
		}
		e.Problems = append(e.Problems, problem)
	}
	if len(e.Problems) > 0 {
		return e
	}
	return nil
}

// hintOf returns the advice for a denied command, in the form that follows the message.
func hintOf(denied *command.DeniedError) wording.Part {
	part := wording.Part{Kind: kinds.Hint, Text: denied.Hint}
	if part.Text != "" {
		part.Text = ": " + part.Text
	}
	if len(wording.Parts(denied)) > 0 {
		part.Kind = kinds.Install
	}
	return part
}

// commandOf returns the command to check against the host's policy.
func commandOf(step string, a actions.Exec) command.Command {
	return command.Command{Step: step, Words: a.Words(), Shell: a.Shell != "", Env: a.Env}
}

// The executor does not replace the action of a step by an action that is bound to a tool: templates, Equal, Digest and
// the JSON form all need the action of the pipeline. A run needs the tool's Spec, which is computed once when the run
// begins, and the call, which the action receives when it runs.

// mayAct returns an error if the host only reads, and a step acts outside of the tree.
func (x Executor) mayAct(p definition.Pipeline) error {
	if !x.ReadOnly {
		return nil
	}
	for i, spec := range p.Specs(x.Tools) {
		if spec.Outside {
			return &readOnlyError{fmt.Sprintf(
				"executor is read-only and step '%s' acts outside of the tree: run it with dry_run", p.Steps[i].ID)}
		}
	}
	return nil
}

// readOnlyFiles blocks changes and removals of files that their owner may not write to, because they are protected on
// purpose. Only the mode counts, because root may write to everything.
func (x Executor) readOnlyFiles(changes []change.Change) *BlockedError {
	blocked := func(name, do string) *BlockedError {
		message := worded.Errorf("file %s is read-only%v", name, useForce(do+" it"))
		return &BlockedError{Reason: wording.Of(message, x.Words), path: name}
	}
	for _, c := range changes {
		switch {
		case isReadOnly(c.Replaced):
			return blocked(c.Path, "replace")
		case !isReadOnly(c.Old):
		case c.Kind == change.Renamed:
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
