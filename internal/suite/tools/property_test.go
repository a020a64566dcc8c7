package tools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"
	"pgregory.net/rapid"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/internal/txtarfs"
	"github.com/millrace-go/millrace/tool"
)

// book records the calls of steps: those of pure tools, and those of tools that act.
type book struct {
	mu         sync.Mutex
	acted, saw []string
}

// tools returns tools that answer with the length of their input, and fail for an input that ends in "fail".
func (b *book) tools(t *rapid.T) tool.Set {
	answer := func(list *[]string) func(context.Context, map[string]any) (map[string]any, error) {
		return func(ctx context.Context, in map[string]any) (map[string]any, error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			*list = append(*list, tool.Current(ctx).Step)
			text := fmt.Sprint(in["text"])
			if in["fail"] == true {
				return nil, fmt.Errorf("no %d", len(text))
			}
			return map[string]any{"n": len(text)}, nil
		}
	}
	act := tool.Func("act", "", answer(&b.acted))
	see := tool.WithSpec(tool.Func("see", "", answer(&b.saw)), func(s *tool.Spec) { s.Pure = true })
	set, err := tool.New(act, see)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// drawn returns a pipeline of up to eight steps that call tools, edit files, and refer to each other.
func drawn(t *rapid.T) millrace.Pipeline {
	b := millrace.New("p").Options(millrace.Options{ContinueOnError: rapid.Bool().Draw(t, "continue")})
	for i := range rapid.IntRange(1, 8).Draw(t, "steps") {
		id, ref := fmt.Sprintf("s%d", i), ""
		if i > 0 && rapid.Bool().Draw(t, "refers") {
			ref = fmt.Sprintf("s%d", rapid.IntRange(0, i-1).Draw(t, "to"))
		}
		text := "x"
		if ref != "" {
			text = "{{" + ref + ".count}} {{" + ref + ".ok}}"
		}
		var a actions.Action
		switch rapid.IntRange(0, 4).Draw(t, "action") {
		case 0:
			a = actions.Tool{Tool: "act", Args: map[string]any{"text": text, "fail": rapid.IntRange(0, 5).Draw(t, "fails") == 0}}
		case 1, 2:
			a = actions.Tool{Tool: "see", Args: map[string]any{"text": text, "fail": rapid.IntRange(0, 5).Draw(t, "fails") == 0}}
		case 3:
			a = actions.Create{Path: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "path"), Content: text, Overwrite: true}
		default:
			a = actions.Edit{Files: []string{"f"}, OldText: "x", NewText: rapid.SampledFrom([]string{"x", "xy"}).Draw(t, "new")}
		}
		s := b.Step(id, a)
		if ref != "" && rapid.Bool().Draw(t, "asks") {
			s = s.When(rapid.SampledFrom([]condition.Condition{
				condition.StepSucceeded(ref), condition.StepFailed(ref), condition.FileExists("a"),
			}).Draw(t, "condition"))
		}
		b = s.Builder
	}
	return b.MustBuild()
}

// toldOf returns all that a result reports, except values that differ from run to run.
func toldOf(t *rapid.T, res *millrace.Result) string {
	for i := range res.Results {
		res.Results[i].Duration = 0
	}
	for i := range res.History {
		res.History[i].Duration = 0
		for j := range res.History[i].Attempts {
			res.History[i].Attempts[j].Duration = 0
		}
	}
	res.TotalDuration, res.BackupID, res.History = 0, "", nil // a parallel run has no history
	data, err := json.MarshalIndent(res, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func filesOf(t *rapid.T, fsys afero.Fs) string {
	files, err := txtarfs.Read(fsys, ".millrace")
	if err != nil {
		t.Fatal(err)
	}
	return string(txtarfs.Format(files))
}

// Properties of random pipelines. A plan calls no tool that acts. If the plan is complete, its commit leaves the same
// tree as the run. A run in parallel does and reports the same as in sequence, with outside calls in the same order. A
// recorded answer is not requested again, and changes nothing.
func TestRandomPipelines(t *testing.T) {
	t.Parallel()
	complete, incomplete, failed := 0, 0, 0
	rapid.Check(t, func(r *rapid.T) {
		p := drawn(r)
		tree := func() afero.Fs { return suite.Tree("f", "x x\n", "b", "old\n") }
		var planned, ran, beside, again book
		recorder := millrace.NewMemoryRecorder()
		fsys := tree()
		plan, planErr := millrace.Executor{Tools: planned.tools(r), Recorder: recorder}.Plan(t.Context(), fsys, p)
		if len(planned.acted) > 0 || filesOf(r, fsys) != filesOf(r, tree()) {
			r.Fatalf("a plan has called tools that act: %q", planned.acted)
		}

		ranOn := tree()
		res, err := millrace.Executor{Tools: ran.tools(r)}.Run(t.Context(), ranOn, p)
		if !plan.Result().Incomplete {
			if fmt.Sprint(err) != fmt.Sprint(planErr) && planErr != nil || len(ran.acted) > 0 {
				r.Fatalf("the plan: %v, the run: %v, %q", planErr, err, ran.acted)
			}
			_, _ = plan.Commit(t.Context())
			if diff := cmp.Diff(filesOf(r, ranOn), filesOf(r, fsys)); diff != "" {
				r.Fatalf("the commit of the plan leaves a different tree (-run +commit):\n%s", diff)
			}
		}
		for _, s := range res.Results {
			called := slices.Contains(ran.acted, s.StepID) || slices.Contains(ran.saw, s.StepID)
			if s.Action == "tool" && called == s.Skipped && s.ErrorCode != "INTERPOLATION_FAILED" {
				r.Fatalf("step %s: called %t, but %+v", s.StepID, called, s)
			}
		}

		parallelOn := tree()
		o := p.Options()
		o.Parallel = true
		par, parErr := millrace.Executor{Tools: beside.tools(r)}.Run(t.Context(), parallelOn, p.WithOptions(o))
		if diff := cmp.Diff(toldOf(r, res), toldOf(r, par)); diff != "" || fmt.Sprint(err) != fmt.Sprint(parErr) {
			r.Fatalf("%v, in parallel %v (-sequence +parallel):\n%s", err, parErr, diff)
		}
		if !slices.Equal(ran.acted, beside.acted) || filesOf(r, ranOn) != filesOf(r, parallelOn) {
			r.Fatalf("acted %q, in parallel %q; tree %s", ran.acted, beside.acted, cmp.Diff(filesOf(r, ranOn), filesOf(r, parallelOn)))
		}

		x := millrace.Executor{Tools: again.tools(r), Recorder: recorder}
		if _, err := x.Run(t.Context(), tree(), p); err != nil {
			failed++
		}
		if !plan.Result().Incomplete && len(again.saw) > 0 {
			r.Fatalf("asked again after the plan: %q", again.saw)
		}
		asked := len(again.saw)
		secondOn := tree()
		second, secondErr := x.Run(t.Context(), secondOn, p)
		if len(again.saw) > asked {
			r.Fatalf("asked again: %q", again.saw[asked:])
		}
		if diff := cmp.Diff(toldOf(r, res), toldOf(r, second)); diff != "" || fmt.Sprint(err) != fmt.Sprint(secondErr) || filesOf(r, ranOn) != filesOf(r, secondOn) {
			r.Fatalf("%v, from the record %v (-asked +recorded):\n%s", err, secondErr, diff)
		}
		if plan.Result().Incomplete {
			incomplete++
		} else {
			complete++
		}
	})
	if complete == 0 || incomplete == 0 || failed == 0 {
		t.Errorf("%d plans were complete, %d not, %d runs failed", complete, incomplete, failed)
	}
}
