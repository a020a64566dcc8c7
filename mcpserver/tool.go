package mcpserver

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/millrace-go/millrace"
)

// tool is one tool: what the list says of it, and what a call of it does.
type tool struct {
	name       string
	writes     bool // it is not there on a server that only reads
	idempotent bool // a second call with the same arguments changes nothing more
	run        func(ctx context.Context, c *call) (*answer, error)
	// input is the schema that the arguments are checked with, nil for tools that check them themselves.
	input *schema
}

// call is one call of a tool.
type call struct {
	*Server
	tool     tool
	req      *mcp.CallToolRequest
	args     json.RawMessage
	progress *progress
	// told is the answer of a run that has failed, nil for the one line of its result.
	told func(*millrace.Result) *answer
	// runID is the id of the run where its answer has one, "" for that of the configuration.
	runID string
	// without is the pipeline without the files that an error is about, where these are not to keep the others from
	// being written. ok is false for other errors.
	without func(err error) (p millrace.Pipeline, ok bool)
	// repaired are the warnings about arguments that the schema does not have.
	repaired []string
}

// decode reads the arguments, which were checked with the schema, into a struct.
func (c *call) decode(v any) error { return json.Unmarshal(c.args, v) }

// takenKey is the name, in the context of a call, of the name that its tool was called by.
type takenKey struct{}
