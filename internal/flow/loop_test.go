package flow_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/flow"
)

// A loop that tests and fixes: five steps, of which a fixer and a report run only after an error.
func TestFixingLoop(t *testing.T) {
	t.Parallel()
	const tests, fix, verify, coverage, report = 0, 1, 2, 3, 4
	names := []string{"run-tests", "auto-fix", "verify-fix", "coverage", "report-failure"}
	steps := []flow.Step{
		tests:    {OnFail: fix, MaxRetries: 1},
		fix:      {OnFail: report, Next: verify, MaxRetries: 3},
		verify:   {OnFail: report, Next: coverage, MaxRetries: 3, Retries: []flow.Retry{{To: fix}}},
		coverage: {MaxRetries: 3},
		report:   {MaxRetries: 3},
	}
	onError := map[int]bool{fix: true, report: true} // their condition is that the previous step has an error

	for _, test := range []struct {
		name   string
		script map[int]string // the results of each step's attempts; the last one repeats
		want   string
		shown  string // the last visit of each step: ok, handled, skipped, bypassed
	}{
		{
			name: "the tests pass", script: map[int]string{tests: "+", verify: "+", coverage: "+"},
			want:  "run-tests(1) auto-fix skipped, verify-fix(1) next coverage(1) report-failure skipped",
			shown: "ok skipped ok ok skipped",
		},
		{
			name: "the fix helps", script: map[int]string{tests: "r", fix: "+", verify: "+", coverage: "+"},
			want:  "run-tests(2) on_fail auto-fix(1) next verify-fix(1) next coverage(1) report-failure skipped",
			shown: "handled ok ok ok skipped",
		},
		{
			name: "the second fix helps", script: map[int]string{tests: "r", fix: "+", verify: "+1 +", coverage: "+"},
			want: "run-tests(2) on_fail auto-fix(1) next verify-fix(1) retry_if auto-fix(1) next verify-fix(1) next coverage(1)" +
				" report-failure skipped",
			shown: "handled ok ok ok skipped",
		},
		{
			name: "no fix helps", script: map[int]string{tests: "r", fix: "+", verify: "+1", report: "+"},
			want: "run-tests(2) on_fail" + strings.Repeat(" auto-fix(1) next verify-fix(1) retry_if", 3) +
				" auto-fix(1) next verify-fix(1) exhausted after 4 of auto-fix on_fail bypasses coverage report-failure(1)",
			shown: "handled ok handled bypassed ok",
		},
		{
			name: "the fixer fails", script: map[int]string{tests: "r", fix: "r", report: "+"},
			want: "run-tests(2) on_fail auto-fix(4) on_fail bypasses verify-fix bypasses coverage" +
				" report-failure(1)",
			shown: "handled handled bypassed bypassed ok",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			m := machine(t, steps, 0)
			script := make(map[int][]string)
			for i, words := range test.script {
				script[i] = strings.Fields(words)
			}
			shown := make([]string, len(steps))
			var way []string
			for at, ok := m.At(); ok; at, ok = m.At() {
				prev, _, _ := m.Previous()
				if onError[at.Step] && at.Attempt == 1 && !prev.HasError() {
					m.Done(flow.Outcome{Status: flow.Skipped})
					way, shown[at.Step] = append(way, names[at.Step]+" skipped,"), "skipped"
					continue
				}
				words := script[at.Step]
				if len(words) == 0 {
					t.Fatalf("%s runs, after %q", names[at.Step], way)
				}
				if len(words) > 1 {
					script[at.Step] = words[1:]
				}
				move := m.Done(said(t, words[0]))
				if move.Again {
					continue
				}
				line := fmt.Sprintf("%s(%d)", names[at.Step], at.Attempt)
				if x := move.Exhausted; x != nil {
					line += fmt.Sprintf(" exhausted after %d of %s", x.Visits, names[x.Target])
				}
				if move.By != "" {
					line += " " + string(move.By)
				}
				for _, i := range move.Bypassed {
					line += " bypasses " + names[i]
					if m.Visits(i) == 0 {
						shown[i] = "bypassed"
					}
				}
				shown[at.Step] = "ok"
				if move.Failed {
					shown[at.Step] = "failed"
				}
				if move.Handled {
					shown[at.Step] = "handled"
				}
				way = append(way, line)
			}
			if got := strings.TrimSuffix(strings.Join(way, " "), ","); got != test.want {
				t.Errorf("the way is\n%s, want\n%s", got, test.want)
			}
			if got := strings.Join(shown, " "); got != test.shown {
				t.Errorf("the steps are %q, want %q", got, test.shown)
			}
			if !m.Completed() {
				t.Error("it is not completed")
			}
		})
	}
}

// A service call is repeated five times, because a step finds its answer incomplete.
func TestIncompleteAnswer(t *testing.T) {
	t.Parallel()
	m := machine(t, []flow.Step{{MaxRetries: 5, MaxVisits: 6}, {Retries: []flow.Retry{{To: 0}}}}, 0)
	move := play(t, m, strings.Repeat("+ +1 ", 6))
	if move.Row != 9 || move.Exhausted == nil || *move.Exhausted != (flow.Exhausted{Visits: 6}) || m.Completed() {
		t.Errorf("the last move is %+v", move)
	}
}
