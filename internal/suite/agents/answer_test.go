package agents_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/agent"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/internal/errorform"
	"github.com/millrace-go/millrace/internal/panics"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/tool"
)

// With the format json, templates can refer to parts of the reply. A reply that is not JSON fails the attempt.
func TestJSONReply(t *testing.T) {
	t.Parallel()
	for _, data := range []string{
		`{"name": "p", "steps": [{"id": "a", "prompt": "p", "format": "json", "workspace": "none"},
			{"id": "c", "action": "create", "params": {"path": "c.txt", "content": "{{a.list[1].n}} {{a.big}} {{a}}"}}]}`,
		`{"name": "p", "steps": [{"id": "a", "action": "prompt", "params": {"prompt": "p", "format": "json", "workspace": "none"}},
			{"id": "c", "action": "create", "params": {"path": "c.txt", "content": "{{a.list[1].n}} {{a.big}} {{a}}"}}]}`,
	} {
		h := &host{script: map[string][]string{"a": {" {\"list\": [0, {\"n\": 1.5}], \"big\": 9007199254740993} \n"}}}
		fsys := suite.Tree()
		res, err := executor(t, h).Run(t.Context(), fsys, decode(t, []byte(data)))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := suite.Read(t, fsys, "c.txt"), `1.5 9007199254740993 {"big":9007199254740993,"list":[0,{"n":1.5}]}`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if diff := cmp.Diff(map[string]any{"big": int64(9007199254740993), "list": []any{int64(0), map[string]any{"n": 1.5}}}, res.Results[0].Data); diff != "" {
			t.Error(diff)
		}
	}
	for reply, says := range map[string]string{
		"yes":                    "its reply is not JSON: ",
		"":                       "its reply is empty and not JSON",
		"{} {}":                  "its reply is more than one JSON value",
		"```json\n{}\n```":       "its reply is not JSON: ",
		strings.Repeat("[", 200): "its reply is not JSON: ",
		strings.Repeat("[", 200) + strings.Repeat("]", 200): "the data of the action is not valid",
	} {
		h := &host{script: map[string][]string{"a": {reply}}}
		a := quiet("p")
		a.Format = "json"
		res, err := executor(t, h).Run(t.Context(), suite.Tree(), millrace.New("p").Step("a", a).MaxRetries(0).MustBuild())
		if err == nil || !strings.Contains(err.Error(), says) || res.Results[0].Output != reply {
			t.Errorf("%.20q: %v", reply, err)
		}
		if _, ok := errors.AsType[*errorform.OutsideError](err); ok && millrace.ErrorCode(err) != "agent_failed" {
			t.Errorf("%.20q: %s", reply, millrace.ErrorCode(err))
		}
	}
	// A text reply has no data, and a template that names only the step stays text.
	h := new(host)
	res, err := executor(t, h).Run(t.Context(), suite.Tree(), millrace.New("p").Step("a", quiet("p")).Step("b", quiet("{{a}} {{a.data}}")).MustBuild())
	if err != nil || h.asked[1].Prompt != "{{a}} null" || res.Results[0].Data != nil {
		t.Errorf("%v, %q", err, h.asked[1].Prompt)
	}
}

// A reply is cut at a limit, and stays valid text.
func TestHugeReply(t *testing.T) {
	t.Parallel()
	huge := strings.Repeat("x", 100<<20)
	h := &host{script: map[string][]string{"a": {huge}}, reply: agent.Reply{Cost: budget.Dollar}}
	res, err := executor(t, h).Run(t.Context(), suite.Tree(), millrace.New("p").Step("a", quiet("p")).MustBuild())
	limit, ok := errors.AsType[*actions.LimitError](err)
	if !ok || limit.Got != 100<<20 || len(h.asked) != 1 || res.Results[0].Output != "" || res.Cost != budget.Dollar {
		t.Errorf("%v, asked %d times, %d bytes, %v", err, len(h.asked), len(res.Results[0].Output), res.Cost)
	}
	h = &host{script: map[string][]string{"a": {"a\xffb"}}}
	if res, err = executor(t, h).Run(t.Context(), suite.Tree(), millrace.New("p").Step("a", quiet("p")).MustBuild()); err != nil || res.Results[0].Output != "a\uFFFDb" {
		t.Errorf("%v, %q", err, res.Results[0].Output)
	}
}

type coded struct{ retry bool }

func (coded) Error() string     { return "too many requests" }
func (coded) Code() string      { return "rate_limited" }
func (c coded) Retryable() bool { return c.retry }

// A prompt is tried four times, with waits, unless the step or the error decides otherwise. All attempts cost.
func TestAttempts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		err    error
		change func(millrace.StepBuilder) millrace.StepBuilder
		asked  int
		waited time.Duration
		code   string
	}{
		{"by default", errFixer, nil, 4, 7 * time.Second, "agent_failed"},
		{"the step sets it", errFixer, func(b millrace.StepBuilder) millrace.StepBuilder { return b.MaxRetries(1) }, 2, time.Second, "agent_failed"},
		{"the step forbids", errFixer, func(b millrace.StepBuilder) millrace.StepBuilder { return b.MaxRetries(0) }, 1, 0, "agent_failed"},
		{"its own wait", errFixer, func(b millrace.StepBuilder) millrace.StepBuilder { return b.MaxRetries(1).Backoff(time.Minute) }, 2, time.Minute, "agent_failed"},
		{"a code", coded{true}, nil, 4, 7 * time.Second, "rate_limited"},
		{"for good", coded{false}, nil, 1, 0, "rate_limited"},
		{"a host's own", actions.Permanent(errFixer), nil, 1, 0, "agent_failed"},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := &host{reply: agent.Reply{Cost: budget.Dollar, Output: "so far"}, work: func(context.Context, *agent.Request) error { return test.err }}
			b := millrace.New("p").Step("a", quiet("p"))
			if test.change != nil {
				b = test.change(b)
			}
			began := time.Now()
			res, err := millrace.Executor{Agents: map[string]agent.Agent{"": h}}.Run(t.Context(), suite.Tree(), b.MustBuild())
			if millrace.ErrorCode(err) != test.code || len(h.asked) != test.asked || time.Since(began) != test.waited {
				t.Errorf("%s: %v, %s, asked %d times, %v", test.name, err, millrace.ErrorCode(err), len(h.asked), time.Since(began))
			}
			if res.Cost != budget.Dollar*budget.Cost(test.asked) || res.Results[0].Output != "so far" || res.Results[0].Cost != res.Cost {
				t.Errorf("%s: the cost is %v, the output %q", test.name, res.Cost, res.Results[0].Output)
			}
			for i, r := range h.asked {
				if r.Attempt != i+1 || r.Visit != 1 {
					t.Errorf("%s: request %d is visit %d, attempt %d", test.name, i, r.Visit, r.Attempt)
				}
			}
		})
	}
}

// A panic is an error that is not retried. That includes a panic in a method of the agent's error.
func TestPanic(t *testing.T) {
	t.Parallel()
	for name, a := range map[string]agent.Func{
		"in Ask":         func(context.Context, *agent.Request) (agent.Reply, error) { panic("boom") },
		"of a nil error": func(context.Context, *agent.Request) (agent.Reply, error) { return agent.Reply{}, (*badError)(nil) },
	} {
		asked := 0
		res, err := executor(t, agent.Func(func(ctx context.Context, r *agent.Request) (agent.Reply, error) { asked++; return a(ctx, r) })).
			Run(t.Context(), suite.Tree(), suite.One(quiet("p")))
		if _, ok := errors.AsType[*panics.Error](err); !ok || asked != 1 || res.Success {
			t.Errorf("%s: %v, asked %d times", name, err, asked)
		}
	}
}

// An agent may change its request without any effect.
func TestRequestBelongsToAgent(t *testing.T) {
	t.Parallel()
	p := millrace.New("p").Sandbox(agent.Sandbox{Tools: []string{"t"}, Options: map[string]any{"o": []any{"x"}}}).
		Step("a", quiet("p")).
		Step("b", actions.Prompt{Prompt: "p", Options: map[string]any{"own": "x"}, Workspace: "none"}).MustBuild()
	before := suite.JSON(t, p)
	h := &host{script: map[string][]string{"a": {"fail", "ok"}, "b": {"fail", "ok"}}, work: func(_ context.Context, r *agent.Request) error {
		if r.Sandbox.Tools[0] != "t" || r.Sandbox.Options["mine"] != nil || r.Previous != nil && r.Previous.Output != "ok" {
			return actions.Permanent(fmt.Errorf("asked %+v, %+v", r, r.Previous))
		}
		r.Sandbox.Tools[0], r.Sandbox.Options["mine"], r.Sandbox.Model = "u", true, "m"
		if r.Previous != nil {
			r.Previous.Output = "changed"
		}
		return nil
	}}
	synctest.Test(t, func(t *testing.T) {
		x := millrace.Executor{Agents: map[string]agent.Agent{"": h}}
		if res, err := x.Run(t.Context(), suite.Tree(), p); err != nil || res.Results[0].Output != "ok" || suite.JSON(t, p) != before {
			t.Errorf("%v, %s", err, suite.JSON(t, p))
		}
	})
}

// A dry run does not ask a step that depends on a step which it does not run.
func TestAfterOutside(t *testing.T) {
	t.Parallel()
	post, err := tool.New(tool.Func("post", "", func(context.Context, struct{}) (string, error) { return "posted", nil }))
	if err != nil {
		t.Fatal(err)
	}
	h := new(host)
	x := executor(t, h)
	x.Tools, x.DryRun = post, true
	p := millrace.New("p").Step("post", actions.Tool{Tool: "post"}).
		Step("told", actions.Prompt{Prompt: "p", Workspace: "none"}).Step("alone", quiet("p")).MustBuild()
	res, err := x.Run(t.Context(), suite.Tree(), p)
	if err != nil || h.steps() != "alone" || res.Results[1].SkipReason != "'post' was not called" {
		t.Errorf("%v, asked %s, %q", err, h.steps(), res.Results[1].SkipReason)
	}
}

// An agent that is a program leaks no secret of its policy into any report or record.
func TestSecrets(t *testing.T) {
	t.Parallel()
	const secret = "sk-0123456789"
	var told bytes.Buffer
	events := millrace.JSONEvents(&told)
	rec := make(file)
	a := agent.Command{
		Argv: func(*agent.Request) []string { return []string{"model"} }, Format: agent.JSON,
		Policy: command.Policy{Allow: []string{"*"}, Secrets: map[string]string{"KEY": secret}, Runner: leaky{}},
	}
	x := executor(t, a)
	x.Observe, x.Recorder, x.Logger = events, rec, slog.New(slog.NewTextHandler(&told, nil))
	p := millrace.New("p").Step("a", actions.Prompt{Prompt: "say it"}).OnFail("b").MaxRetries(0).
		Step("b", actions.Prompt{Prompt: "say {{a.output}}"}).
		Step("c", actions.Create{Path: "c.txt", Content: "{{a.error}} {{b.output}}"}).MustBuild()
	fsys := suite.Tree("a.txt", "x")
	plan, err := x.Plan(t.Context(), fsys, p)
	if err != nil {
		t.Fatal(err)
	}
	if got := plan.Result().Results[0].Error; got != "prompt failed: agent: the key is ***" {
		t.Errorf("the error is %q", got)
	}
	told.WriteString(suite.JSON(t, plan.Result()))
	told.Write(suite.Stored(t, plan))
	for _, data := range rec {
		told.Write(data)
	}
	if len(rec) != 2 || strings.Contains(told.String(), secret) || !strings.Contains(told.String(), "the key is ***") {
		t.Errorf("%d records, told %s", len(rec), told.String())
	}
}

// leaky is a program that reveals its key: first by a failure, then by its answer.
type leaky struct{}

func (leaky) Run(_ context.Context, c command.Command) (command.Exit, error) {
	said := fmt.Sprintf(`{"result": "the key is %s", "is_error": %t}`, c.Env["KEY"], strings.HasSuffix(c.Stdin, "say it"))
	return command.Exit{Stdout: command.Output{Text: said, Size: int64(len(said))}}, nil
}

type badError struct{ text string }

func (e *badError) Error() string { return e.text }

// The timeout of a step, or else of the sandbox, ends an attempt. The run waits for the agent to return.
func TestTimeout(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name          string
		step, sandbox time.Duration
		want          time.Duration
	}{
		{"of the sandbox", 0, 2 * time.Second, 2 * time.Second},
		{"of the step", time.Second, 2 * time.Second, time.Second},
		{"longer", 3 * time.Second, 2 * time.Second, 3 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			var running atomic.Int32
			h := &host{work: func(ctx context.Context, r *agent.Request) error {
				running.Add(1)
				defer running.Add(-1)
				if r.Sandbox.Timeout != test.want {
					t.Errorf("%s: the request has %v", test.name, r.Sandbox.Timeout)
				}
				<-ctx.Done()
				time.Sleep(time.Minute) // the agent is slow to give up
				return ctx.Err()
			}}
			b := millrace.New("p").Sandbox(agent.Sandbox{Timeout: test.sandbox}).Step("a", quiet("p")).MaxRetries(0)
			if test.step > 0 {
				b = b.Timeout(test.step)
			}
			began := time.Now()
			_, err := millrace.Executor{Agents: map[string]agent.Agent{"": h}}.Run(t.Context(), suite.Tree(), b.MustBuild())
			timeout, ok := errors.AsType[*millrace.TimeoutError](err)
			if !ok || timeout.After != test.want || time.Since(began) != test.want+time.Minute || running.Load() != 0 {
				t.Errorf("%s: %v after %v", test.name, err, time.Since(began))
			}
		})
	}
}

// A run that is canceled, or whose deadline passes, waits for the agent, and asks no more.
func TestCancel(t *testing.T) {
	t.Parallel()
	for _, deadline := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			over := false
			h := &host{reply: agent.Reply{Cost: budget.Dollar}, work: func(ctx context.Context, _ *agent.Request) error {
				if !deadline {
					cancel()
				}
				<-ctx.Done()
				time.Sleep(time.Minute)
				over = true
				return fmt.Errorf("ask: %w", ctx.Err())
			}}
			b := millrace.New("p")
			if deadline {
				b = b.Deadline(time.Second)
			}
			p := b.Step("a", quiet("p")).OnFail("b").Step("b", quiet("p")).MustBuild()
			res, err := millrace.Executor{Agents: map[string]agent.Agent{"": h}}.Run(ctx, suite.Tree(), p)
			want := map[bool]string{false: "canceled", true: "deadline_exceeded"}[deadline]
			if millrace.ErrorCode(err) != want || !over || len(h.asked) != 1 || res.Cost != budget.Dollar {
				t.Errorf("%v, asked %d times, the cost is %v", err, len(h.asked), res.Cost)
			}
		})
	}
}
