// Renamepackage renames a Go package with its directory and its imports, later undoes a part of the change, and shows
// the conflict if another person has edited a file in between.
//
//	go run ./examples/renamepackage
package main

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
)

var tree = map[string]string{
	"conf/conf.go":        "package conf\n\nvar Default = \"a\"\n",
	"conf/testdata/a.ini": "a=1\n",
	"cmd/main.go":         "package main\n\nimport \"example.com/app/conf\"\n\nfunc main() { println(conf.Default) }\n",
	"README.md":           "Package conf reads settings.\n\n\n\n\n\n\n\nIn version 1 it was called conf, too.\n",
}

func rename() millrace.Pipeline {
	return millrace.New("conf-to-config").
		Step("users", actions.Search{Pattern: `"example.com/app/conf"`, Mode: "literal", FileTypes: []string{".go"}}).
		Step("imports", actions.RegexTransform{Patterns: []actions.PatternEdit{
			{Pattern: `"example.com/app/conf"`, Replacement: `"example.com/app/config"`},
			{Pattern: `\bconf\.`, Replacement: "config."},
		}}).From("users").
		Step("clause",
			actions.Edit{Files: []string{"conf/conf.go"}, OldText: "package conf\n", NewText: "package config\n"}).
		Step("prose", actions.Edit{Files: []string{"README.md"}, OldText: `\bconf\b`, NewText: "config", Mode: "regex"}).
		Step("move", actions.Rename{Files: []string{"conf"}, To: "config"}). // with its content
		MustBuild()
}

func main() {
	if err := run(context.Background(), afero.NewMemMapFs()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, fsys afero.Fs) error {
	for name, text := range tree {
		if err := afero.WriteFile(fsys, name, []byte(text), 0o644); err != nil {
			return err
		}
	}
	var x millrace.Executor
	res, err := x.Run(ctx, fsys, rename())
	if err != nil {
		return err
	}
	fmt.Println(res)
	for _, f := range res.FilesChanged.Renamed {
		fmt.Println(" ", f.From, "->", f.To)
	}

	// Another person edits a file. Undoing everything would lose that edit, so the restore is refused, and nothing is
	// written.
	if err := afero.WriteFile(fsys, "config/conf.go", []byte("package config\n\nvar Default = \"b\"\n"),
		0o644); err != nil {
		return err
	}
	_, err = x.Restore(ctx, fsys, res.BackupID)
	if conflict, ok := errors.AsType[*millrace.ConflictError](err); ok {
		fmt.Println("\nrestore:", conflict)
	}

	// A sentence of the README was about the past. Only its change is undone.
	undo, err := x.PlanRestore(ctx, fsys, res.BackupID)
	if err != nil {
		return err
	}
	for _, paths := range []string{"conf", "cmd"} {
		if undo, err = undo.Reject(paths); err != nil {
			return err
		}
	}
	if undo, err = undo.RejectHunks("README.md", 0); err != nil {
		return err
	}
	fmt.Printf("\n%s", undo.Diff())
	if res, err = undo.Commit(ctx); err != nil {
		return err
	}
	fmt.Println(res.FilesChanged.Modified, res.Commit.State)
	return nil
}
