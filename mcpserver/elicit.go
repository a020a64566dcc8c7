package mcpserver

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
)

// question is the key of the question and the name of its one field.
const question = "approve"

const questionSchema = `{"type":"object","properties":{"approve":{"type":"boolean","title":"Make this change",` +
	`"description":"Write these files, although the change is larger than may be made without being asked.","default":false}},"required":["approve"]}`

// canAsk reports whether the client can show its user a form.
func (c *call) canAsk() bool {
	caps := c.req.ClientCapabilities()
	if caps == nil || caps.Elicitation == nil {
		return false
	}
	// Clients of older protocol versions, with only one way to ask, set neither.
	return caps.Elicitation.Form != nil || caps.Elicitation.URL == nil
}

// ask returns an answer that asks the person at the client about a plan. The client repeats the call with the person's
// answer.
func (c *call) ask(e *entry) *answer {
	e.counter = c.progress.counter
	e.relay.set(nil)
	return asking(questionText(e.plan), c.state(e.id, e.digest))
}

// asking returns an answer that asks the person at the client. The client sends state back with the person's answer.
func asking(message, state string) *answer {
	return &answer{ask: &mcp.CallToolResult{
		InputRequests: mcp.InputRequestMap{question: &mcp.ElicitParams{
			Mode: "form", Message: message, RequestedSchema: json.RawMessage(questionSchema),
		}},
		RequestState: state,
	}}
}

// questionText describes the change to approve: its size, its risk, and its files.
func questionText(plan *millrace.Plan) string {
	res := plan.Result()
	var b strings.Builder
	fmt.Fprintf(&b, "Change %d files with %d edits", res.FilesChanged.Count(), res.TotalEdits)
	fmt.Fprintf(&b, " (risk %s)? %s\n", res.OverallRiskLevel, visible(res.BlockReason))
	f := res.FilesChanged
	names := append(append(append([]string{}, f.Created...), f.Modified...), f.Deleted...)
	for _, r := range f.Renamed {
		names = append(names, r.From+" -> "+r.To)
	}
	for i, name := range names {
		names[i] = "  " + strings.ReplaceAll(visible(name), "\n", " ")
	}
	if len(names) > 0 {
		b.WriteString(actions.Few(names, "\n") + "\n")
	}
	return b.String()
}

// state returns the state that the client sends with the second call: the plan and its digest, bound to the tool and
// its arguments, and signed with a key that only this process has.
func (c *call) state(id, digest string) string {
	return id + "." + digest + "." + hex.EncodeToString(c.sign(id, digest))
}

func (c *call) sign(id, digest string) []byte {
	mac := hmac.New(sha256.New, c.key)
	for _, part := range []string{id, digest, c.tool.name, string(c.args)} {
		fmt.Fprintf(mac, "%d:%s", len(part), part)
	}
	return mac.Sum(nil)
}

// again is the advice for a state that is refused.
const again = "send the call again without a state"

// asked returns what the state of a call names: the id that was asked about, and its digest.
func (c *call) asked() (id, digest string, err error) {
	parts := strings.Split(c.req.Params.RequestState, ".")
	if len(parts) != 3 {
		return "", "", planError(again, "the state of the request is not one of this server")
	}
	mac, err := hex.DecodeString(parts[2])
	if err != nil || !hmac.Equal(mac, c.sign(parts[0], parts[1])) {
		return "", "", planError(again, "the state of the request was not made by this server for this call")
	}
	return parts[0], parts[1], nil
}

// consent returns nil if the person agreed.
func (c *call) consent(reason string) error {
	reply, ok := c.req.Params.InputResponses[question].(*mcp.ElicitResult)
	if ok && reply.Action == "accept" && reply.Content[question] == true {
		return nil
	}
	return &nextError{
		err:  &millrace.BlockedError{Reason: "the change was not approved: " + reason},
		next: "ask the user what to do instead; do not send the same change again",
	}
}

// approved continues a call after the person was asked. It commits the plan that was shown and never plans again.
func (s *Server) approved(ctx context.Context, c *call) (*answer, error) {
	id, digest, err := c.asked()
	switch {
	case err != nil:
		return nil, err
	case s.cfg.ReadOnly:
		return nil, millrace.ErrReadOnly
	case id == heldRun:
		return c.playApproved(ctx, digest)
	}
	e, err := c.plans.find(id)
	if err != nil {
		return nil, err
	}
	if e.digest != digest {
		return nil, planError(again, "the state of the request is about another plan")
	}
	c.progress.adopt(e.counter)
	if err := c.consent(e.plan.Result().BlockReason); err != nil {
		return nil, err
	}
	res, err := e.commit(ctx, c, true)
	return c.rendered(res, err, e.render)
}
