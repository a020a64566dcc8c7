package definition

import (
	"github.com/millrace-go/millrace/agent"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/form"
	"github.com/millrace-go/millrace/internal/params"
)

// The limits of a step in a run.
const (
	MaxWaysBack = 20  // entries of retry_if
	MaxRetries  = 100 // attempts of a visit after the first
	MaxVisits   = 100 // visits after which no backward jump leads to the step
)

// InputPrevious is the only value of the field "input" of a step.
const InputPrevious = "previous"

// WayBack is an entry of retry_if.
type WayBack struct {
	Step    string            `json:"step" param:"id"`
	Keyword *string           `json:"keyword,omitempty"`
	When    *condition.Fields `json:"when,omitempty"`
	Restart bool              `json:"restart,omitempty"`
}

// Budget is a budget in JSON form, with the errors of its parts, because each error has its own place.
type Budget struct {
	Limit budget.Limit
	Err   error
}

// UnmarshalJSON keeps the error in Err and returns nil.
func (f *Budget) UnmarshalJSON(data []byte) error {
	f.Err = f.Limit.UnmarshalJSON(data)
	return nil
}

// Form returns the form to which lenient decoding converts a budget.
func (f Budget) Form() *form.Form {
	number := &form.Form{Kind: form.Number}
	return &form.Form{Kind: form.Number, Fields: []form.Field{
		{Name: "usd", Form: number}, {Name: "files", Form: number}, {Name: "edits", Form: number}, {Name: "bytes", Form: number},
	}}
}

// MarshalJSON writes the limit.
func (f Budget) MarshalJSON() ([]byte, error) { return f.Limit.MarshalJSON() }

// Sandbox is a sandbox in JSON form.
type Sandbox struct {
	Model        string         `json:"model,omitempty" doc:"Name of a model."`
	Tools        []string       `json:"tools,omitempty" doc:"Names of the tools that agents may use."`
	SystemPrompt string         `json:"system_prompt,omitempty" doc:"System prompt of models, before the prompt."`
	Timeout      *float64       `json:"timeout,omitempty" doc:"Default limit of an attempt of a prompt in seconds."`
	Memory       string         `json:"memory,omitempty" doc:"Memory limit of an agent, such as 4g."`
	GPU          bool           `json:"gpu,omitempty" doc:"Agents need a GPU."`
	Workdir      string         `json:"workdir,omitempty" doc:"Path at which agents see the tree."`
	Options      map[string]any `json:"options,omitempty" doc:"More settings of agents, any JSON."`
}

// Value returns the sandbox without its timeout.
func (f Sandbox) Value() agent.Sandbox {
	return agent.Sandbox{
		Model: f.Model, Tools: f.Tools, SystemPrompt: f.SystemPrompt, Memory: f.Memory, GPU: f.GPU, Workdir: f.Workdir,
		Options: f.Options,
	}
}

// SandboxOf returns the form for writing a sandbox.
func SandboxOf(s agent.Sandbox) Sandbox {
	return Sandbox{s.Model, s.Tools, s.SystemPrompt, SecondsOf(s.Timeout), s.Memory, s.GPU, s.Workdir, s.Options}
}

// CloneSandbox returns a deep copy.
func CloneSandbox(s agent.Sandbox) agent.Sandbox {
	c := params.Clone(SandboxOf(s)).(Sandbox).Value()
	c.Timeout = s.Timeout
	return c
}
