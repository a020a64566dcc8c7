package agents_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/agent"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/suite"
)

// text returns a file of testdata. A list of steps becomes a pipeline, with more after the steps.
func text(t *testing.T, name, more string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(data), `"steps"`) {
		return data
	}
	return []byte(`{"name": "p", "steps": [` + string(data) + more + `]}`)
}

func decode(t *testing.T, data []byte) millrace.Pipeline {
	t.Helper()
	p, err := millrace.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Pipelines from the documents of another system decode unchanged, and have the documented meaning.
func TestExamples(t *testing.T) {
	t.Parallel()
	ask := func(prompt string) actions.Prompt { return actions.Prompt{Prompt: prompt} }
	const after = `, {"id": "full-test", "prompt": "all"}, {"id": "deploy", "prompt": "go"}`
	for name, test := range map[string]struct {
		more string
		want millrace.Builder
	}{
		"shared.json": {"", millrace.New("p").
			Step("generate", ask("Analyse the dataset and write results to /shared/results.json")).
			Step("visualise", ask("Read /shared/results.json and produce a summary table")).Builder},
		"branch.json": {"", millrace.New("p").
			Step("run-tests", ask("Run the test suite and report failures")).OnFail("fix-code").
			Step("fix-code", ask("Fix the test failures reported above")).When(condition.PrevError()).Builder},
		"jump.json": {after, millrace.New("p").
			Step("fast-check", ask("Run lint only")).Next("deploy").OnFail("full-test").
			Step("full-test", ask("all")).Step("deploy", ask("go")).Builder},
		"retry.json": {"", millrace.New("p").
			Step("call-api", ask("Fetch the report from the external API and save to /shared/report.json")).MaxRetries(5).
			Step("validate-report", ask("Check /shared/report.json for completeness")).RetryIf("call-api", "incomplete").Builder},
	} {
		data := text(t, name, test.more)
		want := test.want.MustBuild()
		for _, d := range []millrace.Decoder{{}, {Lenient: true}} {
			p, err := d.Decode(data)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if !p.Equal(want) || p.Digest() != want.Digest() || len(p.Warnings()) > 0 {
				t.Errorf("%s: got %s, want %s, warnings %v", name, suite.JSON(t, p), suite.JSON(t, want), p.Warnings())
			}
			if again := decode(t, []byte(suite.JSON(t, p))); !again.Equal(p) {
				t.Errorf("%s: it is written as %s", name, suite.JSON(t, p))
			}
		}
	}
}

// The example of five steps uses all fields that a pipeline has for its prompts.
func TestExampleOfALoop(t *testing.T) {
	t.Parallel()
	p := decode(t, text(t, "loop.json", ""))
	want := agent.Sandbox{Model: "sonnet", Tools: []string{"Read", "Write", "Bash"}, Workdir: "/workspace"}
	if diff := cmp.Diff(want, p.Sandbox()); diff != "" {
		t.Errorf("sandbox (-want +got):\n%s", diff)
	}
	if p.Budget() != (budget.Limit{USD: 3 * budget.Dollar}) || p.Deadline() != 10*time.Minute {
		t.Errorf("budget %v, deadline %v", p.Budget(), p.Deadline())
	}
	if s, _ := p.Step("coverage"); s.Action.(actions.Prompt).Model != "haiku" {
		t.Errorf("coverage is %+v", s)
	}
	p.Sandbox().Tools[0] = "Bash"
	if p.Sandbox().Tools[0] != "Read" {
		t.Error("the sandbox is not copied")
	}
}

// shape returns the results in short.
func shape(res *millrace.Result) string {
	var words []string
	for _, s := range res.Results {
		word := "ok"
		switch {
		case s.Skipped:
			word = "skipped"
		case s.Handled:
			word = "handled"
		case s.Failed():
			word = "failed"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// The loop runs in five ways. The test checks the steps, the result and the warnings of each.
func TestLoop(t *testing.T) {
	t.Parallel()
	fail, still := []string{"fail"}, "2 tests are still failing"
	const twice = "auto-fix verify-fix "
	for _, test := range []struct {
		name    string
		script  map[string][]string
		asked   string
		results string
		line    string
		final   string
		warning string
	}{
		{"the tests pass", nil, "run-tests verify-fix coverage", "ok skipped ok ok skipped", "OK: 5/5 steps", "done coverage", ""},
		{"the fix helps", map[string][]string{"run-tests": fail}, "run-tests run-tests auto-fix verify-fix coverage",
			"handled ok ok ok skipped", "OK: 4/5 steps", "done coverage", ""},
		{"the second fix helps", map[string][]string{"run-tests": fail, "verify-fix": {still, "fine"}},
			"run-tests run-tests " + twice + twice + "coverage", "handled ok ok ok skipped", "OK: 4/5 steps", "done coverage", ""},
		{"no fix helps", map[string][]string{"run-tests": fail, "verify-fix": {still}},
			"run-tests run-tests " + strings.Repeat(twice, 4) + "report-failure", "handled ok handled skipped ok", "OK: 3/5 steps", "done report-failure", "verify-fix"},
		{"the fixer fails", map[string][]string{"run-tests": fail, "auto-fix": fail},
			"run-tests run-tests auto-fix auto-fix auto-fix auto-fix report-failure", "handled handled skipped skipped ok", "OK: 3/5 steps", "done report-failure", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				h := &host{script: test.script, reply: agent.Reply{Cost: budget.Dollar / 100}}
				h.work = write("fixed.txt", "x")
				x := millrace.Executor{Agents: map[string]agent.Agent{"": h}}
				x.Commands.Scratch = dir
				res, err := x.Run(t.Context(), suite.Tree("a.txt", "x"), decode(t, text(t, "loop.json", "")))
				if err != nil {
					t.Fatal(err)
				}
				if h.steps() != test.asked || shape(res) != test.results || !strings.HasPrefix(res.String(), test.line) {
					t.Errorf("asked %s\nresults %s, %v", h.steps(), shape(res), res)
				}
				if s := res.Summary(); s.Final != test.final || s.TotalCost != budget.Dollar/100*budget.Cost(len(h.asked)) || !s.DeadlineMet {
					t.Errorf("summary %+v", s)
				}
				if told := strings.Join(res.Warnings, "\n"); strings.Contains(told, "handles a failure of 'verify-fix'") != (test.warning != "") {
					t.Errorf("warnings %q", told)
				}
			})
		})
	}
}

// The shorter examples run as their text states.
func TestExamplesRun(t *testing.T) {
	t.Parallel()
	const after = `, {"id": "full-test", "prompt": "all"}, {"id": "deploy", "prompt": "go"}`
	for _, test := range []struct {
		name, more string
		script     map[string][]string
		asked      string
		code       string
	}{
		{"branch.json", "", nil, "run-tests", ""},
		{"branch.json", "", map[string][]string{"run-tests": {"fail"}}, "run-tests run-tests run-tests run-tests fix-code", ""},
		{"jump.json", after, nil, "fast-check deploy", ""},
		{"jump.json", after, map[string][]string{"fast-check": {"fail"}}, "fast-check fast-check fast-check fast-check full-test deploy", ""},
		{"retry.json", "", map[string][]string{"validate-report": {"it is incomplete", "fine"}}, "call-api validate-report call-api validate-report", ""},
		{"retry.json", "", map[string][]string{"validate-report": {"it is incomplete"}}, strings.TrimSpace(strings.Repeat("call-api validate-report ", 6)), "retries_exhausted"},
		{"shared.json", "", nil, "generate visualise", ""},
	} {
		dir := t.TempDir()
		synctest.Test(t, func(t *testing.T) {
			h := &host{script: test.script}
			x := millrace.Executor{Agents: map[string]agent.Agent{"": h}}
			x.Commands.Scratch = dir
			_, err := x.Run(t.Context(), suite.Tree("a.txt", "x"), decode(t, text(t, test.name, test.more)))
			if h.steps() != test.asked || millrace.ErrorCode(err) != test.code {
				t.Errorf("%s: %v, asked %s", test.name, err, h.steps())
			}
			for i, r := range h.asked {
				said := i > 0 && r.Previous != nil && r.Previous.Step == h.asked[i-1].Step
				if i > 0 && r.Attempt == 1 && !said {
					t.Errorf("%s: %s receives %+v", test.name, r.Step, r.Previous)
				}
			}
		})
	}
}

// A prompt as a field of the step itself, and the errors in such a prompt.
func TestSpelling(t *testing.T) {
	t.Parallel()
	one := func(step string) []byte { return []byte(`{"name": "p", "steps": [` + step + `]}`) }
	all := decode(t, one(`{"id": "a", "prompt": "p", "agent": "x", "model": "m", "tools": ["t"], "system_prompt": "s", "memory": "4g", "gpu": true,
		"workdir": "/w", "options": {"n": [1, null]}, "context": "none", "format": "json", "workspace": "read", "timeout": 2, "max_retries": 1}`))
	want := millrace.New("p").Step("a", actions.Prompt{
		Prompt: "p", Agent: "x", Model: "m", Tools: []string{"t"}, SystemPrompt: "s", Memory: "4g", GPU: new(true), Workdir: "/w",
		Options: map[string]any{"n": []any{int64(1), nil}}, Context: "none", Format: "json", Workspace: "read",
	}).Timeout(2 * time.Second).MaxRetries(1).MustBuild()
	if !all.Equal(want) || !strings.Contains(suite.JSON(t, all), `"action":"prompt","timeout":2`) && !strings.Contains(suite.JSON(t, all), `"action":"prompt"`) {
		t.Errorf("got %s", suite.JSON(t, all))
	}
	_, err := millrace.Decode([]byte("{\"name\": \"p\", \"steps\": [\n{\"id\": \"a\", \"prompt\": \"p\",\n \"tools\": [\"x\", 7]}]}"))
	if invalid, ok := errors.AsType[*millrace.ValidationError](err); !ok || invalid.Problems[0].Line != 3 || invalid.Problems[0].Column != 17 {
		t.Errorf("%#v", err)
	}
	for _, test := range []struct{ step, pointer, code, says, hint string }{
		{`{"id": "a", "prompt": "p", "params": {}}`, "/steps/0/params", "two_forms", "step 'a' has both prompt and params", "name the action and put the prompt into params, or leave params out"},
		{`{"id": "a", "prompt": "p", "params": {"prompt": "q"}}`, "/steps/0/params", "two_forms", "", ""},
		{`{"id": "a", "action": "prompt", "prompt": "p"}`, "/steps/0/prompt", "unknown_field", "", "put 'prompt' into 'params'"},
		{`{"id": "a", "action": "fail", "params": {"message": "m"}, "model": "p"}`, "/steps/0/model", "unknown_field", "", ""},
		{`{"id": "a", "prompt": 7}`, "/steps/0/prompt", "wrong_type", "", ""},
		{`{"id": "a", "prompt": "p", "modle": "m"}`, "/steps/0/modle", "unknown_field", "", "did you mean 'model'?"},
		{`{"id": "a", "prompt": "p", "tools": ["x", 7]}`, "/steps/0/tools/1", "wrong_type", "", ""},
		{`{"id": "a", "prompt": "p", "tools": []}`, "/steps/0/tools", "bad_value", "tools of prompt cannot be an empty list", ""},
		{`{"id": "a", "prompt": ""}`, "/steps/0/prompt", "empty_param", "", ""},
		{`{"id": "a", "prompt": "{{b.output}}"}, {"id": "b", "prompt": "p"}`, "/steps/0/prompt", "forward_reference", "", ""},
		{`{"id": "a", "model": "m"}`, "/steps/0/action", "missing_action", "step 'a' requires 'action'", ""},
		{`{"id": "a", "prompt": "p", "workspace": "all"}`, "/steps/0/workspace", "unsupported_value", "", ""},
		{`{"id": "a", "prompt": "p"}, {"id": "b", "prompt": "p", "workspace": "{{a.output}}"}`, "/steps/1/workspace", "bad_value", "workspace of prompt cannot be a template", "write it itself"},
		{`{"id": "a", "prompt": "p"}, {"id": "b", "prompt": "p", "agent": "{{a.output}}"}`, "/steps/1/agent", "bad_value", "agent of prompt cannot be a template", "write it itself"},
		{`{"id": "a", "prompt": "p", "input": "previous"}`, "/steps/0/input", "unused_input", "", ""},
		{`{"id": "a", "prompt": "p"}, {"id": "b", "prompt": "{{a.good}}"}`, "/steps/1/prompt", "invalid_template", "", ""},
	} {
		_, err := millrace.Decode(one(test.step))
		invalid, ok := errors.AsType[*millrace.ValidationError](err)
		if !ok {
			t.Errorf("%s: %v", test.step, err)
			continue
		}
		found := false
		for _, p := range invalid.Problems {
			found = found || p.Pointer == test.pointer && p.Code == test.code && p.Line > 0 &&
				(test.says == "" || p.Message == test.says) && (test.hint == "" || p.Hint == test.hint)
		}
		if !found || len(invalid.Problems) != 1 && test.code != "missing_action" {
			t.Errorf("%s: %#v", test.step, invalid.Problems)
		}
	}
}

// asks is an action of a host that has the name of our action, and a parameter that steps have too.
type asks struct {
	Prompt  string `json:"prompt" param:"required"`
	Timeout int    `json:"timeout,omitempty"`
	Voice   string `json:"voice,omitempty"`
}

func (asks) Spec() actions.Spec { return actions.Spec{Name: "prompt", Summary: "asks", ReadOnly: true} }
func (asks) Run(context.Context, *actions.Call) (actions.Outcome, error) {
	return actions.Outcome{}, nil
}

// An action "prompt" of the host has the same short form. A field that both the step and the action have belongs to the
// step. Without such an action, a step must name an action.
func TestOwnPrompt(t *testing.T) {
	t.Parallel()
	text := []byte(`{"name": "p", "steps": [{"id": "a", "prompt": "p", "timeout": 2.5, "voice": "low"}]}`)
	p, err := millrace.Decoder{Actions: actions.Builtin().With(asks{})}.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	if want := millrace.New("p").Step("a", asks{Prompt: "p", Voice: "low"}).Timeout(2500 * time.Millisecond).MustBuild(); !p.Equal(want) {
		t.Errorf("got %s", suite.JSON(t, p))
	}
	_, err = millrace.Decoder{Actions: actions.Registry{}.With(actions.Edit{})}.Decode(text)
	if invalid, ok := errors.AsType[*millrace.ValidationError](err); !ok || invalid.Problems[0].Code != "missing_action" && invalid.Problems[0].Code != "unknown_field" {
		t.Errorf("%v", err)
	}
}

// Lenient decoding accepts a prompt in the step itself too, even in a text that needs repairs.
func TestLenientSpelling(t *testing.T) {
	t.Parallel()
	p, err := millrace.Decoder{Lenient: true}.Decode([]byte(`{"name": "p", "steps": [
		{"id": "a", "prompt": "p", "tools": ["x"], "model": "m", "systemPrompt": "s",},
		{"id": "b", "prompt": "q", "retry_if": {"a": "again"}, "context": "none"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := millrace.New("p").Step("a", actions.Prompt{Prompt: "p", Tools: []string{"x"}, Model: "m", SystemPrompt: "s"}).
		Step("b", actions.Prompt{Prompt: "q", Context: "none"}).RetryIf("a", "again").MustBuild()
	if !p.Equal(want) {
		t.Errorf("got %s", suite.JSON(t, p))
	}
	p2, err := millrace.Decoder{Lenient: true}.Decode([]byte(`{"name": "p", "steps": [{"id": "a", "Prompt": "p", "context": "none"}]}`))
	if one := millrace.New("p").Step("a", actions.Prompt{Prompt: "p", Context: "none"}).MustBuild(); err != nil || !p2.Equal(one) || len(p2.Warnings()) != 1 {
		t.Errorf("%v, %v", err, p2.Warnings())
	}
	for _, w := range p.Warnings() {
		if w.Code != "repaired" || strings.Contains(w.Message, "'prompt'") || strings.Contains(w.Message, "'tools'") {
			t.Errorf("warning %+v", w)
		}
	}
}
