package mcpserver_test

import (
	"context"
	"fmt"
	"log"
	"regexp"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/mcpserver"
)

// Bump writes a version into files.
type Bump struct {
	Files   []string `json:"files,omitempty" doc:"Files to write it into. Leave it out if an earlier step gives them."`
	Version string   `json:"version" param:"required" doc:"The version, such as 1.2.3."`
	Style   string   `json:"style,omitempty" enum:"plain,v" doc:"With a v before it (v), or without. Default: plain."`
}

func (Bump) Spec() actions.Spec {
	return actions.Spec{Name: "bump", Summary: "Write a version into files", Input: actions.InputFiles}
}

var version = regexp.MustCompile(`v?\d+\.\d+\.\d+`)

func (b Bump) Validate(c *actions.Check) {
	if !c.Templated(b.Version) && version.FindString(b.Version) != b.Version {
		c.Problemf("/version", "bad_version", "write it as 1.2.3", "'%s' is not a version", b.Version)
	}
}

func (b Bump) Run(ctx context.Context, c *actions.Call) (actions.Outcome, error) {
	text := b.Version
	if b.Style == "v" {
		text = "v" + text
	}
	return c.EditEach(ctx, func(_ string, old []byte) ([]byte, error) {
		return version.ReplaceAll(old, []byte(text)), nil
	})
}

// A program's own action is available in Go, in JSON, and to the agents that use its server.
func Example_ownAction() {
	ctx := context.Background()
	fsys := afero.NewMemMapFs()
	if err := afero.WriteFile(fsys, "VERSION", []byte("v1.2.3\n"), 0o644); err != nil {
		log.Fatal(err)
	}

	own := actions.Builtin().With(Bump{})
	if err := own.Err(); err != nil {
		log.Fatal(err)
	}

	p, err := millrace.New("release").
		Step("bump", Bump{Files: []string{"VERSION"}, Version: "1.3.0"}).
		Build()
	if err != nil {
		log.Fatal(err)
	}
	res, err := millrace.Executor{}.Run(ctx, fsys, p)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("Go:", res)

	decoder := millrace.Decoder{Actions: own}
	_, err = decoder.Decode([]byte(`{"name": "release", "steps": [
		{"id": "bump", "action": "bump", "params": {"files": ["VERSION"], "version": "next"}}]}`))
	fmt.Println("JSON:", err)

	s, err := mcpserver.New(mcpserver.Config{FS: fsys, Decoder: decoder})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	here, there := mcp.NewInMemoryTransports()
	if _, err := s.MCP().Connect(ctx, there, nil); err != nil {
		log.Fatal(err)
	}
	agent, err := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, nil).Connect(ctx, here, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer agent.Close()
	answer, err := agent.CallTool(ctx, &mcp.CallToolParams{Name: "batch_operations", Arguments: map[string]any{
		"name": "release", "steps": []any{map[string]any{
			"id": "bump", "action": "bump", "params": map[string]any{"files": []string{"VERSION"}, "version": "1.4.0", "style": "v"},
		}},
	}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("MCP:", answer.StructuredContent.(map[string]any)["summary"])
	// Output:
	// Go: OK: 1/1 steps | 1 files | 1 edits
	// JSON: 'next' is not a version (at /steps/0/params/version, line 2): write it as 1.2.3
	// MCP: OK: 1/1 steps | 1 files | 1 edits
}
