package millrace_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/risk"
)

// The host's policy holds whatever the pipeline says: force does not lift its ceiling.
func ExampleExecutor_Run() {
	text := ""
	for range 600 {
		text += "old\n"
	}
	fsys := tree("a.txt", text)
	p, err := millrace.Decode([]byte(`{"name": "many", "force": true, "steps": [
		{"id": "e", "action": "edit", "params": {"files": ["a.txt"], "old_text": "old", "new_text": "new"}}]}`))
	if err != nil {
		log.Fatal(err)
	}
	res, err := millrace.Executor{Ceiling: risk.Medium}.Run(context.Background(), fsys, p)
	if blocked, ok := errors.AsType[*millrace.BlockedError](err); ok {
		fmt.Println(blocked.Level, blocked.Edits)
	}
	fmt.Println(res)
	// Output:
	// HIGH 600
	// FAIL: 1/1 steps | operation blocked due to HIGH risk. The host allows no more than MEDIUM, force does not help
}

// A plan can be stored, looked at by somebody else, and committed by another process.
func ExampleExecutor_OpenPlan() {
	ctx := context.Background()
	fsys := tree("a.txt", "one\n", "b.txt", "one\n")
	p := millrace.New("ones").
		Step("find", actions.Search{Pattern: "one"}).
		Step("edit", actions.Edit{OldText: "one", NewText: "two"}).From("find").
		MustBuild()

	var x millrace.Executor
	plan, err := x.Plan(ctx, fsys, p)
	if err != nil {
		log.Fatal(err)
	}
	stored, err := json.Marshal(plan)
	if err != nil {
		log.Fatal(err)
	}

	plan, err = x.OpenPlan(ctx, fsys, stored)
	if err != nil {
		log.Fatal(err)
	}
	if plan, err = plan.Reject("b.txt"); err != nil {
		log.Fatal(err)
	}
	res, err := plan.Commit(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.FilesChanged.Modified)
	// Output: [a.txt]
}

// Who changes the tree between plan and commit keeps what he has written.
func ExampleConflictError() {
	ctx := context.Background()
	fsys := tree("a.txt", "one\n")
	p := millrace.New("ones").
		Step("edit", actions.Edit{Files: []string{"a.txt"}, OldText: "one", NewText: "two"}).
		MustBuild()
	plan, err := millrace.Executor{}.Plan(ctx, fsys, p)
	if err != nil {
		log.Fatal(err)
	}
	if err := afero.WriteFile(fsys, "a.txt", []byte("one, and more\n"), 0o644); err != nil {
		log.Fatal(err)
	}
	_, err = plan.Commit(ctx)
	if conflict, ok := errors.AsType[*millrace.ConflictError](err); ok {
		fmt.Println(conflict.Conflicts[0].Path)
	}
	data, _ := afero.ReadFile(fsys, "a.txt")
	fmt.Printf("%s", data)
	// Output:
	// a.txt
	// one, and more
}

// A scheduler that may start a job twice gives it an id.
func ExampleExecutor_Run_once() {
	ctx := context.Background()
	fsys := tree("n.txt", "count: |\n")
	p := millrace.New("count").
		Step("add", actions.Edit{Files: []string{"n.txt"}, OldText: "|", NewText: "||"}).
		MustBuild()
	x := millrace.Executor{RunID: "job-7"}
	for range 2 {
		res, err := x.Run(ctx, fsys, p)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(res, res.Replayed)
	}
	data, _ := afero.ReadFile(fsys, "n.txt")
	fmt.Printf("%s", data)
	// Output:
	// OK: 1/1 steps | 1 files | 1 edits false
	// OK: 1/1 steps | 1 files | 1 edits true
	// count: ||
}
