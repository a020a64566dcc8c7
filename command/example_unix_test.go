//go:build unix

package command_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/millrace-go/millrace/command"
)

// A host that allows pipelines to print files and count lines, and nothing else. If the system has a sandbox, commands
// run in it.
func ExamplePolicy_Run() {
	policy := command.Policy{
		Allow:   []string{"cat *", "wc -l", "sh ./hello.sh *"},
		Env:     map[string]string{"GREETING": "hello"},
		Secrets: map[string]string{"TOKEN": "s3cr3t-t0k3n"},
		Sandbox: command.BestEffort,
	}
	ctx := context.Background()
	tree, err := os.MkdirTemp("", "tree")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(tree)
	script := "echo $GREETING $1, with $TOKEN\nexit 3\n"
	if err := os.WriteFile(tree+"/hello.sh", []byte(script), 0o600); err != nil {
		fmt.Println(err)
		return
	}

	exit, err := policy.Run(ctx, command.Command{Words: []string{"sh", "./hello.sh", "world"}, Root: tree})
	fmt.Printf("%d %q %v\n", exit.Code, exit.Stdout.Text, err)

	_, err = policy.Run(ctx, command.Command{Words: []string{"rm", "-rf", "/"}, Root: tree})
	var denied *command.DeniedError
	if errors.As(err, &denied) {
		fmt.Println(denied)
		fmt.Println(denied.Hint)
	}
	// Output:
	// 3 "hello world, with ***\n" <nil>
	// the host does not allow the command 'rm'
	// the host allows: cat * | wc -l | sh ./hello.sh *
}

// A pattern made from a command line allows only this line.
func ExamplePattern() {
	fmt.Println(command.Pattern("git", "commit", "-m", "it's done, *really*"))
	// Output: git commit -m 'it''s done, *really*'
}
