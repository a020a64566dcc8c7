package millrace

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/agent"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/definition"
	"github.com/millrace-go/millrace/internal/errorform"
	"github.com/millrace-go/millrace/internal/params"
	"github.com/millrace-go/millrace/internal/scratch"
	"github.com/millrace-go/millrace/internal/stage"
	"github.com/millrace-go/millrace/tool"
)

// recordedError is an error that was recorded.
type recordedError struct {
	text, code string
	final      bool
}

func (e *recordedError) Error() string { return e.text }

func (e *recordedError) Code() string { return cmp.Or(e.code, errorform.ToolFailed) }

func (e *recordedError) Retryable() bool { return !e.final }

// recorded returns what ask answers, or has answered before under the same circumstances.
func (r *run) recorded(
	ctx context.Context, v *visit, action actions.Action, call *actions.Call, ask func() (actions.Outcome, error),
) (actions.Outcome, error) {
	if r.x.Recorder == nil {
		return ask()
	}
	view := (*stage.Stage)(call.FS)
	rests, err := restsOf(ctx, view, action)
	var key string
	if err == nil {
		key, err = r.recordKey(v, action, rests)
	}
	if err != nil {
		return actions.Outcome{}, fmt.Errorf("recorder: %w", err)
	}
	switch found, ok, err := r.x.Recorder.Find(key); {
	case err != nil:
		return actions.Outcome{}, fmt.Errorf("recorder: %w", err)
	case ok && scratch.Rests{Recent: found.Recent}.AreOf(ctx, view):
		r.notify(StepReplayed{Step: v.result.StepID, Visit: v.number})
		if r.wasPaid() && call.OnSpend != nil {
			call.OnSpend(found.Cost)
		}
		return r.replayed(ctx, v, call, found)
	}
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
	out, err := ask()
	if _, bad := params.Tree(out.Data); bad != nil || ctx.Err() != nil || !isAnswer(err) {
		return out, err // what the step fails for could not be read from a record
	}
	mu.Lock()
	kept := Recorded{Output: out.Output, Data: out.Data, Cost: cost, Recent: rests.Recent}
	mu.Unlock()
	if err != nil {
		kept.Error, kept.ErrorCode, kept.Final = err.Error(), stepCode(err), !retryable(action, err)
	}
	changes, wrong := scratch.Keep(ctx, v.changes, call.Limits.StagedBytes())
	for _, c := range changes {
		kept.Changes = append(kept.Changes, RecordedChange(c))
	}
	if wrong == nil {
		wrong = r.x.Recorder.Keep(key, kept)
	}
	if wrong != nil {
		call.Warnf("what was answered could not be recorded: %v", wrong)
	}
	return out, err
}

// isAnswer reports whether an error, or nil, is what was answered from outside. One of the host, or of this system, is
// not: the next time there may be none.
func isAnswer(err error) bool {
	if is[*actions.PanicError](err) || is[*command.DeniedError](err) || errors.Is(err, fsutil.ErrLocked) {
		return false
	}
	return err == nil || is[*tool.Error](err) || is[*agent.Error](err) || is[*actions.CommandError](err)
}

// replayed does what was answered before.
func (r *run) replayed(ctx context.Context, v *visit, call *actions.Call, found Recorded) (actions.Outcome, error) {
	out := actions.Outcome{Output: found.Output, Data: found.Data}
	if found.Error != "" {
		return out, &recordedError{found.Error, found.ErrorCode, found.Final}
	}
	if len(found.Changes) == 0 {
		return out, nil
	}
	changes := make([]scratch.Change, len(found.Changes))
	for i, c := range found.Changes {
		changes[i] = scratch.Kept(c).Change()
	}
	brought, err := r.bring(ctx, v, (*stage.Stage)(call.FS), call, changes)
	brought.Output, brought.Data = out.Output, out.Data
	return brought, err
}

// restsOf returns what an answer rests on besides what is staged: for a program that is shown the tree, the tree.
func restsOf(ctx context.Context, view *stage.Stage, action actions.Action) (scratch.Rests, error) {
	prompt, isPrompt := definition.PromptOf(action)
	if _, isExec := definition.ExecOf(action); !isExec && (!isPrompt || prompt.Workspace == actions.WorkspaceNone) {
		return scratch.Rests{}, nil
	}
	return scratch.RestsOf(ctx, view)
}

// recordKey is a hash of all that an answer may depend on.
func (r *run) recordKey(v *visit, action actions.Action, rests scratch.Rests) (string, error) {
	encoded, err := params.Encode(action, nil, nil)
	if err != nil {
		return "", err
	}
	asked := struct {
		Version        int
		Action         string
		Params         json.RawMessage
		Output, Error  string // of the step before
		Visit, Attempt int
		Staged         []stagedPath
		Tree           string `json:",omitempty"`
	}{Version: 1, Action: v.result.Action, Params: encoded, Visit: v.number, Attempt: len(v.attempts) + 1,
		Tree: rests.Sum.String()}
	before, _ := r.previous()
	if r.p.IsTold(v.step) {
		before = r.before(v.step)
	}
	if before != nil {
		asked.Output, asked.Error = before.result.Output, before.result.Error
	}
	changes, err := r.stage.Outline()
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

// stagedPath is a path as the steps before have left it.
type stagedPath struct {
	Path, From string
	Kind       change.Kind
	Mode       uint32
	Hash       change.Hash
	Target     string
}
