// Licenceheaders puts a licence header into every source file of a mixed tree, with a custom action. Files that have
// the header are not touched, so their time stamps stay. Line ends, byte order marks and "#!" lines are kept.
//
//	go run ./examples/licenceheaders
package main

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"path"
	"slices"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fsutil"
)

// comments maps the extensions of source files to the sign that begins a comment.
var comments = map[string]string{".go": "//", ".cs": "//", ".py": "#", ".sh": "#", ".sql": "--"}

// Header puts a line of text at the top of files.
type Header struct {
	Files []string `json:"files,omitempty" doc:"Files to change, unless input_from gives them."`
	Text  string   `json:"text" param:"required" doc:"The text of the header."`
}

// Spec describes the action to the registry.
func (Header) Spec() actions.Spec {
	return actions.Spec{Name: "header", Summary: "put a header into files", Input: actions.InputFiles}
}

// Run stages the new text of each file.
func (h Header) Run(ctx context.Context, c *actions.Call) (actions.Outcome, error) {
	return c.EditEach(ctx, func(name string, old []byte) ([]byte, error) {
		sign, known := comments[path.Ext(name)]
		if header := sign + " " + h.Text; known && !bytes.Contains(old, []byte(header)) {
			return insert(old, header), nil
		}
		return old, nil
	})
}

// insert puts a line and an empty line after a byte order mark and a "#!" line, with the line ends of the file.
func insert(text []byte, line string) []byte {
	form := fsutil.TextFacts(text)
	at := form.BOM
	if bytes.HasPrefix(text[at:], []byte("#!")) {
		at += bytes.IndexByte(text[at:], '\n') + 1
	}
	return slices.Concat(text[:at], []byte(line+form.EOL()+form.EOL()), text[at:])
}

func main() {
	ctx := context.Background()
	fsys := afero.NewMemMapFs()
	for name, text := range map[string]string{
		"main.go":        "package main\n",
		"tools/run.sh":   "#!/bin/sh\nexec true\n",
		"web/Page.cs":    "\ufeffclass Page {}\r\n",
		"web/done.py":    "# Copyright 2026 The Authors\n\nprint()\n",
		"web/readme.txt": "no source\n",
	} {
		if err := afero.WriteFile(fsys, name, []byte(text), 0o644); err != nil {
			log.Fatal(err)
		}
	}
	p := millrace.New("headers").
		Step("sources", actions.List{Depth: -1}).
		Step("header", Header{Text: "Copyright 2026 The Authors"}).From("sources").
		MustBuild()
	for range 2 { // the second run has nothing to do
		res, err := millrace.Run(ctx, fsys, p)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(res, res.FilesChanged.Modified)
	}
	for _, name := range []string{"main.go", "tools/run.sh", "web/Page.cs", "web/done.py"} {
		text, err := afero.ReadFile(fsys, name)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%-12s %q\n", name, text)
	}
}
