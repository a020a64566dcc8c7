package millrace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/scratch"
	"github.com/millrace-go/millrace/internal/stage"
	"github.com/millrace-go/millrace/internal/workspace"
)

// attemptSpace is what an attempt has of the scratch tree.
type attemptSpace struct {
	r    *run
	v    *visit
	view *stage.Stage
	call *actions.Call

	mu      sync.Mutex    // held by each method, so that the attempt does not end within one
	tree    *scratch.Tree // nil unless a workspace is open
	options scratch.Options
	over    bool
}

// workspaceOf lets the action of a visit open workspaces until end is called.
func (r *run) workspaceOf(v *visit, view *stage.Stage, call *actions.Call) (end func()) {
	s := &attemptSpace{r: r, v: v, view: view, call: call}
	call.OpenWorkspace = s.open
	return func() {
		s.mu.Lock()
		s.over = true
		s.mu.Unlock()
		s.drop()
	}
}

// open implements [actions.Call.OpenWorkspace].
func (s *attemptSpace) open(ctx context.Context, o actions.WorkspaceOptions) (*actions.Workspace, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.over:
		return nil, actions.Permanent(errors.New("the step is over, so it gets no workspace"))
	case s.tree != nil:
		return nil, actions.Permanent(errors.New("the step has a workspace that is not taken back or dropped yet"))
	case !s.r.specs[s.v.step].Exclusive:
		return nil, actions.Permanent(fmt.Errorf("action %s opens a workspace, so its Spec has to say Exclusive", s.v.result.Action))
	}
	options := scratch.Options{NoIgnore: o.NoIgnore}
	if len(o.Needs)+len(o.Exclude) > 0 {
		options.Make = o.Makes
	}
	if len(o.Writes) > 0 {
		options.Bring = o.Brings
	}
	tree, err := s.r.scratch.Open(ctx, s.call)
	if err == nil {
		err = workspace.Error(tree.Renew(ctx, s.view, options))
	}
	if err != nil {
		return nil, err
	}
	s.tree, s.options = tree, options
	return &actions.Workspace{
		Root: tree.Root(), Temp: tree.Temp(), Home: tree.Home(),
		OnShared: func() (string, error) { return s.r.scratch.SharedDir(ctx) }, OnTakeBack: s.takeBack, OnDrop: s.drop,
	}, nil
}

// drop ends the workspace, and nothing of it counts.
func (s *attemptSpace) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tree != nil {
		s.tree.Discard()
		s.tree = nil
	}
}

// takeBack ends the workspace, and stages what was changed in it.
func (s *attemptSpace) takeBack(ctx context.Context) (actions.Outcome, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	tree := s.tree
	if tree == nil {
		return actions.Outcome{}, actions.Permanent(errors.New("the workspace has ended already"))
	}
	s.tree = nil
	changes, err := tree.Collect(ctx, s.options)
	if err != nil {
		return actions.Outcome{}, s.hidden(workspace.Error(err))
	}
	out, err := s.r.bring(ctx, s.v, s.view, s.call, changes)
	return out, s.hidden(err)
}

// hidden is an error about what a command has left, without secrets of the host: it can have them in names and links.
func (s *attemptSpace) hidden(err error) error {
	if err == nil {
		return nil
	}
	text := s.r.x.Commands.Mask(err.Error())
	switch {
	case text == err.Error():
		return err
	case retryable(s.r.p.steps[s.v.step].Action, err):
		return errors.New(text)
	default:
		return actions.Permanent(errors.New(text))
	}
}

// overtaken is the error of a step whose changes do not hold any more, for another program has written to the same paths
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

// bring stages changes that were made outside of the stage as the work of a visit.
func (r *run) bring(ctx context.Context, v *visit, view *stage.Stage, call *actions.Call, changes []scratch.Change) (actions.Outcome, error) {
	out, err := workspace.Bring(ctx, view, call, changes, &v.brought)
	if drift, ok := errors.AsType[*stage.DriftError](err); ok {
		return actions.Outcome{}, r.overtaken(drift)
	}
	if err == nil {
		v.changes = append(v.changes, changes...)
	}
	return out, err
}
