package millraceotel_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/trace"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/agent"
	"github.com/millrace-go/millrace/command"
	millraceotel "github.com/millrace-go/millrace/otel"
)

// answering is an agent that gives its answers in turn, and repeats the last one.
type answering struct {
	replies []agent.Reply
	asked   *int
}

func (a answering) Ask(_ context.Context, r *agent.Request) (agent.Reply, error) {
	*a.asked++
	reply := a.replies[min(*a.asked, len(a.replies))-1]
	if reply.Output == "" {
		return reply, errors.New("no answer to " + r.Text())
	}
	return reply, nil
}

// linesOf returns the attributes whose keys start with one of the texts, one per line.
func linesOf(all string, beginnings ...string) string {
	found := ""
	for line := range strings.Lines(all) {
		for _, beginning := range beginnings {
			if strings.HasPrefix(line, beginning) {
				found += line
			}
		}
	}
	return found
}

// A visit that asks an agent has the model and the tokens of all its attempts.
func TestAttributesOfPrompts(t *testing.T) {
	t.Parallel()
	const invoked = "gen_ai.operation.name=invoke_agent\n"
	ok := agent.Reply{Output: "done", Model: "m-2026", InputTokens: 100, OutputTokens: 20}
	for name, test := range map[string]struct {
		prompt  actions.Prompt
		sandbox string
		replies []agent.Reply
		want    string
	}{
		"model": {actions.Prompt{Model: "m"}, "", []agent.Reply{ok}, invoked + `gen_ai.request.model=m
gen_ai.response.model=m-2026
gen_ai.usage.input_tokens=100
gen_ai.usage.output_tokens=20
`},
		"model of the pipeline": {actions.Prompt{}, "s", []agent.Reply{{Output: "done"}}, invoked + "gen_ai.request.model=s\n"},
		"model of the agent": {actions.Prompt{}, "", []agent.Reply{{Output: "done", Model: "org/m:1"}}, invoked + `gen_ai.request.model=org/m:1
gen_ai.response.model=org/m:1
`},
		"no model":          {actions.Prompt{}, "", []agent.Reply{{Output: "done"}}, invoked},
		"model by template": {actions.Prompt{Model: "{{first.output}}"}, "s", []agent.Reply{{Output: "done"}}, invoked},
		"a text for a model": {actions.Prompt{Model: "two words"}, "", []agent.Reply{{Output: "done", Model: "a text\nof the agent"}},
			invoked},
		"agent": {actions.Prompt{Agent: "fixer"}, "", []agent.Reply{{Output: "done", InputTokens: -5, OutputTokens: 3}}, "gen_ai.agent.name=fixer\n" + invoked + `gen_ai.usage.input_tokens=0
gen_ai.usage.output_tokens=3
`},
		"two attempts": {actions.Prompt{Model: "m"}, "", []agent.Reply{{Model: "m-1", InputTokens: 7}, ok}, invoked + `gen_ai.request.model=m
gen_ai.response.model=m-2026
gen_ai.usage.input_tokens=107
gen_ai.usage.output_tokens=20
`},
	} {
		r := record()
		test.prompt.Prompt = "fix it"
		var action actions.Action = test.prompt
		if name == "agent" {
			action = &test.prompt
		}
		p := millrace.New("p").Sandbox(agent.Sandbox{Model: test.sandbox}).
			Step("first", actions.Search{Pattern: "x"}).
			Step("ask", action).Backoff(time.Millisecond).
			MustBuild()
		a := answering{test.replies, new(int)}
		x := millrace.Executor{Agents: map[string]agent.Agent{"": a, "fixer": a}}
		if _, err := millraceotel.Instrument(x, r.option()).Run(t.Context(), tree("x", "x"), p); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if d := cmp.Diff(test.want, linesOf(r.attributesOf(t, "ask"), "gen_ai")); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

// A recorded answer is asked for once: its span has no tokens, and is marked as replayed.
func TestReplayedPrompt(t *testing.T) {
	t.Parallel()
	r := record()
	a := answering{[]agent.Reply{{Output: "done", Model: "m", InputTokens: 1, OutputTokens: 1}}, new(int)}
	x := millrace.Executor{Agents: map[string]agent.Agent{"": a}, Recorder: millrace.NewMemoryRecorder()}
	runner := millraceotel.Instrument(x, r.option())
	p := millrace.New("p").Step("ask", actions.Prompt{Prompt: "fix it", Workspace: "none"}).MustBuild()
	for range 2 {
		r.Reset()
		if _, err := runner.Run(t.Context(), tree("x", "x"), p); err != nil {
			t.Fatal(err)
		}
	}
	if got := r.story(t); got != "RUN p success\n  ask success | replayed\n" || *a.asked != 1 {
		t.Errorf("asked %d times:\n%s", *a.asked, got)
	}
	if got := linesOf(r.attributesOf(t, "ask"), "gen_ai.usage", "gen_ai.response"); got != "" {
		t.Errorf("the span has %s", got)
	}
}

// shells returns an executor that runs scripts, in a sandbox if available.
func shells(t *testing.T) millrace.Executor {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("scripts are for /bin/sh")
	}
	return millrace.Executor{Commands: command.Policy{
		Shell: true, Allow: []string{"true", "echo *", "./x"}, Sandbox: command.BestEffort, Scratch: t.TempDir(),
		Env: map[string]string{"OF": "the host"}, StepEnv: []string{"SAY"},
	}}
}

// A visit that runs a command has the program and its exit, and the command finds its span.
func TestAttributesOfCommands(t *testing.T) {
	t.Parallel()
	x := shells(t)
	for name, test := range map[string]struct {
		action actions.Action
		env    func(context.Context) map[string]string
		want   string
		print  string // what the command prints; TRACEPARENT stands for its span
	}{
		"program":          {actions.Exec{Command: "true"}, nil, "process.executable.name=true\nprocess.exit.code=0\n", ""},
		"file of the tree": {actions.Exec{Command: "./x"}, nil, "process.executable.name=x\nprocess.exit.code=0\n", ""},
		"script":           {actions.Exec{Shell: `printf "$TRACEPARENT $OF"`}, nil, "process.executable.name=sh\nprocess.exit.code=0\n", "TRACEPARENT the host"},
		"status": {actions.Exec{Shell: `printf "$TRACEPARENT"; exit 3`}, nil, `error.type=exec_failed
process.executable.name=sh
process.exit.code=3
`, "TRACEPARENT"},
		"killed":   {actions.Exec{Shell: "kill -9 $$"}, nil, "error.type=exec_failed\nprocess.executable.name=sh\n", ""},
		"template": {actions.Exec{Command: "{{first.output}}true"}, nil, "process.exit.code=0\n", ""},
		"env of the host": {actions.Exec{Shell: `printf "$TRACEPARENT $OTHER"`}, func(ctx context.Context) map[string]string {
			if !trace.SpanContextFromContext(ctx).IsValid() {
				t.Error("EnvFor of the host has no span in its context")
			}
			return map[string]string{"OTHER": "one"}
		}, "process.executable.name=sh\nprocess.exit.code=0\n", "TRACEPARENT one"},
		"another span": {actions.Exec{Shell: `printf "$TRACEPARENT"`}, func(context.Context) map[string]string {
			return map[string]string{"TRACEPARENT": "mine"}
		}, "process.executable.name=sh\nprocess.exit.code=0\n", "mine"},
		"no such program": {actions.Exec{Command: "{{first.output}}curl"}, nil, "error.type=exec_denied\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := record()
			x := x
			x.Commands.Scratch, x.Commands.EnvFor = t.TempDir(), test.env
			fsys := tree("a", "x")
			if file, err := fsys.OpenFile("x", os.O_WRONLY|os.O_CREATE, 0o755); err != nil {
				t.Fatal(err)
			} else if _, err := file.WriteString("#!/bin/sh\n"); err != nil || file.Close() != nil {
				t.Fatal(err)
			}
			p := millrace.New("p").Step("first", actions.Search{Pattern: "x"}).Step("run", test.action).MustBuild()
			ctx, caller := r.provider.Tracer("test").Start(t.Context(), "caller")
			defer caller.End()
			res, err := millraceotel.Instrument(x, r.option()).Run(ctx, fsys, p)
			if res == nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(test.want, linesOf(r.attributesOf(t, "run"), "process.", "error.type")); d != "" {
				t.Errorf("%v (-want +got):\n%s", err, d)
			}
			want := test.print
			for _, s := range r.GetSpans() {
				if s.Name == "run" {
					parent := fmt.Sprintf("00-%s-%s-01", s.SpanContext.TraceID(), s.SpanContext.SpanID())
					want = strings.ReplaceAll(want, "TRACEPARENT", parent)
				}
			}
			if got := res.Results[len(res.Results)-1].Output; got != want {
				t.Errorf("it has printed %q, want %q", got, want)
			}
		})
	}
}
