package actions_test

import (
	"context"
	"fmt"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fsutil"
)

// Stamp puts a line at the top of files that do not have it yet.
type Stamp struct {
	Files []string `json:"files,omitempty" doc:"Files to stamp. Leave it out if an earlier step gives them."`
	Line  string   `json:"line" param:"required" doc:"The line, without its line end."`
}

// Spec says how the action is called, that it writes, and that it needs files.
func (Stamp) Spec() actions.Spec {
	return actions.Spec{Name: "stamp", Summary: "Put a line at the top of files", Input: actions.InputFiles}
}

// Run works on c.FS alone, so a dry run, a rollback and the commit come with it.
func (s Stamp) Run(ctx context.Context, c *actions.Call) (actions.Outcome, error) {
	stamped := make([]bool, len(c.Files))
	err := c.Each(ctx, c.Files, func(_ context.Context, i int, file string) error {
		data, err := c.FS.ReadFile(file)
		if err != nil {
			return err
		}
		line := s.Line + fsutil.TextFacts(data).EOL()
		if len(data) >= len(line) && string(data[:len(line)]) == line {
			return nil
		}
		stamped[i] = true
		return c.FS.Edit(file, []fsutil.Splice{{Text: []byte(line)}})
	})
	if err != nil {
		return actions.Outcome{}, err
	}
	out := actions.Outcome{Counts: map[string]int{}}
	for i, file := range c.Files {
		if stamped[i] {
			out.Files = append(out.Files, file)
			out.Counts[file] = 1
			out.Edits++
		}
	}
	return out, nil
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
	out, err := Stamp{Line: "# stamped"}.Run(context.Background(), &actions.Call{FS: stage, Files: []string{"a.txt", "b.txt"}})
	fmt.Println(out.Files, out.Edits, err)

	staged, _ := stage.ReadFile("a.txt")
	untouched, _ := afero.ReadFile(base, "a.txt")
	fmt.Printf("%q %q\n", staged, untouched)
	// Output:
	// known: true
	// [a.txt] 1 <nil>
	// "# stamped\r\none\r\n" "one\r\n"
}
