package mcpserver_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/mcpserver"
	"github.com/millrace-go/millrace/millracetest"
)

// tree makes a directory with the files of a text, which has the form of millracetest.Tree.
func tree(t testing.TB, files string) string {
	t.Helper()
	dir := t.TempDir()
	millracetest.Plant(t, disk(dir), files)
	return dir
}

// disk returns a directory as a file system.
func disk(dir string) afero.Fs { return afero.NewBasePathFs(afero.NewOsFs(), dir) }

// client is a session with a server in memory.
type client struct {
	*mcp.ClientSession
	t       testing.TB
	dir     string
	outputs map[string]*jsonschema.Resolved
}

// serve makes a server of the configuration and a client for it. The root is a tree of the files.
func serve(t testing.TB, cfg mcpserver.Config, files string, opts *mcp.ClientOptions) *client {
	t.Helper()
	dir := tree(t, files)
	if cfg.FS == nil {
		cfg.Root = dir
	}
	cfg.Executor.State.NoSync = true
	if cfg.Executor.State.Key == nil {
		cfg.Executor.State.Key = []byte("0123456789abcdef0123456789abcdef")
	}
	s, err := mcpserver.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return &client{ClientSession: connect(t, s, opts), t: t, dir: dir}
}

func connect(t testing.TB, s *mcpserver.Server, opts *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	here, there := mcp.NewInMemoryTransports()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	if _, err := s.MCP().Connect(ctx, there, nil); err != nil {
		t.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, opts).Connect(ctx, here, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// holds checks that the tree has these files and no others.
func (c *client) holds(files string) {
	c.t.Helper()
	millracetest.Equal(c.t, disk(c.dir), files)
}

// reply is a parsed answer.
type reply struct {
	text string
	data map[string]any
	raw  *mcp.CallToolResult
	err  bool
}

// call calls a tool with arguments that are JSON.
func (c *client) call(name, args string) reply {
	c.t.Helper()
	res, err := c.CallTool(c.t.Context(), &mcp.CallToolParams{Name: name, Arguments: json.RawMessage(args)})
	if err != nil {
		c.t.Fatalf("%s %s: %v", name, args, err)
	}
	r := replyOf(c.t, res)
	c.valid(name, r)
	r.parses(c.t)
	return r
}

// any calls a tool by a name that need not be in the list.
func (c *client) any(name, args string) reply {
	c.t.Helper()
	res, err := c.CallTool(c.t.Context(), &mcp.CallToolParams{Name: name, Arguments: json.RawMessage(args)})
	if err != nil {
		c.t.Fatalf("%s %s: %v", name, args, err)
	}
	return replyOf(c.t, res)
}

// parses checks that each part of an answer that begins like JSON is JSON, and nothing else.
func (r reply) parses(t testing.TB) {
	t.Helper()
	for i, part := range r.raw.Content {
		text, ok := part.(*mcp.TextContent)
		if ok && i == 0 && (strings.HasPrefix(text.Text, "{") || strings.HasPrefix(text.Text, "[")) &&
			!json.Valid([]byte(text.Text)) {
			t.Errorf("part %d is not JSON: %.300s", i, text.Text)
		}
	}
}

// valid checks the data of an answer with the schema for them in the list.
func (c *client) valid(name string, r reply) {
	c.t.Helper()
	if c.outputs == nil {
		list, err := c.ListTools(c.t.Context(), nil)
		if err != nil {
			c.t.Fatal(err)
		}
		c.outputs = make(map[string]*jsonschema.Resolved)
		for _, tool := range list.Tools {
			c.outputs[tool.Name] = nil
			if tool.OutputSchema == nil {
				continue
			}
			var s jsonschema.Schema
			if err := json.Unmarshal([]byte(quote(tool.OutputSchema)), &s); err != nil {
				c.t.Fatal(err)
			}
			if c.outputs[tool.Name], err = s.Resolve(nil); err != nil {
				c.t.Fatal(err)
			}
		}
	}
	schema := c.outputs[name]
	switch {
	case len(r.raw.InputRequests) > 0:
		if r.data != nil {
			c.t.Errorf("%s: a question has data: %v", name, r.data)
		}
	case r.err:
		told, _ := r.data["error"].(map[string]any)
		if told["code"] == nil || told["code"] == "" || told["message"] == nil || told["next"] == nil ||
			r.data["success"] != false || r.data["summary"] == nil {
			c.t.Errorf("%s: the error is %v", name, r.data)
		}
	case schema == nil && r.data != nil:
		c.t.Errorf("%s: there are data and no schema", name)
	case schema != nil:
		if err := schema.Validate(r.data); err != nil || r.data == nil {
			c.t.Errorf("%s: the data do not fit their schema: %v", name, err)
		}
	}
}

func replyOf(t testing.TB, res *mcp.CallToolResult) reply {
	t.Helper()
	r := reply{raw: res, err: res.IsError}
	var texts []string
	for _, part := range res.Content {
		if text, ok := part.(*mcp.TextContent); ok {
			texts = append(texts, text.Text)
		}
	}
	r.text = strings.Join(texts, "\n")
	if res.StructuredContent != nil {
		r.data, _ = res.StructuredContent.(map[string]any)
	}
	return r
}

// good calls a tool that must succeed.
func (c *client) good(name, args string) reply {
	c.t.Helper()
	r := c.call(name, args)
	if r.err {
		c.t.Fatalf("%s %s: %s", name, args, r.text)
	}
	return r
}

// bad calls a tool that must fail, with these words in its answer and a line with the next step.
func (c *client) bad(name, args string, words ...string) reply {
	c.t.Helper()
	r := c.call(name, args)
	if !r.err {
		c.t.Fatalf("%s %s succeeded: %s", name, args, r.text)
	}
	for _, word := range append(words, "next: ") {
		if !strings.Contains(r.text, word) {
			c.t.Errorf("%s %s: no %q in %q", name, args, word, r.text)
		}
	}
	return r
}

func has(t testing.TB, text string, words ...string) {
	t.Helper()
	for _, word := range words {
		if !strings.Contains(text, word) {
			t.Errorf("no %q in:\n%s", word, text)
		}
	}
}

func quote(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// line returns the rest of the line that begins with these words.
func line(t testing.TB, text, begin string) string {
	t.Helper()
	for l := range strings.SplitSeq(text, "\n") {
		if rest, ok := strings.CutPrefix(l, begin); ok {
			return rest
		}
	}
	t.Fatalf("no line %q in:\n%s", begin, text)
	return ""
}

// fits checks that no part of the answer is too long.
func (r reply) fits(t testing.TB) {
	t.Helper()
	for i, part := range r.raw.Content {
		if text, ok := part.(*mcp.TextContent); ok && len(text.Text) > mcpserver.DefaultMaxResult {
			t.Errorf("part %d has %d bytes", i, len(text.Text))
		}
	}
	if n := len(quote(r.raw.StructuredContent)); n > mcpserver.DefaultMaxResult {
		t.Errorf("the data have %d bytes", n)
	}
}
