package millrace_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/suite"
)

func Example() {
	fsys := suite.Tree("src/a.txt", "I recieve, you recieve\n", "src/b.txt", "they recieve\n")

	p, err := millrace.New("fix-typo").
		Step("find", actions.Search{Path: "src", Pattern: "recieve"}).
		Step("fix", actions.Edit{OldText: "recieve", NewText: "receive"}).From("find").
		Step("left", actions.CountOccurrences{Pattern: "recieve"}).From("find").When(condition.HasMatches("find")).
		Build()
	if err != nil {
		log.Fatal(err)
	}
	res, err := millrace.Run(context.Background(), fsys, p)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res)
	// Output:
	// OK: 3/3 steps | 2 files | 3 edits
}

func ExampleDecode() {
	p, err := millrace.Decode([]byte(`{
		"name": "fix-typo",
		"steps": [
			{"id": "find", "action": "search", "params": {"patern": "recieve"}},
			{"id": "fix", "action": "edit", "input_from": "fnd", "params": {"old_text": "recieve", "new_text": "receive"}}
		]
	}`))
	fmt.Println(p.Len(), err)
	// Output:
	// 0 pipeline has 2 problems:
	//   - search action has no parameter 'patern' (at /steps/0/params/patern, line 4): did you mean 'pattern'?
	//   - step 'fix' references non-existent step 'fnd': did you mean 'find'?
}

func ExampleExecutor_Plan() {
	fsys := suite.Tree("hello.txt", "hello\nworld\n")
	p := millrace.New("greet").
		Step("edit", actions.Edit{Files: []string{"hello.txt"}, OldText: "world", NewText: "millrace"}).
		MustBuild()

	var x millrace.Executor
	plan, err := x.Plan(context.Background(), fsys, p)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(plan.Result())
	fmt.Print(plan.Diff())

	res, err := plan.Commit(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Commit.State)
	// Output:
	// OK: 1/1 steps | 1 files | 1 edits
	// diff --git a/hello.txt b/hello.txt
	// --- a/hello.txt
	// +++ b/hello.txt
	// @@ -1,2 +1,2 @@
	//  hello
	// -world
	// +millrace
	// applied
}

func ExampleExecutor_Restore() {
	ctx := context.Background()
	fsys := suite.Tree("a.txt", "one\n")
	p := millrace.New("change").
		Step("edit", actions.Edit{Files: []string{"a.txt"}, OldText: "one", NewText: "two"}).
		MustBuild()

	var x millrace.Executor
	res, err := x.Run(ctx, fsys, p)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := x.Restore(ctx, fsys, res.BackupID); err != nil {
		log.Fatal(err)
	}
	data, _ := afero.ReadFile(fsys, "a.txt")
	fmt.Printf("%s", data)
	// Output: one
}

func ExampleResult_WriteReport() {
	fsys := suite.Tree("a.txt", "one one\n", "b.txt", "two\n")
	p := millrace.New("report").
		Step("find", actions.Search{Pattern: "one"}).
		Step("gone", actions.Search{Pattern: "three"}).When(condition.NoMatches("find")).
		MustBuild()
	res, err := millrace.Run(context.Background(), fsys, p)
	if err != nil {
		log.Fatal(err)
	}
	res.TotalDuration = 0 // to make the output the same each time
	for i := range res.Results {
		res.Results[i].Duration = 0
	}
	if err := res.WriteReport(os.Stdout); err != nil {
		log.Fatal(err)
	}
	// Output:
	// ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━
	// 📋 Pipeline: report
	// ✅ Success: true
	// 📊 Steps: 2/2 completed
	// ⏱️ Duration: 0s
	//
	// 📝 Step Results:
	//
	// 1. find [search] ✅
	//    Duration: 0s
	//    Files: 1 matched
	//      - a.txt
	//
	// 2. gone [search] ⏭️
	//    Duration: 0s
	//    Skipped: condition no_matches(find) is false: step 'find' matched 1 file
	//
	// ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━
}

func ExampleStepError() {
	fsys := suite.Tree("a.txt", "one\n")
	p := millrace.New("two-edits").
		Step("first", actions.Edit{Files: []string{"a.txt"}, OldText: "one", NewText: "two"}).
		Step("second", actions.Edit{Files: []string{"b.txt"}, OldText: "one", NewText: "two"}).
		MustBuild()
	res, err := millrace.Run(context.Background(), fsys, p)

	if step, ok := errors.AsType[*millrace.StepError](err); ok {
		fmt.Println("step:", step.Step)
	}
	data, _ := afero.ReadFile(fsys, "a.txt")
	fmt.Printf("rolled back: %t, a.txt: %s", res.RollbackPerformed, data)
	// Output:
	// step: second
	// rolled back: true, a.txt: one
}

// A model has put its pipeline into a code fence and used two names of its own for fields.
func ExampleDecoder_lenient() {
	p, err := millrace.Decoder{Lenient: true}.Decode([]byte("Here it is:\n```json\n" + `{
	  "name": "fix", "dryRun": true,
	  "steps": [{"id": "fix", "action": "edit", "params": {"files": "a.go", "old_string": "recieve", "new_text": "receive"}},]
	}` + "\n```"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("dry run:", p.Options().DryRun)
	for _, w := range p.Warnings() {
		fmt.Println(w.Message)
	}
	// Output:
	// dry run: true
	// the code fence around the JSON was left out
	// the text around the JSON was left out
	// commas before closing brackets were left out
	// 'dryRun' was read as 'dry_run'
	// 'old_string' was read as 'old_text'
	// the string for 'files' was read as a list of one
}

// Text that a user has typed is a variable: whatever it looks like, it is not a template.
func ExamplePipeline_WithVariables() {
	p := millrace.New("greet").
		Variables(millrace.Variable{Name: "who", Type: "string"}, millrace.Variable{Name: "line", Default: 1, Enum: []any{1, 2}}).
		Step("greet", actions.Edit{Files: []string{"a.txt"}, OldText: "NAME", NewText: "{{vars.who}} ({{vars.line}})"}).
		MustBuild()
	_, err := millrace.Run(context.Background(), suite.Tree("a.txt", "Dear NAME\n"), p)
	fmt.Println(err)

	p, err = p.WithVariables(map[string]any{"who": "{{greet.files}}"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fsys := suite.Tree("a.txt", "Dear NAME\n")
	if _, err := millrace.Run(context.Background(), fsys, p); err != nil {
		fmt.Println(err)
		return
	}
	data, _ := afero.ReadFile(fsys, "a.txt")
	fmt.Printf("%s", data)
	// Output:
	// variable 'who' has no value (at /variables/who): give it a default, or a value
	// Dear {{greet.files}} (1)
}
