package mcpserver_test

import (
	"context"
	"fmt"
	"log"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/mcpserver"
	"github.com/millrace-go/millrace/risk"
)

// A program serves its own tree, here one in memory, and talks to the server like an agent.
func Example() {
	fsys := afero.NewMemMapFs()
	if err := afero.WriteFile(fsys, "notes.txt", []byte("to recieve\n"), 0o644); err != nil {
		log.Fatal(err)
	}
	s, err := mcpserver.New(mcpserver.Config{FS: fsys, Executor: millrace.Executor{Ceiling: risk.Medium}})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()

	ctx := context.Background()
	here, there := mcp.NewInMemoryTransports()
	if _, err := s.MCP().Connect(ctx, there, nil); err != nil {
		log.Fatal(err)
	}
	agent, err := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, nil).Connect(ctx, here, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer agent.Close()
	res, err := agent.CallTool(ctx, &mcp.CallToolParams{Name: "fs_write", Arguments: map[string]any{
		"command": "str_replace", "path": "notes.txt", "old_str": "recieve", "new_str": "receive", "dry_run": true,
	}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.StructuredContent.(map[string]any)["summary"])
	// Output: OK: 1/1 steps | 1 files | 1 edits
}
