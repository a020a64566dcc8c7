package steering_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/afero"
	"pgregory.net/rapid"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/internal/suite/drawn"
	"github.com/millrace-go/millrace/internal/txtarfs"
)

// told returns all that a run reports, except the times.
func told(res *millrace.Result, err error) string {
	data, jerr := json.Marshal(res)
	if jerr != nil {
		return jerr.Error()
	}
	var v map[string]any
	if jerr := json.Unmarshal(data, &v); jerr != nil {
		return jerr.Error()
	}
	timeless(v)
	delete(v, "backup_id")
	data, _ = json.MarshalIndent(v, "", " ")
	return fmt.Sprintf("%v\n%s", err, data)
}

func timeless(v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			timeless(e)
		}
	case map[string]any:
		delete(v, "duration")
		delete(v, "total_duration")
		for _, e := range v {
			timeless(e)
		}
	}
}

func treeOf(t *rapid.T, fsys afero.Fs) string {
	files, err := txtarfs.Read(fsys, ".millrace")
	if err != nil {
		t.Fatal(err)
	}
	return string(txtarfs.Format(files))
}

// Properties of random pipelines. The dry run reports the same as the run. The tree has the changes of the visits that
// succeeded and were not discarded, in order. The report can be written and read. The events match the history.
func TestRandomPipelines(t *testing.T) {
	t.Parallel()
	met := make(map[string]int)
	for range fstest.Runs(3, 20, 500) {
		rapid.Check(t, func(r *rapid.T) {
			files, p := drawn.Tree(r), drawn.Pipeline(r)
			fsys := suite.Memory(t, files)
			before := treeOf(r, fsys)
			ctx, _ := drawn.Taped(t.Context())
			plan, planErr := millrace.Executor{}.Plan(ctx, fsys, p)
			if got := treeOf(r, fsys); got != before {
				r.Fatalf("the dry run has written: %s", cmp.Diff(before, got))
			}
			dry := plan.Result()
			if planErr == nil && dry.Error != "" {
				planErr = errors.New(dry.Error) // Plan has no error if the plan can still be committed
			}
			var events []millrace.Event
			x := millrace.Executor{Observe: func(e millrace.Event) { events = append(events, e) }}
			ctx, said := drawn.Taped(t.Context())
			res, err := x.Run(ctx, fsys, p)

			c := *res
			c.DryRun, c.Commit, c.Guarantee, c.Warnings, c.RollbackPerformed = dry.DryRun, dry.Commit, dry.Guarantee, dry.Warnings, dry.RollbackPerformed
			if d := cmp.Diff(told(dry, planErr), told(&c, err)); d != "" {
				r.Fatalf("the run differs (-dry +run):\n%s", d)
			}
			written(r, res)
			watched(r, res, err, events)
			met["runs"]++
			for _, v := range res.History {
				met[v.Outcome]++
				if v.Jump != nil {
					met[v.Jump.By]++
				}
				if len(v.Attempts) > 1 {
					met["attempts"]++
				}
			}
			met["code "+millrace.ErrorCode(err)]++
			if res.Commit.State != millrace.CommitApplied {
				if got := treeOf(r, fsys); got != before {
					r.Fatalf("a run without a commit has written: %s", cmp.Diff(before, got))
				}
				if err != nil {
					return
				}
			}
			met["kept"]++
			straight(t, r, files, p, res, said, treeOf(r, fsys), met)
			if err == nil {
				stored(t, r, files, p, res, treeOf(r, fsys))
			}
		})
	}
	t.Log(met)
	if met["runs"] < 300 {
		return // too few samples to meet every case
	}
	for _, what := range []string{
		"success", "failed", "skipped", "retry", "next", "on_fail", "retry_if", "attempts", "kept", "discarded",
		"code ", "code step_failed", "code retries_exhausted", "code too_many_executions",
	} {
		if met[what] == 0 && !t.Failed() {
			t.Errorf("the generator never produced %q: %v", what, met)
		}
	}
}

// straight runs the visits of the history as a pipeline without jumps, or as several of them in order.
func straight(t *testing.T, r *rapid.T, files []txtarfs.File, p millrace.Pipeline, res *millrace.Result, said *drawn.Tape, tree string, met map[string]int) {
	at := make(map[string]int) // the number of attempts of each step so far
	history := res.History
	if history == nil { // each step was visited once at most
		for _, s := range res.Results {
			if !s.Skipped && !s.Failed() {
				history = append(history, millrace.Visit{StepID: s.StepID, Attempts: make([]millrace.Attempt, 1)})
			}
		}
	}
	var steps []millrace.Step
	for _, v := range history {
		at[v.StepID] += len(v.Attempts)
		if v.Discarded {
			met["discarded"]++
		}
		if v.Discarded || len(v.Attempts) == 0 || v.Outcome == "failed" || v.Attempts[len(v.Attempts)-1].Error != "" {
			continue
		}
		s, _ := p.Step(v.StepID)
		action := s.Action
		if part, ok := action.(drawn.Play); ok {
			part.Words = []string{said.Said[v.StepID][at[v.StepID]-1]}
			action = part
		}
		steps = append(steps, millrace.Step{ID: fmt.Sprintf("v%d", len(steps)), Action: action})
	}
	fsys, edits, affected := suite.Memory(t, files), 0, make(map[string]bool)
	parts := 0
	var changed millrace.FilesChanged
	for part := range slices.Chunk(steps, millrace.MaxSteps) {
		b := millrace.New("straight")
		for _, s := range part {
			b = b.Add(s).Builder
		}
		ctx, _ := drawn.Taped(t.Context())
		got, err := millrace.Run(ctx, fsys, b.MustBuild())
		if err != nil {
			r.Fatalf("the straight pipeline fails: %v\n%+v", err, res.History)
		}
		if got.History != nil {
			r.Fatalf("a pipeline without jumps has a history: %+v", got.History)
		}
		edits += got.TotalEdits
		for _, f := range got.FilesAffected {
			affected[f] = true
		}
		changed = got.FilesChanged
		parts++
	}
	if got := treeOf(r, fsys); got != tree {
		r.Fatalf("the tree differs (-straight +jumps):\n%s\n%+v", cmp.Diff(got, tree), res.History)
	}
	all := slices.Sorted(maps.Keys(affected))
	if edits != res.TotalEdits || !slices.Equal(all, res.FilesAffected) {
		r.Fatalf("the result has %d edits of %v, the straight one %d of %v\n%+v", res.TotalEdits, res.FilesAffected, edits, all, res.History)
	}
	if parts <= 1 {
		if d := cmp.Diff(changed, res.FilesChanged); d != "" {
			r.Fatalf("other files have changed (-straight +jumps):\n%s", d)
		}
	}
}

// stored plans the pipeline again, writes and reads the plan, and commits it.
func stored(t *testing.T, r *rapid.T, files []txtarfs.File, p millrace.Pipeline, res *millrace.Result, tree string) {
	fsys := suite.Memory(t, files)
	ctx, _ := drawn.Taped(t.Context())
	x := millrace.Executor{RunID: "once"}
	plan, err := x.Plan(ctx, fsys, p)
	if err != nil {
		r.Fatal(err)
	}
	data, err := json.Marshal(plan)
	if err != nil {
		r.Fatal(err)
	}
	opened, err := x.OpenPlan(t.Context(), fsys, data)
	if err != nil {
		r.Fatalf("%v\n%s", err, data)
	}
	committed, err := opened.Commit(t.Context())
	if err != nil {
		r.Fatal(err)
	}
	if got := treeOf(r, fsys); got != tree {
		r.Fatalf("the stored plan leaves a different tree (-run +plan):\n%s", cmp.Diff(tree, got))
	}
	ctx, _ = drawn.Taped(t.Context())
	replayed, err := x.Run(ctx, fsys, p)
	if err != nil || replayed.Commit.State == millrace.CommitApplied && !replayed.Replayed {
		r.Fatalf("the second run with the same id: %v, %+v", err, replayed)
	}
	timeless := cmp.Comparer(func(time.Duration, time.Duration) bool { return true })
	for _, other := range []*millrace.Result{committed, replayed} {
		if d := cmp.Diff(res.History, other.History, timeless); d != "" && (other == committed || other.Replayed) {
			r.Fatalf("the history differs (-run +plan):\n%s", d)
		}
	}
}

// written writes a result and reads it again.
func written(r *rapid.T, res *millrace.Result) {
	data, err := json.Marshal(res)
	if err != nil {
		r.Fatal(err)
	}
	var read millrace.Result
	if err := json.Unmarshal(data, &read); err != nil {
		r.Fatal(err)
	}
	rounded := cmp.Comparer(func(a, b time.Duration) bool { return a.Round(time.Microsecond) == b.Round(time.Microsecond) })
	if d := cmp.Diff(*res, read, rounded, cmpopts.EquateEmpty()); d != "" {
		r.Fatalf("the result differs when it is read (-was +is):\n%s", d)
	}
}

// watched compares the events of a run with its history.
func watched(r *rapid.T, res *millrace.Result, err error, events []millrace.Event) {
	var visits []millrace.Visit
	var began *millrace.StepStarted
	retries := 0
	for _, e := range events {
		switch e := e.(type) {
		case millrace.StepStarted:
			if began != nil {
				r.Fatalf("%s begins before %s is over", e.Step, began.Step)
			}
			began, retries = &e, 0
		case millrace.StepRetrying:
			if retries++; began == nil || e.Step != began.Step || e.Visit != began.Visit || e.Attempt != retries+1 || e.Err == nil {
				r.Fatalf("%+v comes in %+v, after %d others", e, began, retries-1)
			}
		case millrace.StepFinished:
			if began == nil || e.Step != began.Step || e.Visit != began.Visit {
				r.Fatalf("%+v ends, %+v had begun", e, began)
			}
			visits = append(visits, millrace.Visit{StepID: e.Step, Visit: e.Visit, Attempts: make([]millrace.Attempt, retries+1)})
			began = nil
		case millrace.StepJumped:
			last := &visits[len(visits)-1]
			if began != nil || last.StepID != e.From || last.Jump != nil {
				r.Fatalf("%+v comes after %+v", e, last)
			}
			last.Jump = &millrace.Jump{To: e.To, By: e.By}
		}
	}
	if began != nil {
		r.Fatalf("%s has no end", began.Step)
	}
	if res.History == nil {
		return
	}
	if len(visits) == len(res.History)+1 && millrace.ErrorCode(err) == "too_many_executions" && len(visits[len(visits)-1].Attempts) == 1 {
		visits = visits[:len(visits)-1] // all attempts were used up before this visit
	}
	if len(visits) != len(res.History) {
		r.Fatalf("the events have %d visits, the history %d", len(visits), len(res.History))
	}
	if last := len(visits) - 1; millrace.ErrorCode(err) == "too_many_executions" {
		if made := len(res.History[last].Attempts); made > 0 && len(visits[last].Attempts) == made+1 {
			visits[last].Attempts = visits[last].Attempts[1:] // one more attempt was planned
		}
	}
	for i, v := range res.History {
		got := visits[i]
		if v.StepID != got.StepID || v.Visit != got.Visit || !cmp.Equal(v.Jump, got.Jump) || max(len(v.Attempts), 1) != len(got.Attempts) {
			r.Fatalf("visit %d is %+v in the history, and %+v in the events", i, v, got)
		}
	}
}

// Steps that run in parallel have the same attempts and reports as in sequence.
func TestParallelAttempts(t *testing.T) {
	t.Parallel()
	several, atOnce := 0, 0
	rapid.Check(t, func(r *rapid.T) {
		files := drawn.Tree(r)
		p := drawn.Parallel(r)
		var stories []string
		for _, parallel := range []bool{false, true} {
			o := p.Options()
			o.Parallel = parallel
			fsys := suite.Memory(t, files)
			ctx, said := drawn.Taped(t.Context())
			res, err := millrace.Executor{Workers: 4}.Run(ctx, fsys, p.WithOptions(o))
			stories = append(stories, told(res, err)+"\n"+treeOf(r, fsys))
			if len(res.History) > 0 {
				several++
			}
			atOnce = max(atOnce, said.Most)
		}
		if d := cmp.Diff(stories[0], stories[1]); d != "" {
			r.Fatalf("parallel differs (-sequence +parallel):\n%s", d)
		}
	})
	if !testing.Short() && (several == 0 || atOnce < 2) {
		t.Errorf("%d runs had several attempts, %d steps ran at the same time", several, atOnce)
	}
}

// A pipeline built in Go, encoded as JSON and decoded is equal, and lenient decoding does not change a correct text.
func TestRandomPipelinesAsJSON(t *testing.T) {
	t.Parallel()
	registry := actions.Builtin().With(drawn.Play{})
	rapid.Check(t, func(r *rapid.T) {
		p := drawn.Pipeline(r)
		data, err := json.Marshal(p)
		if err != nil {
			r.Fatal(err)
		}
		for _, lenient := range []bool{false, true} {
			q, err := millrace.Decoder{Actions: registry, Lenient: lenient}.Decode(data)
			if err != nil {
				r.Fatalf("%v\n%s", err, data)
			}
			written, err := json.Marshal(q)
			if err != nil || !p.Equal(q) || p.Digest() != q.Digest() || string(written) != string(data) || len(q.Warnings()) != len(p.Warnings()) {
				r.Fatalf("lenient %v: %v\n%s\n%s\n%v", lenient, err, data, written, q.Warnings())
			}
		}
	})
}
