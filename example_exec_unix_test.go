//go:build unix

package millrace_test

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/command"
)

// A step runs a program on the tree in the state after the steps before, even on a tree in memory. Its changes are part
// of the plan; nothing is written before the commit.
func ExampleExecutor_commands() {
	ctx, fsys := context.Background(), afero.NewMemMapFs()
	if err := afero.WriteFile(fsys, "words.txt", []byte("pear\napple\n"), 0o644); err != nil {
		fmt.Println(err)
		return
	}
	p := millrace.New("sorted").
		Step("add", actions.Edit{Files: []string{"words.txt"}, OldText: "pear\n", NewText: "pear\nfig\n"}).
		Step("sort", actions.Exec{Command: "sort", Args: []string{"-o", "words.txt", "words.txt"}}).
		MustBuild()
	x := millrace.Executor{Commands: command.Policy{
		Allow:   []string{"sort *"},
		Sandbox: command.BestEffort, // the zero value refuses to run a command without a sandbox
		Scratch: os.TempDir(),
	}}
	plan, err := x.Plan(ctx, fsys, p)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(plan.Diff())
	if _, err := plan.Commit(ctx); err != nil {
		fmt.Println(err)
	}
	// Output:
	// diff --git a/words.txt b/words.txt
	// --- a/words.txt
	// +++ b/words.txt
	// @@ -1,2 +1,3 @@
	// -pear
	//  apple
	// +fig
	// +pear
}
