package actions_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fsutil"
)

// Stamp puts a line at the top of files that do not have it yet.
type Stamp struct {
	Files []string `json:"files,omitempty" doc:"Files to stamp. Leave it out if an earlier step gives them."`
	Line  string   `json:"line" param:"required" doc:"The line, without its line end."`
}

// Spec reports how the action is called, that it writes, and that it needs files.
func (Stamp) Spec() actions.Spec {
	return actions.Spec{Name: "stamp", Summary: "Put a line at the top of files", Input: actions.InputFiles}
}

// Run works on the stage alone, so a dry run, a rollback and the commit come with it.
func (s Stamp) Run(ctx context.Context, c *actions.Call) (actions.Outcome, error) {
	return c.EditEach(ctx, func(_ string, old []byte) ([]byte, error) {
		line := s.Line + fsutil.TextFacts(old).EOL()
		if bytes.HasPrefix(old, []byte(line)) {
			return old, nil
		}
		return slices.Concat([]byte(line), old), nil
	})
}

// An action of your own is a struct with two methods. Its exported fields are its parameters, in Go and in JSON.
func Example() {
	registry := actions.Builtin().With(Stamp{})
	_, known := registry.Lookup("stamp")
	fmt.Println("known:", known)

	// To try it out, all it takes is a stage.
	base := afero.NewMemMapFs()
	_ = afero.WriteFile(base, "a.txt", []byte("one\r\n"), 0o644)
	_ = afero.WriteFile(base, "b.txt", []byte("# stamped\ntwo\n"), 0o644)
	stage := fsutil.NewStage(base)
	defer stage.Close()
	out, err := Stamp{Line: "# stamped"}.Run(context.Background(),
		&actions.Call{FS: stage, Files: []string{"a.txt", "b.txt"}})
	fmt.Println(out.Files, out.Edits, err)

	staged, _ := stage.ReadFile("a.txt")
	untouched, _ := afero.ReadFile(base, "a.txt")
	fmt.Printf("%q %q\n", staged, untouched)
	// Output:
	// known: true
	// [a.txt] 1 <nil>
	// "# stamped\r\none\r\n" "one\r\n"
}

// A generator writes what it makes in one step: path to text.
func ExampleWriteFiles() {
	base := afero.NewMemMapFs()
	stage := fsutil.NewStage(base)
	defer stage.Close()
	out, err := actions.WriteFiles(map[string]string{
		"gen/b.go": "package gen\n",
		"gen/a.go": "package gen\n",
	}).Run(context.Background(), &actions.Call{FS: stage})
	fmt.Println(out.Files, out.Edits, err)
	// Output: [gen/a.go gen/b.go] 2 <nil>
}
