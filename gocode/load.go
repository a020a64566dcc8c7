package gocode

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/millrace-go/millrace/actions"
)

// tree has the packages of a tree, parsed and with their types. Their dependencies have no function bodies.
type tree struct {
	root  string // of the copy of the tree
	fset  *token.FileSet
	texts map[string][]byte // of the files that were parsed with comments, by name in the copy
	// generated has the names, in the copy, of the generated files in texts.
	generated map[string]bool
	all       map[string]*packages.Package
	// roots are the packages to work on, with their tests; no file is in two of them.
	roots []*packages.Package
	// listed is the output of "go list" for each package.
	listed map[*packages.Package]*listed
}

// load lists the packages of a directory in the workspace and checks their types.
func load(ctx context.Context, c *actions.Call, w *actions.Workspace, dir string, patterns []string) (*tree, error) {
	for _, p := range patterns {
		if badPackage(p) {
			return nil, actions.Permanent(fmt.Errorf("'%s' is not a pattern of packages: write ./... or ./dir", p))
		}
	}
	list, err := list(ctx, c, w, dir, patterns)
	if err != nil {
		return nil, err
	}
	root, err := filepath.EvalSymlinks(w.Root)
	if err != nil {
		return nil, err
	}
	t := &tree{
		root: root, fset: token.NewFileSet(), texts: map[string][]byte{}, generated: map[string]bool{},
		all: map[string]*packages.Package{}, listed: map[*packages.Package]*listed{},
	}
	work := targets(list)
	for _, p := range list {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if p.ImportPath == "unsafe" {
			t.all["unsafe"] = &packages.Package{
				ID: "unsafe", PkgPath: "unsafe", Name: "unsafe", Types: types.Unsafe, Fset: t.fset,
			}
			continue
		}
		pkg, err := t.check(p, work[p.ImportPath])
		if err != nil {
			return nil, err
		}
		t.all[p.ImportPath], t.listed[pkg] = pkg, p
		if work[p.ImportPath] {
			t.roots = append(t.roots, pkg)
		}
	}
	if len(t.roots) == 0 {
		return nil, actions.Permanent(noPackages(list, dir, root))
	}
	return t, nil
}

// noPackages returns the reason why no package was found.
func noPackages(list []*listed, dir, root string) error {
	for _, p := range list {
		if p.Error != nil {
			return errors.New(inTree(p.Error.Err, root))
		}
	}
	return fmt.Errorf("there are no Go packages in '%s'", dir)
}

// inTree returns a message of the go command with names in the tree in place of names in the copy.
func inTree(message, root string) string {
	return strings.ReplaceAll(strings.TrimSpace(message), root+string(filepath.Separator), "")
}

// targets returns the packages to work on: the requested ones. A package with internal tests is worked on once, in the
// variant with its tests.
func targets(list []*listed) map[string]bool {
	asked := make(map[string]bool)
	for _, p := range list {
		if !p.DepOnly && p.ForTest == "" {
			asked[p.ImportPath] = true
		}
	}
	work := make(map[string]bool)
	for _, p := range list {
		switch {
		case p.ForTest == "":
			work[p.ImportPath] = asked[p.ImportPath] && len(p.GoFiles)+len(p.CgoFiles) > 0 // not if it has only tests
		case asked[p.ForTest] && p.path() == p.ForTest:
			work[p.ImportPath] = true
		case asked[p.ForTest] && p.path() == p.ForTest+"_test":
			work[p.ImportPath] = true
		}
	}
	for _, p := range list { // a variant may come before its package
		if p.ForTest != "" && p.path() == p.ForTest && work[p.ImportPath] {
			work[p.ForTest] = false
		}
	}
	return work
}

// check parses a package and checks its types. Function bodies count if the package is one to work on, or has functions
// to inline into callers.
func (t *tree) check(p *listed, work bool) (*packages.Package, error) {
	pkg := &packages.Package{
		ID: p.ImportPath, PkgPath: p.path(), Name: p.Name, Dir: p.Dir, Fset: t.fset, ForTest: p.ForTest,
		TypesSizes: types.SizesFor("gc", runtime.GOARCH), Imports: map[string]*packages.Package{},
	}
	whole := work
	var texts [][]byte
	for _, name := range append(append([]string(nil), p.GoFiles...), p.CgoFiles...) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(p.Dir, name)
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		pkg.GoFiles = append(pkg.GoFiles, name)
		texts = append(texts, data)
		whole = whole || bytes.Contains(data, []byte("//go:fix inline"))
	}
	pkg.CompiledGoFiles = pkg.GoFiles
	t.parse(pkg, texts, whole)
	config := types.Config{
		Importer: importer{t, p, pkg}, FakeImportC: true, IgnoreFuncBodies: !whole, Sizes: pkg.TypesSizes,
		Error: func(err error) {
			if e, ok := errors.AsType[types.Error](err); ok && whole && !e.Soft {
				pkg.TypeErrors = append(pkg.TypeErrors, e)
			}
		},
	}
	if m := p.Module; m != nil {
		pkg.Module = &packages.Module{Path: m.Path, Version: m.Version, GoVersion: m.GoVersion}
		config.GoVersion = goVersion(pkg)
	}
	if whole {
		pkg.TypesInfo = newInfo()
	}
	pkg.Types, _ = config.Check(pkg.PkgPath, t.fset, pkg.Syntax, pkg.TypesInfo) // errors were collected
	pkg.IllTyped = len(pkg.TypeErrors)+len(pkg.Errors) > 0
	return pkg, nil
}

// parse parses the files of a package.
func (t *tree) parse(pkg *packages.Package, texts [][]byte, whole bool) {
	mode := parser.SkipObjectResolution
	if whole {
		mode |= parser.ParseComments
	}
	for i, name := range pkg.GoFiles {
		file, err := parser.ParseFile(t.fset, name, texts[i], mode)
		if err != nil && whole {
			message := t.named(name) + ":" + syntaxError(err).Error()
			pkg.Errors = append(pkg.Errors, packages.Error{Msg: message, Kind: packages.ParseError})
		}
		if file != nil {
			pkg.Syntax = append(pkg.Syntax, file)
		}
		if whole {
			t.generated[name] = file != nil && ast.IsGenerated(file)
			t.texts[name] = texts[i]
		}
	}
}

func newInfo() *types.Info {
	return &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{},
		Uses: map[*ast.Ident]types.Object{}, Implicits: map[ast.Node]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}, Scopes: map[ast.Node]*types.Scope{},
		Instances: map[*ast.Ident]types.Instance{}, FileVersions: map[*ast.File]string{},
	}
}

// importer finds the imports of a package.
type importer struct {
	t   *tree
	of  *listed
	pkg *packages.Package
}

// Import implements [types.Importer].
func (i importer) Import(path string) (*types.Package, error) {
	id := path
	if mapped, ok := i.of.ImportMap[path]; ok {
		id = mapped
	}
	found := i.t.all[id]
	if found == nil || found.Types == nil {
		return nil, fmt.Errorf("package %s is not there", path)
	}
	// Analyzers see the packages that were checked completely, and get facts from them.
	if found.TypesInfo != nil {
		i.pkg.Imports[path] = found
	}
	return found.Types, nil
}

// named returns the name in the tree for a file of the copy.
func (t *tree) named(file string) string {
	rel, err := filepath.Rel(t.root, file)
	if err != nil {
		return file
	}
	return filepath.ToSlash(rel)
}

// place is a position in a file of the tree.
type place struct {
	file         string // in the tree
	line, column int
}

func (t *tree) place(pos token.Pos) place {
	p := t.fset.PositionFor(pos, false)
	return place{t.named(p.Filename), p.Line, p.Column}
}

// problems returns the reason why the types of a package are not reliable, "" if they are.
func (t *tree) problems(pkg *packages.Package) string {
	switch {
	case len(pkg.Errors) > 0:
		return pkg.Errors[0].Msg
	case len(pkg.TypeErrors) > 0:
		e := pkg.TypeErrors[0]
		at := t.place(e.Pos)
		return fmt.Sprintf("%s:%d:%d: %s", at.file, at.line, at.column, e.Msg)
	}
	return ""
}
