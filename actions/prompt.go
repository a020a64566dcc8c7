package actions

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/millrace-go/millrace/agent"
	"github.com/millrace-go/millrace/internal/errorform"
	"github.com/millrace-go/millrace/internal/kinds"
)

// Prompt asks an agent of the host, see package agent. Changes in the agent's workspace are staged as changes of the
// step: they are shown, judged, committed or discarded like others. An agent is also asked in a dry run.
//
// The output of the step is the reply. Its data is null, or the parsed reply if Format is "json". Its files are the
// created, changed and renamed files.
type Prompt struct {
	// Prompt is the text for the agent.
	Prompt string `json:"prompt" param:"required" doc:"Prompt for the agent."`
	// Agent is the name of an agent of the host. It cannot be a template. "" is the host's default agent.
	Agent string `json:"agent,omitempty" doc:"Name of an agent that the host offers. It cannot be a template. Default: the host's default agent."`
	// Context decides whether the agent receives the output and the error of the step before; "" is "previous".
	Context string `json:"context,omitempty" enum:"previous,none" doc:"previous passes the output and the error of the step before to the agent. It cannot be a template. Default: previous."`
	// Format "json" parses the reply, which must then be a single JSON value; "" and "text" do not.
	Format string `json:"format,omitempty" enum:"text,json" doc:"With json, the reply is parsed and templates reach into it. It cannot be a template. Default: text."`
	// Workspace is the agent's access to the tree; "" is "write".
	Workspace string `json:"workspace,omitempty" enum:"write,read,none" doc:"write keeps the agent's changes to the tree, read discards them, none gives the agent no tree. It cannot be a template. Default: write."`
	// Model, Tools, SystemPrompt, Memory, GPU, Workdir and Options have the meaning of the fields of [agent.Sandbox].
	// Empty or nil fields are taken from the pipeline's sandbox.
	Model        string         `json:"model,omitempty" doc:"Name of a model."`
	Tools        []string       `json:"tools,omitempty" doc:"Names of the tools that the agent may use."`
	SystemPrompt string         `json:"system_prompt,omitempty" doc:"System prompt of the model, before the prompt."`
	Memory       string         `json:"memory,omitempty" doc:"Memory limit of the agent, such as 4g."`
	GPU          *bool          `json:"gpu,omitempty" doc:"The agent needs a GPU."`
	Workdir      string         `json:"workdir,omitempty" doc:"Path at which the agent sees the tree."`
	Options      map[string]any `json:"options,omitempty" doc:"More settings of the agent, any JSON."`
}

// The values of Prompt.Context and Prompt.Workspace that are not the default.
const (
	contextNone   = "none"
	workspaceRead = "read"
	workspaceNone = "none"
)

// promptRetries is the default number of further attempts of a visit of a prompt step.
const promptRetries = 3

// Spec implements [Action].
func (a Prompt) Spec() Spec {
	return Spec{
		Name: "prompt", Summary: "Ask an agent, which may change the tree",
		ReadOnly: a.Workspace == workspaceNone || a.Workspace == workspaceRead, Input: InputNone,
		Data: a.Format == formatJSON, Context: true, Costs: true, Exclusive: a.Workspace != workspaceNone,
		Retries: promptRetries,
	}
}

// Touches implements [Toucher]: an agent without a workspace cannot touch the tree.
func (a Prompt) Touches() (reads, writes []string, known bool) {
	return nil, nil, a.Workspace == workspaceNone
}

// Validate implements [Validator]. It cannot check whether the agent exists.
func (a Prompt) Validate(c *Check) {
	for _, p := range []struct{ name, value string }{
		{"agent", a.Agent}, {"context", a.Context}, {"format", a.Format}, {"workspace", a.Workspace},
	} {
		if c.Templated(p.value) || c.bound("/"+p.name) {
			c.Problemf("/"+p.name, "bad_value", "write it itself", "%s of prompt cannot be a template", p.name)
		}
	}
	if a.Tools != nil && len(a.Tools) == 0 && !c.bound("/tools") {
		c.Problemf("/tools", "bad_value", "leave it out for those of the pipeline's sandbox",
			"tools of prompt cannot be an empty list")
	}
}

// Within returns the action with empty fields filled in from a sandbox.
func (a Prompt) Within(s agent.Sandbox) Prompt {
	a.Model, a.SystemPrompt = cmp.Or(a.Model, s.Model), cmp.Or(a.SystemPrompt, s.SystemPrompt)
	a.Memory, a.Workdir = cmp.Or(a.Memory, s.Memory), cmp.Or(a.Workdir, s.Workdir)
	if len(a.Tools) == 0 {
		a.Tools = s.Tools
	}
	if a.GPU == nil && s.GPU {
		a.GPU = new(true)
	}
	if len(a.Options) == 0 {
		a.Options = s.Options
	}
	return a
}

// sandbox returns the sandbox that the action asks for.
func (a Prompt) sandbox() agent.Sandbox {
	return agent.Sandbox{
		Model: a.Model, Tools: a.Tools, SystemPrompt: a.SystemPrompt, Memory: a.Memory, GPU: a.GPU != nil && *a.GPU,
		Workdir: a.Workdir, Options: a.Options,
	}
}

// Run implements [Action].
func (a Prompt) Run(ctx context.Context, c *Call) (Outcome, error) {
	if c.AskAgent == nil {
		return Outcome{}, Permanent(errors.New("the host offers no agents"))
	}
	r := &agent.Request{
		Prompt: a.Prompt, Sandbox: a.sandbox(), Step: c.Step, Visit: c.Visit, Attempt: c.Attempt,
	}
	if a.Context != contextNone && c.Previous != nil {
		r.Previous = new(*c.Previous)
	}
	w := &asked{call: c}
	defer w.drop()
	if a.Workspace != workspaceNone {
		r.Workspace = w.open
	}
	reply, err := c.AskAgent(ctx, a.Agent, r)
	w.end()
	c.Spend(reply.Cost)
	out := Outcome{Output: reply.Output}
	if most := c.Limits.ShownBytes(); int64(len(out.Output)) > most {
		if out.Output = ""; err == nil {
			err = &LimitError{What: kinds.LimitShown, Limit: most, Got: int64(len(reply.Output))}
		}
	}
	if err != nil {
		return out, err
	}
	if a.Format == formatJSON {
		if out.Data, err = parseJSON(out.Output); err != nil {
			return out, &errorform.OutsideError{Kind: errorform.Agent, Name: a.Agent, Err: fmt.Errorf("its reply is %w", err)}
		}
	}
	if w.space == nil || a.Workspace == workspaceRead {
		return out, nil
	}
	back, err := w.space.TakeBack(ctx)
	if err != nil {
		return out, err
	}
	back.Output, back.Data = out.Output, out.Data
	return back, nil
}

// asked is the workspace of a request, if the agent asks for it.
type asked struct {
	call  *Call
	mu    sync.Mutex
	space *Workspace
	ended bool // the agent has answered
}

// open creates the workspace at the first call.
func (w *asked) open(ctx context.Context) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.ended:
		return "", errors.New("the agent has answered, so it has no workspace any more")
	case w.space == nil:
		space, err := w.call.Workspace(ctx, WorkspaceOptions{})
		if err != nil {
			return "", err
		}
		w.space = space
	}
	return w.space.Root, nil
}

// end makes later calls of open fail.
func (w *asked) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
}

// drop ends the workspace, also after a panic of the agent.
func (w *asked) drop() {
	if w.end(); w.space != nil {
		w.space.Drop()
	}
}

// parseJSON returns the single JSON value of a text, with numbers unchanged.
func parseJSON(text string) (any, error) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, errors.New("empty and not JSON")
		}
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	if strings.TrimSpace(text[dec.InputOffset():]) != "" {
		return nil, errors.New("more than one JSON value")
	}
	return v, nil
}
