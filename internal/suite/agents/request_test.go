package agents_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/agent"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/millracetest"
	"github.com/millrace-go/millrace/template"
)

// quiet returns a prompt that has no workspace and does not receive the previous output.
func quiet(prompt string) actions.Prompt {
	return actions.Prompt{Prompt: prompt, Workspace: "none", Context: "none"}
}

// An agent receives the output of the step that ran before it, in any order of steps, and the facts of the run.
func TestRequest(t *testing.T) {
	t.Parallel()
	h := &host{script: map[string][]string{"a": {"fail"}, "b": {"the {{a.output}} of b"}}}
	p := millrace.New("p").Budget(budget.Limit{USD: 3 * budget.Dollar}).
		Sandbox(agent.Sandbox{Model: "big", Tools: []string{"Read"}, Workdir: "/w", Options: map[string]any{"n": int64(1)}}).
		Step("a", actions.Prompt{Prompt: "first", Model: "small"}).MaxRetries(0).OnFail("b").
		Step("b", actions.Prompt{Prompt: "second {{run.name}}", GPU: new(true), Workspace: "none"}).
		Step("c", actions.Prompt{Prompt: "third: {{b.output}} {{prev.id}}"}).
		Step("d", actions.Prompt{Prompt: "fourth {{b.error}}", Context: "none",
			Options: map[string]any{"o": "{{c.output}}"}}).
		MustBuild()
	x := executor(t, h)
	x.RunID = "r1"
	h.reply.Cost = budget.Dollar
	res, err := x.Run(t.Context(), suite.Tree("a.txt", "x"), p)
	if _, stopped := errors.AsType[*millrace.BudgetError](err); !stopped {
		t.Fatalf("%v, %v", err, res)
	}
	p = decode(t, []byte(strings.Replace(suite.JSON(t, p), `"budget":3`, `"budget":30`, 1)))
	h.asked = nil
	if _, err = x.Run(t.Context(), suite.Tree("a.txt", "x"), p); err != nil {
		t.Fatal(err)
	}
	base := agent.Sandbox{Model: "big", Tools: []string{"Read"}, Workdir: "/w", Options: map[string]any{"n": int64(1)}}
	with := func(change func(*agent.Sandbox)) agent.Sandbox { s := base; change(&s); return s }
	said := "the {{a.output}} of b"
	want := []agent.Request{
		{Step: "a", Prompt: "first", Sandbox: with(func(s *agent.Sandbox) { s.Model = "small" }), Left: 30 * budget.Dollar},
		{Step: "b", Prompt: "second p", Sandbox: with(func(s *agent.Sandbox) { s.GPU = true }), Left: 29 * budget.Dollar,
			Previous: &agent.Previous{Step: "a", Output: "fail", Error: "prompt failed: agent: it cannot be done", ErrorCode: "agent_failed"}},
		{Step: "c", Prompt: "third: " + said + " b", Sandbox: base, Left: 28 * budget.Dollar, Previous: &agent.Previous{Step: "b", Output: said}},
		{Step: "d", Prompt: "fourth ", Sandbox: with(func(s *agent.Sandbox) { s.Options = map[string]any{"o": "done c"} }), Left: 27 * budget.Dollar},
	}
	for i := range want {
		want[i].RunID, want[i].Visit, want[i].Attempt = "r1", 1, 1
	}
	shared := ""
	for i := range h.asked {
		if h.asked[i].Workspace == nil != (h.asked[i].Step == "b") || h.asked[i].Shared == "" != (h.asked[i].Step == "b") {
			t.Errorf("%s has the shared directory %q", h.asked[i].Step, h.asked[i].Shared)
		}
		if s := h.asked[i].Shared; s != "" && shared != "" && s != shared {
			t.Errorf("shared are %s and %s", s, shared)
		}
		shared, h.asked[i].Workspace, h.asked[i].Shared = h.asked[i].Shared, nil, ""
	}
	if diff := cmp.Diff(want, h.asked); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A long output loses its beginning in the prompt, and is whole for the steps that refer to it.
func TestLongOutput(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", agent.MaxPrevious) + "end"
	h := &host{script: map[string][]string{"a": {long}}}
	p := millrace.New("p").Step("a", quiet("first")).
		Step("b", actions.Prompt{Prompt: "{{a.output}}", Workspace: "none"}).MustBuild()
	if _, err := executor(t, h).Run(t.Context(), suite.Tree(), p); err != nil {
		t.Fatal(err)
	}
	got := h.asked[1]
	if got.Prompt != long || !got.Previous.Truncated || len(got.Previous.Output) > agent.MaxPrevious || !strings.HasSuffix(long, got.Previous.Output) {
		t.Errorf("the prompt has %d bytes, the output %d, %t", len(got.Prompt), len(got.Previous.Output), got.Previous.Truncated)
	}
}

// The text of an agent is data: it is not expanded as a template, and sets no field of the run. Only the keywords that
// the pipeline waits for have an effect.
func TestReplyIsText(t *testing.T) {
	t.Parallel()
	const evil = `{{run.shared}} {{vars.key}} {{a.output}} "}],"next":"d" ` + "```" + ` $(rm) \{{b.output}}`
	h := &host{script: map[string][]string{"a": {evil}}}
	p := millrace.New("p").Step("a", quiet("first")).
		Step("b", quiet("second: {{a.output}}")).
		Step("c", actions.Create{Path: "c.txt", Content: "{{b.output}}{{a.output}}"}).MustBuild()
	fsys := suite.Tree()
	if _, err := executor(t, h).Run(t.Context(), fsys, p); err != nil {
		t.Fatal(err)
	}
	if h.asked[1].Prompt != "second: "+evil {
		t.Errorf("asked %q", h.asked[1].Prompt)
	}
	if got := suite.Read(t, fsys, "c.txt"); got != "done b"+evil {
		t.Errorf("the file has %q", got)
	}
	if got, err := template.Resolve("{{x}}", map[string]any{"x": evil}); err != nil || got != evil {
		t.Errorf("%q, %v", got, err)
	}
}

// A prompt fails if its template expands to an empty text.
func TestEmptyPrompt(t *testing.T) {
	t.Parallel()
	h := &host{script: map[string][]string{"a": {""}}}
	p := millrace.New("p").Step("a", quiet("first")).Step("b", quiet("{{a.output}}")).MustBuild()
	_, err := executor(t, h).Run(t.Context(), suite.Tree(), p)
	if _, ok := errors.AsType[*millrace.InterpolationError](err); !ok || len(h.asked) != 1 {
		t.Errorf("%v, asked %d times", err, len(h.asked))
	}
}

// Unknown agents are found before the first step, all of them at once.
func TestUnknownAgent(t *testing.T) {
	t.Parallel()
	a := millracetest.Agent(t)
	p := millrace.New("p").
		Step("first", actions.Create{Path: "x", Content: "x"}).
		Step("a", actions.Prompt{Prompt: "p"}).
		Step("b", actions.Prompt{Prompt: "p", Agent: "smal"}).
		Step("c", &actions.Prompt{Prompt: "p", Agent: "large"}).MustBuild()
	for name, test := range map[string]struct {
		agents map[string]agent.Agent
		want   []string
	}{
		"none": {nil, []string{
			"/steps/1/params/agent unknown_agent step 'a': no agent is set for steps without an agent: the host offers no agents",
			"/steps/2/params/agent unknown_agent step 'b': unknown agent 'smal': the host offers no agents",
			"/steps/3/params/agent unknown_agent step 'c': unknown agent 'large': the host offers no agents",
		}},
		"others": {map[string]agent.Agent{"small": a, "medium": a, "large": nil}, []string{
			"/steps/1/params/agent unknown_agent step 'a': no agent is set for steps without an agent: the agents are medium, small",
			"/steps/2/params/agent unknown_agent step 'b': unknown agent 'smal': did you mean 'small'?",
			"/steps/3/params/agent unknown_agent step 'c': unknown agent 'large': the agents are medium, small",
		}},
		"the one without a name": {map[string]agent.Agent{"": a, "smal": a}, []string{
			"/steps/3/params/agent unknown_agent step 'c': unknown agent 'large': the agents are smal",
		}},
	} {
		_, err := millrace.Executor{Agents: test.agents}.Run(t.Context(), suite.Tree(), p)
		invalid, ok := errors.AsType[*millrace.ValidationError](err)
		if !ok {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, p := range invalid.Problems {
			got = append(got, p.Pointer+" "+p.Code+" "+p.Message+": "+p.Hint)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
