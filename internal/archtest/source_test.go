package archtest

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
)

const (
	module   = "github.com/millrace-go/millrace"
	maxLines = 400
)

// file is a Go file of the module, for any system.
type file struct {
	name   string // relative to the root, with slashes
	lines  int
	wide   []int // the lines with more than maxColumns characters
	syntax *ast.File
}

func (f file) isTest() bool { return strings.HasSuffix(f.name, "_test.go") }

// dir returns the directory of the package relative to the root, "." for the root itself.
func (f file) dir() string { return path.Dir(f.name) }

// at returns the position of a node, for messages.
func (f file) at(fset *token.FileSet, n ast.Node) string {
	p := fset.Position(n.Pos())
	p.Filename = f.name
	return p.String()
}

// tree is a set of Go files, read once for all tests, which do not change it.
type tree struct {
	fset  *token.FileSet
	files []file
}

var (
	theTree  = sync.OnceValues(func() (tree, error) { return readTree(false) })
	allTrees = sync.OnceValues(func() (tree, error) { return readTree(true) })
)

// sources returns the files of the module.
func sources(t *testing.T) (*token.FileSet, []file) {
	t.Helper()
	m, err := theTree()
	if err != nil {
		t.Fatal(err)
	}
	if len(m.files) < 20 {
		t.Fatalf("only %d files found", len(m.files))
	}
	return m.fset, m.files
}

// products returns the files of all modules except tests.
func products(t *testing.T) (*token.FileSet, []file) {
	t.Helper()
	m, err := allTrees()
	if err != nil {
		t.Fatal(err)
	}
	files := slices.DeleteFunc(slices.Clone(m.files), file.isTest)
	for _, door := range doorModules {
		if !slices.ContainsFunc(files, func(f file) bool { return strings.HasPrefix(f.name, door+"/") }) {
			t.Fatalf("%s has no files", door)
		}
	}
	return m.fset, files
}

// readTree parses every Go file of the module, and of its nested modules if nested is true. Unlike go list, it includes
// files for other systems. testdata and directories that the go tool ignores are left out.
func readTree(nested bool) (tree, error) {
	fset, files := token.NewFileSet(), []file(nil)
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err == nil {
		_, err = os.Stat(filepath.Join(root, "go.mod")) // this package is two directories below the root
	}
	if err != nil {
		return tree{}, err
	}
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			base := d.Name()
			if name == root {
				return nil
			}
			if _, err := os.Stat(filepath.Join(name, "go.mod")); err == nil && !nested {
				return fs.SkipDir
			}
			if base == "testdata" || base[0] == '.' || base[0] == '_' {
				return fs.SkipDir
			}
			return nil
		}
		if filepath.Ext(name) != ".go" {
			return nil
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		syntax, err := parser.ParseFile(fset, name, data, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		var wide []int
		for i, line := range bytes.Split(data, []byte("\n")) {
			if utf8.RuneCount(line) > maxColumns {
				wide = append(wide, i+1)
			}
		}
		files = append(files, file{
			name: filepath.ToSlash(rel), lines: bytes.Count(data, []byte("\n")), wide: wide, syntax: syntax,
		})
		return nil
	})
	return tree{fset, files}, err
}

func TestFiles(t *testing.T) {
	t.Parallel()
	fset, files := sources(t)
	for _, f := range files {
		if f.lines > maxLines {
			t.Errorf("%s has %d lines, more than %d: split it by role", f.name, f.lines, maxLines)
		}
		name := strings.TrimSuffix(f.syntax.Name.Name, "_test")
		if slices.Contains([]string{"util", "utils", "common", "types", "pkg", "helpers", "misc", "base", "cmd"}, name) {
			t.Errorf("%s: the name of package %s does not describe its content", f.name, name)
		}
		for _, decl := range f.syntax.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				t.Errorf("%s: an init function runs without a call; make it a function that is called", f.at(fset, fn))
			}
		}
	}
}

// The root has the types of a caller, in few files: the work is done in internal packages. The tests of the root are in
// internal/suite, by subject. The root has the examples of go doc, the fuzz targets, and the table of fields and verbs.
func TestRootHasFewFiles(t *testing.T) {
	t.Parallel()
	const most, mostTests, mostLines = 30, 14, 350
	_, files := sources(t)
	n, tests := 0, 0
	for _, f := range files {
		switch {
		case f.dir() != ".":
		case f.isTest():
			tests++
		default:
			n++
			if f.lines > mostLines {
				t.Errorf("%s has %d lines, more than %d: move its work into a room", f.name, f.lines, mostLines)
			}
		}
	}
	if n > most || tests > mostTests {
		t.Errorf("the root has %d files and %d test files, more than %d and %d", n, tests, most, mostTests)
	}
}

// A package comment that is detached, usually by a blank line, shows as a missing package comment.
func TestPackageComments(t *testing.T) {
	t.Parallel()
	_, files := sources(t)
	comments := make(map[string]int)
	for _, f := range files {
		if f.isTest() {
			continue
		}
		comments[f.dir()] += 0
		if f.syntax.Doc == nil {
			continue
		}
		comments[f.dir()]++
		text := f.syntax.Doc.Text()
		if f.syntax.Name.Name != "main" && !strings.HasPrefix(text, "Package "+f.syntax.Name.Name+" ") {
			t.Errorf("%s: package comment begins with %.30q", f.name, text)
		}
	}
	for dir, n := range comments {
		if n != 1 {
			t.Errorf("package %s has %d package comments, want 1", dir, n)
		}
	}
}

// A user of the library reads about an exported name in go doc, so the name needs a comment.
func TestExportedNamesAreDocumented(t *testing.T) {
	t.Parallel()
	fset, files := sources(t)
	for _, f := range files {
		if f.isTest() || strings.HasPrefix(f.dir(), "internal/") || isExample(f.dir()) {
			continue
		}
		for _, decl := range f.syntax.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				if decl.Doc == nil && decl.Name.IsExported() && onExported(decl.Recv) {
					t.Errorf("%s: %s has no doc comment", f.at(fset, decl), decl.Name.Name)
				}
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					for _, name := range undocumented(spec) {
						if decl.Doc == nil {
							t.Errorf("%s: %s has no doc comment", f.at(fset, spec), name)
						}
					}
				}
			}
		}
	}
}

// undocumented returns the exported names of a declaration that have no comment.
func undocumented(spec ast.Spec) []string {
	var names []string
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		if spec.Name.IsExported() && spec.Doc == nil {
			names = append(names, spec.Name.Name)
		}
	case *ast.ValueSpec:
		for _, name := range spec.Names {
			if name.IsExported() && spec.Doc == nil && spec.Comment == nil {
				names = append(names, name.Name)
			}
		}
	}
	return names
}

// onExported reports whether a receiver has an exported type. It is nil for a function.
func onExported(recv *ast.FieldList) bool {
	if recv == nil {
		return true
	}
	expr := recv.List[0].Type
	if star, ok := expr.(*ast.StarExpr); ok {
		expr = star.X
	}
	if generic, ok := expr.(*ast.IndexExpr); ok {
		expr = generic.X
	}
	name, ok := expr.(*ast.Ident)
	return ok && name.IsExported()
}
