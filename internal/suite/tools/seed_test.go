package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/tool"
)

// chat is a service with three tools: they post a message, make an event of it, and grant a role.
type chat struct{ log []string }

func (c *chat) tools(t *testing.T) tool.Set {
	t.Helper()
	type posted struct {
		ID      string `json:"id"`
		Members []struct {
			ID    string `json:"id"`
			Level int    `json:"level"`
		} `json:"members"`
	}
	post := tool.Func("messages_send", "Post a message.", func(_ context.Context, in struct {
		Channel string `json:"channel" param:"required"`
		Content string `json:"content" param:"required"`
	}) (posted, error) {
		c.log = append(c.log, "send "+in.Channel+": "+in.Content)
		p := posted{ID: "111122223333444455"}
		p.Members = append(p.Members, struct {
			ID    string `json:"id"`
			Level int    `json:"level"`
		}{"987", 3})
		return p, nil
	})
	event := tool.Func("events_create", "Schedule an event.", func(_ context.Context, in struct {
		Message string `json:"message"`
		Level   int    `json:"level"`
	}) (map[string]any, error) {
		c.log = append(c.log, fmt.Sprintf("event of %s, level %d", in.Message, in.Level))
		return map[string]any{"id": int64(9007199254740993)}, nil
	})
	role := tool.Func("roles_add", "Grant a role.", func(_ context.Context, in struct {
		Member string         `json:"member"`
		Event  int64          `json:"event"`
		All    map[string]any `json:"all"`
	}) (any, error) {
		c.log = append(c.log, fmt.Sprintf("role for %s at %d, %v", in.Member, in.Event, in.All["id"]))
		if strings.HasPrefix(in.Member, "x") {
			return nil, errors.New("no such member")
		}
		return nil, nil
	})
	set, err := tool.New(post, event, role)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

const announce = `{"name": "announce", "steps": [
	{"id": "post", "action": "tool", "params": {"tool": "messages_send", "args": {"channel": "general", "content": "Release at noon"}}},
	{"id": "event", "action": "tool", "params": {"tool": "events_create", "args": {"message": "{{step1.id}}", "level": "{{step1.members[0].level}}"}}},
	{"id": "grant", "action": "tool", "params": {"tool": "roles_add", "args": {"member": "MEMBER", "event": "{{step2.id}}", "all": "{{step1}}"}}}
]}`

// Later calls read the results of earlier calls, and values keep their type.
func TestAnnounce(t *testing.T) {
	t.Parallel()
	for _, parallel := range []bool{false, true} {
		c := &chat{}
		d := millrace.Decoder{Tools: c.tools(t)}
		p, err := d.Decode([]byte(strings.ReplaceAll(announce, "MEMBER", "{{step1.members[0].id}}")))
		if err != nil {
			t.Fatal(err)
		}
		res, err := millrace.Executor{Tools: c.tools(t)}.Run(t.Context(), suite.Tree("a.txt", "x"), p.WithOptions(millrace.Options{Parallel: parallel}))
		if err != nil || res.CompletedSteps != 3 {
			t.Fatal(err)
		}
		want := []string{"send general: Release at noon", "event of 111122223333444455, level 3", "role for 987 at 9007199254740993, 111122223333444455"}
		if diff := cmp.Diff(want, c.log); diff != "" {
			t.Errorf("parallel %t (-want +got):\n%s", parallel, diff)
		}
	}
}

// A failed call ends the run: earlier calls were made, later calls are not.
func TestAnnounceFails(t *testing.T) {
	t.Parallel()
	c := &chat{}
	x := millrace.Executor{Tools: c.tools(t)}
	p, err := millrace.Decode([]byte(strings.ReplaceAll(announce, "MEMBER", "x")))
	if err != nil {
		t.Fatal(err)
	}
	res, err := x.Run(t.Context(), suite.Tree("a.txt", "x"), p)
	if millrace.ErrorCode(err) != "tool_failed" || len(c.log) != 3 {
		t.Fatalf("%v, %q", err, c.log)
	}
	want := []string{"what step 'post' has done outside of the tree is not taken back", "what step 'event' has done outside of the tree is not taken back",
		"what step 'grant' has done outside of the tree is not taken back"}
	if diff := cmp.Diff(want, res.Warnings); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	data, err := json.Marshal(res.Envelope())
	if err != nil {
		t.Fatal(err)
	}
	envelope := `{"results":[{"step":1,"tool":"messages_send","ok":true,"data":{"id":"111122223333444455","members":[{"id":"987","level":3}]}},` +
		`{"step":2,"tool":"events_create","ok":true,"data":{"id":9007199254740993}},` +
		`{"step":3,"tool":"roles_add","ok":false,"error":{"code":"tool_failed","message":"tool 'roles_add': no such member"}}],` +
		`"summary":{"total":3,"succeeded":2,"failed":1},"warnings":["` + strings.Join(want, `","`) + `"]}`
	if diff := cmp.Diff(envelope, string(data)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	// A path that does not exist fails the step before its tool is called.
	c.log = nil
	p, err = millrace.Decode([]byte(strings.ReplaceAll(announce, "MEMBER", "{{step1.members[7].id}}")))
	if err != nil {
		t.Fatal(err)
	}
	_, err = x.Run(t.Context(), suite.Tree("a.txt", "x"), p)
	want = []string{"template '{{step1.members[7].id}}': 'post.members' has 1 elements, index 7 is out of range"}
	if millrace.ErrorCode(err) != "INTERPOLATION_FAILED" || len(c.log) != 2 || !strings.Contains(fmt.Sprint(err), want[0]) {
		t.Errorf("%v, %q", err, c.log)
	}
}

// A path into a result that no tool returns is found before any tool is called.
func TestPathsAreCheckedBefore(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"{{step1}}": "", "{{step1.id}}": "", "{{step1.data}}": "", "{{step1.data.id}}": "", "{{step1.members[-1].level}}": "", "{{step1.count}}": "", "{{post.output}}": "",
		"{{step2.anything[3].goes}}": "", `no template \\{{step9.x}}`: "",
		"{{step1.gone}}":               "step 'grant': template '{{step1.gone}}': tool 'messages_send' returns no 'gone': it has id, members",
		"x {{step1.data.idd}}":         "step 'grant': template '{{step1.data.idd}}': tool 'messages_send' returns no 'idd': did you mean 'id'?",
		"{{step1.id.x}}":               "step 'grant': template '{{step1.id.x}}': tool 'messages_send' returns no 'id.x': there it returns a string",
		"{{step1.members[0].lvel}}":    "step 'grant': template '{{step1.members[0].lvel}}': tool 'messages_send' returns no 'members[0].lvel': did you mean 'level'?",
		"{{step1.members.id}}":         "step 'grant': template '{{step1.members.id}}': tool 'messages_send' returns no 'members.id': there it returns a list",
		"{{step1.members[0].level.x}}": "step 'grant': template '{{step1.members[0].level.x}}': tool 'messages_send' returns no 'members[0].level.x': there it returns a number",
	} {
		c := &chat{}
		text := []byte(strings.ReplaceAll(announce, "MEMBER", path))
		_, decodeErr := millrace.Decoder{Tools: c.tools(t)}.Decode(text)
		p, err := millrace.Decode(text)
		if err != nil {
			t.Fatal(err)
		}
		_, runErr := millrace.Executor{Tools: c.tools(t)}.Run(t.Context(), suite.Tree("a.txt", "x"), p)
		if want == "" {
			if decodeErr != nil || suite.Is[*millrace.ValidationError](runErr) {
				t.Errorf("%s: %v, %v", path, decodeErr, runErr)
			}
			continue
		}
		for _, err := range []error{decodeErr, runErr} {
			invalid, ok := errors.AsType[*millrace.ValidationError](err)
			if !ok || err.Error() != want || !errors.Is(err, millrace.ErrInterpolation) || len(c.log) > 0 {
				t.Errorf("%s: %v, %q", path, err, c.log)
				continue
			}
			if p := invalid.Problems[0]; p.Pointer != "/steps/2/params/args/member" || p.Code != "invalid_template" || p.Step != "grant" {
				t.Errorf("%s: %+v", path, p)
			}
		}
	}
}

// A tool that costs is not called once the budget is spent. The cost of a failed tool counts.
func TestToolsCost(t *testing.T) {
	t.Parallel()
	calls := 0
	ask := tool.WithSpec(tool.Func("ask", "", func(ctx context.Context, _ struct{}) (int, error) {
		calls++
		tool.Current(ctx).Spend(60 * budget.Cent)
		if calls == 1 {
			return 0, errors.New("no")
		}
		return calls, nil
	}), func(s *tool.Spec) { s.Costs = true })
	tools, err := tool.New(ask)
	if err != nil {
		t.Fatal(err)
	}
	b := millrace.New("p").Budget(budget.Limit{USD: budget.Dollar})
	p := b.Step("a", actions.Tool{Tool: "ask"}).MaxRetries(1).Backoff(1e6).Step("b", edit).Step("c", actions.Tool{Tool: "ask"}).MustBuild()
	for _, parallel := range []bool{false, true} {
		calls = 0
		res, err := millrace.Executor{Tools: tools}.Run(t.Context(), suite.Tree("a.txt", "x"), p.WithOptions(millrace.Options{Parallel: parallel}))
		if millrace.ErrorCode(err) != "budget_exceeded" || calls != 2 || res.Cost != 120*budget.Cent {
			t.Errorf("parallel %t: %v, %d calls, %v", parallel, err, calls, res.Cost)
		}
	}
}
