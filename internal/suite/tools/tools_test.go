package tools_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/tool"
)

// host is a program with tools that count their calls.
type host struct {
	mu    sync.Mutex
	calls []tool.Call
	// fail is the number of the next calls that fail.
	fail int
	err  error
}

// message is the input of the tools.
type message struct {
	Text  string   `json:"text,omitempty"`
	Count int      `json:"count,omitempty"`
	Tags  []string `json:"tags,omitempty"`
}

type answer struct {
	ID     string `json:"id"`
	Number int64  `json:"number"`
}

func (h *host) call(ctx context.Context, in message) (answer, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := *tool.Current(ctx)
	c.Args = in
	h.calls = append(h.calls, c)
	if h.fail > 0 {
		h.fail--
		return answer{}, h.err
	}
	return answer{ID: fmt.Sprintf("m%d", len(h.calls)), Number: 1<<53 + 1}, nil
}

// tools returns send, which acts outside, and look, which is pure.
func (h *host) tools(change ...func(*tool.Spec)) tool.Set {
	send := tool.Func("messages_send", "Post a message.", h.call)
	look := tool.WithSpec(tool.Func("users.find", "Find a user.", h.call), func(s *tool.Spec) { s.Pure = true })
	for _, f := range change {
		send, look = tool.WithSpec(send, f), tool.WithSpec(look, f)
	}
	set, err := tool.New(send, look)
	if err != nil {
		panic(err)
	}
	return set
}

func (h *host) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.calls)
}

func send(text string) actions.Tool {
	return actions.Tool{Tool: "messages_send", Args: map[string]any{"text": text}}
}

func look(text string) actions.Tool {
	return actions.Tool{Tool: "users.find", Args: map[string]any{"text": text}}
}

var edit = actions.Edit{Files: []string{"a.txt"}, OldText: "x", NewText: "y"}

// reasons returns the steps with the reason why they were skipped, or how they ended.
func reasons(res *millrace.Result) []string {
	var all []string
	for _, s := range res.Results {
		word := "ok"
		switch {
		case s.Skipped:
			word = s.SkipReason
		case s.Error != "":
			word = s.Error
		}
		all = append(all, s.StepID+": "+word)
	}
	return all
}

func TestCalled(t *testing.T) {
	t.Parallel()
	h := &host{}
	p := millrace.New("p").Step("post", send("hello")).Step("e", edit).Step("who", look("me")).MustBuild()
	fsys := suite.Tree("a.txt", "x")
	res, err := millrace.Executor{Tools: h.tools()}.Run(t.Context(), fsys, p)
	if err != nil || !res.Success || res.Incomplete || res.FilesChanged.Count() != 1 {
		t.Fatalf("%v, %+v", err, res)
	}
	if diff := cmp.Diff([]any{message{Text: "hello"}, message{Text: "me"}}, []any{h.calls[0].Args, h.calls[1].Args}); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(any(map[string]any{"id": "m1", "number": int64(1<<53 + 1)}), res.Results[0].Data); diff != "" {
		t.Errorf("data (-want +got):\n%s", diff)
	}
	if c := h.calls[0]; c.Step != "post" || c.Visit != 1 || c.Attempt != 1 || len(c.Key) != 32 || c.Log == nil || c.Spend == nil {
		t.Errorf("call %+v", c)
	}
	data, err := res.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var again millrace.Result
	if err := again.UnmarshalJSON(data); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(res.Results[0].Data, again.Results[0].Data); diff != "" {
		t.Errorf("a stored result has lost digits (-want +got):\n%s", diff)
	}
}

// Nothing runs if a step names an unknown tool, or has arguments that the tool does not accept.
func TestCheckedBeforeAnythingRuns(t *testing.T) {
	t.Parallel()
	text := `{"name": "p", "steps": [
		{"id": "find", "action": "search", "params": {"pattern": "x"}},
		{"id": "a", "action": "tool", "params": {"tool": "message_send", "args": {"text": "x"}}},
		{"id": "b", "action": "tool", "params": {"tool": "nothing"}},
		{"id": "c", "action": "tool", "params": {"tool": "users.find", "args": {"txt": "x", "count": "{{find.count}}", "tags": ["{{find.files}}", 3]}}},
		{"id": "d", "action": "tool", "params": {"tool": "users.find", "args": {"count": "many"}}},
		{"id": "e", "action": "tool", "raw": true, "params": {"tool": "users.find", "args": {"count": "{{find.count}}"}}}]}`
	want := []string{
		"/steps/1/params/tool unknown_tool step 'a': unknown tool 'message_send' (did you mean 'messages_send'?)",
		"/steps/2/params/tool unknown_tool step 'b': unknown tool 'nothing' (the tools are messages_send, users.find)",
		"/steps/3/params/args/txt invalid_tool_args step 'c': tool 'users.find' has no argument 'txt' (did you mean 'text'?)",
		"/steps/3/params/args/tags/1 invalid_tool_args step 'c': 'tags[1]' must be a string, got number (write it in quotes: \"3\")",
		"/steps/4/params/args/count invalid_tool_args step 'd': 'count' must be a whole number, got string (of strings, only a template such as {{step.count}} can stand here)",
		"/steps/5/params/args/count invalid_tool_args step 'e': 'count' must be a whole number, got string (of strings, only a template such as {{step.count}} can stand here)",
	}
	h := &host{}
	problems := func(err error) []string {
		t.Helper()
		invalid, ok := errors.AsType[*millrace.ValidationError](err)
		if !ok {
			t.Fatalf("got %v", err)
		}
		var all []string
		for _, p := range invalid.Problems {
			all = append(all, fmt.Sprintf("%s %s %s (%s)", p.Pointer, p.Code, p.Message, p.Hint))
			if p.Step != map[byte]string{'1': "a", '2': "b", '3': "c", '4': "d", '5': "e"}[p.Pointer[7]] {
				t.Errorf("problem of step %q: %+v", p.Step, p)
			}
		}
		slices.Sort(all)
		return all
	}
	sorted := slices.Sorted(slices.Values(want))
	_, err := millrace.Decoder{Tools: h.tools()}.Decode([]byte(text))
	if diff := cmp.Diff(sorted, problems(err)); diff != "" {
		t.Errorf("Decode (-want +got):\n%s", diff)
	}
	p, err := millrace.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	x := millrace.Executor{Tools: h.tools()}
	_, err = x.Run(t.Context(), suite.Tree("a.txt", "x"), p)
	if diff := cmp.Diff(sorted, problems(err)); diff != "" {
		t.Errorf("Run (-want +got):\n%s", diff)
	}
	_, err = x.Plan(t.Context(), suite.Tree("a.txt", "x"), p)
	if diff := cmp.Diff(sorted, problems(err)); diff != "" {
		t.Errorf("Plan (-want +got):\n%s", diff)
	}
	if h.count() > 0 || millrace.ErrorCode(err) != "invalid_pipeline" {
		t.Errorf("%d calls, code %q", h.count(), millrace.ErrorCode(err))
	}
	_, err = millrace.Run(t.Context(), suite.Tree("a.txt", "x"), suite.One(send("x")))
	if got := fmt.Sprint(err); got != "step 's0': unknown tool 'messages_send' (at /steps/0/params/tool): the host offers no tools" {
		t.Errorf("got %s", got)
	}
	_, err = millrace.New("p").Step("find", actions.Search{Pattern: "x"}).Step("t", actions.Tool{Tool: "{{find.risk}}"}).Build()
	if err == nil || !strings.Contains(err.Error(), "the name of a tool cannot be a template") {
		t.Errorf("got %v", err)
	}
	if _, err := millrace.New("p").Step("t", actions.Tool{}).Build(); err == nil || !strings.Contains(err.Error(), "requires 'tool' parameter") && !strings.Contains(err.Error(), "tool cannot be empty") {
		t.Errorf("got %v", err)
	}
}

// A value of a template that does not fit fails the step before the tool is called.
func TestTemplatesKeepTheirType(t *testing.T) {
	t.Parallel()
	h := &host{}
	x := millrace.Executor{Tools: h.tools()}
	p := millrace.New("p").Step("find", actions.Search{Pattern: "x"}).
		Step("t", actions.Tool{Tool: "users.find", Args: map[string]any{"text": "{{find.count}} left", "count": "{{find.count}}", "tags": "{{find.files}}"}}).
		MustBuild()
	fsys := suite.Tree("a.txt", "x", "b,c.txt", "x")
	if _, err := x.Run(t.Context(), fsys, p); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(any(message{Text: "2 left", Count: 2, Tags: []string{"a.txt", "b,c.txt"}}), h.calls[0].Args); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	p = millrace.New("p").Step("find", actions.Search{Pattern: "x"}).
		Step("t", actions.Tool{Tool: "messages_send", Args: map[string]any{"count": "{{find.risk}}"}}).MaxRetries(3).
		MustBuild()
	_, err := x.Run(t.Context(), fsys, p)
	if !suite.Is[*millrace.InterpolationError](err) || millrace.ErrorCode(err) != "INTERPOLATION_FAILED" || h.count() != 1 {
		t.Errorf("got %v, %d calls", err, h.count())
	}
	if !strings.Contains(fmt.Sprint(err), "parameter /args/count: 'count' must be a whole number, got string") {
		t.Errorf("got %v", err)
	}
}

// A host that only reads calls pure tools only.
func TestReadOnlyHost(t *testing.T) {
	t.Parallel()
	h := &host{}
	x := millrace.Executor{Tools: h.tools(), ReadOnly: true}
	fsys := suite.Tree("a.txt", "x")
	_, err := x.Run(t.Context(), fsys, millrace.New("p").Step("who", look("me")).Step("post", send("x")).MustBuild())
	if !errors.Is(err, millrace.ErrReadOnly) || !strings.Contains(err.Error(), "step 'post' acts outside of the tree") || h.count() != 0 {
		t.Errorf("got %v, %d calls", err, h.count())
	}
	if res, err := x.Run(t.Context(), fsys, suite.One(look("me"))); err != nil || !res.Success || h.count() != 1 {
		t.Errorf("got %v, %d calls", err, h.count())
	}
	dry := suite.One(send("x")).WithOptions(millrace.Options{DryRun: true})
	if res, err := x.Run(t.Context(), fsys, dry); err != nil || !res.Incomplete || h.count() != 1 {
		t.Errorf("got %v, %d calls", err, h.count())
	}
}

// The effects of a tool stay when the run fails, and the result reports that.
func TestActedAndFailed(t *testing.T) {
	t.Parallel()
	for _, parallel := range []bool{false, true} {
		h := &host{}
		p := millrace.New("p").Options(millrace.Options{Parallel: parallel}).
			Step("post", send("x")).Step("who", look("me")).Step("e", edit).Step("stop", actions.Fail{Message: "no"}).Step("post2", send("y")).MustBuild()
		fsys := suite.Tree("a.txt", "x")
		res, err := millrace.Executor{Tools: h.tools()}.Run(t.Context(), fsys, p)
		if millrace.ErrorCode(err) != "step_failed" || !res.RollbackPerformed || h.count() != 2 {
			t.Errorf("parallel %t: got %v, %d calls, %+v", parallel, err, h.count(), res)
		}
		want := []string{"what step 'post' has done outside of the tree is not taken back"}
		if diff := cmp.Diff(want, res.Warnings); diff != "" {
			t.Errorf("parallel %t (-want +got):\n%s", parallel, diff)
		}
		if diff := cmp.Diff([]string{"post: ok", "who: ok", "e: ok", "stop: fail failed: no"}, reasons(res)); diff != "" {
			t.Errorf("parallel %t (-want +got):\n%s", parallel, diff)
		}
	}
	// The same holds if the commit is refused.
	h := &host{}
	p := millrace.New("p").Step("post", send("x")).Step("e", actions.Edit{Files: []string{"a.txt", "b.txt"}, OldText: "x", NewText: "y"}).MustBuild()
	res, err := millrace.Executor{Tools: h.tools(), MaxFiles: 1}.Run(t.Context(), suite.Tree("a.txt", "x", "b.txt", "x"), p)
	if !suite.Is[*millrace.BlockedError](err) || len(res.Warnings) != 1 {
		t.Errorf("got %v, %q", err, res.Warnings)
	}
	// A failure that is handled is not a failure.
	h = &host{fail: 1, err: errors.New("no")}
	p = millrace.New("p").Step("post", send("x")).OnFail("report").Step("skip", edit).
		Step("report", actions.Create{Path: "report", Content: "failed"}).When(condition.StepFailed("post")).MustBuild()
	res, err = millrace.Executor{Tools: h.tools()}.Run(t.Context(), suite.Tree("a.txt", "x"), p)
	if err != nil || !res.Success || len(res.Warnings) != 0 {
		t.Errorf("got %v, %q", err, res.Warnings)
	}
}

// The facts about a tool can be shown to people and models.
func TestDescribed(t *testing.T) {
	t.Parallel()
	h := &host{}
	d := millrace.Decoder{Tools: h.tools()}
	doc, ok := d.DescribeTool("users.find")
	want := millrace.ActionDoc{Name: "users.find", Summary: "Find a user.", ReadOnly: true, Input: actions.InputNone, Params: []millrace.ParamDoc{
		{Name: "text", Type: "a string"}, {Name: "count", Type: "a whole number"}, {Name: "tags", Type: "a list of strings"},
	}}
	if diff := cmp.Diff(want, doc); !ok || diff != "" {
		t.Errorf("%t (-want +got):\n%s", ok, diff)
	}
	if doc, _ := d.DescribeTool("messages_send"); doc.ReadOnly {
		t.Error("a tool that acts outside is shown as if it did not")
	}
	if _, ok := d.DescribeTool("gone"); ok {
		t.Error("no such tool")
	}
	one, err := millrace.Decoder{}.Schema()
	if err != nil {
		t.Fatal(err)
	}
	two, err := d.Schema()
	if err != nil || strings.Count(string(two), `"Post a message."`) != 1 || strings.Contains(string(two), "Call a function of the host's program") {
		t.Errorf("%v, the schema has %d and %d bytes", err, len(one), len(two))
	}
}
