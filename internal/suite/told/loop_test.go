package told_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/suite"
)

var update = flag.Bool("update", false, "rewrite the files in testdata")

// scripted is an action that follows a list of words, one for each attempt; the last word repeats: "ok" or "fail", each
// with a text to output. It adds a line to a file, if it has one.
type scripted struct {
	words []string
	file  string
	said  *atomic.Int64 // the number of words used; an attempt has a copy of the action
}

func script(words ...string) scripted { return scripted{words: words, said: new(atomic.Int64)} }

func (s scripted) writes(file string) scripted { s.file = file; return s }

func (scripted) Spec() actions.Spec {
	return actions.Spec{Name: "scripted", Summary: "does what a script says"}
}

func (s scripted) Run(_ context.Context, c *actions.Call) (actions.Outcome, error) {
	word := s.words[min(int(s.said.Add(1)), len(s.words))-1]
	verb, text, _ := strings.Cut(word, " ")
	out := actions.Outcome{Output: text}
	if s.file != "" {
		old, _ := afero.ReadFile(c.FS, s.file)
		if err := afero.WriteFile(c.FS, s.file, append(old, c.Step+"\n"...), 0o644); err != nil {
			return out, err
		}
		out.Files = []string{s.file}
	}
	if verb == "fail" {
		return out, errors.New("it does not work")
	}
	return out, nil
}

// loop returns a pipeline that runs tests, fixes, verifies, and reports failures that it cannot fix.
func loop(tests, fix, verify string) millrace.Pipeline {
	return millrace.New("loop").
		Step("run-tests", script(tests)).MaxRetries(1).OnFail("auto-fix").
		Step("auto-fix", script(fix).writes("fixes")).When(condition.PrevError()).MaxRetries(3).OnFail("report-failure").
		Step("verify-fix", script(strings.Split(verify, ", ")...)).MaxRetries(3).RetryIf("auto-fix", "still failing").
		OnFail("report-failure").Next("coverage").
		Step("coverage", script("ok Coverage: 87%")).MaxRetries(3).
		Step("report-failure", script("ok nothing helps")).When(condition.PrevError()).MaxRetries(3).
		MustBuild()
}

// loops are the ways that the loop can take.
var loops = map[string][3]string{
	"pass":        {"ok", "ok", "ok"},
	"fix-helps":   {"fail", "ok", "ok"},
	"second-fix":  {"fail", "ok", "ok still failing, ok"},
	"no-fix":      {"fail", "ok", "ok still failing"},
	"fixer-fails": {"fail", "fail", "ok"},
}

// still sets the times of the result to constants.
func still(res *millrace.Result) {
	res.TotalDuration, res.BackupID = 118*time.Second+204*time.Millisecond, ""
	for i := range res.Results {
		res.Results[i].Duration = time.Duration(i+1) * time.Second
	}
	for i := range res.History {
		res.History[i].Duration = 0
		for j := range res.History[i].Attempts {
			res.History[i].Attempts[j].Duration = 0
		}
	}
}

// pretty returns the JSON of a value, one field a line.
func pretty(t *testing.T, v any) string {
	t.Helper()
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data) + "\n"
}

// again returns the result as another program reads it.
func again(t *testing.T, res *millrace.Result) *millrace.Result {
	t.Helper()
	data, err := json.Marshal(res)
	if err != nil {
		t.Fatal(err)
	}
	var read millrace.Result
	if err := json.Unmarshal(data, &read); err != nil {
		t.Fatal(err)
	}
	return &read
}

// Summary, envelope and report of each way through the loop, for the result of a run and for the result after JSON.
func TestLoopIsTold(t *testing.T) {
	for name, words := range loops {
		t.Run(name, func(t *testing.T) {
			res, err := millrace.Executor{RunID: "a3f9c2d1"}.Run(t.Context(), suite.Tree("other", "x"), loop(words[0], words[1], words[2]))
			if err != nil {
				t.Fatal(err)
			}
			still(res)
			var report bytes.Buffer
			if err := res.WriteReport(&report); err != nil {
				t.Fatal(err)
			}
			suite.Golden(t, *update, "testdata/"+name+".summary.json", []byte(pretty(t, res.Summary())))
			suite.Golden(t, *update, "testdata/"+name+".envelope.json", []byte(pretty(t, res.Envelope())))
			suite.Golden(t, *update, "testdata/"+name+".report.txt", report.Bytes())

			read := again(t, res)
			if d := cmp.Diff(res, read); d != "" {
				t.Errorf("the result (-written +read):\n%s", d)
			}
			if d := cmp.Diff(pretty(t, res.Summary())+pretty(t, res.Envelope()), pretty(t, read.Summary())+pretty(t, read.Envelope())); d != "" {
				t.Errorf("(-written +read):\n%s", d)
			}
		})
	}
}

// A stored run reports the same when it is requested again, and so does a stored plan.
func TestStoredIsToldAlike(t *testing.T) {
	t.Parallel()
	for name, words := range loops {
		fsys, p := suite.Tree("other", "x"), loop(words[0], words[1], words[2])
		plan, err := millrace.Executor{RunID: "one"}.Plan(t.Context(), fsys, p)
		if err != nil {
			t.Fatal(err)
		}
		opened, err := millrace.Executor{RunID: "one"}.OpenPlan(t.Context(), fsys, suite.Stored(t, plan))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		res, err := opened.Commit(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		stored, err := millrace.Executor{RunID: "one"}.Run(t.Context(), fsys, p)
		if err != nil || stored.Replayed != (res.Commit.State == millrace.CommitApplied) {
			t.Fatalf("%v, replayed %v, %v", err, stored.Replayed, res.Commit)
		}
		for _, other := range []*millrace.Result{plan.Result(), res, stored} {
			still(other)
		}
		want := pretty(t, plan.Result().Envelope())
		for what, other := range map[string]*millrace.Result{"committed": res, "stored": stored} {
			if d := cmp.Diff(want, pretty(t, other.Envelope())); d != "" {
				t.Errorf("%s, envelope (-planned +%s):\n%s", name, what, d)
			}
			if got := other.Summary(); got.Final != plan.Result().Final() || got.StepsExecuted != plan.Result().StepsExecuted() || got.TotalSteps != 5 {
				t.Errorf("%s, %s: %+v", name, what, got)
			}
		}
	}
}
