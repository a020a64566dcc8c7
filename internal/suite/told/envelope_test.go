package told_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"
	"pgregory.net/rapid"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/risk"
)

// checkEnvelope checks the rules for every envelope.
func checkEnvelope(t interface {
	Helper()
	Errorf(format string, args ...any)
}, res *millrace.Result) {
	t.Helper()
	e := res.Envelope()
	if e.Summary.Failed > 0 == res.Success {
		t.Errorf("success is %v, the envelope has %+v", res.Success, e.Summary)
	}
	var counted millrace.EnvelopeSummary
	for i, r := range e.Results {
		counted.Total++
		switch {
		case r.OK:
			counted.Succeeded++
		case r.Handled:
			counted.Handled++
		default:
			counted.Failed++
		}
		if r.OK != (r.Error == nil) || r.Error != nil && (r.Error.Code == "" || r.Error.Message == "") {
			t.Errorf("entry %+v has the error %+v", r, r.Error)
		}
		if whole := r.Tool == "run"; whole != (r.Step == 0) || whole && i != len(e.Results)-1 {
			t.Errorf("entry %d of %d: %+v", i, len(e.Results), r)
		}
	}
	if counted != e.Summary {
		t.Errorf("summary %+v, counted %+v", e.Summary, counted)
	}
	s := res.Summary()
	if s.StepsExecuted != res.StepsExecuted() || s.StepsExecuted != len(s.AllResults) || s.Final != res.Final() {
		t.Errorf("%+v", s)
	}
}

// However a run ends, its envelope has a failure exactly when the run has not succeeded, even after JSON.
func TestEnvelopeFailsWithTheRun(t *testing.T) {
	t.Parallel()
	ends := make(map[string]int)
	rapid.Check(t, func(t *rapid.T) {
		opts := millrace.Options{ContinueOnError: rapid.Bool().Draw(t, "continue")}
		opts.Parallel = rapid.IntRange(0, 3).Draw(t, "parallel") == 0
		b := millrace.New("random").Options(opts)
		n := rapid.IntRange(1, 6).Draw(t, "steps")
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		for i := range n {
			id := fmt.Sprintf("s%d", i)
			var action actions.Action = script(rapid.SliceOfN(rapid.SampledFrom([]string{"ok", "ok", "ok again", "fail", "fail again"}), 1, 3).
				Draw(t, "words")...).writes(rapid.SampledFrom([]string{"", id}).Draw(t, "file"))
			if rapid.IntRange(0, 20).Draw(t, "stop") == 0 {
				action = suite.Action{Do: func(context.Context, *actions.Call) (actions.Outcome, error) {
					cancel()
					return actions.Outcome{}, ctx.Err()
				}}
			}
			step := b.Step(id, action)
			if i < n-1 && !opts.Parallel && rapid.Bool().Draw(t, "jumps") {
				step = step.OnFail(fmt.Sprintf("s%d", rapid.IntRange(i+1, n-1).Draw(t, "to")))
			}
			if !opts.Parallel && rapid.IntRange(0, 2).Draw(t, "back") == 0 {
				step = step.RetryIf(fmt.Sprintf("s%d", rapid.IntRange(0, i).Draw(t, "back to")), "again")
			}
			if i > 0 && rapid.IntRange(0, 3).Draw(t, "waits") == 0 {
				step = step.When(condition.StepFailed(fmt.Sprintf("s%d", rapid.IntRange(0, i-1).Draw(t, "for"))))
			}
			b = step.Builder
		}
		p, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		x := millrace.Executor{Ceiling: rapid.SampledFrom([]risk.Level{risk.Unset, risk.Low}).Draw(t, "ceiling")}
		x.DryRun = rapid.Bool().Draw(t, "dry")
		x.MaxFiles = rapid.IntRange(0, 1).Draw(t, "files")
		res, err := x.Run(ctx, suite.Tree("other", "x"), p)
		if res == nil {
			t.Fatalf("no result beside %v", err)
		}
		if res.Success != (err == nil) || res.ErrorCode != millrace.ErrorCode(err) {
			t.Errorf("success %v and code %q beside %v", res.Success, res.ErrorCode, err)
		}
		checkEnvelope(t, res)
		ends[res.ErrorCode]++
		for i, r := range res.Results {
			if want := fmt.Sprintf("s%d", i); r.StepID != want {
				t.Errorf("result %d is that of %s", i, r.StepID)
			}
		}
		data, err := json.Marshal(res)
		var read millrace.Result
		if err == nil {
			err = json.Unmarshal(data, &read)
		}
		if err != nil {
			t.Fatal(err)
		}
		before, _ := json.Marshal([]any{res.Envelope(), res.Summary()})
		after, _ := json.Marshal([]any{read.Envelope(), read.Summary()})
		if d := cmp.Diff(string(before), string(after)); d != "" {
			t.Errorf("(-written +read):\n%s", d)
		}
	})
	for _, code := range []string{"", "step_failed", "canceled"} {
		if ends[code] == 0 {
			t.Errorf("no run ended with %q: %v", code, ends)
		}
	}
}

// A time just below half a millisecond is reported the same before and after JSON.
func TestSummaryOfAWrittenResult(t *testing.T) {
	t.Parallel()
	for _, d := range []time.Duration{2_499_600, 2_499_400, 2_500_000, 1_999_999_999, 499_999, 0} {
		res := millrace.Result{TotalDuration: d}
		data, err := json.Marshal(res)
		var read millrace.Result
		if err == nil {
			err = json.Unmarshal(data, &read)
		}
		if err != nil {
			t.Fatal(err)
		}
		before, _ := json.Marshal(res.Summary())
		after, _ := json.Marshal(read.Summary())
		if string(before) != string(after) {
			t.Errorf("%v: %s was written, %s is read", d, before, after)
		}
	}
}

// data is an action that returns a value, and an error if it has one.
type data struct {
	value any
	err   error
}

func (data) Spec() actions.Spec {
	return actions.Spec{Name: "data", Summary: "returns data", ReadOnly: true, Data: true}
}

func (d data) Run(context.Context, *actions.Call) (actions.Outcome, error) {
	return actions.Outcome{Data: d.value}, d.err
}

// The data of an entry is the data of the action, to the last digit, even after JSON. Without such data it is the value
// of the step in templates.
func TestEnvelopeData(t *testing.T) {
	t.Parallel()
	value := map[string]any{"id": "111122223333444455", "n": int64(math.MaxInt64), "f": 0.5, "list": []any{int64(1), "two", nil, true}}
	p := millrace.New("data").Options(millrace.Options{ContinueOnError: true}).
		Step("send", data{value: value}).
		Step("find", actions.Search{Pattern: "x"}).
		Step("fix", actions.Edit{OldText: "x", NewText: "y"}).From("find").
		Step("show", actions.ReadRanges{Files: []string{"a"}}).
		Step("bad", data{value: []any{int64(7)}, err: errors.New("no")}).
		MustBuild()
	res, err := millrace.Run(t.Context(), suite.Tree("a", "x x\n", "b", "x\n"), p)
	if millrace.ErrorCode(err) != "step_failed" {
		t.Fatal(err)
	}
	want := millrace.Envelope{
		Results: []millrace.EnvelopeResult{
			{Step: 1, Tool: "data", OK: true, Data: value},
			{Step: 2, Tool: "search", OK: true, Data: map[string]any{"files": []string{"a", "b"}, "files_count": 2, "count": 3, "edits": 0, "counts": map[string]int{"a": 2, "b": 1}}},
			{Step: 3, Tool: "edit", OK: true, Data: map[string]any{
				"files": []string{"a", "b"}, "files_count": 2, "count": 3, "edits": 3, "counts": map[string]int{"a": 2, "b": 1}, "risk": "LOW",
			}},
			{Step: 4, Tool: "read_ranges", OK: true, Data: map[string]any{
				"files": []string{"a"}, "files_count": 1, "count": 0, "edits": 0, "content": map[string]string{"a": "y y\n"},
			}},
			{Step: 5, Tool: "data", Data: []any{int64(7)}, Error: &millrace.EnvelopeError{Code: "step_failed", Message: "no"}},
		},
		Summary: millrace.EnvelopeSummary{Total: 5, Succeeded: 4, Failed: 1},
	}
	if d := cmp.Diff(want, res.Envelope()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	read := again(t, res)
	if d := cmp.Diff(want.Results[0], read.Envelope().Results[0]); d != "" {
		t.Errorf("read back (-want +got):\n%s", d)
	}
	if d := cmp.Diff(pretty(t, want), pretty(t, read.Envelope())); d != "" {
		t.Errorf("read back (-want +got):\n%s", d)
	}
}

// The codes of steps and of whole runs are in the envelope and in the JSON of results.
func TestEnvelopeCodes(t *testing.T) {
	t.Parallel()
	edit := actions.Edit{Files: []string{"a"}, OldText: "x", NewText: "y"}
	one := 1
	for name, test := range map[string]struct {
		code  string
		whole bool // the run failed, not a step
		x     millrace.Executor
		p     millrace.StepBuilder
	}{
		"step":          {code: "step_failed", p: millrace.New("p").Step("a", actions.Edit{Files: []string{"no"}, OldText: "x", NewText: "y"})},
		"expect":        {code: "expect_failed", p: millrace.New("p").Step("a", edit).Expect(millrace.Expect{MaxEdits: &one})},
		"limit":         {code: "limit", x: millrace.Executor{Limits: actions.Limits{MaxMatches: 2}}, p: millrace.New("p").Step("a", edit)},
		"interpolation": {code: "INTERPOLATION_FAILED", p: millrace.New("p").Step("f", actions.Search{Pattern: "none"}).Step("a", actions.Search{Pattern: "{{f.files[3]}}"})},
		"looks alike":   {code: "step_failed", p: millrace.New("p").Step("b", actions.Fail{Message: "parameter of no use"})},
		"exhausted":     {code: "retries_exhausted", p: millrace.New("p").Step("a", script("ok again")).RetryIf("a", "again")},
		"blocked":       {code: "blocked", whole: true, x: millrace.Executor{Ceiling: risk.Low}, p: millrace.New("p").Step("a", edit)},
		"steps":         {code: "too_many_executions", whole: true, p: millrace.New("p").MaxAttempts(2).Step("a", script("ok again")).RetryIf("a", "again")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			res, err := test.x.Run(t.Context(), suite.Tree("a", strings.Repeat("x\n", 120)), test.p.MustBuild())
			if millrace.ErrorCode(err) != test.code || res.ErrorCode != test.code {
				t.Errorf("code %q, in the result %q: %v", millrace.ErrorCode(err), res.ErrorCode, err)
			}
			checkEnvelope(t, res)
			entries := res.Envelope().Results
			last := entries[len(entries)-1]
			if last.Error == nil || last.Error.Code != test.code || (last.Tool == "run") != test.whole {
				t.Errorf("the last entry is %+v, %+v", last, last.Error)
			}
			text := pretty(t, res)
			if !strings.Contains(text, `"error_code": "`+test.code+`"`) {
				t.Errorf("the code is not in the JSON:\n%s", text)
			}
			if d := cmp.Diff(res.Envelope(), again(t, res).Envelope()); d != "" && !strings.Contains(d, "Data") {
				t.Errorf("(-written +read):\n%s", d)
			}
		})
	}
}

// A result that was made by hand, or by a version without codes, still has an envelope with codes.
func TestEnvelopeOfOldResults(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{}`:               "run/internal",
		`{"success":true}`: "",
		`{"error":"pipeline canceled: context canceled"}`:                                          "run/internal",
		`{"error":"e","block_reason":"e"}`:                                                         "run/blocked",
		`{"error":"e","commit":{"state":"pending_recovery"}}`:                                      "run/recovery_needed",
		`{"results":[{"step_id":"a","action":"edit","error":"edit failed: context canceled"}]}`:    "edit/step_failed",
		`{"results":[{"step_id":"a","action":"edit","error":"edit failed: no"},{"skipped":true}]}`: "edit/step_failed",
	} {
		var res millrace.Result
		if err := json.Unmarshal([]byte(text), &res); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range res.Envelope().Results {
			got = append(got, r.Tool+"/"+r.Error.Code)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
	if got := pretty(t, (&millrace.Result{}).Envelope().Summary); !strings.Contains(got, `"failed": 1`) {
		t.Errorf("the empty result: %s", got)
	}
	if got := pretty(t, (&millrace.Result{Success: true}).Envelope()); !strings.Contains(got, `"results": []`) {
		t.Errorf("an empty success: %s", got)
	}
}

// A summary always has every field, and can be read back.
func TestSummaryHasEachField(t *testing.T) {
	t.Parallel()
	const want = `{"run_id":"","steps_executed":0,"total_steps":0,"final":"","all_results":{},"total_cost_usd":0,"total_duration_seconds":0,` +
		`"budget":{"limit":null,"spent":0,"exceeded":false},"deadline_met":true,"classification":""}`
	data, err := json.Marshal((&millrace.Result{}).Summary())
	if err != nil || string(data) != want {
		t.Errorf("got %s, %v, want %s", data, err, want)
	}
	if data, err := json.Marshal(millrace.Summary{DeadlineMet: true}); err != nil || string(data) != want {
		t.Errorf("the zero summary: got %s, %v, want %s", data, err, want)
	}
	res, err := millrace.Run(t.Context(), suite.Tree("a", "x"), suite.Edit("a"))
	if err != nil {
		t.Fatal(err)
	}
	res.TotalDuration, res.Results[0].Duration = 1234567890, 1000
	var read millrace.Summary
	if err := json.Unmarshal([]byte(pretty(t, res.Summary())), &read); err != nil {
		t.Fatal(err)
	}
	wanted := res.Summary()
	if wanted.TotalDuration = 1235000000; read.TotalDuration != wanted.TotalDuration {
		t.Errorf("%v", read.TotalDuration)
	}
	if d := cmp.Diff(wanted, read); d != "" {
		t.Errorf("(-written +read):\n%s", d)
	}
}

// The final text is that of the last step: its output, or else its aggregated content.
func TestFinal(t *testing.T) {
	t.Parallel()
	b := millrace.New("p").Step("say", script("ok said"))
	for _, test := range []struct {
		want string
		p    millrace.Pipeline
	}{
		{"said", b.MustBuild()},
		{"", b.Step("find", actions.Search{Pattern: "x"}).MustBuild()},
		{"said", b.Step("never", actions.Search{Pattern: "x"}).When(condition.FileExists("none")).MustBuild()},
		{"-rw-r--r-- 2 a", b.Step("list", actions.List{Path: "."}).MustBuild()},
	} {
		fsys := afero.NewMemMapFs()
		if err := afero.WriteFile(fsys, "a", []byte("x\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		res, err := millrace.Run(t.Context(), fsys, test.p)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSpace(res.Final()); got != test.want && (test.want == "" || !strings.HasSuffix(got, " a") || !strings.HasSuffix(test.want, " a")) {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}
