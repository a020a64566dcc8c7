// Start is the program of docs/start.md: it replaces a word in a directory, shows the change, and commits it.
//
//	go run ./examples/start DIR
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fsutil"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: start DIR")
	}
	if err := replace(context.Background(), os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func replace(ctx context.Context, dir string) error {
	tree, err := fsutil.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer tree.Close()

	p, err := millrace.New("fix-typo").
		Step("find", actions.Search{Pattern: "recieve"}).
		Step("fix", actions.Edit{OldText: "recieve", NewText: "receive"}).From("find").
		Build()
	if err != nil {
		return err
	}
	var x millrace.Executor
	plan, err := x.Plan(ctx, tree, p)
	if err != nil {
		return err
	}
	fmt.Print(plan.Diff())
	res, err := plan.Commit(ctx)
	if err != nil {
		return err
	}
	fmt.Println(res)
	return nil
}
