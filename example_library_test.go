package millrace_test

import (
	"context"
	"fmt"
	"log"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/suite"
)

// The pipelines of a project replace pipelines of the user.
func ExampleLibrary() {
	ctx := context.Background()
	project := suite.Tree("pipelines/fix.json", `{"steps": [{"id": "find", "action": "search", "params": {"pattern": "x"}}]}`)
	home := suite.Tree(".config/pipelines/fix.json", "{}", ".config/pipelines/old.json", "{}")
	l := millrace.Library{Dirs: []millrace.LibraryDir{
		{Name: "project", FS: project, Path: "pipelines"},
		{Name: "user", FS: home, Path: ".config/pipelines"},
	}}
	p, err := l.Load(ctx, "fix")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p.Name(), p.Len())
	_, err = l.Load(ctx, "fixx")
	fmt.Println(err)
	entries, err := l.List(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range entries {
		fmt.Println(e.Name, e.Dir, e.Shadowed, e.Err == nil)
	}
	// Output:
	// fix 1
	// no pipeline 'fixx' in project, user: did you mean 'fix'?
	// fix project false true
	// fix user true false
	// old user false false
}

// A pipeline can be part of another pipeline. Its steps get a prefix, and so do their references to each other.
func ExampleBuilder_Include() {
	rename := millrace.New("rename").
		Step("find", actions.Search{Pattern: "old"}).
		Step("edit", actions.Edit{OldText: "old", NewText: "new"}).From("find").
		MustBuild()
	p := millrace.New("rename and note").
		Include(rename, "code").
		Step("note", actions.Create{Path: "NOTE", Content: "{{code-edit.edits}} edits in {{code-find.files}}\n"}).
		When(condition.StepSucceeded("code-edit")).
		MustBuild()
	fsys := suite.Tree("a.go", "old", "b.go", "old old")
	if _, err := millrace.Run(context.Background(), fsys, p); err != nil {
		log.Fatal(err)
	}
	data, _ := afero.ReadFile(fsys, "NOTE")
	fmt.Printf("%s", data)
	// Output: 3 edits in a.go,b.go
}
