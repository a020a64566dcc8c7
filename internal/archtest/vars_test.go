package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// constructors are functions whose results never change.
var constructors = []string{
	"errors.New", "errorform.New", "fmt.Errorf", "worded.Errorf", "regexp.MustCompile", "strings.NewReplacer",
	"reflect.TypeFor", "crc32.MakeTable", "sync.OnceValue",
}

// variables returns the wrong package variables of a package: variables that are not an error, a compiled expression or
// a table, and variables that are written to.
func variables(fset *token.FileSet, files []file) []string {
	var wrong []string
	fixed := make(map[string]bool)
	for _, f := range files {
		for _, decl := range f.syntax.Decls {
			gen, ok := decl.(*ast.GenDecl)
			if !ok || gen.Tok != token.VAR {
				continue
			}
			for _, spec := range gen.Specs {
				spec := spec.(*ast.ValueSpec)
				for i, name := range spec.Names {
					var value ast.Expr
					if i < len(spec.Values) {
						value = spec.Values[i]
					}
					if why := variable(name.Name, value, spec, gen); why != "" {
						wrong = append(wrong, f.at(fset, name)+": "+name.Name+" "+why)
					}
					fixed[name.Name] = !pool(spec.Type, value)
				}
			}
		}
	}
	delete(fixed, "_")
	for _, f := range files {
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			for _, target := range written(n) {
				if fixed[target.Name] {
					wrong = append(wrong, f.at(fset, target)+": package variable "+target.Name+
						" is written to (or a local variable of that name is: rename it)")
				}
			}
			return true
		})
	}
	return wrong
}

// variable returns the reason why a package variable is refused, or "".
func variable(name string, value ast.Expr, spec *ast.ValueSpec, gen *ast.GenDecl) string {
	isError := strings.HasPrefix(name, "Err") || strings.HasPrefix(name, "err")
	switch v := value.(type) {
	case nil:
		if name == "_" || pool(spec.Type, nil) || embedded(spec.Doc) || embedded(gen.Doc) {
			return ""
		}
	case *ast.CallExpr:
		fun := v.Fun
		if index, ok := fun.(*ast.IndexExpr); ok { // reflect.TypeFor[T]
			fun = index.X
		}
		switch called := text(fun); {
		case name == "_":
			return ""
		case (called == "errors.New" || called == "errorform.New" || called == "worded.Errorf") && !isError:
			return "is an error, so its name begins with Err or err"
		case slices.Contains(constructors, called):
			return ""
		}
		if _, ok := fun.(*ast.ArrayType); ok && !ast.IsExported(name) { // []byte("...")
			return ""
		}
	case *ast.CompositeLit:
		switch {
		case name == "_", pool(nil, v):
			return ""
		case ast.IsExported(name):
			return "is a table that anybody can write to; return it from a function"
		}
		return ""
	case *ast.SelectorExpr:
		if isError || name == "_" {
			return "" // another name for an error of an imported package
		}
	default:
		if name == "_" {
			return ""
		}
	}
	return "is a package variable that can change"
}

// pool reports whether a variable is a sync.Pool, whose state has no effect on results.
func pool(typ, value ast.Expr) bool {
	if lit, ok := value.(*ast.CompositeLit); ok {
		typ = lit.Type
	}
	return typ != nil && text(typ) == "sync.Pool"
}

func embedded(doc *ast.CommentGroup) bool {
	return doc != nil && slices.ContainsFunc(doc.List, func(c *ast.Comment) bool { return strings.HasPrefix(c.Text, "//go:embed ") })
}

// written returns the variables that a statement or expression writes to, or could write to through a pointer.
func written(n ast.Node) []*ast.Ident {
	var targets []ast.Expr
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			targets = n.Lhs
		}
	case *ast.IncDecStmt:
		targets = []ast.Expr{n.X}
	case *ast.RangeStmt:
		if n.Tok == token.ASSIGN {
			targets = []ast.Expr{n.Key, n.Value}
		}
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			targets = []ast.Expr{n.X}
		}
	case *ast.CallExpr:
		if len(n.Args) > 0 && slices.Contains([]string{"delete", "clear", "copy"}, text(n.Fun)) {
			targets = n.Args[:1]
		}
	}
	var idents []*ast.Ident
	for _, target := range targets {
		if ident := rootOf(target); ident != nil {
			idents = append(idents, ident)
		}
	}
	return idents
}

// rootOf returns x for x, x.y, x[i], x[i:j], *x and (x).
func rootOf(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return nil
		}
	}
}

// text returns a name such as errors.New as text.
func text(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return text(e.X) + "." + e.Sel.Name
	}
	return ""
}

func TestVariables(t *testing.T) {
	t.Parallel()
	fset, files := sources(t)
	packages := make(map[string][]file)
	for _, f := range files {
		if !f.isTest() {
			packages[f.dir()] = append(packages[f.dir()], f)
		}
	}
	for _, files := range packages {
		for _, wrong := range variables(fset, files) {
			t.Error(wrong)
		}
	}
}

// The check itself must find wrong variables.
func TestVariablesCheck(t *testing.T) {
	t.Parallel()
	tests := []struct {
		source string
		wrong  int
	}{
		{`var ErrA, errB = errors.New("a"), fmt.Errorf("b")`, 0},
		{`var _ I = T{}; var _ I = (*T)(nil); var _ I = &T{}; var _ I`, 0},
		{`var re = regexp.MustCompile("a"); var typ = reflect.TypeFor[int]()`, 0},
		{"//go:embed x\nvar data string", 0},
		{`var table = map[string]bool{"a": true}; var bom = []byte("x"); var list = [...]int{1}`, 0},
		{`var buffers sync.Pool; var more = sync.Pool{New: f}; func g() { p := &buffers; more.New = nil }`, 0},
		{`var ErrA = other.ErrB`, 0},
		{`var table = map[string]bool{}; func f() { table := map[string]bool{}; _ = table }`, 0},

		{`var count int`, 1},
		{`var debug = false`, 1},
		{`var now = time.Now`, 1},
		{`var started = time.Now()`, 1},
		{`var shared = &T{}`, 1},
		{`var failure = errors.New("a")`, 1},
		{`var Table = map[string]bool{}`, 1},
		{`var mu sync.Mutex`, 1},
		{`var table = map[string]bool{}; func f() { table["a"] = true }`, 1},
		{`var table = map[string]bool{}; func f() { table = nil }`, 1},
		{`var table = map[string]bool{}; func f() { delete(table, "a"); clear(table) }`, 2},
		{`var list = []int{1}; func f() { list[0]++; list[0], x = 1, 2; (list)[0] += 2 }`, 3},
		{`var list = []T{}; func f() { list[0].x = 1; p := &list[0]; for list[0].y = range 3 {} }`, 3},
		{`var ErrA = errors.New("a"); func f() { ErrA = nil; copy(list[1:], x) }; var list = []int{}`, 2},
	}
	for _, tt := range tests {
		fset := token.NewFileSet()
		syntax, err := parser.ParseFile(fset, "a.go", "package a\n"+tt.source, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if got := variables(fset, []file{{name: "a.go", syntax: syntax}}); len(got) != tt.wrong {
			t.Errorf("%s\n\t%d problems, want %d: %q", tt.source, len(got), tt.wrong, got)
		}
	}
}
