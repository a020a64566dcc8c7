package workspace

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/scratch"
	"github.com/millrace-go/millrace/internal/stage"
)

// Attempt lets the action of one attempt open workspaces, one at a time. Its methods are safe for concurrent use.
type Attempt struct {
	Space *Space
	View  *stage.Stage
	Call  *actions.Call
	// Action is the name of the action. Exclusive means that its Spec allows it to open a workspace.
	Action    string
	Exclusive bool
	// Mask hides secrets of the host in a text. Retryable reports whether another attempt may succeed after an error.
	Mask      func(text string) string
	Retryable func(err error) bool
	// Bring stages the changes of a workspace as the work of the step.
	Bring func(ctx context.Context, changes []scratch.Change) (actions.Outcome, error)

	mu      sync.Mutex    // held by each method, so that the attempt does not end during one
	tree    *scratch.Tree // nil unless a workspace is open
	options scratch.Options
	over    bool
}

// End ends the attempt: it drops an open workspace, and no other one can be opened.
func (a *Attempt) End() {
	a.mu.Lock()
	a.over = true
	a.mu.Unlock()
	a.drop()
}

// Open implements [actions.Call.OpenWorkspace].
func (a *Attempt) Open(ctx context.Context, o actions.WorkspaceOptions) (*actions.Workspace, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.over:
		return nil, actions.Permanent(errors.New("the step is over, so it gets no workspace"))
	case a.tree != nil:
		return nil, actions.Permanent(errors.New("the step has a workspace that is not taken back or dropped yet"))
	case !a.Exclusive:
		return nil, actions.Permanent(fmt.Errorf("action %s opens a workspace, so its Spec has to say Exclusive",
			a.Action))
	}
	options := scratch.Options{NoIgnore: o.NoIgnore}
	if len(o.Needs)+len(o.Exclude) > 0 {
		options.Make = o.Makes
	}
	if len(o.Writes) > 0 {
		options.Bring = o.Brings
	}
	tree, err := a.Space.Open(ctx, a.Call)
	if err == nil {
		err = Error(tree.Renew(ctx, a.View, options))
	}
	if err != nil {
		return nil, err
	}
	a.tree, a.options = tree, options
	return &actions.Workspace{
		Root: tree.Root(), Temp: tree.Temp(), Home: tree.Home(),
		OnShared: func() (string, error) { return a.Space.SharedDir(ctx) }, OnTakeBack: a.takeBack, OnDrop: a.drop,
	}, nil
}

// drop ends the workspace without its changes.
func (a *Attempt) drop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.tree != nil {
		a.tree.Discard()
		a.tree = nil
	}
}

// takeBack ends the workspace, and stages the changes in it.
func (a *Attempt) takeBack(ctx context.Context) (actions.Outcome, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	tree := a.tree
	if tree == nil {
		return actions.Outcome{}, actions.Permanent(errors.New("the workspace has ended already"))
	}
	a.tree = nil
	changes, err := tree.Collect(ctx, a.options)
	if err != nil {
		return actions.Outcome{}, a.hidden(Error(err))
	}
	out, err := a.Bring(ctx, changes)
	return out, a.hidden(err)
}

// hidden removes secrets of the host from an error about the files of a command: names and links can contain them.
func (a *Attempt) hidden(err error) error {
	if err == nil {
		return nil
	}
	text := a.Mask(err.Error())
	switch {
	case text == err.Error():
		return err
	case a.Retryable(err):
		return errors.New(text)
	default:
		return actions.Permanent(errors.New(text))
	}
}
