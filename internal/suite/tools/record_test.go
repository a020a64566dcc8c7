package tools_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
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

// replays are the steps whose answers came from the record.
type replays struct {
	mu    sync.Mutex
	steps []string
}

func (r *replays) observe(e millrace.Event) {
	if e, ok := e.(millrace.StepReplayed); ok {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.steps = append(r.steps, fmt.Sprintf("%s/%d", e.Step, e.Visit))
	}
}

// With a Recorder, a run after a dry run asks nothing twice, and recorded answers cost nothing.
func TestNeverTwice(t *testing.T) {
	t.Parallel()
	calls := 0
	ask := tool.WithSpec(tool.Func("ask", "", func(ctx context.Context, in struct {
		Text string `json:"text"`
	}) (tool.Result, error) {
		calls++
		tool.Current(ctx).Spend(budget.Dollar)
		return tool.Result{Data: map[string]any{"n": int64(1<<53 + 1), "text": in.Text}, Output: "said " + in.Text}, nil
	}), func(s *tool.Spec) { s.Pure, s.Costs = true, true })
	tools, err := tool.New(ask)
	if err != nil {
		t.Fatal(err)
	}
	p := millrace.New("p").
		Step("e", edit).
		Step("ask", actions.Tool{Tool: "ask", Args: map[string]any{"text": "{{e.count}} of x"}}).
		Step("same", actions.Tool{Tool: "ask", Args: map[string]any{"text": "{{e.count}} of x"}}).
		Step("c", actions.Create{Path: "c", Content: "{{ask.n}} {{same.text}}"}).
		MustBuild()
	var seen replays
	x := millrace.Executor{Tools: tools, Recorder: millrace.NewMemoryRecorder(), Observe: seen.observe}
	fsys := suite.Tree("a.txt", "x")
	plan, err := x.Plan(t.Context(), fsys, p)
	if err != nil || calls != 2 || seen.steps != nil {
		t.Fatalf("%v, %d calls, replayed %q", err, calls, seen.steps)
	}
	res, err := x.Run(t.Context(), fsys, p)
	if err != nil || calls != 2 {
		t.Fatalf("%v, %d calls", err, calls)
	}
	if diff := cmp.Diff([]string{"ask/1", "same/1"}, seen.steps); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if cost := plan.Result().Cost; cost != 2*budget.Dollar || res.Cost != 0 {
		t.Errorf("the plan cost %v, the run %v", cost, res.Cost)
	}
	for i := range res.Results {
		if diff := cmp.Diff(plan.Result().Results[i].Data, res.Results[i].Data); diff != "" || res.Results[i].Output != plan.Result().Results[i].Output {
			t.Errorf("step %d (-plan +run):\n%s", i, diff)
		}
	}
	if got := suite.Read(t, fsys, "c"); got != "9007199254740993 1 of x" {
		t.Errorf("got %q", got)
	}
	// A commit asks nothing either.
	fsys = suite.Tree("a.txt", "x")
	if plan, err = (millrace.Executor{Tools: tools}).Plan(t.Context(), fsys, p); err != nil || calls != 4 {
		t.Fatalf("%v, %d calls", err, calls)
	}
	if _, err := plan.Commit(t.Context()); err != nil || calls != 4 {
		t.Errorf("%v, %d calls", err, calls)
	}
}

// The key contains everything on which an answer can depend: the arguments, the visit, the attempt, the staged changes,
// and the output of the previous step.
func TestWhatIsAskedAnew(t *testing.T) {
	t.Parallel()
	recorder := millrace.NewMemoryRecorder()
	h := &host{}
	x := millrace.Executor{Tools: h.tools(), Recorder: recorder}
	create := func(path, content string) actions.Create { return actions.Create{Path: path, Content: content} }
	asked := func(what string, want int, p millrace.Pipeline, files ...string) {
		t.Helper()
		before := h.count()
		if _, err := x.Run(t.Context(), suite.Tree(files...), p); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if got := h.count() - before; got != want {
			t.Errorf("%s: asked %d times, want %d", what, got, want)
		}
	}
	base := func(a actions.Tool) millrace.Pipeline {
		return millrace.New("p").Step("c", create("c", "1")).Step("s", a).MustBuild()
	}
	asked("first", 1, base(look("x")))
	asked("the same", 0, base(look("x")))
	asked("of another name, with other steps after it", 0,
		millrace.New("q").Step("c2", create("c", "1")).Step("other", look("x")).Step("d", create("d", "1")).MustBuild())
	asked("other arguments", 1, base(look("y")))
	asked("other bytes staged", 1, millrace.New("p").Step("c", create("c", "2")).Step("s", look("x")).MustBuild())
	asked("another path staged", 1, millrace.New("p").Step("c", create("d", "1")).Step("s", look("x")).MustBuild())
	asked("nothing staged", 1, suite.One(look("x")))
	edited := func(text string) millrace.Pipeline {
		return millrace.New("p").Step("e", actions.Edit{Files: []string{"a.txt"}, OldText: "x", NewText: text}).Step("s", look("x")).MustBuild()
	}
	asked("an edit", 1, edited("y"), "a.txt", "x1")
	asked("the same edit", 0, edited("y"), "a.txt", "x1")
	asked("another edit of the same length", 1, edited("z"), "a.txt", "x1")
	asked("a mode", 1, millrace.New("p").Step("r", actions.Rename{Files: []string{"a.txt"}, To: "b.txt"}).Step("s", look("x")).MustBuild(), "a.txt", "x")
	again := func() millrace.Pipeline {
		return millrace.New("p").Step("s", look("x")).MaxVisits(2).Step("f", actions.Search{Pattern: "x"}).
			RetryWhen("s", condition.CountGT("f", 0)).OnFail("end").Step("end", actions.Search{Pattern: "x"}).MustBuild()
	}
	asked("two visits", 1, again(), "a.txt", "x") // the first visit has the key of "nothing staged"
	asked("two visits again", 0, again(), "a.txt", "x")
	said := func(text string) millrace.Pipeline {
		return millrace.New("p").Step("before", look(text)).Step("s", look("after")).MustBuild()
	}
	asked("after another answer", 2, said("one"))
	asked("what acts outside is never on record", 1, suite.One(send("x")))
	asked("what acts outside is never on record, again", 1, suite.One(send("x")))
}

// A failure is recorded as an answer, with its code, and whether a retry is useful.
func TestFailuresAreRecorded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, test := range []struct {
			err   error
			fail  int
			code  string
			calls int
		}{
			{coded{"rate_limited"}, 2, "", 3},
			{coded{"rate_limited"}, 3, "rate_limited", 3},
			{errors.New("no"), 3, "tool_failed", 3},
			{actions.Permanent(errors.New("no")), 3, "tool_failed", 1},
		} {
			h := &host{fail: test.fail, err: test.err}
			x := millrace.Executor{Tools: h.tools(), Recorder: millrace.NewMemoryRecorder()}
			p := millrace.New("p").Step("s", look("x")).MaxRetries(2).MustBuild()
			var results []*millrace.Result
			for range 2 {
				res, err := x.Run(t.Context(), suite.Tree("a.txt", "x"), p)
				if millrace.ErrorCode(err) != test.code || h.count() != test.calls {
					t.Errorf("got %v, code %q, %d calls", err, millrace.ErrorCode(err), h.count())
				}
				for i := range res.History {
					res.History[i].Duration = 0
					for j := range res.History[i].Attempts {
						res.History[i].Attempts[j].Duration = 0
					}
				}
				results = append(results, res)
			}
			if diff := cmp.Diff(results[0].History, results[1].History); diff != "" {
				t.Errorf("history (-first +second):\n%s", diff)
			}
			if results[0].Error != results[1].Error {
				t.Errorf("%q became %q", results[0].Error, results[1].Error)
			}
		}
	})
}

// strange is a Recorder that fails.
type strange struct{ find, keep error }

func (s strange) Find(string) (millrace.Recorded, bool, error) {
	return millrace.Recorded{}, false, s.find
}
func (s strange) Keep(string, millrace.Recorded) error { return s.keep }

func TestRecorderFails(t *testing.T) {
	t.Parallel()
	h := &host{}
	x := millrace.Executor{Tools: h.tools(), Recorder: strange{find: errors.New("disk")}}
	_, err := x.Run(t.Context(), suite.Tree("a.txt", "x"), suite.One(look("x")))
	if h.count() != 0 || !strings.Contains(fmt.Sprint(err), "recorder: disk") {
		t.Errorf("%v, %d calls", err, h.count())
	}
	x.Recorder = strange{keep: errors.New("disk")}
	res, err := x.Run(t.Context(), suite.Tree("a.txt", "x"), suite.One(look("x")))
	if err != nil || h.count() != 1 {
		t.Errorf("%v, %d calls", err, h.count())
	}
	if diff := cmp.Diff([]string{"what was answered could not be recorded: disk"}, res.Results[0].Warnings); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A call that a context has cut short is not recorded.
func TestTimeoutIsNotRecorded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		slow := tool.WithSpec(tool.Func("slow", "", func(ctx context.Context, _ struct{}) (int, error) {
			calls++
			<-ctx.Done()
			return 0, ctx.Err()
		}), func(s *tool.Spec) { s.Pure = true })
		tools, err := tool.New(slow)
		if err != nil {
			t.Fatal(err)
		}
		x := millrace.Executor{Tools: tools, Recorder: millrace.NewMemoryRecorder()}
		p := millrace.New("p").Step("s", actions.Tool{Tool: "slow"}).Timeout(time.Second).MustBuild()
		for want := 1; want <= 2; want++ {
			_, err := x.Run(t.Context(), suite.Tree("a.txt", "x"), p)
			if millrace.ErrorCode(err) != "timeout" || calls != want {
				t.Errorf("%v, %d calls", err, calls)
			}
		}
	})
}

// The recorder in memory keeps the newest answers that fit, and shares nothing with its callers.
func TestMemoryRecorder(t *testing.T) {
	t.Parallel()
	m := millrace.NewMemoryRecorder()
	data := []any{int64(1<<53 + 1), "x"}
	want := millrace.Recorded{
		Output: "o", Data: []any{int64(1<<53 + 1), "x"}, Cost: budget.Cent, Error: "e", ErrorCode: "c", Final: true,
	}
	kept := want
	kept.Data = data
	if err := m.Keep("k", kept); err != nil {
		t.Fatal(err)
	}
	data[1] = "spoiled"
	for range 2 {
		got, ok, err := m.Find("k")
		if diff := cmp.Diff(want, got); diff != "" || !ok || err != nil {
			t.Fatalf("%t, %v (-want +got):\n%s", ok, err, diff)
		}
		got.Data.([]any)[1] = "spoiled"
	}
	if _, ok, err := m.Find("other"); ok || err != nil {
		t.Errorf("%t, %v", ok, err)
	}
	var wg sync.WaitGroup
	for i := range 1000 {
		wg.Go(func() {
			if err := m.Keep(fmt.Sprint(i), millrace.Recorded{}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if _, ok, _ := m.Find("k"); ok {
		t.Error("the oldest of 1,001 still exists")
	}
	big := millrace.Recorded{Output: strings.Repeat("x", 40<<20)}
	if err := errors.Join(m.Keep("big1", big), m.Keep("big2", big)); err != nil {
		t.Error(err)
	}
	found := slices.DeleteFunc([]string{"0", "big1", "big2"}, func(key string) bool { _, ok, _ := m.Find(key); return !ok })
	if diff := cmp.Diff([]string{"big2"}, found); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := m.Keep("big2", millrace.Recorded{Output: "small"}); err != nil {
		t.Error(err)
	}
	if err := m.Keep("big1", big); err != nil {
		t.Error(err)
	}
	if got, ok, _ := m.Find("big2"); !ok || got.Output != "small" {
		t.Error("there was room for both")
	}
	if err := m.Keep("huge", millrace.Recorded{Output: strings.Repeat("x", 65<<20)}); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("got %v", err)
	}
	if err := m.Keep("bad", millrace.Recorded{Data: func() {}}); err == nil {
		t.Error("a text that is not JSON was kept")
	}
}
