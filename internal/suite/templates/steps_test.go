package templates_test

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
)

var never = condition.FileExists("nowhere")

// allFields returns references to each field of a step.
func allFields(step string) map[string]any {
	all := make(map[string]any)
	for _, name := range strings.Fields("aggregated_content content count counts data edits error error_code files files_count ok output renames risk skipped visits") {
		all[name] = "{{" + step + "." + name + "}}"
	}
	return all
}

// with returns the fields of a step in which only these are not empty.
func with(fields map[string]any) map[string]any {
	all := map[string]any{
		"aggregated_content": "", "content": map[string]any{}, "count": int64(0), "counts": map[string]any{}, "data": nil, "edits": int64(0), "error": "", "error_code": "",
		"files": []any{}, "files_count": int64(0), "ok": false, "output": "", "renames": map[string]any{}, "risk": "LOW", "skipped": false, "visits": int64(0),
	}
	for name, v := range fields {
		all[name] = v
	}
	return all
}

// Every step has all fields, even a step that was skipped or has failed.
func TestFields(t *testing.T) {
	t.Parallel()
	got := map[string]*take{}
	asked := func(step string) take {
		got[step] = new(take)
		return take{Args: allFields(step), Got: got[step]}
	}
	p := millrace.New("p").
		Step("call", give{Data: []any{1}, Output: "out"}).
		Step("skipped", give{Data: 1}).When(never).
		Step("failed", give{Data: map[string]any{"code": 3}, Output: "some", Fail: "no luck"}).
		Step("edit", actions.Edit{Files: []string{"a.txt"}, OldText: "x", NewText: "z"}).
		Step("move", actions.Rename{Files: []string{"other.txt"}, To: "new.txt"}).
		Step("ask-call", asked("call")).Step("ask-skipped", asked("skipped")).Step("ask-failed", asked("failed")).
		Step("ask-edit", asked("edit")).Step("ask-move", asked("move")).Builder.
		Options(millrace.Options{ContinueOnError: true}).MustBuild()
	_, err := run(t, millrace.Executor{}, p)
	if step, ok := errors.AsType[*millrace.StepError](err); !ok || step.Step != "failed" {
		t.Fatal(err)
	}
	for step, want := range map[string]map[string]any{
		"call":    with(map[string]any{"data": []any{int64(1)}, "output": "out", "ok": true, "visits": int64(1)}),
		"skipped": with(map[string]any{"skipped": true}),
		"failed": with(map[string]any{
			"data": map[string]any{"code": int64(3)}, "output": "some", "error": "give failed: no luck", "error_code": "step_failed", "visits": int64(1),
		}),
		"edit": with(map[string]any{
			"files": []any{"a.txt"}, "files_count": int64(1), "edits": int64(2), "counts": map[string]any{"a.txt": int64(2)}, "count": int64(2), "ok": true, "visits": int64(1),
		}),
		"move": with(map[string]any{
			"files": []any{"new.txt"}, "files_count": int64(1), "renames": map[string]any{"other.txt": "new.txt"}, "ok": true, "visits": int64(1),
		}),
	} {
		if diff := cmp.Diff(want, got[step].Args); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step, diff)
		}
	}
}

// The previous step is the last executed step, even if steps run in parallel. A step with the id "prev" has priority.
func TestPrevious(t *testing.T) {
	t.Parallel()
	prev := map[string]any{"id": "{{prev.id}}", "output": "{{prev.output}}", "error": "{{prev.error}}", "ok": "{{prev.ok}}", "files": "{{prev.files}}", "data": "{{prev.data}}"}
	first, last := new(take), new(take)
	b := millrace.New("of this name").
		Step("first", ask{take{Args: prev, Value: "{{run.name}}: {{run.id}}", Got: first}}).
		Step("find", actions.Search{Pattern: "x"}).
		Step("call", give{Data: map[string]any{"k": []any{"v"}}, Output: "out", Fail: "no luck"}).
		Step("skipped", give{Data: 1}).When(never).
		Step("last", ask{take{Args: prev, Value: "{{prev.data.k[0]}}{{prev.files}}", Text: "{{prev.data.k}}", Got: last}})
	for _, options := range []millrace.Options{{ContinueOnError: true}, {ContinueOnError: true, Parallel: true}} {
		p := b.Builder.Options(options).MustBuild()
		*first, *last = take{}, take{}
		for range 20 { // in parallel, the order of execution would be visible
			if _, err := run(t, millrace.Executor{RunID: "r1"}, p); err == nil {
				t.Fatal("the run has no error")
			}
		}
		nothing := map[string]any{"id": "", "output": "", "error": "", "ok": false, "files": []any{}, "data": nil}
		if diff := cmp.Diff(&take{Args: nothing, Value: "of this name: r1"}, first); diff != "" {
			t.Errorf("%+v: first (-want +got):\n%s", options, diff)
		}
		want := map[string]any{
			"id": "call", "output": "out", "error": "give failed: no luck", "ok": false, "files": []any{}, "data": map[string]any{"k": []any{"v"}},
		}
		if diff := cmp.Diff(&take{Args: want, Value: "v", Text: `["v"]`}, last); diff != "" {
			t.Errorf("%+v: last (-want +got):\n%s", options, diff)
		}
	}
	p := millrace.New("p").
		Step("prev", actions.Search{Pattern: "x"}).Step("run", give{Data: map[string]any{"id": 7}}).
		Step("ask", ask{take{Value: "{{prev.files_count}} {{run.id}}", Got: first}}).MustBuild()
	if _, err := run(t, millrace.Executor{}, p); err != nil || first.Value != "2 7" {
		t.Errorf("got %v, %v", first.Value, err)
	}
	_, err := millrace.New("p").Step("ask", ask{take{Value: "{{prev.count}} {{run.where}}", Got: first}}).Build()
	if problems := err.(*millrace.ValidationError).Problems; len(problems) != 2 || !strings.Contains(err.Error(), "unknown field 'count'") ||
		!strings.Contains(err.Error(), "the fields are id, name") {
		t.Errorf("got %v", err)
	}
}

// A step that refers to the previous step starts after all earlier steps.
func TestPreviousInParallel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		got := new(take)
		p := millrace.New("p").
			Step("slow", give{Output: "slow", wait: time.Second}).
			Step("skipped", give{Output: "never"}).When(never).
			Step("ask", ask{take{Text: "{{prev.output}}", Got: got}}).Builder.
			Options(millrace.Options{Parallel: true}).MustBuild()
		if _, err := run(t, millrace.Executor{Workers: 4}, p); err != nil || got.Text != "slow" {
			t.Errorf("got %q, %v", got.Text, err)
		}
	})
}

// After a jump, the previous step is that of the last visit.
func TestPreviousOfJump(t *testing.T) {
	t.Parallel()
	got := new(take)
	p := millrace.New("p").
		Step("check", give{Output: "bad", Fail: "no luck"}).OnFail("report").
		Step("fix", give{Output: "never"}).
		Step("report", ask{take{Text: "{{prev.id}}: {{prev.output}}, {{fix.skipped}} {{fix.output}}", Got: got}}).MustBuild()
	if _, err := run(t, millrace.Executor{}, p); err != nil || got.Text != "check: bad, true " {
		t.Errorf("got %q, %v", got.Text, err)
	}
}

// Data that JSON cannot express, or too much data, fails the step; an action that has failed keeps its own error.
func TestBadData(t *testing.T) {
	t.Parallel()
	deep := any("x")
	for range 101 {
		deep = []any{deep}
	}
	endless := map[string]any{}
	endless["x"] = endless
	for _, test := range []struct {
		raw  any
		fail string
		want string
	}{
		{math.NaN(), "", "value is NaN, which is no JSON value"}, {map[string]any{"a": []any{func() {}}}, "", "/a/0: value is a func(), which is no JSON value"},
		{deep, "", "lists and objects are nested more than 100 deep"}, {endless, "", "nested more than 100 deep"}, {[]any{&deep}, "", "value is a *interface {}"},
		{make([]int, 1<<20+1), "", "expanded text is too long: more than 67108864 bytes"}, {math.Inf(1), "no luck", "give failed: no luck"},
		{json.Number("1e999"), "", "number is out of range"},
	} {
		p := millrace.New("p").Step("call", give{raw: test.raw, Fail: test.fail}).MustBuild()
		res, err := run(t, millrace.Executor{}, p)
		if err == nil || !strings.Contains(err.Error(), test.want) || res.Results[0].Data != nil {
			t.Errorf("got %v, want %s", err, test.want)
		}
	}
}

// The data and the output of a step count as shown bytes: 64 bytes for each value, as in memory.
func TestDataIsShown(t *testing.T) {
	t.Parallel()
	for _, raw := range []any{
		make([]bool, 10_000), strings.Repeat("x", 600_000), map[string]any{"a": make([]any, 10_000)}, map[string]any{strings.Repeat("x", 600_000): nil},
	} {
		p := millrace.New("p").Step("call", give{raw: raw}).Step("after", actions.List{}).MustBuild()
		res, err := run(t, millrace.Executor{Limits: actions.Limits{MaxShownBytes: 1 << 20}}, p) // half of it for each step
		if limit, ok := errors.AsType[*actions.LimitError](err); !ok || limit.What != "bytes shown" || res.Results[0].Data != nil {
			t.Errorf("%T: got %v", raw, err)
		}
		if _, err := run(t, millrace.Executor{Limits: actions.Limits{MaxShownBytes: 2 << 20}}, p); err != nil {
			t.Errorf("%T: got %v", raw, err)
		}
	}
}

// Short parameters with many references to long data fail before they take the memory.
func TestValuesThatMultiply(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<20)
	for _, value := range []any{slices.Repeat([]any{"{{call}}"}, 100), strings.Repeat("{{call}}", 40), map[string]any{"x": slices.Repeat([]any{"{{call[0]}}{{call[0]}}"}, 50)}} {
		p := millrace.New("p").Step("call", give{raw: []string{long}}).Step("take", take{Value: value, Got: new(take)}).MustBuild()
		_, err := run(t, millrace.Executor{Limits: actions.Limits{MaxShownBytes: 8 << 20}}, p)
		if limit, ok := errors.AsType[*actions.LimitError](err); !ok || limit.What != "template bytes" || !errors.Is(err, millrace.ErrInterpolation) {
			t.Errorf("%T: got %v", value, err)
		}
	}
}

// Data is the same in a result, in its copies, in JSON, and in a run that is found again.
func TestDataInResults(t *testing.T) {
	t.Parallel()
	raw := map[string]any{"big": int64(math.MaxInt64), "least": uint8(3), "list": []string{"a"}, "null": nil, "float": 0.5, "number": json.Number("9007199254740993")}
	want := map[string]any{"big": int64(math.MaxInt64), "least": int64(3), "list": []any{"a"}, "null": nil, "float": 0.5, "number": int64(9007199254740993)}
	p := millrace.New("p").Step("call", give{raw: raw}).Step("edit", actions.Edit{Files: []string{"a.txt"}, OldText: "x", NewText: "z"}).MustBuild()
	fsys := tree()
	x := millrace.Executor{RunID: "r1", State: millrace.State{Key: []byte("sixteen bytes and more")}}
	plan, err := x.Plan(t.Context(), fsys, p)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // a result that was changed, and a second result
		res := plan.Result()
		if diff := cmp.Diff(want, res.Results[0].Data); diff != "" {
			t.Fatalf("plan (-want +got):\n%s", diff)
		}
		spoil(res.Results[0].Data)
	}
	stored, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	opened, err := x.OpenPlan(t.Context(), fsys, stored)
	if err != nil {
		t.Fatal(err)
	}
	results := []*millrace.Result{opened.Result()}
	for range 2 {
		res, err := x.Run(t.Context(), fsys, p)
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, res)
	}
	if !results[2].Replayed {
		t.Error("the second run is not a replay of the first")
	}
	for i, res := range results {
		if diff := cmp.Diff(want, res.Results[0].Data); diff != "" {
			t.Errorf("result %d (-want +got):\n%s", i, diff)
		}
	}
	raw["list"].([]string)[0] = "changed"
	if diff := cmp.Diff(want, plan.Result().Results[0].Data); diff != "" {
		t.Errorf("the plan shares memory with the action (-want +got):\n%s", diff)
	}
	var res millrace.StepResult
	if err := json.Unmarshal([]byte(`{"data":[`+strings.Repeat("[", 101)+strings.Repeat("]", 101)+`]}`), &res); err == nil {
		t.Error("data that is too deep was read")
	}
}

// A visit of a step sees the output of the earlier steps in the same round.
func TestValuesOfVisits(t *testing.T) {
	t.Parallel()
	got := new(take)
	p := millrace.New("p").
		Step("again", give{Output: "more"}).MaxVisits(3).
		Step("check", take{Text: "{{again.visits}} of {{again.output}}", Got: got}).
		RetryWhen("again", condition.FileNotExists("nowhere")).
		Step("rest", give{}).MustBuild()
	_, err := run(t, millrace.Executor{}, p)
	if _, ok := errors.AsType[*millrace.RetriesError](err); !ok || got.Text != "3 of more" {
		t.Errorf("got %q, %v", got.Text, err)
	}
}
