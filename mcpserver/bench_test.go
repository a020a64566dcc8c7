package mcpserver_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fsutil"
)

// BenchmarkCall compares the cost of a call with the library: the same dry run in the process, over stdio to another
// process, and over HTTP.
func BenchmarkCall(b *testing.B) {
	files := ""
	for i := range 20 {
		files += fmt.Sprintf("-- src/f%02d.txt --\nto recieve\n", i)
	}
	dir := tree(b, files)
	pipeline := `{"name":"x","dry_run":true,` + fixTypo[len(`{"name":"fix-typo",`):]
	b.Run("library", func(b *testing.B) {
		root, err := fsutil.OpenRoot(dir)
		if err != nil {
			b.Fatal(err)
		}
		defer root.Close()
		for b.Loop() {
			p, err := millrace.Decode([]byte(pipeline))
			if err != nil {
				b.Fatal(err)
			}
			if _, err := (millrace.Executor{State: millrace.State{NoSync: true}}).Run(b.Context(), root, p); err != nil {
				b.Fatal(err)
			}
		}
	})
	calls := func(b *testing.B, session *mcp.ClientSession) {
		b.Helper()
		for b.Loop() {
			res, err := session.CallTool(b.Context(),
				&mcp.CallToolParams{Name: "batch_operations", Arguments: map[string]any{"pipeline_json": pipeline}})
			if err != nil || res.IsError {
				b.Fatal(err, res)
			}
		}
	}
	b.Run("stdio", func(b *testing.B) {
		session, err := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil).Connect(b.Context(),
			&mcp.CommandTransport{Command: process(b, dir)}, nil)
		if err != nil {
			b.Fatal(err)
		}
		calls(b, session)
		_ = session.Close()
	})
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		b.Run("http/"+version, func(b *testing.B) {
			s, _ := newServer(b, files)
			server := httptest.NewServer(s.Handler(token))
			defer server.Close()
			session, err := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil).Connect(context.Background(),
				&mcp.StreamableClientTransport{Endpoint: server.URL + "/mcp", HTTPClient: &http.Client{Transport: bearer{token}}},
				&mcp.ClientSessionOptions{ProtocolVersion: version})
			if err != nil {
				b.Fatal(err)
			}
			calls(b, session)
			_ = session.Close()
		})
	}
}
