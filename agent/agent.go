package agent

import (
	"context"
	"time"

	"github.com/millrace-go/millrace/budget"
)

// Agent is a model, or a program around a model, that steps of the action prompt ask. It is called from several
// goroutines.
type Agent interface {
	// Ask handles the request and returns the answer. Output and cost that are returned with an error are kept: the output
	// for the steps after it, the cost for the budget. An error can have methods: "Code() string" for the code of the
	// step's failure instead of "agent_failed", and "Retryable() bool" to report whether another attempt may succeed.
	// Without Retryable the step is retried, by default three times. A panic is an error and is not retried.
	//
	// Ask must return soon after ctx is done, because the run waits for it. Nothing that it has started may work in the
	// workspace after that.
	Ask(ctx context.Context, r *Request) (Reply, error)
}

// Func is a function that is an [Agent].
type Func func(ctx context.Context, r *Request) (Reply, error)

// Ask calls the function.
func (f Func) Ask(ctx context.Context, r *Request) (Reply, error) { return f(ctx, r) }

// Request is a question to an agent. It belongs to the agent until Ask returns.
type Request struct {
	// Prompt is the prompt of the step, with its templates expanded. Text returns it together with Previous.
	Prompt string
	// Previous is the step that was executed before. It is nil if this step is the first, or does not need it.
	Previous *Previous
	// Sandbox has the settings of the agent's work from the step, and from the pipeline for fields that the step does
	// not set.
	Sandbox Sandbox
	// Step is the id of the step. RunID is the id of the run, "" if the run has none.
	Step, RunID string
	// Shared is the absolute path of a directory that all steps of the run share. It is removed with the run. An agent in
	// a container mounts it, for example at /shared. It is "" if the step has no workspace and does not refer to the
	// directory.
	Shared string
	// Visit counts the visits of the step in the run, Attempt the attempts of this visit, both from 1.
	Visit, Attempt int
	// Left is the unspent part of the budget, more than 0. Zero means no budget.
	Left budget.Cost
	// Workspace writes the tree with the changes of earlier steps to a directory, and returns the absolute path of
	// the directory. After Ask has returned, changes in the directory become changes of the step, unless the step
	// only reads. Each call within one attempt returns the same directory. It is slow for a large tree, so an agent
	// that does not need the tree should not call it. It may be called from several goroutines. Nil means that the
	// step has no workspace.
	Workspace func(ctx context.Context) (dir string, err error)
}

// Previous is the output and the error of the step before.
type Previous struct {
	// Step is the id of the step.
	Step string
	// Output is the output of the step, or the last [MaxPrevious] bytes of a longer output.
	Output string
	// Error is the text of the step's error, "" if it has succeeded. ErrorCode is the code of the error.
	Error, ErrorCode string
	// Truncated means that Output was longer.
	Truncated bool
}

// Sandbox has the settings of an agent's work. The agent decides which fields it supports and their meaning. Millrace
// itself enforces the timeout, and counts steps with GPU, see Executor.Bulkheads. An empty field is not set.
type Sandbox struct {
	// Model is the name of a model.
	Model string
	// Tools are the names of the tools that the agent may use.
	Tools []string
	// SystemPrompt goes to the model before the prompt.
	SystemPrompt string
	// Timeout is the limit of an attempt; ctx ends then.
	Timeout time.Duration
	// Memory is the memory limit of the agent, such as "4g".
	Memory string
	// GPU means that the agent needs a GPU.
	GPU bool
	// Workdir is the directory at which the agent sees the workspace, such as "/workspace".
	Workdir string
	// Options are more settings, any JSON: nil, bool, int64, float64, string, []any and map[string]any.
	Options map[string]any
}

// Reply is the answer of an agent.
type Reply struct {
	// Output is the answer. Bytes in it that are not UTF-8 become U+FFFD.
	Output string
	// Model is the name of the model that has answered, "" if it is not known.
	Model string
	// Cost is the cost of the answer, also with an error. A negative cost counts as 0.
	Cost budget.Cost
	// InputTokens and OutputTokens count the tokens that the model has read and written; 0 means unknown.
	InputTokens, OutputTokens int64
}
