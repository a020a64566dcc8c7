package millraceotel_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/agent"
	"github.com/millrace-go/millrace/condition"
	millraceotel "github.com/millrace-go/millrace/otel"
	"github.com/millrace-go/millrace/tool"
)

// marker is a part of every text that must not be in a span.
const marker = "m4rk3r"

// texts returns all texts of all spans.
func (r recorded) texts() []string {
	var list []string
	add := func(attributes []attribute.KeyValue) {
		for _, kv := range attributes {
			list = append(list, string(kv.Key), kv.Value.String())
		}
	}
	for _, s := range r.GetSpans() {
		list = append(list, s.Name, s.Status.Description, s.InstrumentationScope.Name, s.InstrumentationScope.Version, s.SpanContext.TraceState().String())
		add(s.Attributes)
		add(s.InstrumentationScope.Attributes.ToSlice())
		add(s.Resource.Attributes())
		for _, e := range s.Events {
			list = append(list, e.Name)
			add(e.Attributes)
		}
		for _, l := range s.Links {
			list = append(list, l.SpanContext.TraceState().String())
			add(l.Attributes)
		}
	}
	return list
}

// echo is a tool that returns its input, or fails with it.
type echo struct{ fails bool }

func (e echo) Spec() tool.Spec {
	if e.fails {
		return tool.Spec{Name: "fails"}
	}
	return tool.Spec{Name: "echo"}
}

func (e echo) Call(_ context.Context, c *tool.Call) (tool.Result, error) {
	res := tool.Result{Data: c.Args, Output: fmt.Sprint(c.Args)}
	if e.fails {
		return res, fmt.Errorf("what is %v", c.Args)
	}
	return res, nil
}

// parrot is an agent that answers with its question, or fails with it.
type parrot struct{ fails bool }

func (a parrot) Ask(_ context.Context, r *agent.Request) (agent.Reply, error) {
	if a.fails {
		return agent.Reply{Output: r.Text(), Model: "a model that says " + r.Text()}, fmt.Errorf("what is %s", r.Text())
	}
	return agent.Reply{Output: r.Text(), Model: "m", InputTokens: 1}, nil
}

// No text of prompts, replies, arguments, outputs, files, patterns, variables or errors is in any span, although the results have them.
func TestTextIsInNoSpan(t *testing.T) {
	t.Parallel()
	tools, err := tool.New(echo{}, echo{fails: true})
	if err != nil {
		t.Fatal(err)
	}
	args := map[string]any{"text": marker}
	pipelines := map[string]interface{ MustBuild() millrace.Pipeline }{
		"arguments": millrace.New("p").Variables(millrace.Variable{Name: "v", Type: "string", Default: marker}).
			Step("say", actions.Tool{Tool: "echo", Args: args}).RetryIf("say", marker).MaxVisits(2).OnFail("again").
			Step("again", actions.Tool{Tool: "echo", Args: map[string]any{"text": "{{say.output}} {{vars.v}}"}}),
		"the error of a tool": millrace.New("p").
			Step("say", actions.Tool{Tool: "fails", Args: args}).MaxRetries(1).Backoff(time.Millisecond),
		"the error of an action": doing(func(context.Context) error { return errors.New(marker) }).MaxRetries(1).Backoff(time.Millisecond),
		"a panic":                doing(func(context.Context) error { panic(marker) }),
		"text of a file": millrace.New("p").
			Step("read", actions.Search{Pattern: "x", IncludeContent: true}).
			Step("edit", actions.Edit{Files: []string{"a"}, OldText: marker, NewText: marker + "s"}).
			Step("near", actions.Edit{Files: []string{"a"}, OldText: marker + "\nnot", NewText: "y"}),
		"a condition": millrace.New("p").
			Step("skipped", actions.Search{Pattern: "*"}).When(condition.FileExists(marker)),
		"a pattern": millrace.New("p").Step("find", actions.Search{Pattern: marker}),
		"a prompt": millrace.New("p").
			Sandbox(agent.Sandbox{SystemPrompt: marker, Memory: marker, Workdir: marker, Options: map[string]any{marker: marker}}).
			Step("ask", actions.Prompt{Prompt: marker}).
			Step("again", actions.Prompt{Prompt: "with {{ask.output}}", Model: "{{ask.output}}", Tools: []string{marker}}),
		"the error of an agent": millrace.New("p").Step("ask", actions.Prompt{Prompt: marker, Agent: "fails"}).Backoff(time.Millisecond),
		"a message":             millrace.New("p").Step("fail", actions.Fail{Message: marker}),
	}
	agents := map[string]agent.Agent{"": parrot{}, "fails": parrot{fails: true}}
	if runtime.GOOS != "windows" {
		script := actions.Exec{Shell: "cat; echo $SAY; echo " + marker + " | tee -a a >&2; exit $1", Stdin: marker, Env: map[string]string{"SAY": marker}}
		pipelines["a command"] = millrace.New("p").Step("run", script)
		script.Shell += "1"
		pipelines["the error of a command"] = millrace.New("p").Step("run", script).MaxRetries(1).Backoff(time.Millisecond)
		pipelines["a program"] = millrace.New("p").Step("say", actions.Tool{Tool: "echo", Args: args}).
			Step("run", actions.Exec{Command: "echo", Args: []string{"{{say.output}}"}}).
			Step("denied", actions.Exec{Command: "{{say.text}}"})
	}
	for name, b := range pipelines {
		r := record()
		x := millrace.Executor{Tools: tools, Agents: agents}
		if runtime.GOOS != "windows" {
			x.Commands = shells(t).Commands
		}
		res, err := millraceotel.Instrument(x, r.option()).Run(t.Context(), tree("a", "x "+marker+"\n"), b.MustBuild())
		data, _ := json.Marshal(res)
		if !strings.Contains(string(data)+fmt.Sprint(err), marker) && name != "a pattern" {
			t.Errorf("%s: not even the result has it, so this tests nothing: %s", name, data)
		}
		texts := r.texts()
		if len(texts) < 20 {
			t.Errorf("%s: only %q", name, texts)
		}
		for _, text := range texts {
			if strings.Contains(text, marker) {
				t.Errorf("%s: a span has %q", name, text)
			}
		}
	}
}
