package millracetest_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/agent"
	"github.com/millrace-go/millrace/millracetest"
)

// exampleT replaces the t of a test, which examples do not have. It prints the failures of the test.
type exampleT struct {
	testing.TB
	cleanups []func()
}

func (e *exampleT) Helper()                        {}
func (e *exampleT) Context() context.Context       { return context.Background() }
func (e *exampleT) Logf(string, ...any)            {}
func (e *exampleT) Errorf(format string, a ...any) { fmt.Printf("failed: "+format+"\n", a...) }
func (e *exampleT) Fatalf(format string, a ...any) { panic(fmt.Sprintf(format, a...)) }
func (e *exampleT) Error(args ...any)              { e.Errorf("%s", fmt.Sprint(args...)) }
func (e *exampleT) Fatal(args ...any)              { e.Fatalf("%s", fmt.Sprint(args...)) }
func (e *exampleT) Failed() bool                   { return false }
func (e *exampleT) Cleanup(f func())               { e.cleanups = append(e.cleanups, f) }
func (e *exampleT) end() {
	for _, f := range slices.Backward(e.cleanups) {
		f()
	}
}

func (e *exampleT) TempDir() string {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		e.Fatal(err)
	}
	e.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// The test of a pipeline: a tree, a run, and the wanted tree.
func Example() {
	t := &exampleT{} // a test has its own t
	defer t.end()

	fsys := millracetest.Tree(t, "-- a.md --\nto recieve\n-- b.md --\nnothing\n")
	p := millrace.New("fix-typo").
		Step("find", actions.Search{Pattern: "recieve"}).
		Step("fix", actions.Edit{OldText: "recieve", NewText: "receive"}).From("find").MustBuild()
	if _, err := millrace.Run(t.Context(), fsys, p); err != nil {
		t.Fatal(err)
	}
	millracetest.Equal(t, fsys, "-- a.md --\nto receive\n-- b.md --\nnothing\n")
	fmt.Print(millracetest.Text(t, fsys))
	// Output:
	// -- a.md --
	// to receive
	// -- b.md --
	// nothing
}

// An agent that answers from a script. The last question is never asked, which fails the test.
func ExampleAgent() {
	t := &exampleT{} // a test has its own t
	defer t.end()

	fsys := millracetest.Tree(t, "-- go.mod --\nmodule a\n")
	x := millrace.Executor{Agents: map[string]agent.Agent{"": millracetest.Agent(t,
		millracetest.Answer{Prompt: "write a", Work: millracetest.Work{Files: "-- a.go --\npackage a\n"}},
		millracetest.Answer{Prompt: "write b"},
	)}}
	p := millrace.New("p").Step("ask", actions.Prompt{Prompt: "Please write a package."}).MustBuild()
	if _, err := x.Run(t.Context(), fsys, p); err != nil {
		t.Fatal(err)
	}
	millracetest.Equal(t, fsys, "-- a.go --\npackage a\n-- go.mod --\nmodule a\n")
	// Output:
	// failed: millracetest: the question "write b" was expected 1 times more
}

// A program that is not started. The double changes the tree and prints a line.
func ExampleCommand() {
	t := &exampleT{} // a test has its own t
	defer t.end()

	fsys := millracetest.Tree(t, "-- a.go --\npackage  a\n")
	x := millrace.Executor{Commands: millracetest.Command(t,
		millracetest.Program{Line: "gofmt -w *", Work: millracetest.Work{Files: "-- a.go --\npackage a\n"}},
		millracetest.Program{Line: "go test ./...", Stdout: "ok\n"},
	)}
	p := millrace.New("format").
		Step("format", actions.Exec{Command: "gofmt", Args: []string{"-w", "a.go"}}).
		Step("test", actions.Exec{Command: "go", Args: []string{"test", "./..."}}).MustBuild()
	res, err := x.Run(t.Context(), fsys, p)
	if err != nil {
		t.Fatal(err)
	}
	millracetest.Equal(t, fsys, "-- a.go --\npackage a\n")
	fmt.Println(res)
	// Output:
	// OK: 2/2 steps | 1 files | 1 edits
}

// shout is a custom action.
type shout struct {
	Files []string `json:"files,omitempty" doc:"Files to change."`
}

func (shout) Spec() actions.Spec {
	return actions.Spec{Name: "shout", Summary: "write whole files in capitals", Input: actions.InputFiles}
}

func (shout) Run(ctx context.Context, c *actions.Call) (actions.Outcome, error) {
	return c.EditEach(ctx, func(_ string, old []byte) ([]byte, error) { return bytes.ToUpper(old), nil })
}

// The contract of an action, in three cases.
func ExampleAction() {
	t := &exampleT{} // a test has its own t
	defer t.end()

	const tree = "-- a.txt --\na\n-- b.txt --\nb\n"
	millracetest.Action(t, shout{},
		millracetest.Case{Action: shout{Files: []string{"a.txt"}}, Tree: tree, Want: "-- a.txt --\nA\n-- b.txt --\nb\n"},
		millracetest.Case{Action: shout{Files: []string{"c.txt"}}, Tree: tree, Error: "file does not exist"},
		millracetest.Case{Invalid: "missing_input"},
	)
	fmt.Println("shout keeps the contract")
	// Output:
	// shout keeps the contract
}

// Each operation of a run fails once, and each crash happens once. Here the change is small.
func ExampleFaults() {
	t := &exampleT{} // a test has its own t
	defer t.end()

	fsys := millracetest.Tree(t, "-- a.txt --\na\n")
	p := millrace.New("p").Step("drop", actions.Delete{Files: []string{"a.txt"}}).MustBuild()
	tried := millracetest.Faults(t, fsys, p)
	fmt.Println(tried.Failures > 20, tried.Full > 5, tried.Crashes > 20, tried.Foreign > 5)
	// Output:
	// true true true true
}

// A layer in memory over a tree supports edits, but files of the tree cannot be renamed or deleted.
func ExampleBackend() {
	t := &exampleT{} // a test has its own t
	defer t.end()

	row := millracetest.Backend(t, func(t testing.TB, tree string) afero.Fs {
		return afero.NewCopyOnWriteFs(millracetest.Tree(t, tree), afero.NewMemMapFs())
	})
	for _, a := range row.Abilities {
		if a.Err != nil {
			fmt.Println("no", a.Name)
		}
	}
	fmt.Println("safe against", row.Guarantee)
	// Output:
	// no rename
	// no delete
	// safe against kill
}
