package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/mcpserver"
	"github.com/millrace-go/millrace/millracetest"
	"github.com/millrace-go/millrace/risk"
)

// many returns a tree of n files, so many that a change of all of them needs force.
func many(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "-- f%03d.txt --\nrecieve\n", i)
	}
	return b.String()
}

// fixed returns a tree after fixAll.
func fixed(files string) string { return strings.ReplaceAll(files, "recieve", "receive") }

const fixAll = `{"name":"all","force":true,"steps":[{"id":"find","action":"search","params":{"pattern":"recieve"}},` +
	`{"id":"fix","action":"edit","input_from":"find","params":{"old_text":"recieve","new_text":"receive"}}]}`

// person answers questions.
type person struct {
	mu      sync.Mutex
	asked   []string
	action  string
	approve any
}

func (p *person) options() *mcp.ClientOptions {
	return &mcp.ClientOptions{ElicitationHandler: func(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.asked = append(p.asked, req.Params.Message)
		res := &mcp.ElicitResult{Action: p.action}
		if p.action == "accept" {
			res.Content = map[string]any{"approve": p.approve}
		}
		return res, nil
	}}
}

func TestApproval(t *testing.T) {
	for name, p := range map[string]*person{
		"accept": {action: "accept", approve: true}, "no": {action: "accept", approve: false}, "decline": {action: "decline"}, "cancel": {action: "cancel"},
	} {
		for _, tool := range []string{"batch_operations", "apply_plan", "fs_write", "apply_patch"} {
			t.Run(name+"/"+tool, func(t *testing.T) {
				c := serve(t, mcpserver.Config{}, many(60), p.options())
				var args string
				p.asked = nil
				switch tool {
				case "batch_operations":
					args = `{"pipeline_json":` + fixAll + `}`
				case "apply_plan":
					r := c.good("plan_pipeline", `{"pipeline_json":`+fixAll+`}`)
					has(t, r.text, "would be blocked", "force was ignored")
					args = `{"plan_id":"` + line(t, r.text, "plan_id: ") + `","digest":"` + line(t, r.text, "digest: ") + `"}`
				case "fs_write":
					args = `{"command":"pattern_replace","file_pattern":"*.txt","sed_pattern":"s/recieve/receive/"}`
				case "apply_patch":
					var b strings.Builder
					for i := range 60 {
						fmt.Fprintf(&b, "--- a/f%03d.txt\n+++ b/f%03d.txt\n@@ -1 +1 @@\n-recieve\n+receive\n", i, i)
					}
					args = `{"patch":` + quote(b.String()) + `}`
				}
				want := many(60)
				if name == "accept" {
					want = fixed(want)
					r := c.good(tool, args)
					has(t, r.text, "backup: ")
				} else {
					c.bad(tool, args, "blocked: the change was not approved", "next: ask the user")
				}
				c.holds(want)
				if len(p.asked) != 1 {
					t.Fatalf("the person was asked %d times", len(p.asked))
				}
				has(t, p.asked[0], "Change 60 files with 60 edits (risk HIGH)?", "f000.txt", "f009.txt", "and 50 more")
				if strings.Contains(p.asked[0], "f020.txt") {
					t.Error("more than twenty files are listed")
				}
			})
		}
	}
}

// Without a person, a blocked change stays blocked, and the answer reports what a person can do.
func TestBlocked(t *testing.T) {
	c := serve(t, mcpserver.Config{}, many(60), nil)
	c.bad("batch_operations", `{"pipeline_json":`+fixAll+`}`, "FAIL: ", "blocked: operation blocked due to HIGH risk. Use force=true to proceed",
		"next: a person can run millrace apply, or restart the server with --allow-force", "force was ignored")
	c.holds(many(60))
	c = serve(t, mcpserver.Config{AllowForce: true}, many(60), nil)
	c.good("batch_operations", `{"pipeline_json":`+fixAll+`}`)
}

// No answer of a person can exceed the ceiling of the host, so nobody is asked.
func TestCeiling(t *testing.T) {
	p := &person{action: "accept", approve: true}
	for _, allow := range []bool{false, true} {
		c := serve(t, mcpserver.Config{AllowForce: allow, Executor: millrace.Executor{Ceiling: risk.Medium}}, many(60),
			p.options())
		c.bad("batch_operations", `{"pipeline_json":`+fixAll+`}`, "blocked: ", "next: ask the user: this limit is the host's")
		if len(p.asked) != 0 {
			t.Errorf("the person was asked: %s", p.asked)
		}
	}
}

// A state that this process did not make for this exact call is not trusted.
func TestForgedState(t *testing.T) {
	p := &person{action: "accept", approve: true}
	dir := tree(t, many(60))
	s, err := mcpserver.New(mcpserver.Config{Root: dir, Executor: millrace.Executor{State: millrace.State{NoSync: true}}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	opts := p.options()
	opts.MultiRoundTrip = &mcp.MultiRoundTripOptions{Disabled: true}
	server := httptest.NewServer(s.Handler(""))
	defer server.Close()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, opts).Connect(t.Context(),
		&mcp.StreamableClientTransport{Endpoint: server.URL + "/mcp"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	call := func(tool, args, state string) *mcp.CallToolResult {
		t.Helper()
		params := &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(args), RequestState: state}
		if state != "" {
			params.InputResponses = mcp.InputResponseMap{"approve": &mcp.ElicitResult{Action: "accept",
				Content: map[string]any{"approve": true}}}
		}
		res, err := session.CallTool(t.Context(), params)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	args := `{"pipeline_json":` + fixAll + `}`
	res := call("batch_operations", args, "")
	if len(res.InputRequests) != 1 || res.RequestState == "" {
		t.Fatalf("the server asks nothing: %+v", replyOf(t, res).text)
	}
	state := res.RequestState
	parts := strings.Split(state, ".")
	for name, forged := range map[string]string{
		"none": "x", "another plan": otherDigit(state, 0), "another digest": parts[0] + "." + strings.Repeat("0", 64) + "." + parts[2],
		"no signature": parts[0] + "." + parts[1] + ".", "another signature": otherDigit(state, len(state)-1),
	} {
		if r := replyOf(t, call("batch_operations", args, forged)); !r.err ||
			!strings.Contains(r.text, "the state of the request") {
			t.Errorf("%s: %s", name, r.text)
		}
	}
	if r := replyOf(t, call("batch_operations", strings.Replace(args, "all", "all2", 1), state)); !r.err {
		t.Errorf("other arguments: %s", r.text)
	}
	if r := replyOf(t, call("fs_write", `{"command":"append","path":"f000.txt","new_str":"x"}`, state)); !r.err {
		t.Errorf("another tool: %s", r.text)
	}
	millracetest.Equal(t, disk(dir), many(60))
	if r := replyOf(t, call("batch_operations", args, state)); r.err {
		t.Errorf("the true state: %s", r.text)
	}
	if r := replyOf(t, call("batch_operations", args, state)); r.err || !strings.Contains(r.text, "applied before") {
		t.Errorf("the true state again: %s", r.text)
	}
	millracetest.Equal(t, disk(dir), fixed(many(60)))
}

// otherDigit returns s with another hexadecimal digit at i: a fixed digit could equal the present one.
func otherDigit(s string, i int) string {
	digit := "0"
	if s[i] == '0' {
		digit = "1"
	}
	return s[:i] + digit + s[i+1:]
}

// Undoing a change is a change: the ceiling applies to it, and a person is asked as for any other.
func TestUndo_judged(t *testing.T) {
	files := many(60)
	t.Run("a person", func(t *testing.T) {
		p := &person{action: "accept", approve: true}
		c := serve(t, mcpserver.Config{}, files, p.options())
		id := line(t, c.good("batch_operations", `{"pipeline_json":`+fixAll+`}`).text, "backup: ")
		id, _, _ = strings.Cut(id, " ")
		p.approve = false
		c.bad("undo", `{"backup_id":"`+id+`"}`, "blocked", "not approved")
		c.holds(fixed(files))
		p.approve = true
		c.good("undo", `{"backup_id":"`+id+`"}`)
		c.holds(files)
		if len(p.asked) != 3 {
			t.Errorf("the person was asked %d times", len(p.asked))
		}
	})
	t.Run("nobody to ask", func(t *testing.T) {
		dir := tree(t, files)
		with := func(cfg mcpserver.Config) *client {
			cfg.Root, cfg.Executor.State.NoSync, cfg.Executor.State.Key = dir, true, make([]byte, 32)
			s, err := mcpserver.New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			return &client{ClientSession: connect(t, s, nil), t: t, dir: dir}
		}
		forced := with(mcpserver.Config{AllowForce: true})
		id := line(t, forced.good("batch_operations", `{"pipeline_json":`+fixAll+`}`).text, "backup: ")
		id, _, _ = strings.Cut(id, " ")
		with(mcpserver.Config{}).bad("undo", `{"backup_id":"`+id+`"}`, "blocked")
		with(mcpserver.Config{Executor: millrace.Executor{Ceiling: risk.Low}}).bad("undo", `{"backup_id":"`+id+`"}`, "blocked", "the host")
		forced.holds(fixed(files))
	})
}

// A server that accepts force does not advise to restart it with that permission.
func TestForceIsTaken(t *testing.T) {
	c := serve(t, mcpserver.Config{AllowForce: true}, many(60), nil)
	r := c.bad("batch_operations", `{"pipeline_json":`+strings.Replace(fixAll, `"force":true,`, "", 1)+`}`,
		"next: send it as a pipeline with force")
	if strings.Contains(r.text, "--allow-force") {
		t.Errorf("the answer is %s", r.text)
	}
}
