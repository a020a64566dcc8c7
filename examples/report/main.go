// Report writes the changes that a pipeline would make to a single HTML file, for a review before a commit or to keep
// with a build. A browser shows the file without a network. Nothing else is written.
//
//	go run ./examples/report > report.html
package main

import (
	"context"
	"log"
	"os"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/htmlreport"
)

const reader = `package store

import (
	"io/ioutil"
	"path"
)

// Read returns what is kept under a name. Like ioutil.ReadFile, it holds all of it.
func Read(dir, name string) ([]byte, error) {
	return ioutil.ReadFile(path.Join(dir, name))
}
`

func main() {
	ctx := context.Background()
	fsys := afero.NewMemMapFs()
	for name, text := range map[string]string{
		"store/read.go": reader,
		"docs/guide.md": "# Guide\n\nStart with `ioutil.ReadFile`; later `ioutil.ReadAll` will do.\n",
		"store/doc.go":  "// Package store keeps things.\npackage store\n",
	} {
		if err := afero.WriteFile(fsys, name, []byte(text), 0o644); err != nil {
			log.Fatal(err)
		}
	}

	p := millrace.New("ioutil-to-os").
		Step("find", actions.Search{Pattern: `ioutil\.ReadFile`}).
		Step("calls", actions.Edit{OldText: "ioutil.ReadFile", NewText: "os.ReadFile"}).From("find").
		Step("imports", actions.Edit{Files: []string{"store/read.go"}, OldText: `"io/ioutil"`, NewText: `"os"`}).
		Step("guide", actions.Rename{Files: []string{"docs/guide.md"}, To: "README.md"}).
		Step("changes", actions.Create{Path: "CHANGES.md", Content: "# Changes\n\n- `ioutil` is not used any more.\n"}).
		MustBuild()
	plan, err := millrace.Executor{}.Plan(ctx, fsys, p)
	if err != nil {
		log.Fatal(err)
	}
	if err := htmlreport.Write(os.Stdout, plan, htmlreport.Options{Title: "From ioutil to os"}); err != nil {
		log.Fatal(err)
	}
}
