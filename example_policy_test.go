package millrace_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/risk"
)

// What the host denies is not there for steps, what is read-only can be read; force lifts neither.
func ExampleExecutor_deniedPaths() {
	fsys := tree(".env", "TOKEN=1\n", "ci/deploy.yml", "TOKEN\n", "main.go", "// TOKEN\n")
	x := millrace.Executor{DeniedPaths: []string{".env", "*.key"}, ReadOnlyPaths: []string{"ci/**"}}
	p := millrace.New("rename the token").
		Step("find", actions.Search{Pattern: "TOKEN"}).
		Step("edit", actions.Edit{OldText: "TOKEN", NewText: "KEY"}).From("find").
		MustBuild().WithOptions(millrace.Options{Force: true})
	res, err := x.Run(context.Background(), fsys, p)
	fmt.Println(res.Results[0].FilesMatched, errors.Is(err, fsutil.ErrReadOnlyPath))
	fmt.Println(err)
	// Output:
	// [ci/deploy.yml main.go] true
	// pipeline failed at step 2: edit failed: ci/deploy.yml: access denied: the host allows this path to be read only (step 'edit', /steps/1)
}

// That an edit finds nothing is a warning, unless the host says that it is a failure.
func ExampleExecutor_requireMatches() {
	p := millrace.New("fix").Step("e", actions.Edit{Files: []string{"a.txt"}, OldText: "nine", NewText: "9"}).MustBuild()
	res, err := millrace.Executor{}.Run(context.Background(), tree("a.txt", "one\n"), p)
	fmt.Println(res.Success, err)
	_, err = millrace.Executor{RequireMatches: true}.Run(context.Background(), tree("a.txt", "one\n"), p)
	expect, ok := errors.AsType[*millrace.ExpectError](err)
	fmt.Println(ok, expect.What, expect.Got)
	// Output:
	// true <nil>
	// true files 0
}

// A mistake of the host is its own kind of error, and nothing is run.
func ExampleExecutorError() {
	x := millrace.Executor{DeniedPaths: []string{"/etc/**"}}
	_, err := x.Run(context.Background(), tree("a.txt", "one\n"), edit("a.txt"))
	host, ok := errors.AsType[*millrace.ExecutorError](err)
	fmt.Println(ok, host.Field)
	fmt.Println(err)
	// Output:
	// true DeniedPaths
	// executor's DeniedPaths: glob "/etc/**": path is absolute, but must be relative to the root of the tree
}

// A person approves what was shown: the same bytes, by their digest, and no more than the host's ceiling.
func ExamplePlan_WithForce() {
	ctx := context.Background()
	fsys := tree("a.txt", strings.Repeat("old\n", 600))
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

// A digest stands for what a plan would write, wherever the plan has been meanwhile.
func ExamplePlan_Digest() {
	ctx := context.Background()
	fsys := tree("a.txt", "old\n")
	plan, err := millrace.Executor{}.Plan(ctx, fsys, edit("a.txt"))
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
