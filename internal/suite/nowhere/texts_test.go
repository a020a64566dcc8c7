package nowhere_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/agent"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/tool"
)

// mark returns a text that the test can find again.
func mark(of string) string { return "MARK-" + of + "-MARK" }

// quiet is a tool and an agent whose output repeats none of its input.
type quiet struct{ *outside }

func (q quiet) Ask(ctx context.Context, r *agent.Request) (agent.Reply, error) {
	_, _ = q.outside.Ask(ctx, r)
	return agent.Reply{Output: mark("reply")}, nil
}

func (q quiet) Call(ctx context.Context, c *tool.Call) (tool.Result, error) {
	_, _ = q.outside.Call(ctx, c)
	return tool.Result{Data: map[string]any{"id": mark("data")}, Output: mark("said")}, errors.New(mark("fault"))
}

// Each text of a run is in these places, and in no other. The request of a step belongs to the pipeline, and nothing
// repeats it. Text of the tree that a step has not shown is shown nowhere else. No text at all is in the audit. The log
// has only the texts of errors.
func TestTexts(t *testing.T) {
	t.Parallel()
	result := []string{
		"envelope", "events", "plan's envelope", "plan's result", "plan's summary", "result", "state directory", "stored plan", "summary",
	}
	also := func(list []string, more ...string) []string {
		return slices.Sorted(slices.Values(slices.Concat(list, more)))
	}
	shown := also(result, "report", "plan's report")
	want := map[string][]string{
		"prompt": {"asked"}, "system": {"asked"}, "memory": {"asked"}, "option": {"asked"}, "argument": {"asked"}, "variable": {"asked"},
		"description": nil, "script": nil, "stdin": nil, "env": nil, "pattern": nil,
		// The backup has the original file.
		"unseen": nil, "beside": {"diff", "state directory"}, "old": {"diff", "state directory"}, "new": {"diff"}, "written": {"diff", "recorder"},
		"shown":  shown,
		"output": also(shown, "recorder", "asked"), // the agent receives the output of the previous step
		"reply":  also(shown, "recorder"),
		"data":   also(result, "recorder"),
		"fault":  also(shown, "recorder", "log", "log as JSON", "history"),
	}
	x := host(t)
	x.Commands.StepEnv = []string{"SAY"}
	said := new(outside)
	tools, err := tool.New(quiet{said})
	if err != nil {
		t.Fatal(err)
	}
	x.Tools, x.Agents = tools, map[string]agent.Agent{"": quiet{said}}
	p := millrace.New("p").
		Sandbox(agent.Sandbox{SystemPrompt: mark("system"), Memory: mark("memory"), Options: map[string]any{"o": mark("option")}}).
		Variables(millrace.Variable{Name: "v", Default: mark("variable"), Description: mark("description")}).
		Step("show", actions.Search{Pattern: "shown|" + mark("pattern"), Include: []string{"shown"}, Mode: "regex", IncludeContent: true}).
		Step("edit", actions.Edit{Files: []string{"edited"}, OldText: mark("old"), NewText: mark("new")}).
		Step("run", actions.Exec{
			Shell: "grep -q unseen unseen && cat >written; echo $SAY >/dev/null; printf %s-%s-%s MARK written MARK >written; printf %s-%s-%s MARK output MARK #" + mark("script"),
			Stdin: mark("stdin"), Env: map[string]string{"SAY": mark("env")},
		}).
		Step("ask", actions.Prompt{Prompt: mark("prompt")}).
		Step("say", actions.Tool{Tool: "say", Args: map[string]any{"a": mark("argument"), "v": "{{vars.v}}"}}).OnFail("end").
		Step("end", actions.Search{Pattern: "nothing"}).When(condition.FileExists("shown")).
		MustBuild()
	tree := memory("shown", "it is shown: "+mark("shown")+"\n", "edited", "line "+mark("beside")+"\n"+mark("old")+"\n", "unseen", mark("unseen"))
	found, res := gather(t, x, tree, p)
	found["asked"] = said.text
	if !res.Success {
		t.Fatal(res.Error)
	}
	got := make(map[string][]string)
	for of := range want {
		got[of] = found.with(mark(of))
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	for _, place := range []string{"audit", "error"} {
		if strings.Contains(found[place], "MARK") {
			t.Errorf("%s has %s", place, found[place])
		}
	}
	if n := len(slices.Collect(maps.Keys(found))); n < 18 {
		t.Errorf("only %d places", n)
	}
}
