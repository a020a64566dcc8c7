package millrace_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/suite"
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

// Problems get the places of the text that the JSON was made from.
func ExampleDecoder_locate() {
	places := map[string][2]int{"/name": {1, 1}, "/steps/0/action": {4, 13}}
	d := millrace.Decoder{Locate: func(pointer string, name bool) (line, column int) {
		return places[pointer][0], places[pointer][1]
	}}
	_, err := d.Decode([]byte(`{"name": "p", "steps": [{"id": "a", "action": "serach", "params": {}}]}`))
	fmt.Println(err.(*millrace.ValidationError).Problems[0].Line)
	// Output: 4
}

// Programs decide by the code what to do next; people read the message.
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

// Each event is a line; here only the kinds are kept, for times differ.
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
	// {"v":1,"event":"step_started"
	// {"v":1,"event":"step_progress"
	// {"v":1,"event":"file_staged"
	// {"v":1,"event":"step_finished"
	// {"v":1,"event":"risk_judged"
}

// What a user should know, of all steps, in one list.
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
