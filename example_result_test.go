package millrace_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/tool"
)

func ExampleDecoder_Describe() {
	doc, _ := millrace.Decoder{}.Describe("delete")
	fmt.Println(doc.Name, "-", doc.Summary)
	for _, p := range doc.Params {
		fmt.Printf("%s (%s): %s\n", p.Name, p.Type, p.Doc)
	}
	_, ok := millrace.Decoder{}.Describe("undelete")
	fmt.Println(ok)
}

// Problems get places in the text that the JSON was made from.
func ExampleDecoder_locate() {
	places := map[string][2]int{"/name": {1, 1}, "/steps/0/action": {4, 13}}
	d := millrace.Decoder{Locate: func(pointer string, name bool) (line, column int) {
		return places[pointer][0], places[pointer][1]
	}}
	_, err := d.Decode([]byte(`{"name": "p", "steps": [{"id": "a", "action": "serach", "params": {}}]}`))
	fmt.Println(err.(*millrace.ValidationError).Problems[0].Line)
	// Output: 4
}

// Programs decide by the code; people read the message.
func ExampleErrorCode() {
	p := millrace.New("many").Step("e", actions.Edit{Files: []string{"a.txt"}, OldText: "x", NewText: "y"}).MustBuild()
	_, err := millrace.Run(context.Background(), suite.Tree("a.txt", strings.Repeat("x", 600)), p)
	switch millrace.ErrorCode(err) {
	case "blocked":
		fmt.Println("ask somebody:", err)
	case "conflict", "locked":
		fmt.Println("try again:", err)
	}
	fmt.Println("written:", millrace.Written(err))
	// Output:
	// ask somebody: operation blocked due to HIGH risk. Use force=true to proceed
	// written: false
}

// A pipeline that is not verbose asks for one line.
func ExampleResult_Write() {
	p := millrace.New("one").Step("e", actions.Edit{Files: []string{"a.txt"}, OldText: "x", NewText: "y"}).MustBuild()
	res, err := millrace.Run(context.Background(), suite.Tree("a.txt", "x"), p)
	if err != nil {
		fmt.Println(err)
	}
	if err := res.Write(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output: OK: 1/1 steps | 1 files | 1 edits
}

// Each event is a line; here only the kinds are kept, because times differ.
func ExampleJSONEvents() {
	var lines strings.Builder
	x := millrace.Executor{Observe: millrace.JSONEvents(&lines), DryRun: true}
	p := millrace.New("one").Step("e", actions.Edit{Files: []string{"a.txt"}, OldText: "x", NewText: "y"}).MustBuild()
	if _, err := x.Run(context.Background(), suite.Tree("a.txt", "x"), p); err != nil {
		fmt.Println(err)
	}
	for line := range strings.Lines(lines.String()) {
		head, _, _ := strings.Cut(line, `,"time"`)
		fmt.Println(head)
	}
	// Output:
	// {"v":1,"event":"run_started"
	// {"v":1,"event":"step_started"
	// {"v":1,"event":"step_progress"
	// {"v":1,"event":"file_staged"
	// {"v":1,"event":"step_finished"
	// {"v":1,"event":"risk_judged"
	// {"v":1,"event":"run_finished"
}

// A list of calls, for programs that expect results of tools.
func ExampleResult_Envelope() {
	p := millrace.New("two").
		Step("find", actions.Search{Pattern: "x"}).
		Step("fix", actions.Edit{Files: []string{"gone.txt"}, OldText: "x", NewText: "y"}).MustBuild()
	res, _ := millrace.Run(context.Background(), suite.Tree("a.txt", "x"), p)
	for _, call := range res.Envelope().Results {
		if data, err := json.Marshal(call); err == nil {
			fmt.Println(string(data))
		}
	}
	fmt.Printf("%+v\n", res.Envelope().Summary)
	// Output:
	// {"step":1,"tool":"search","ok":true,"data":{"count":1,"counts":{"a.txt":1},"edits":0,"files":["a.txt"],"files_count":1}}
	// {"step":2,"tool":"edit","ok":false,"error":{"code":"step_failed","message":"gone.txt: file does not exist"}}
	// {Total:2 Succeeded:1 Failed:1 Handled:0}
}

// The summary of a run: the number of steps that ran, and the summary of the last step.
func ExampleResult_Summary() {
	p := millrace.New("copy").
		Step("none", actions.Search{Pattern: "x"}).When(condition.FileExists("b.txt")).
		Step("copy", actions.Copy{Files: []string{"a.txt"}, To: "b.txt"}).MustBuild()
	res, err := millrace.Executor{RunID: "a3f9c2d1"}.Run(context.Background(), suite.Tree("a.txt", "x"), p)
	if err != nil {
		fmt.Println(err)
	}
	s := res.Summary()
	fmt.Println(s.RunID, s.StepsExecuted, "of", s.TotalSteps, "steps, deadline met:", s.DeadlineMet)
	// Output: a3f9c2d1 1 of 2 steps, deadline met: true
}

// A line for each visit of a step; times and durations differ.
func ExampleAudit() {
	var lines strings.Builder
	counts := make(map[string]int)
	x := millrace.Executor{RunID: "a3f9c2d1", Observe: millrace.Observers(
		millrace.Audit(&lines),
		func(e millrace.Event) { counts[e.Kind()]++ },
	)}
	p := millrace.New("one").Step("fix", actions.Edit{Files: []string{"a.txt"}, OldText: "x", NewText: "y"}).MustBuild()
	if _, err := x.Run(context.Background(), suite.Tree("a.txt", "x x"), p); err != nil {
		fmt.Println(err)
	}
	_, line, _ := strings.Cut(lines.String(), `"run"`)
	head, rest, _ := strings.Cut(line, `"duration"`)
	_, tail, _ := strings.Cut(rest, `,`)
	fmt.Print(head, tail)
	fmt.Println(counts["run_started"], counts["step_finished"])
	// Output:
	// :"a3f9c2d1","step":"fix","visit":1,"action":"edit","ok":true,"code":"","cost":0,"files":1,"edits":2}
	// 1 1
}

// The warnings of all steps, in one list.
func ExampleResult_AllWarnings() {
	p := millrace.New("none").Step("fix", actions.Edit{Files: []string{"a.txt"}, OldText: "recieve", NewText: "receive"}).MustBuild()
	res, err := millrace.Run(context.Background(), suite.Tree("a.txt", "nothing of the kind\n"), p)
	fmt.Println(res, err)
	for _, warning := range res.AllWarnings() {
		fmt.Println(warning)
	}
	// Output:
	// OK: 1/1 steps | 0 files | 0 edits <nil>
	// step 'fix': old_text "recieve" matches nothing in a.txt
}

// A value that a host adds to the context of a step reaches the code that the step calls, here a tool.
func ExampleExecutor_stepContext() {
	type span struct{}
	where := tool.Func("where", "says in which span it was called", func(ctx context.Context, _ struct{}) (any, error) {
		return ctx.Value(span{}), nil
	})
	tools, err := tool.New(where)
	if err != nil {
		fmt.Println(err)
	}
	x := millrace.Executor{Tools: tools, StepContext: func(ctx context.Context, s millrace.StepStarted) context.Context {
		return context.WithValue(ctx, span{}, fmt.Sprintf("%s, visit %d", s.Step, s.Visit))
	}}
	p := millrace.New("spans").Step("ask", actions.Tool{Tool: "where"}).MustBuild()
	res, err := x.Run(context.Background(), suite.Tree("a.txt", "x"), p)
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(res.Results[0].Data)
	// Output: ask, visit 1
}
