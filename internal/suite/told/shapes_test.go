package told_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/tool"
)

// Entries are in the order of the last visits, and keep the position of their step in the pipeline.
func TestEnvelopeOrder(t *testing.T) {
	t.Parallel()
	// a leads to b the first time, and past it the second time.
	p := millrace.New("order").
		Step("a", script("fail", "ok")).OnFail("b").Next("c").
		Step("b", script("ok b")).
		Step("c", script("ok again", "ok done")).RetryIf("a", "again").
		MustBuild()
	res, err := millrace.Run(t.Context(), suite.Tree("other", "x"), p)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range res.Envelope().Results {
		got = append(got, res.Results[r.Step-1].StepID)
	}
	if d := cmp.Diff([]string{"b", "a", "c"}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if res.Final() != "done" || res.StepsExecuted() != 3 || again(t, res).Final() != "done" {
		t.Errorf("final %q, %d steps", res.Final(), res.StepsExecuted())
	}
	var report strings.Builder
	if err := res.WriteReport(&report); err != nil || !strings.Contains(report.String(), "\n🧭 Order: a → b → c → a → c\n") {
		t.Errorf("%v, %s", err, report.String())
	}
	checkEnvelope(t, res)
}

// A step whose last visit was skipped counts as not run, and is not the final step.
func TestSkippedInTheEndHasNotRun(t *testing.T) {
	t.Parallel()
	res := &millrace.Result{
		Success: true, TotalSteps: 2,
		Results: []millrace.StepResult{{StepID: "a", Success: true, Skipped: true}, {StepID: "b", Success: true, Output: "b"}},
		History: []millrace.Visit{
			{StepID: "b", Visit: 1, Outcome: "retry"}, {StepID: "a", Visit: 1, Outcome: "success"},
			{StepID: "b", Visit: 2, Outcome: "success"}, {StepID: "a", Visit: 2, Outcome: "skipped"},
		},
	}
	if res.StepsExecuted() != 1 || res.Final() != "b" || len(res.Summary().AllResults) != 1 || res.Envelope().Summary.Total != 1 {
		t.Errorf("%d steps, final %q, %+v", res.StepsExecuted(), res.Final(), res.Envelope())
	}
	checkEnvelope(t, res)
}

// messages returns the tools of a host: a tool that works, and a tool that costs and fails with a code of its own.
func messages(t *testing.T) tool.Set {
	t.Helper()
	type text struct {
		Text string `json:"text"`
	}
	send := tool.Func("messages_send", "sends a message", func(_ context.Context, m text) (map[string]any, error) {
		return map[string]any{"id": "111122223333444455", "length": len(m.Text)}, nil
	})
	add := tool.Func("roles_add", "grants a role", func(context.Context, text) (map[string]any, error) {
		return nil, ownCode("missing_permission")
	})
	set, err := tool.New(send, add)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// Tools are called by their names, and fail with their own codes. Earlier successful calls stay in the envelope.
func TestEnvelopeOfTools(t *testing.T) {
	t.Parallel()
	p := millrace.New("announce").
		Step("post", actions.Tool{Tool: "messages_send", Args: map[string]any{"text": "hello"}}).
		Step("grant", actions.Tool{Tool: "roles_add", Args: map[string]any{"text": "{{post.id}}"}}).
		Step("never", actions.Tool{Tool: "messages_send", Args: map[string]any{"text": "done"}}).
		MustBuild()
	res, err := millrace.Executor{Tools: messages(t)}.Run(t.Context(), suite.Tree("x", "x"), p)
	if millrace.ErrorCode(err) != "missing_permission" {
		t.Fatal(err)
	}
	const want = `{"results":[{"step":1,"tool":"messages_send","ok":true,"data":{"id":"111122223333444455","length":5}},` +
		`{"step":2,"tool":"roles_add","ok":false,"error":{"code":"missing_permission","message":"tool 'roles_add': no"}}],` +
		`"summary":{"total":2,"succeeded":1,"failed":1},` +
		`"warnings":["what step 'post' has done outside of the tree is not taken back","what step 'grant' has done outside of the tree is not taken back"]}`
	for what, r := range map[string]*millrace.Result{"run": res, "read": again(t, res)} {
		data, err := json.Marshal(r.Envelope())
		if err != nil || string(data) != want {
			t.Errorf("%s: got %s, %v\nwant %s", what, data, err, want)
		}
	}
	checkEnvelope(t, res)
}

// spends is an action that costs money and a minute.
type spends struct{ cost budget.Cost }

func (spends) Spec() actions.Spec {
	return actions.Spec{Name: "spends", Summary: "costs money", ReadOnly: true, Costs: true}
}

func (s spends) Run(ctx context.Context, c *actions.Call) (actions.Outcome, error) {
	c.Spend(s.cost)
	select {
	case <-time.After(time.Minute):
		return actions.Outcome{Output: "Coverage: 87%"}, nil
	case <-ctx.Done():
		return actions.Outcome{}, ctx.Err()
	}
}

// A summary has facts about money, deadline and classification, and an audit has facts about money. The run as a whole
// fails because of them.
func TestMoneyAndTimeAreTold(t *testing.T) {
	t.Parallel()
	b := millrace.New("p").Classification("internal").Budget(budget.Limit{USD: 50 * budget.Cent, Files: 3}).Deadline(3*time.Minute).
		Step("one", spends{42 * budget.Cent})
	for name, test := range map[string]struct {
		p         millrace.Pipeline
		code      string
		want      string // in the summary
		costs     string // in the lines of the audit
		codes     string
		classTold string
	}{
		"in time": {b.MustBuild(), "", `"total_cost_usd":0.42,"total_duration_seconds":60,"budget":{"limit":0.5,"spent":0.42,"exceeded":false,` +
			`"files":{"limit":3,"spent":0,"exceeded":false}},"deadline_met":true,"classification":"internal"}`, "0.42", "", "internal"},
		"spent": {b.Step("two", spends{9 * budget.Cent}).Step("three", spends{budget.Cent}).MustBuild(), "budget_exceeded",
			`"total_cost_usd":0.51,"total_duration_seconds":120,"budget":{"limit":0.5,"spent":0.51,"exceeded":true,` +
				`"files":{"limit":3,"spent":0,"exceeded":false}},"deadline_met":true,"classification":"internal"}`, "0.42 0.09 0", "budget_exceeded", "internal"},
		"late": {millrace.New("p").Deadline(90*time.Second).Step("one", spends{1}).Step("two", spends{}).MustBuild(), "deadline_exceeded",
			`"total_cost_usd":0.000001,"total_duration_seconds":90,"budget":{"limit":null,"spent":0.000001,"exceeded":false},` +
				`"deadline_met":false,"classification":""}`, "0.000001 0", "deadline_exceeded", ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var lines strings.Builder
				class := "none was reported"
				x := millrace.Executor{Observe: millrace.Observers(millrace.Audit(&lines), func(e millrace.Event) {
					if e, ok := e.(millrace.RunStarted); ok {
						class = e.Classification
					}
				})}
				res, err := x.Run(t.Context(), suite.Tree("x", "x"), test.p)
				if millrace.ErrorCode(err) != test.code || res.ErrorCode != test.code || class != test.classTold {
					t.Errorf("code %q, in the result %q, class %q: %v", millrace.ErrorCode(err), res.ErrorCode, class, err)
				}
				for what, r := range map[string]*millrace.Result{"run": res, "read": again(t, res)} {
					data, err := json.Marshal(r.Summary())
					if err != nil || !strings.HasSuffix(string(data), test.want) {
						t.Errorf("%s: %v, got  %s\nwant …%s", what, err, data, test.want)
					}
					checkEnvelope(t, r)
					if last := r.Envelope().Results; test.code != "" && last[len(last)-1].Error.Code != test.code {
						t.Errorf("%s: the last entry is %+v", what, last[len(last)-1].Error)
					}
				}
				var costs, codes []string
				for line := range strings.Lines(lines.String()) {
					var v struct {
						Cost json.Number
						Code string
					}
					if err := json.Unmarshal([]byte(line), &v); err != nil {
						t.Fatal(err)
					}
					costs, codes = append(costs, v.Cost.String()), append(codes, v.Code)
				}
				if got := strings.Join(costs, " "); got != test.costs {
					t.Errorf("costs %s, want %s", got, test.costs)
				}
				if got := codes[len(codes)-1]; got != test.codes {
					t.Errorf("the last code is %q, want %q: %q", got, test.codes, codes)
				}
			})
		})
	}
}

// reads is an action that only reads, so that several run in parallel.
type reads struct{ do func(context.Context) error }

func (reads) Spec() actions.Spec {
	return actions.Spec{Name: "reads", Summary: "only reads", ReadOnly: true}
}

func (a reads) Run(ctx context.Context, _ *actions.Call) (actions.Outcome, error) {
	return actions.Outcome{}, a.do(ctx)
}

// A result has no holes: a canceled parallel run has the steps up to the first that has not run, so that the index of a
// result is the index of its step.
func TestCanceledResultHasNoHoles(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p := millrace.New("p").Options(millrace.Options{Parallel: true}).
		Step("first", reads{func(context.Context) error { return nil }}).
		Step("second", reads{func(context.Context) error { return nil }}).When(condition.StepSucceeded("first")).
		Step("third", reads{func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }}).
		MustBuild()
	x := millrace.Executor{Workers: 2, Observe: func(e millrace.Event) {
		if e, ok := e.(millrace.StepFinished); ok && e.Step == "first" {
			cancel()
		}
	}}
	res, err := x.Run(ctx, suite.Tree("x", "x"), p)
	if millrace.ErrorCode(err) != "canceled" || len(res.Results) != 1 || res.Results[0].StepID != "first" {
		t.Errorf("%v, %+v", err, res.Results)
	}
	checkEnvelope(t, res)
}
