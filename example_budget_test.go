package millrace_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/internal/suite"
)

// Translate calls a service that costs money for each text.
type Translate struct {
	File string `json:"file" required:"true"`
}

func (Translate) Spec() actions.Spec {
	return actions.Spec{Name: "translate", Summary: "translates a file", Costs: true}
}

func (a Translate) Run(_ context.Context, c *actions.Call) (actions.Outcome, error) {
	text, err := c.ReadFile(a.File)
	if err != nil {
		return actions.Outcome{}, err
	}
	c.Spend(40 * budget.Cent) // the cost that the service reports
	return actions.Outcome{Files: []string{a.File}, Edits: 1}, afero.WriteFile(c.FS, a.File, []byte(strings.ToUpper(string(text))), 0o644)
}

// A run that has spent its money ends before the next step that costs, and leaves the tree unchanged.
func ExampleBuilder_Budget() {
	p := millrace.New("translate").Budget(budget.Limit{USD: budget.Dollar}).Classification("internal").
		Step("a", Translate{File: "a.txt"}).
		Step("b", Translate{File: "b.txt"}).
		Step("c", Translate{File: "c.txt"}).
		Step("d", Translate{File: "d.txt"}).MustBuild()
	fsys := suite.Tree("a.txt", "a", "b.txt", "b", "c.txt", "c", "d.txt", "d")
	res, err := millrace.Run(context.Background(), fsys, p)
	fmt.Println(err)
	fmt.Println(millrace.ErrorCode(err), res.Cost, res.Budget.Exceeded, res.Classification)
	// Output:
	// budget of $1.00 is spent ($1.20) before step 'd'
	// budget_exceeded $1.20 true internal
}

// The host limits the size of changes, whatever the pipeline sets, with or without force.
func ExampleExecutor_budget() {
	x := millrace.Executor{Budget: budget.Limit{Files: 1, Bytes: 64 << 10}}
	p := millrace.New("both").Options(millrace.Options{Force: true}).
		Step("e", actions.Edit{Files: []string{"a.txt", "b.txt"}, OldText: "x", NewText: "y"}).MustBuild()
	_, err := x.Run(context.Background(), suite.Tree("a.txt", "x", "b.txt", "x"), p)
	fmt.Println(err)
	// Output: budget of 1 files is exceeded (2), force does not help
}

// A run that takes too long changes nothing.
func ExampleBuilder_Deadline() {
	p := millrace.New("slow").Deadline(20*time.Millisecond).
		Step("edit", actions.Edit{Files: []string{"a.txt"}, OldText: "x", NewText: "y"}).
		Step("wait", suite.Action{Do: func(ctx context.Context, _ *actions.Call) (actions.Outcome, error) {
			<-ctx.Done()
			return actions.Outcome{}, ctx.Err()
		}}).MustBuild()
	fsys := suite.Tree("a.txt", "x")
	res, err := millrace.Run(context.Background(), fsys, p)
	text, _ := afero.ReadFile(fsys, "a.txt")
	fmt.Println(err)
	fmt.Printf("met: %t, a.txt: %s\n", *res.DeadlineMet, text)
	// Output:
	// the deadline of 20ms has passed at step 'wait'
	// met: false, a.txt: x
}
