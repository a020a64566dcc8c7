package millrace_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"strings"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/risk"
)

// The host's policy applies whatever the pipeline sets: force does not lift its ceiling.
func ExampleExecutor_Run() {
	text := ""
	for range 600 {
		text += "old\n"
	}
	fsys := suite.Tree("a.txt", text)
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

// A plan can be stored, looked at by another program, and committed by another process.
func ExampleExecutor_OpenPlan() {
	ctx := context.Background()
	fsys := suite.Tree("a.txt", "one\n", "b.txt", "one\n")
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

// If a program changes the tree between plan and commit, its changes are kept.
func ExampleConflictError() {
	ctx := context.Background()
	fsys := suite.Tree("a.txt", "one\n")
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

// A scheduler that may start a job twice sets an id for it.
func ExampleExecutor_Run_once() {
	ctx := context.Background()
	fsys := suite.Tree("n.txt", "count: |\n")
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

// Denied paths do not exist for steps, and read-only paths can be read. Force lifts neither.
func ExampleExecutor_deniedPaths() {
	fsys := suite.Tree(".env", "TOKEN=1\n", "ci/deploy.yml", "TOKEN\n", "main.go", "// TOKEN\n")
	x := millrace.Executor{DeniedPaths: []string{".env", "*.key"}, ReadOnlyPaths: []string{"ci/**"}}
	p := millrace.New("rename the token").
		Step("find", actions.Search{Pattern: "TOKEN"}).
		Step("edit", actions.Edit{OldText: "TOKEN", NewText: "KEY"}).From("find").
		MustBuild().WithOptions(millrace.Options{Force: true})
	res, err := x.Run(context.Background(), fsys, p)
	fmt.Println(res.Results[0].FilesMatched, errors.Is(err, fsutil.ErrReadOnlyPath))
	fmt.Println(strings.ReplaceAll(err.Error(), ": ", ":\n"))
	// Output:
	// [ci/deploy.yml main.go] true
	// pipeline failed at step 2:
	// edit failed:
	// ci/deploy.yml:
	// access denied:
	// the host allows this path to be read only (step 'edit', /steps/1)
}

// An edit that finds nothing is a warning, unless the host treats it as a failure.
func ExampleExecutor_requireMatches() {
	p := millrace.New("fix").Step("e", actions.Edit{Files: []string{"a.txt"}, OldText: "nine", NewText: "9"}).MustBuild()
	res, err := millrace.Executor{}.Run(context.Background(), suite.Tree("a.txt", "one\n"), p)
	fmt.Println(res.Success, err)
	_, err = millrace.Executor{RequireMatches: true}.Run(context.Background(), suite.Tree("a.txt", "one\n"), p)
	expect, ok := errors.AsType[*millrace.ExpectError](err)
	fmt.Println(ok, expect.What, expect.Got)
	// Output:
	// true <nil>
	// true files 0
}

// A mistake of the host has its own type of error, and nothing is run.
func ExampleExecutorError() {
	x := millrace.Executor{DeniedPaths: []string{"/etc/**"}}
	_, err := x.Run(context.Background(), suite.Tree("a.txt", "one\n"), suite.Edit("a.txt"))
	host, ok := errors.AsType[*millrace.ExecutorError](err)
	fmt.Println(ok, host.Field)
	fmt.Println(err)
	// Output:
	// true DeniedPaths
	// executor's DeniedPaths: glob "/etc/**": path is absolute, but must be relative to the root of the tree
}

// A person approves the shown plan: the same bytes, by their digest, within the host's ceiling.
func ExamplePlan_WithForce() {
	ctx := context.Background()
	fsys := suite.Tree("a.txt", strings.Repeat("old\n", 600))
	x := millrace.Executor{Ceiling: risk.High}
	p := millrace.New("many").Step("e", actions.Edit{Files: []string{"a.txt"}, OldText: "old", NewText: "new"}).MustBuild()
	plan, err := x.Plan(ctx, fsys, p)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plan.Result().BlockReason)

	approved := plan.WithForce(true) // the answer was yes
	res, err := approved.Commit(ctx)
	fmt.Println(res.Success, err)
	// Output:
	// operation blocked due to HIGH risk. Use force=true to proceed
	// true <nil>
}

// A digest identifies the changes of a plan, wherever the plan was stored.
func ExamplePlan_Digest() {
	ctx := context.Background()
	fsys := suite.Tree("a.txt", "old\n")
	plan, err := millrace.Executor{}.Plan(ctx, fsys, suite.Edit("a.txt"))
	if err != nil {
		fmt.Println(err)
		return
	}
	shown, err := plan.Digest()
	if err != nil {
		fmt.Println(err)
		return
	}
	stored, err := json.Marshal(plan)
	if err != nil {
		fmt.Println(err)
		return
	}

	plan, err = millrace.Executor{}.OpenPlan(ctx, fsys, stored)
	if err != nil {
		fmt.Println(err)
		return
	}
	now, err := plan.Digest()
	fmt.Println(len(shown), now == shown, err)
	// Output:
	// 64 true <nil>
}
