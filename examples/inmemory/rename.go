// Package inmemory shows how to test a pipeline without a disk: a program runs the pipeline on a real tree, and its
// unit test runs it on a file system in memory.
package inmemory

import (
	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
)

// RenamePackage returns the pipeline that renames a Go package: its clause, its imports, and its files.
func RenamePackage(oldPath, newPath, oldName, newName string) (millrace.Pipeline, error) {
	goFiles := []string{".go"}
	return millrace.New("rename-package").
		Step("clauses", actions.Search{Path: oldPath, Pattern: `(?m)^package ` + oldName + `$`, Mode: "regex", FileTypes: goFiles}).
		Step("rename-clauses", actions.RegexTransform{Patterns: []actions.PatternEdit{
			{Pattern: `(?m)^package ` + oldName + `$`, Replacement: "package " + newName},
		}}).From("clauses").
		Step("users", actions.Search{Pattern: `"example.com/` + oldPath + `"`, Mode: "literal", FileTypes: goFiles}).
		Step("rename-users", actions.MultiEdit{Edits: []actions.TextEdit{
			{OldText: `"example.com/` + oldPath + `"`, NewText: `"example.com/` + newPath + `"`},
			{OldText: oldName + ".", NewText: newName + "."},
		}}).From("users").
		Step("move", actions.Rename{Destination: newPath, Base: oldPath, PreservePaths: true}).From("clauses").
		Build()
}
