package millracetest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Each function that gets a test is in the table of docs/testing.md, with tests in which it fails.
func TestMistakesArePlanted(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "testing.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := make(map[string][]string)
	for _, row := range regexp.MustCompile("(?m)^\\| `([A-Z]\\w*)` \\| (`Test.*`) \\|$").FindAllStringSubmatch(string(page), -1) {
		rows[row[1]] = strings.Split(strings.ReplaceAll(row[2], "`", ""), ", ")
	}
	judges, failing := functions(t)
	for name := range judges {
		if len(rows[name]) == 0 {
			t.Errorf("docs/testing.md has no test with a planted mistake for %s", name)
		}
	}
	for name, tests := range rows {
		if !judges[name] {
			t.Errorf("docs/testing.md names %s, which is not a function that gets a test", name)
		}
		for _, test := range tests {
			if !failing[test] {
				t.Errorf("docs/testing.md names %s for %s, which does not call fails", test, name)
			}
		}
	}
}

// functions returns the exported functions that get a test, and the tests that call fails.
func functions(t *testing.T) (judges, failing map[string]bool) {
	t.Helper()
	judges, failing = make(map[string]bool), make(map[string]bool)
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil || !f.Name.IsExported() {
				continue
			}
			if strings.HasSuffix(name, "_test.go") {
				failing[f.Name.Name] = calls(f.Body, "fails")
			} else if params := f.Type.Params.List; len(params) > 0 && len(params[0].Names) > 0 {
				judges[f.Name.Name] = params[0].Names[0].Name == "t"
			}
		}
	}
	for name, judge := range judges {
		if !judge {
			delete(judges, name)
		}
	}
	return judges, failing
}

// calls reports whether a body calls a function of this package.
func calls(body *ast.BlockStmt, function string) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			id, ok := call.Fun.(*ast.Ident)
			found = found || ok && id.Name == function
		}
		return true
	})
	return found
}
