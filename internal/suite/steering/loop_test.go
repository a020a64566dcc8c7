package steering_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/suite"
)

// scripted is an action that follows a list of words, one for each attempt; the last word repeats: "ok", "fail", "say
// TEXT". It writes a file of its name at each attempt.
type scripted struct {
	words []string
	file  string
	log   *log
}

// log records the calls of the scripted actions of a run.
type log struct {
	mu    sync.Mutex
	lines []string
	at    map[string]int
}

func (l *log) next(step string, words []string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.at == nil {
		l.at = make(map[string]int)
	}
	word := words[min(l.at[step], len(words)-1)]
	l.at[step]++
	l.lines = append(l.lines, step)
	return word
}

func (scripted) Spec() actions.Spec {
	return actions.Spec{Name: "scripted", Summary: "does what a script says"}
}

func (s scripted) Run(_ context.Context, c *actions.Call) (actions.Outcome, error) {
	word := s.log.next(c.Step, s.words)
	if s.file != "" {
		old, _ := afero.ReadFile(c.FS, s.file)
		if err := afero.WriteFile(c.FS, s.file, append(old, []byte(c.Step+"\n")...), 0o644); err != nil {
			return actions.Outcome{}, err
		}
	}
	switch verb, text, _ := strings.Cut(word, " "); verb {
	case "fail":
		return actions.Outcome{Output: text}, errors.New("it does not work")
	default:
		return actions.Outcome{Output: text}, nil
	}
}

// shape returns the results in short: for each step its id, how it ended, its visits and attempts.
func shape(res *millrace.Result) string {
	var words []string
	for _, s := range res.Results {
		word := "ok"
		switch {
		case s.Skipped && strings.HasPrefix(s.SkipReason, "bypassed"):
			word = "bypassed"
		case s.Skipped:
			word = "skipped"
		case s.Handled:
			word = "handled"
		case s.Failed():
			word = "failed"
		}
		if s.Visits > 0 {
			word += fmt.Sprintf(" x%d", s.Visits)
		}
		if s.Attempts > 0 {
			word += fmt.Sprintf(" (%d)", s.Attempts)
		}
		words = append(words, s.StepID+" "+word)
	}
	return strings.Join(words, ", ")
}

func history(res *millrace.Result) string {
	var words []string
	for _, v := range res.History {
		word := v.StepID
		if len(v.Attempts) > 1 {
			word += fmt.Sprintf("(%d)", len(v.Attempts))
		}
		if v.Outcome != "success" {
			word += " " + v.Outcome
		}
		if v.Jump != nil {
			word += " " + v.Jump.By
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}

// A loop runs tests, fixes and verifies, and reports failures that it cannot fix. The test runs it in all five ways.
func TestFixingLoop(t *testing.T) {
	t.Parallel()
	const ends = "the run ended in 'report-failure', which handles a failure of '%s', and commits what other steps have staged; " +
		"end it in fail to commit nothing"
	for _, test := range []struct {
		name          string
		tests, verify []string
		fix           []string
		results       string
		history       string
		line          string
		warning       string
		fixed         int // how often the fix is in the tree
	}{
		{
			name: "the tests pass", tests: []string{"ok"}, fix: []string{"ok"}, verify: []string{"ok"},
			results: "run-tests ok, auto-fix skipped, verify-fix ok, coverage ok, report-failure skipped",
			history: "run-tests, auto-fix skipped, verify-fix next, coverage, report-failure skipped", line: "OK: 5/5 steps",
		},
		{
			name: "the fix helps", tests: []string{"fail"}, fix: []string{"ok"}, verify: []string{"ok"}, fixed: 1,
			results: "run-tests handled (2), auto-fix ok, verify-fix ok, coverage ok, report-failure skipped",
			history: "run-tests(2) failed on_fail, auto-fix, verify-fix next, coverage, report-failure skipped", line: "OK: 4/5 steps",
		},
		{
			name: "the second fix helps", tests: []string{"fail"}, fix: []string{"ok"}, verify: []string{"say still failing", "ok"}, fixed: 2,
			results: "run-tests handled (2), auto-fix ok x2, verify-fix ok x2, coverage ok, report-failure skipped",
			history: "run-tests(2) failed on_fail, auto-fix, verify-fix retry retry_if, auto-fix, verify-fix next, coverage, report-failure skipped",
			line:    "OK: 4/5 steps",
		},
		{
			name: "no fix helps", tests: []string{"fail"}, fix: []string{"ok"}, verify: []string{"say still failing"}, fixed: 4,
			results: "run-tests handled (2), auto-fix ok x4, verify-fix handled x4, coverage bypassed, report-failure ok",
			history: "run-tests(2) failed on_fail" + strings.Repeat(", auto-fix, verify-fix retry retry_if", 3) +
				", auto-fix, verify-fix failed on_fail, report-failure",
			line: "OK: 3/5 steps", warning: fmt.Sprintf(ends, "verify-fix"),
		},
		{
			name: "the fixer fails", tests: []string{"fail"}, fix: []string{"fail"}, verify: []string{"ok"},
			results: "run-tests handled (2), auto-fix handled (4), verify-fix bypassed, coverage bypassed, report-failure ok",
			history: "run-tests(2) failed on_fail, auto-fix(4) failed on_fail, report-failure", line: "OK: 3/5 steps",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			pipeline := func(l *log) millrace.Pipeline {
				return millrace.New("loop").
					Step("run-tests", scripted{words: test.tests, log: l}).MaxRetries(1).OnFail("auto-fix").
					Step("auto-fix", scripted{words: test.fix, log: l, file: "fixes"}).When(condition.PrevError()).
					MaxRetries(3).OnFail("report-failure").
					Step("verify-fix", scripted{words: test.verify, log: l}).MaxRetries(3).RetryIf("auto-fix", "still failing").
					OnFail("report-failure").Next("coverage").
					Step("coverage", scripted{words: []string{"say 87%"}, log: l}).MaxRetries(3).
					Step("report-failure", scripted{words: []string{"ok"}, log: l}).When(condition.PrevError()).MaxRetries(3).
					MustBuild()
			}
			fsys := suite.Tree("other", "x")
			res, err := millrace.Run(t.Context(), fsys, pipeline(new(log)))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff([]string{test.results, test.history}, []string{shape(res), history(res)}); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if !strings.HasPrefix(res.String(), test.line) {
				t.Errorf("got %q, want %q", res, test.line)
			}
			if got := strings.Join(res.Warnings, "\n"); got != test.warning {
				t.Errorf("warned of %q, want %q", got, test.warning)
			}
			fixes, _ := afero.ReadFile(fsys, "fixes")
			if got := strings.Count(string(fixes), "\n"); got != test.fixed {
				t.Errorf("the fix was made %d times, want %d", got, test.fixed)
			}
			plan, err := millrace.Executor{}.Plan(t.Context(), suite.Tree("other", "x"), pipeline(new(log)))
			if err != nil {
				t.Fatal(err)
			}
			dry := plan.Result()
			if d := cmp.Diff([]string{shape(res), history(res)}, []string{shape(dry), history(dry)}); d != "" {
				t.Errorf("a dry run differs (-run +dry):\n%s", d)
			}
		})
	}
}
