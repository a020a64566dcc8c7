package condition_test

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace/condition"
)

// tree is a finished run: its steps, and the existing files.
type tree struct {
	steps map[string]condition.StepFacts
	files map[string]bool
}

func (t tree) Step(id string) (condition.StepFacts, bool) {
	s, ok := t.steps[id]
	return s, ok
}

// Previous returns the error of the step before, which the tree stores under a special name.
func (t tree) Previous() (failed, ok bool) {
	failed, ok = t.files["<failed>"]
	return failed, ok
}

func (t tree) Exists(path string) (bool, error) {
	if path == "../x" {
		return false, &fs.PathError{Op: "stat", Path: path, Err: fs.ErrPermission}
	}
	return t.files[path], nil
}

var example = tree{
	steps: map[string]condition.StepFacts{
		"found":   {Ran: true, Succeeded: true, Files: 2, Count: 5},
		"one":     {Ran: true, Succeeded: true, Files: 1, Count: 1},
		"nothing": {Ran: true, Succeeded: true},
		"failed":  {Ran: true, Failed: true, Files: 2, Count: 5},
		"skipped": {Skipped: true},
		"waiting": {},
	},
	files: map[string]bool{"go.mod": true},
}

func TestHolds(t *testing.T) {
	t.Parallel()
	const skipped, failed, waiting = "step 'skipped' was skipped", "step 'failed' failed", "step 'waiting' has not run"
	tests := []struct {
		c      condition.Condition
		reason string // without its beginning; "" if the condition holds
	}{
		{condition.Condition{}, ""},

		{condition.HasMatches("found"), ""},
		{condition.HasMatches("nothing"), "step 'nothing' matched no files"},
		{condition.HasMatches("failed"), failed},
		{condition.HasMatches("skipped"), skipped},
		{condition.HasMatches("waiting"), waiting},

		{condition.NoMatches("nothing"), ""},
		{condition.NoMatches("found"), "step 'found' matched 2 files"},
		{condition.NoMatches("one"), "step 'one' matched 1 file"},
		{condition.NoMatches("failed"), failed},
		{condition.NoMatches("skipped"), skipped},
		{condition.NoMatches("waiting"), waiting},

		{condition.CountGT("found", 4), ""},
		{condition.CountGT("found", 5), "the counts of step 'found' add up to 5"},
		{condition.CountGT("found", 6), "the counts of step 'found' add up to 5"},
		{condition.CountGT("nothing", -1), ""},
		{condition.CountGT("failed", 0), failed},
		{condition.CountGT("skipped", -1), skipped},
		{condition.CountLT("found", 6), ""},
		{condition.CountLT("found", 5), "the counts of step 'found' add up to 5"},
		{condition.CountLT("failed", 9), failed},
		{condition.CountLT("skipped", 9), skipped},
		{condition.CountEQ("found", 5), ""},
		{condition.CountEQ("nothing", 0), ""},
		{condition.CountEQ("found", 4), "the counts of step 'found' add up to 5"},
		{condition.CountEQ("found", 6), "the counts of step 'found' add up to 5"},
		{condition.CountEQ("failed", 5), failed},
		{condition.CountEQ("skipped", 0), skipped},
		{condition.CountEQ("waiting", 0), waiting},

		{condition.StepSucceeded("found"), ""},
		{condition.StepSucceeded("nothing"), ""},
		{condition.StepSucceeded("failed"), failed},
		{condition.StepSucceeded("skipped"), skipped},
		{condition.StepSucceeded("waiting"), waiting},
		{condition.StepFailed("failed"), ""},
		{condition.StepFailed("found"), "step 'found' succeeded"},
		{condition.StepFailed("skipped"), skipped},
		{condition.StepFailed("waiting"), waiting},

		{condition.FileExists("go.mod"), ""},
		{condition.FileExists("go.sum"), "'go.sum' does not exist"},
		{condition.FileNotExists("go.sum"), ""},
		{condition.FileNotExists("go.mod"), "'go.mod' exists"},
	}
	for _, tt := range tests {
		t.Run(tt.c.String(), func(t *testing.T) {
			t.Parallel()
			want := ""
			if tt.reason != "" {
				want = "condition " + tt.c.String() + " is false: " + tt.reason
			}
			ok, reason, err := tt.c.Holds(example)
			if ok != (want == "") || reason != want || err != nil {
				t.Errorf("Holds() = %t, %q, %v, want reason %q", ok, reason, err, want)
			}
			if problems := tt.c.Check(); problems != nil {
				t.Errorf("Check() = %v", problems)
			}
		})
	}
}

func TestPrevError(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		run    tree
		reason string
	}{
		{tree{}, "condition prev_error is false: no step was executed before"},
		{tree{files: map[string]bool{"<failed>": false}}, "condition prev_error is false: the step before has no error"},
		{tree{files: map[string]bool{"<failed>": true}}, ""},
	} {
		ok, reason, err := condition.PrevError().Holds(tt.run)
		if ok != (tt.reason == "") || reason != tt.reason || err != nil {
			t.Errorf("Holds() = %t, %q, %v, want %q", ok, reason, err, tt.reason)
		}
	}
}

func TestHoldsErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		c    condition.Condition
		is   error
		text string
	}{
		{condition.HasMatches("nobody"), condition.ErrNoStep, "condition has_matches(nobody): there is no such step"},
		{condition.StepFailed(""), condition.ErrNoStep, "condition step_failed(): there is no such step"},
		{condition.FileExists("../x"), fs.ErrPermission, "condition file_exists(../x): stat ../x: permission denied"},
		{condition.FileNotExists("../x"), fs.ErrPermission, "condition file_not_exists(../x): stat ../x: permission denied"},
	}
	for _, tt := range tests {
		ok, reason, err := tt.c.Holds(example)
		if ok || reason != "" || !errors.Is(err, tt.is) || err.Error() != tt.text {
			t.Errorf("%s: %t, %q, %v", tt.c, ok, reason, err)
		}
	}
}

func TestAccessors(t *testing.T) {
	t.Parallel()
	type fields struct {
		Type    condition.Type
		StepRef string
		Path    string
		Value   int
		Text    string
	}
	tests := []struct {
		c    condition.Condition
		want fields
	}{
		{condition.Condition{}, fields{}},
		{condition.HasMatches("a"), fields{Type: "has_matches", StepRef: "a", Text: "has_matches(a)"}},
		{condition.NoMatches("a"), fields{Type: "no_matches", StepRef: "a", Text: "no_matches(a)"}},
		{condition.CountGT("a", 3), fields{Type: "count_gt", StepRef: "a", Value: 3, Text: "count_gt(a, 3)"}},
		{condition.CountLT("a", 3), fields{Type: "count_lt", StepRef: "a", Value: 3, Text: "count_lt(a, 3)"}},
		{condition.CountEQ("a", 0), fields{Type: "count_eq", StepRef: "a", Text: "count_eq(a, 0)"}},
		{condition.FileExists("x/y"), fields{Type: "file_exists", Path: "x/y", Text: "file_exists(x/y)"}},
		{condition.FileNotExists("x/y"), fields{Type: "file_not_exists", Path: "x/y", Text: "file_not_exists(x/y)"}},
		{condition.StepSucceeded("a"), fields{Type: "step_succeeded", StepRef: "a", Text: "step_succeeded(a)"}},
		{condition.StepFailed("a"), fields{Type: "step_failed", StepRef: "a", Text: "step_failed(a)"}},
		{condition.PrevError(), fields{Type: "prev_error", Text: "prev_error"}},
	}
	for _, tt := range tests {
		got := fields{Type: tt.c.Type(), StepRef: tt.c.StepRef(), Path: tt.c.Path(), Value: tt.c.Value(), Text: tt.c.String()}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.want.Text, diff)
		}
		if tt.c.IsZero() != (tt.want.Type == "") {
			t.Errorf("%s: IsZero() = %t", tt.c, tt.c.IsZero())
		}
	}
	if len(tests) != len(condition.Types())+1 {
		t.Errorf("the table of this test has %d conditions, want %d types and the zero Condition",
			len(tests), len(condition.Types()))
	}
	for i, typ := range condition.Types() {
		if !cmp.Equal(typ, condition.Types()[i]) || typ == "" {
			t.Errorf("type %d is %q", i, typ)
		}
	}
}

func ExampleCondition_Holds() {
	run := tree{steps: map[string]condition.StepFacts{"find": {Ran: true, Succeeded: true}}}
	ok, reason, err := condition.HasMatches("find").Holds(run)
	fmt.Println(ok, err)
	fmt.Println(reason)
	// Output:
	// false <nil>
	// condition has_matches(find) is false: step 'find' matched no files
}

func TestWithPath(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ c, want condition.Condition }{
		{condition.FileExists("a"), condition.FileExists("b")},
		{condition.FileNotExists("a"), condition.FileNotExists("b")},
		{condition.CountGT("find", 1), condition.CountGT("find", 1)},
		{condition.Condition{}, condition.Condition{}},
	} {
		if got := test.c.WithPath("b"); got != test.want {
			t.Errorf("%v with path b is %v, want %v", test.c, got, test.want)
		}
	}
}
