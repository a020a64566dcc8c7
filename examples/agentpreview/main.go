// Agentpreview is what a host does with a pipeline that an agent wrote: decode it strictly, plan it under the host's
// own policy, show every hunk with the step that made it, let a person reject one, and commit the rest.
//
//	go run ./examples/agentpreview
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/risk"
)

// fromTheAgent asks for more than it should: force does not lift the host's ceiling, and secrets are out of reach.
const fromTheAgent = `{
	"name": "modernise",
	"force": true,
	"steps": [
		{"id": "find", "action": "search", "params": {"path": "src", "pattern": "ioutil\\.ReadFile"}},
		{"id": "calls", "action": "edit", "input_from": "find", "params": {"old_text": "ioutil.ReadFile", "new_text": "os.ReadFile"}},
		{"id": "imports", "action": "edit", "input_from": "find", "params": {"old_text": "\"io/ioutil\"", "new_text": "\"os\""}}
	]
}`

func main() {
	ctx := context.Background()
	fsys := afero.NewMemMapFs()
	for name, text := range map[string]string{
		"src/a.go":    "package src\n\nimport \"io/ioutil\"\n\nfunc a() ([]byte, error) {\n\treturn ioutil.ReadFile(\"a\")\n}\n",
		"src/doc.go":  "// Package src once used ioutil.ReadFile.\npackage src\n",
		"secrets.env": "ioutil.ReadFile=hunter2\n",
	} {
		if err := afero.WriteFile(fsys, name, []byte(text), 0o644); err != nil {
			log.Fatal(err)
		}
	}

	p, err := millrace.Decode([]byte(fromTheAgent))
	if err != nil {
		log.Fatal(err) // every problem at once: give it back to the agent
	}
	host := millrace.Executor{Ceiling: risk.Medium, AllowedPaths: []string{"src"}}
	plan, err := host.Plan(ctx, fsys, p)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(plan.Result())
	files, err := plan.Files()
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range files {
		for i, h := range f.Hunks {
			fmt.Printf("\n%s hunk %d, by %v\n%s", f.Path, i, h.Steps(), h)
		}
	}

	// A person looks at it: the comment tells history, leave it alone.
	if plan, err = plan.RejectHunks("src/doc.go", 0); err != nil {
		log.Fatal(err)
	}
	res, err := plan.Commit(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("\n%s, changed: %v\n", res.Commit.State, res.FilesChanged.Modified)
}
