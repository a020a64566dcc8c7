package archtest

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// The documentation of fsutil fits on three screens: the number of names is bounded, and a stage has only these
// methods.
func TestFace(t *testing.T) {
	t.Parallel()
	const mostNames = 37
	methods := strings.Fields(`Changes Chmod Chown Chtimes Close Copy Create Edit LstatIfPossible Mkdir MkdirAll Name Open OpenFile
		ReadFile ReadlinkIfPossible Remove RemoveAll Rename Resolve Rollback Savepoint Stat SymlinkIfPossible Version`)
	var names, found []string
	add := func(ids ...*ast.Ident) {
		for _, id := range ids {
			if id.IsExported() {
				names = append(names, id.Name)
			}
		}
	}
	_, files := sources(t)
	for _, f := range files {
		if f.dir() != "fsutil" || f.isTest() {
			continue
		}
		for _, decl := range f.syntax.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					add(d.Name)
				} else if receiver(d) == "Stage" && d.Name.IsExported() {
					found = append(found, d.Name.Name)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch s := spec.(type) {
					case *ast.TypeSpec:
						add(s.Name)
					case *ast.ValueSpec:
						add(s.Names...)
					}
				}
			}
		}
	}
	if len(names) > mostNames || len(names) == 0 {
		t.Errorf("fsutil has %d names, at most %d are allowed: %q", len(names), mostNames, names)
	}
	slices.Sort(found)
	if !slices.Equal(found, methods) {
		t.Errorf("fsutil.Stage has the methods %q, want %q", found, methods)
	}
}

// receiver returns the name of the type of a method.
func receiver(d *ast.FuncDecl) string {
	typ := d.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	id, _ := typ.(*ast.Ident)
	if id == nil {
		return ""
	}
	return id.Name
}

// json.Marshal of an error type without MarshalJSON returns its fields without the message, or {}.
func TestErrorsHaveJSON(t *testing.T) {
	t.Parallel()
	_, files := sources(t)
	has := map[string]map[string]bool{"Error": {}, "MarshalJSON": {}}
	for _, f := range files {
		if f.isTest() || strings.HasPrefix(f.dir(), "internal") || strings.HasPrefix(f.dir(), "examples") {
			continue
		}
		for _, decl := range f.syntax.Decls {
			if d, ok := decl.(*ast.FuncDecl); ok && d.Recv != nil && has[d.Name.Name] != nil && ast.IsExported(receiver(d)) {
				has[d.Name.Name][f.dir()+"."+receiver(d)] = true
			}
		}
	}
	if len(has["Error"]) < 20 {
		t.Errorf("only %d error types were found", len(has["Error"]))
	}
	for name := range has["Error"] {
		if !has["MarshalJSON"][name] {
			t.Errorf("%s has no MarshalJSON, see internal/errorform", name)
		}
	}
}
