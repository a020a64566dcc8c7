package actions

import (
	"context"
	"errors"
)

// Tool calls a function of the host's program, see package tool. It touches no files. The Spec of the tool determines
// whether it acts outside of the tree, costs money or is retried.
type Tool struct {
	// Tool is the name of the tool. It cannot be a template.
	Tool string `json:"tool" param:"required" doc:"Name of a tool that the host offers. It cannot be a template."`
	// Args are the arguments, any JSON; strings in them can be templates.
	Args map[string]any `json:"args,omitempty" doc:"Arguments of the tool by their names. A string that is exactly a template keeps the type of its value."`
}

// Spec describes the action, without the properties of the tool.
func (Tool) Spec() Spec {
	return Spec{
		Name: "tool", Summary: "Call a function of the host's program", ReadOnly: true, Input: InputNone, Data: true,
		Context: true,
	}
}

// Touches implements [Toucher]: a tool does not touch the tree.
func (Tool) Touches() (reads, writes []string, known bool) { return nil, nil, true }

// Validate implements [Validator]. It cannot check whether the tool exists.
func (a Tool) Validate(c *Check) {
	if c.Templated(a.Tool) || c.bound("/tool") {
		c.Problemf("/tool", "unknown_tool", "write the name itself", "the name of a tool cannot be a template")
	}
}

// Run implements [Action].
func (a Tool) Run(ctx context.Context, c *Call) (Outcome, error) {
	if c.CallTool == nil {
		return Outcome{}, Permanent(errors.New("the host offers no tools"))
	}
	return c.CallTool(ctx, a.Tool, a.Args)
}
