package archtest

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/api.txt")

// publicModules are the nested modules with packages that programs import.
var publicModules = []string{"gocode", "mcpserver", "otel", "temporal", "yamlform"}

// Importers depend on each exported name. The list in testdata/api.txt shows a reviewer how a change alters the names.
func TestAPI(t *testing.T) {
	t.Parallel()
	_, files := sources(t)
	for _, dir := range publicModules {
		files = append(files, moduleFiles(t, dir)...)
	}
	api := slices.Sorted(maps.Keys(exported(files)))
	name := filepath.Join("testdata", "api.txt")
	if *update {
		if err := os.WriteFile(name, []byte(strings.Join(api, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	before := strings.Split(strings.TrimSuffix(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n"), "\n")
	changed := false
	for _, line := range before {
		if _, found := slices.BinarySearch(api, line); !found {
			t.Errorf("removed: %s", line)
			changed = true
		}
	}
	for _, line := range api {
		if !slices.Contains(before, line) {
			t.Errorf("added: %s", line)
			changed = true
		}
	}
	if changed {
		t.Error("the exported names have changed: a removed line needs a row in docs/upgrading.md. " +
			"Then run go test ./internal/archtest -run TestAPI -update")
	}
}

// Each exported name is a promise to importers. A change that removes names lowers the limits.
func TestAPISize(t *testing.T) {
	t.Parallel()
	const (
		mostNames      = 538  // package-level names of the root module
		mostMembers    = 2331 // names, fields and methods
		mostErrorTypes = 25   // types with a method Error
	)
	_, files := sources(t)
	api := exported(files)
	names, errors := 0, 0
	for line := range api {
		kind := strings.Fields(line)[1]
		if kind != "field" && kind != "method" {
			names++
		}
		if kind == "method" && strings.HasSuffix(line, ".Error() string") {
			errors++
		}
	}
	for _, count := range []struct {
		what       string
		have, most int
	}{
		{"exported names", names, mostNames}, {"exported names with fields and methods", len(api), mostMembers},
		{"error types", errors, mostErrorTypes},
	} {
		if count.have > count.most {
			t.Errorf("the module has %d %s, more than %d: unexport or remove a name that importers do not need",
				count.have, count.what, count.most)
		}
	}
}

// moduleFiles returns the files of a nested module, with names relative to the root of the repository.
func moduleFiles(t *testing.T, dir string) (files []file) {
	t.Helper()
	fset := token.NewFileSet()
	err := filepath.WalkDir(filepath.Join("..", "..", dir), func(name string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == "e2e") {
			return filepath.SkipDir
		}
		if d.IsDir() || filepath.Ext(name) != ".go" {
			return nil
		}
		syntax, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(filepath.Join("..", ".."), name)
		files = append(files, file{name: filepath.ToSlash(rel), syntax: syntax})
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has %d files, %v", dir, len(files), err)
	}
	return files
}

// exported returns a line for each exported name, field and method in packages that programs can import, on every
// system. A line has the package, the kind, the name and the type. It has no names of parameters and no values.
func exported(files []file) map[string]bool {
	api := make(map[string]bool)
	for _, f := range files {
		dirs := strings.Split(f.dir(), "/")
		if f.isTest() || f.syntax.Name.Name == "main" || slices.Contains(dirs, "internal") || dirs[0] == "examples" {
			continue
		}
		add := func(kind, name string, rest ...string) {
			api[strings.Join(append([]string{f.dir(), kind, name}, rest...), " ")] = true
		}
		for _, decl := range f.syntax.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				switch {
				case !d.Name.IsExported():
				case d.Recv == nil:
					add("func", d.Name.Name+signature(d.Type))
				case ast.IsExported(receiver(d)):
					add("method", receiver(d)+"."+d.Name.Name+signature(d.Type))
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					exportedSpec(d.Tok, spec, add)
				}
			}
		}
	}
	return api
}

// exportedSpec adds the lines of a constant, variable or type declaration.
func exportedSpec(kind token.Token, spec ast.Spec, add func(kind, name string, rest ...string)) {
	switch s := spec.(type) {
	case *ast.ValueSpec:
		for _, id := range s.Names {
			if id.IsExported() {
				add(kind.String(), id.Name)
			}
		}
	case *ast.TypeSpec:
		if !s.Name.IsExported() {
			return
		}
		switch typ := s.Type.(type) {
		case *ast.StructType:
			add("type", s.Name.Name, "struct")
			members(s.Name.Name, "field", typ.Fields, add)
		case *ast.InterfaceType:
			add("type", s.Name.Name, "interface")
			members(s.Name.Name, "method", typ.Methods, add)
		default:
			equals := ""
			if s.Assign.IsValid() {
				equals = "= "
			}
			add("type", s.Name.Name, equals+types.ExprString(s.Type))
		}
	}
}

// members adds the exported fields of a struct, or the methods of an interface. An embedded type counts by its name.
func members(of, kind string, list *ast.FieldList, add func(kind, name string, rest ...string)) {
	for _, field := range list.List {
		typ := types.ExprString(field.Type)
		if base := typ[strings.LastIndexAny(typ, "*.")+1:]; len(field.Names) == 0 && ast.IsExported(base) {
			add(kind, of+"."+typ, "embedded")
		}
		for _, id := range field.Names {
			switch fn, ok := field.Type.(*ast.FuncType); {
			case !id.IsExported():
			case ok && kind == "method":
				add(kind, of+"."+id.Name+signature(fn))
			default:
				add(kind, of+"."+id.Name, typ)
			}
		}
	}
}

// signature returns the types of parameters and results, without their names.
func signature(fn *ast.FuncType) string {
	list := func(fields *ast.FieldList) string {
		var all []string
		if fields != nil {
			for _, field := range fields.List {
				for range max(1, len(field.Names)) {
					all = append(all, types.ExprString(field.Type))
				}
			}
		}
		return strings.Join(all, ", ")
	}
	s := "(" + list(fn.Params) + ")"
	switch results := list(fn.Results); {
	case results == "":
		return s
	case strings.Contains(results, ", ") || strings.HasPrefix(results, "func"):
		return s + " (" + results + ")"
	default:
		return s + " " + results
	}
}
