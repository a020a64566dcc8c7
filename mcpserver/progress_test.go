package mcpserver_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/mcpserver"
)

// notices collects the progress notices of a client.
type notices struct {
	mu   sync.Mutex
	list []*mcp.ProgressNotificationParams
}

func (n *notices) take(_ context.Context, req *mcp.ProgressNotificationClientRequest) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = append(n.list, req.Params)
}

func (n *notices) all() []*mcp.ProgressNotificationParams {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]*mcp.ProgressNotificationParams(nil), n.list...)
}

// Progress is sent only to clients that request it, and its numbers increase, even in the call that is repeated after a
// question.
func TestProgress(t *testing.T) {
	p, n := &person{action: "accept", approve: true}, &notices{}
	opts := p.options()
	opts.ProgressNotificationHandler = n.take
	c := serve(t, mcpserver.Config{}, many(60), opts)
	c.good("plan_pipeline", `{"pipeline_json":`+fixAll+`}`)
	if len(n.all()) != 0 {
		t.Fatalf("no request for the notices %v", n.all())
	}
	params := &mcp.CallToolParams{Name: "batch_operations", Arguments: json.RawMessage(`{"pipeline_json":` + fixAll + `}`)}
	params.SetProgressToken("token")
	res, err := c.CallTool(t.Context(), params)
	if err != nil || res.IsError {
		t.Fatal(err, replyOf(t, res).text)
	}
	// A notice may come after the answer.
	if err := c.Ping(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	list := n.all()
	last, commit := 0.0, false
	for _, notice := range list {
		if notice.ProgressToken != "token" || notice.Progress <= last || notice.Message == "" {
			t.Errorf("the notice is %+v after %v", notice, last)
		}
		last, commit = notice.Progress, commit || strings.HasPrefix(notice.Message, "commit: ")
	}
	if len(list) < 2 || !commit {
		t.Errorf("%d notices, one of the commit: %v", len(list), commit)
	}
}

// wait is an action that lasts until its context ends.
type wait struct{}

func (wait) Spec() actions.Spec {
	return actions.Spec{Name: "wait", Summary: "wait", Input: actions.InputNone}
}

var begun = make(chan struct{}, 10)

func (wait) Run(ctx context.Context, _ *actions.Call) (actions.Outcome, error) {
	begun <- struct{}{}
	<-ctx.Done()
	return actions.Outcome{}, context.Cause(ctx)
}

// A call that is canceled before the commit writes nothing.
func TestCancel(t *testing.T) {
	cfg := mcpserver.Config{Decoder: millrace.Decoder{Actions: actions.Builtin().With(wait{})}}
	c := serve(t, cfg, "-- src/a.txt --\nrecieve\n", nil)
	pipeline := strings.TrimSuffix(fixTypo, "]}") + `,{"id":"wait","action":"wait"}]}`
	for _, tool := range []string{"batch_operations", "plan_pipeline"} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		done := make(chan error, 1)
		go func() {
			_, err := c.CallTool(ctx, &mcp.CallToolParams{Name: tool,
				Arguments: json.RawMessage(`{"pipeline_json":` + pipeline + `}`)})
			done <- err
		}()
		<-begun
		cancel()
		if err := <-done; err == nil {
			t.Errorf("%s was not canceled", tool)
		}
		c.holds("-- src/a.txt --\nrecieve\n")
	}
	// The canceled call does not keep the tree locked.
	c.good("batch_operations", `{"pipeline_json":`+fixTypo+`}`)
}
