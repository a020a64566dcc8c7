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

// Spec describes the action: its name, that it writes, and that it needs files.
func (Stamp) Spec() actions.Spec {
	return actions.Spec{Name: "stamp", Summary: "Put a line at the top of files", Input: actions.InputFiles}
}

// Run works only on the stage, so dry runs, rollbacks and the commit work without further code.
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

	// A stage is enough to try it out.
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

// A generator writes its files in one step. The map is from path to text.
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
