package millraceotel_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
	millraceotel "github.com/millrace-go/millrace/otel"
	"github.com/millrace-go/millrace/tool"
)

// All attributes of each kind of span.
func TestAttributes(t *testing.T) {
	t.Parallel()
	r := record()
	p := millrace.New("fix-imports").Classification("internal").
		Step("pay", actions.Tool{Tool: "spend"}).
		Step("edit", actions.Edit{Files: []string{"a"}, OldText: "x", NewText: "y"}).Next("end").
		Step("over", actions.Search{Pattern: "*"}).
		Step("end", actions.Search{Pattern: "*"}).When(condition.FileExists("none")).
		MustBuild()
	runner := millraceotel.Instrument(millrace.Executor{RunID: "r1", Tools: oneTool(t)}, r.option())
	res, err := runner.Run(t.Context(), tree("a", "x x\n"), p)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"RUN fix-imports": `
cicd.pipeline.action.name=RUN
cicd.pipeline.name=fix-imports
cicd.pipeline.result=success
cicd.pipeline.run.id=r1
millrace.backup.id=` + res.BackupID + `
millrace.classification=internal
millrace.commit.state=applied
millrace.cost_usd=1
millrace.dry_run=false
millrace.edits=2
millrace.files=1
millrace.phase=run
millrace.risk=LOW
`,
		"pay": `
cicd.pipeline.task.name=pay
cicd.pipeline.task.run.id=r1/pay/1
cicd.pipeline.task.run.result=success
gen_ai.operation.name=execute_tool
gen_ai.tool.name=spend
millrace.action=tool
millrace.cost_usd=1
millrace.edits=0
millrace.files_matched=0
millrace.visit=1
`,
		"edit": `
cicd.pipeline.task.name=edit
cicd.pipeline.task.run.id=r1/edit/1
cicd.pipeline.task.run.result=success
millrace.action=edit
millrace.edits=2
millrace.files_matched=1
millrace.jump.by=next
millrace.jump.to=end
millrace.risk=LOW
millrace.visit=1
`,
		"end": `
cicd.pipeline.task.name=end
cicd.pipeline.task.run.id=r1/end/1
cicd.pipeline.task.run.result=skip
millrace.action=search
millrace.visit=1
`,
	} {
		if d := cmp.Diff(want[1:], r.attributesOf(t, name)); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
	if n := len(r.GetSpans()); n != 4 {
		t.Errorf("%d spans, want 4: a step that was passed over has none", n)
	}
}

// The span has the kind of the run, if it was not an ordinary run.
func TestAttributesOfOtherRuns(t *testing.T) {
	t.Parallel()
	pairs := func(list ...string) string { return strings.Join(list, "\n") + "\n" }
	for name, test := range map[string]struct {
		x    millrace.Executor
		do   func(context.Context, millraceotel.Runner) error
		has  string // lines among the attributes of the last span
		lack string // no line starts with it
	}{
		"plan": {millrace.Executor{}, func(ctx context.Context, r millraceotel.Runner) error {
			_, err := r.Plan(ctx, tree("a", "x"), edit("a").MustBuild())
			return err
		}, pairs("millrace.phase=plan", "millrace.dry_run=true", "millrace.files=1", "millrace.commit.state=none"), "millrace.backup.id"},
		"commit": {millrace.Executor{}, func(ctx context.Context, r millraceotel.Runner) error {
			plan, err := r.Plan(ctx, tree("a", "x"), edit("a").MustBuild())
			if err == nil {
				_, err = plan.Commit(ctx)
			}
			return err
		}, pairs("millrace.phase=commit", "millrace.dry_run=false", "millrace.files=1", "millrace.commit.state=applied"), "millrace.would_block"},
		"would block": {millrace.Executor{MaxFiles: 1, DryRun: true}, func(ctx context.Context, r millraceotel.Runner) error {
			p := edit("a").Step("b", actions.Edit{Files: []string{"b"}, OldText: "x", NewText: "y"}).MustBuild()
			_, err := r.Run(ctx, tree("a", "x", "b", "x"), p)
			return err
		}, pairs("millrace.would_block=true", "millrace.dry_run=true"), "error.type"},
		"dry by its own option": {millrace.Executor{}, func(ctx context.Context, r millraceotel.Runner) error {
			_, err := r.Run(ctx, tree("a", "x"), edit("a").Builder.Options(millrace.Options{DryRun: true}).MustBuild())
			return err
		}, pairs("millrace.dry_run=true"), "millrace.classification"},
		"incomplete": {millrace.Executor{DryRun: true}, func(ctx context.Context, r millraceotel.Runner) error {
			_, err := r.Run(ctx, tree("a", "x"), millrace.New("p").Step("a", actions.Tool{Tool: "spend"}).MustBuild())
			return err
		}, pairs("millrace.incomplete=true"), "millrace.cost_usd"},
		"rolled back": {millrace.Executor{}, func(ctx context.Context, r millraceotel.Runner) error {
			p := edit("a").Step("b", actions.Edit{Files: []string{"none"}, OldText: "x", NewText: "y"}).MustBuild()
			if _, err := r.Run(ctx, tree("a", "x"), p); millrace.ErrorCode(err) != "step_failed" {
				return err
			}
			return nil
		}, pairs("millrace.rolled_back=true", "error.type=step_failed", "cicd.pipeline.result=failure"), "millrace.would_block"},
		"again": {millrace.Executor{RunID: "r1"}, func(ctx context.Context, r millraceotel.Runner) error {
			fsys := tree("a", "x")
			_, err := r.Run(ctx, fsys, edit("a").MustBuild())
			if err == nil {
				_, err = r.Run(ctx, fsys, edit("a").MustBuild())
			}
			return err
		}, pairs("millrace.replayed=true", "cicd.pipeline.run.id=r1"), "millrace.rolled_back"},
		"refused plan": {millrace.Executor{RunID: "r1"}, func(ctx context.Context, r millraceotel.Runner) error {
			p := millrace.New("p").Classification("internal").Step("a", actions.Tool{Tool: "unknown"}).MustBuild()
			if _, err := r.Plan(ctx, tree("a", "x"), p); millrace.ErrorCode(err) != "invalid_pipeline" {
				return err
			}
			return nil
		}, pairs("millrace.phase=plan", "millrace.dry_run=true", "cicd.pipeline.run.id=r1", "millrace.classification=internal",
			"error.type=invalid_pipeline"), "millrace.files"},
		"restore": {millrace.Executor{}, func(ctx context.Context, r millraceotel.Runner) error {
			fsys := tree("a", "x")
			res, err := r.Run(ctx, fsys, edit("a").MustBuild())
			if err == nil {
				_, err = r.Restore(ctx, fsys, res.BackupID)
			}
			return err
		}, pairs("cicd.pipeline.name=restore", "millrace.phase=commit"), "millrace.risk"},
	} {
		r := record()
		x := test.x
		x.Tools = oneTool(t)
		if err := test.do(t.Context(), millraceotel.Instrument(x, r.option())); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		spans := r.GetSpans()
		last := spans[len(spans)-1]
		r.Reset()
		r.InMemoryExporter.ExportSpans(t.Context(), spans[len(spans)-1:].Snapshots())
		got := "\n" + r.attributesOf(t, last.Name)
		for line := range strings.Lines(test.has) {
			if !strings.Contains(got, "\n"+line) {
				t.Errorf("%s: there is no %s in%s", name, line, got)
			}
		}
		if strings.Contains(got, "\n"+test.lack) {
			t.Errorf("%s: there is %s in%s", name, test.lack, got)
		}
		if test.x.RunID == "" && !strings.Contains(got, "\ncicd.pipeline.run.id="+last.SpanContext.SpanID().String()+"\n") {
			t.Errorf("%s: a run without an id is not known by its span:%s", name, got)
		}
	}
}

// The attributes and the event of a visit that failed in two attempts.
func TestAttributesOfAFailure(t *testing.T) {
	t.Parallel()
	r := record()
	tools, err := tool.New(tool.Func("call-api", "", func(context.Context, struct{}) (int, error) { return 0, coded{"not.now"} }))
	if err != nil {
		t.Fatal(err)
	}
	p := millrace.New("p").Step("call", actions.Tool{Tool: "call-api"}).MaxRetries(1).Backoff(time.Millisecond).OnFail("b").
		Step("b", actions.Search{Pattern: "*"}).MustBuild()
	if _, err := millraceotel.Instrument(millrace.Executor{Tools: tools, RunID: "r"}, r.option()).Run(t.Context(), tree("a", "x"), p); err != nil {
		t.Fatal(err)
	}
	want := `
cicd.pipeline.task.name=call
cicd.pipeline.task.run.id=r/call/1
cicd.pipeline.task.run.result=failure
error.type=not.now
gen_ai.operation.name=execute_tool
gen_ai.tool.name=call-api
millrace.action=tool
millrace.attempts=2
millrace.edits=0
millrace.files_matched=0
millrace.handled=true
millrace.jump.by=on_fail
millrace.jump.to=b
millrace.visit=1
`
	if d := cmp.Diff(want[1:], r.attributesOf(t, "call")); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	var events []map[string]string
	for _, s := range r.GetSpans() {
		for _, e := range s.Events {
			events = append(events, valuesOf(e.Attributes))
		}
	}
	wanted := []map[string]string{
		{"millrace.attempt": "2", "millrace.wait_seconds": "0.001", "error.type": "not.now"},
		{"millrace.jump.from": "call", "millrace.jump.to": "b", "millrace.jump.by": "on_fail"},
	}
	if d := cmp.Diff(wanted, events); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// coded is an error with a code of its own.
type coded struct{ code string }

func (coded) Error() string  { return "it does not work" }
func (e coded) Code() string { return e.code }

// A code that is not a word is not shown.
func TestCodesAreWords(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		"rate_limited": "rate_limited", "two words": "_OTHER", "line\nbreak": "_OTHER", strings.Repeat("x", 65): "_OTHER", "": "tool_failed",
	} {
		r := record()
		tools, err := tool.New(tool.Func("t", "", func(context.Context, struct{}) (int, error) { return 0, coded{code} }))
		if err != nil {
			t.Fatal(err)
		}
		p := millrace.New("p").Step("call", actions.Tool{Tool: "t"}).MustBuild()
		if _, err := millraceotel.Instrument(millrace.Executor{Tools: tools}, r.option()).Run(t.Context(), tree("a", "x"), p); err == nil {
			t.Error("no error")
		}
		if d := cmp.Diff("RUN p failure "+want+"\n  call failure "+want+"\n", r.story(t)); d != "" {
			t.Errorf("%q (-want +got):\n%s", code, d)
		}
	}
}

// Kind, tracer and schema; nil options are ignored.
func TestOptions(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		opts []millraceotel.Option
		want trace.SpanKind
	}{
		{nil, trace.SpanKindInternal},
		{[]millraceotel.Option{millraceotel.WithSpanKind(trace.SpanKindServer)}, trace.SpanKindServer},
		{[]millraceotel.Option{nil, millraceotel.WithTracerProvider(nil)}, trace.SpanKindInternal},
	} {
		r := record()
		runner := millraceotel.Instrument(millrace.Executor{}, append([]millraceotel.Option{r.option()}, test.opts...)...)
		if _, err := runner.Run(t.Context(), tree("a", "x"), edit("a").MustBuild()); err != nil {
			t.Fatal(err)
		}
		for _, s := range r.GetSpans() {
			want := trace.SpanKindInternal
			if s.Name == "RUN p" {
				want = test.want
			}
			if s.SpanKind != want {
				t.Errorf("%s has kind %v, want %v", s.Name, s.SpanKind, want)
			}
			if s.InstrumentationScope.Name != millraceotel.Name || s.InstrumentationScope.SchemaURL != semconv.SchemaURL {
				t.Errorf("scope %+v", s.InstrumentationScope)
			}
		}
	}
}

// Without its own provider a Runner uses the global one.
func TestGlobalProvider(t *testing.T) {
	r := record()
	otel.SetTracerProvider(r.provider)
	runner := millraceotel.Instrument(millrace.Executor{}, millraceotel.WithTracerProvider(nil))
	if _, err := runner.Run(t.Context(), tree("a", "x"), edit("a").MustBuild()); err != nil {
		t.Fatal(err)
	}
	if n := len(r.GetSpans()); n != 2 {
		t.Errorf("%d spans, want 2", n)
	}
}

// The name of a stored plan has not been checked, so a name that is too long is not shown.
func TestLongNames(t *testing.T) {
	t.Parallel()
	r := record()
	runner := millraceotel.Instrument(millrace.Executor{}, r.option())
	fsys := tree("a", "x")
	plan, err := runner.Plan(t.Context(), fsys, edit("a").MustBuild())
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.Repeat("long ", 1000)
	stored := strings.Replace(string(data), `"name":"p"`, `"name":"`+name+`"`, 1)
	opened, err := runner.OpenPlan(t.Context(), fsys, []byte(stored))
	if err != nil {
		t.Fatal(err)
	}
	r.Reset()
	if _, err := opened.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := r.GetSpans()[0].Name; got != "RUN" || strings.Contains(r.attributesOf(t, "RUN"), "long") {
		t.Errorf("span %.20s with %.400s", got, r.attributesOf(t, got))
	}
}
