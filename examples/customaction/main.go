// Customaction adds an action with two methods, and uses it in Go and in JSON like a built-in action.
//
//	go run ./examples/customaction
package main

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"os"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
)

// Upper makes whole files upper case. Its exported fields are its parameters.
type Upper struct {
	Files []string `json:"files,omitempty" doc:"Files to change, unless input_from gives them."`
}

// Spec describes the action to the registry. The action may write, because ReadOnly is not set.
func (Upper) Spec() actions.Spec {
	return actions.Spec{Name: "upper", Summary: "upper-case whole files", Input: actions.InputFiles}
}

// Run works on the stage, so the action needs no code for limits, preview, commit, rollback and parallel runs.
func (Upper) Run(ctx context.Context, c *actions.Call) (actions.Outcome, error) {
	return c.EditEach(ctx, func(_ string, old []byte) ([]byte, error) {
		return bytes.ToUpper(old), nil
	})
}

const pipeline = `{
	"name": "shout",
	"steps": [
		{"id": "find", "action": "search", "params": {"pattern": "hello"}},
		{"id": "shout", "action": "upper", "input_from": "find"}
	]
}`

func main() {
	fsys := afero.NewMemMapFs()
	if err := afero.WriteFile(fsys, "greeting.txt", []byte("hello, world\n"), 0o644); err != nil {
		log.Fatal(err)
	}

	decoder := millrace.Decoder{Actions: actions.Builtin().With(Upper{})}
	p, err := decoder.Decode([]byte(pipeline))
	if err != nil {
		log.Fatal(err)
	}
	plan, err := millrace.Executor{}.Plan(context.Background(), fsys, p)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(plan.Diff())
	res, err := plan.Commit(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(res)
}
