// Package replay computes the key of a recorded answer, and decides which answers can be recorded. An answer comes from
// a tool, an agent or a command. The caller finds and stores the records.
package replay

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"sync"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/internal/definition"
	"github.com/millrace-go/millrace/internal/errorform"
	"github.com/millrace-go/millrace/internal/panics"
	"github.com/millrace-go/millrace/internal/params"
	"github.com/millrace-go/millrace/internal/scratch"
	"github.com/millrace-go/millrace/internal/stage"
)

// Error is a recorded error.
type Error struct {
	Text, ErrorCode string
	Final           bool // it is not retried
}

// Error returns the recorded text.
func (e *Error) Error() string { return e.Text }

// Code returns the recorded code, "tool_failed" if it has none.
func (e *Error) Code() string { return cmp.Or(e.ErrorCode, errorform.ToolFailed) }

// Retryable reports whether another attempt may succeed.
func (e *Error) Retryable() bool { return !e.Final }

// IsAnswer reports whether an error, or nil, is an answer from outside. An error of the host or of this system is not
// an answer: the next call may succeed.
func IsAnswer(err error) bool {
	if is[*panics.Error](err) || is[*command.DeniedError](err) || errors.Is(err, capability.ErrLocked) {
		return false
	}
	return err == nil || is[*errorform.OutsideError](err) || is[*actions.CommandError](err)
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// CostOf adds up the costs that a call reports from now on. The call still reports them as before.
func CostOf(call *actions.Call) (total func() budget.Cost) {
	var mu sync.Mutex
	var cost budget.Cost
	spend := call.OnSpend
	call.OnSpend = func(c budget.Cost) {
		mu.Lock()
		cost = cost.Plus(c)
		mu.Unlock()
		if spend != nil {
			spend(c)
		}
	}
	return func() budget.Cost {
		mu.Lock()
		defer mu.Unlock()
		return cost
	}
}

// RestsOf returns the files that an answer depends on besides the staged files: the tree, if the action runs a program
// that reads the tree.
func RestsOf(ctx context.Context, view *stage.Stage, action actions.Action) (scratch.Rests, error) {
	prompt, isPrompt := definition.PromptOf(action)
	if _, isExec := definition.ExecOf(action); !isExec && (!isPrompt || !definition.HasTree(prompt)) {
		return scratch.Rests{}, nil
	}
	return scratch.RestsOf(ctx, view)
}

// Question is an attempt that needs an answer.
type Question struct {
	Action         string // its name
	Output, Error  string // of the previous step
	Visit, Attempt int    // from 1
}

// Key returns a hash of everything that an answer can depend on: the question, the parameters of the action, the staged
// files and the tree.
func (q Question) Key(action actions.Action, staged *stage.Stage, rests scratch.Rests) (string, error) {
	encoded, err := params.Encode(action, nil, nil)
	if err != nil {
		return "", err
	}
	asked := struct {
		Version        int
		Action         string
		Params         json.RawMessage
		Output, Error  string
		Visit, Attempt int
		Staged         []stagedPath
		Tree           string `json:",omitempty"`
	}{Version: 1, Action: q.Action, Params: encoded, Output: q.Output, Error: q.Error, Visit: q.Visit,
		Attempt: q.Attempt, Tree: rests.Sum.String()}
	changes, err := staged.Outline()
	if err != nil {
		return "", err
	}
	for _, c := range changes {
		if c, err = stage.Summed(c); err != nil {
			return "", err
		}
		asked.Staged = append(asked.Staged, stagedPath{
			Path: c.Path, From: c.From, Kind: c.New.Kind, Mode: uint32(c.New.Mode), Hash: c.New.Hash,
			Target: c.New.Target,
		})
	}
	data, err := json.Marshal(asked)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

// stagedPath is the state of a path after the previous steps.
type stagedPath struct {
	Path, From string
	Kind       change.Kind
	Mode       uint32
	Hash       change.Hash
	Target     string
}
