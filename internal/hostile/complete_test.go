package hostile_test

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

// TestComplete compares the table of docs/hostile.md with the tests here and in internal/torture, in both directions.
func TestComplete(t *testing.T) {
	t.Parallel()
	tests := make(map[string]string) // by name, the file of the test
	for _, dir := range []string{".", "../torture"} {
		files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			syntax, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, decl := range syntax.Decls {
				if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "TestHostile_") {
					tests[fn.Name.Name] = file
				}
			}
		}
	}
	page, err := os.ReadFile("../../docs/hostile.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := make(map[string]bool)
	for _, row := range regexp.MustCompile("(?m)^\\| (.+) \\| `(TestHostile_\\w+)` \\|$").FindAllStringSubmatch(string(page), -1) {
		name := row[2]
		switch {
		case listed[name]:
			t.Errorf("docs/hostile.md lists %s twice", name)
		case tests[name] == "":
			t.Errorf("docs/hostile.md lists %s (%s), which does not exist", name, row[1])
		}
		listed[name] = true
	}
	for name, file := range tests {
		if !listed[name] {
			t.Errorf("docs/hostile.md has no line for %s in %s: describe the attack there", name, file)
		}
	}
	if rows := strings.Count(string(page), "TestHostile_") - 1; rows != len(listed) {
		t.Errorf("%d lines of docs/hostile.md name a test, %d have the form of a row", rows, len(listed))
	}
	for name := range tests {
		if strings.ContainsFunc(strings.TrimPrefix(name, "TestHostile_")[:1], func(r rune) bool { return r < 'a' || r > 'z' }) {
			t.Errorf("%s: the name does not begin with a word in lower case", name)
		}
	}
}
