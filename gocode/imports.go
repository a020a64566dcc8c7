package gocode

import (
	"bytes"
	"context"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"strings"

	"golang.org/x/tools/go/ast/astutil"
	"golang.org/x/tools/imports"

	"github.com/millrace-go/millrace/actions"
)

// Imports adds the imports that Go files need, removes the unneeded ones, and formats the files, as goimports does. It
// only looks at the tree and at the standard library: it finds a package of another module only if a file of the tree
// already imports it. Names without a known package stay, with a warning.
type Imports struct {
	// Files are the files to work on. Files that are not Go are skipped. No files and no input_from means the Go files
	// that the run has changed so far.
	Files []string `json:"files,omitempty" doc:"Files to work on. Default: the Go files changed so far."`
	// OnError is for files that do not parse: "stop", the default, fails the step; "continue" leaves the file unchanged
	// with a warning.
	OnError string `json:"on_error,omitempty" enum:"stop,continue" doc:"Whether a file that does not parse fails the step (stop) or is left with a warning (continue). Default: stop."`
}

// Spec implements [actions.Action].
func (Imports) Spec() actions.Spec {
	const summary = "Add and remove the imports of Go files, and format them, as goimports does"
	return actions.Spec{Name: "go_imports", Summary: summary}
}

// Touches implements [actions.Toucher]: the step reads other files of the tree.
func (Imports) Touches() (reads, writes []string, known bool) { return nil, nil, false }

// Run implements [actions.Action].
func (i Imports) Run(ctx context.Context, c *actions.Call) (actions.Outcome, error) {
	// The files change one after the other, but the search uses the tree at the start of the step.
	index := newIndex(c)
	goOn := i.OnError == onErrorContinue
	files, err := goFiles(c)
	if err != nil {
		return actions.Outcome{}, err
	}
	needs := make(map[string]*imported, len(files))
	for _, name := range files {
		if err := ctx.Err(); err != nil {
			return actions.Outcome{}, err
		}
		real, err := c.FS.Resolve(name)
		if err != nil {
			return actions.Outcome{}, &actions.FileError{Path: name, Err: err}
		}
		old, err := c.ReadFile(name)
		if err != nil {
			return actions.Outcome{}, err
		}
		file, err := parseImports(old)
		if err != nil {
			continue // editEach reports it
		}
		if err := index.resolve(ctx, real, file); err != nil {
			return actions.Outcome{}, err
		}
		needs[real] = file
		if len(file.unknown) > 0 {
			c.Warnf("%s: no package is known for %s", name, strings.Join(file.unknown, ", "))
		}
	}
	return editEach(ctx, c, goOn, func(name string, old []byte) ([]byte, error) {
		file := needs[name]
		if file == nil {
			_, err := parser.ParseFile(token.NewFileSet(), "", old, parser.ParseComments|parser.SkipObjectResolution)
			return old, err
		}
		return file.rewritten()
	})
}

// imported is a file with its imports and its references.
type imported struct {
	old  []byte
	fset *token.FileSet
	file *ast.File
	refs references

	add     []newImport
	remove  []*ast.ImportSpec
	unknown []string // names without a known package
}

// newImport is an import to add. The name is "" if it follows from the path.
type newImport struct{ name, path string }

func parseImports(old []byte) (*imported, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", old, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	return &imported{old: old, fset: fset, file: file, refs: referencesOf(file)}, nil
}

// rewritten returns the text with the imports added and removed, formatted.
func (f *imported) rewritten() ([]byte, error) {
	text := f.old
	if len(f.add)+len(f.remove) > 0 {
		for _, spec := range f.remove {
			name := ""
			if spec.Name != nil {
				name = spec.Name.Name
			}
			astutil.DeleteNamedImport(f.fset, f.file, name, importPath(spec))
		}
		for _, n := range f.add {
			astutil.AddNamedImport(f.fset, f.file, n.name, n.path)
		}
		var b bytes.Buffer
		if err := format.Node(&b, f.fset, f.file); err != nil {
			return nil, err
		}
		text = b.Bytes()
	}
	return imports.Process("", text, &imports.Options{Comments: true, TabIndent: true, TabWidth: 8, FormatOnly: true})
}
