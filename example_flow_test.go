package millrace_test

import (
	"context"
	"fmt"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
)

// A loop: the run goes back while the search still finds something, at most six visits.
func ExampleStepBuilder_RetryWhen() {
	fsys := afero.NewMemMapFs()
	_ = afero.WriteFile(fsys, "a.txt", []byte("one    two\n"), 0o644)
	p := millrace.New("squeeze").
		Step("squeeze", actions.Edit{Files: []string{"a.txt"}, OldText: "  ", NewText: " "}).MaxVisits(6).
		Step("look", actions.Search{Pattern: "  ", Mode: "literal"}).RetryWhen("squeeze", condition.HasMatches("look")).
		MustBuild()
	res, err := millrace.Run(context.Background(), fsys, p)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, v := range res.History {
		fmt.Println(v.StepID, v.Visit, v.Outcome)
	}
	text, _ := afero.ReadFile(fsys, "a.txt")
	fmt.Printf("%s%s\n", text, res)
	// Output:
	// squeeze 1 success
	// look 1 retry
	// squeeze 2 success
	// look 2 success
	// one two
	// OK: 2/2 steps | 1 files | 3 edits
}

// A failure leads to a step that reports the problem and ends the run: nothing is written.
func ExampleStepBuilder_OnFail() {
	fsys := afero.NewMemMapFs()
	_ = afero.WriteFile(fsys, "a.txt", []byte("teh FIXME\n"), 0o644)
	none := 0
	p := millrace.New("stop").
		Step("edit", actions.Edit{Files: []string{"a.txt"}, OldText: "teh", NewText: "the"}).
		Step("check", actions.Search{Pattern: "FIXME"}).Expect(millrace.Expect{MaxFiles: &none}).OnFail("stop").
		Step("stop", actions.Fail{Message: "there are FIXMEs left"}).When(condition.PrevError()).
		MustBuild()
	res, err := millrace.Run(context.Background(), fsys, p)
	fmt.Println(err)
	fmt.Println(res.RollbackPerformed, res.Results[1].Jump.To)
	// Output:
	// pipeline failed at step 3, rolled back: fail failed: there are FIXMEs left (step 'stop', /steps/2)
	// true stop
}
