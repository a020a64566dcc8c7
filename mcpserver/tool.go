package mcpserver

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/millrace-go/millrace"
)

// tool is one tool: its entry in the list of tools, and its function.
type tool struct {
	name       string
	writes     bool // absent on a read-only server
	idempotent bool // a second call with the same arguments changes nothing more
	run        func(ctx context.Context, c *call) (*answer, error)
	// input is the schema for checking the arguments, nil for tools that check them themselves.
	input *schema
}

// call is one call of a tool.
type call struct {
	*Server
	tool     tool
	req      *mcp.CallToolRequest
	args     json.RawMessage
	progress *progress
	// told makes the answer for a run that has failed, nil for the one-line summary of its result.
	told func(*millrace.Result) *answer
	// runID is the id of the run if its answer has one, "" for that of the configuration.
	runID string
	// repaired are the warnings about repaired arguments.
	repaired []string
}

// executor returns the executor of the call.
func (c *call) executor(observe func(millrace.Event)) millrace.Executor {
	x := c.Server.executor(observe)
	if c.tool.name == "fs_write" {
		x.Words = withoutEntries
	}
	return x
}

// decode reads the arguments, already checked with the schema, into a struct.
func (c *call) decode(v any) error { return json.Unmarshal(c.args, v) }

// takenKey is the context key of the name by which the tool was called.
type takenKey struct{}
