// Agentpreview shows how a host handles a pipeline from an agent: it decodes the pipeline strictly, plans it under the
// host's policy, shows every hunk with the step that made it, lets a person reject a hunk, and commits the rest.
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

// fromTheAgent requests too much: force does not raise the host's ceiling, and secrets are outside the allowed paths.
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
		log.Fatal(err) // the error has every problem: return it to the agent
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

	// A person reviews the change: the comment in doc.go is about the past, so its hunk is rejected.
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
