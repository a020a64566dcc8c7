package hostile_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

const (
	cases    = 109  // how many hostile cases there are
	allCases = true // that one is missing is an error
)

// TestComplete finds a test for each numbered case, here or in internal/torture, by its name. Newer cases are named by words
// alone.
func TestComplete(t *testing.T) {
	t.Parallel()
	found := make(map[string]bool)
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
				fn, ok := decl.(*ast.FuncDecl)
				if !ok || fn.Recv != nil {
					continue
				}
				name, ok := strings.CutPrefix(fn.Name.Name, "TestHostile_")
				if !ok {
					continue
				}
				for _, number := range numbersOf(name) {
					found[number] = true
				}
			}
		}
	}
	var missing []string
	for n := 1; n <= cases; n++ {
		if number := fmt.Sprintf("%03d", n); !found[number] {
			missing = append(missing, number)
		}
	}
	if len(found)+len(missing) != cases {
		t.Errorf("%d numbers are used, %d missing, of %d", len(found), len(missing), cases)
	}
	switch {
	case len(missing) > 0 && !allCases:
		t.Skipf("%d cases have no test yet: %s", len(missing), strings.Join(missing, " "))
	case len(missing) > 0:
		t.Errorf("cases without a test: %s", strings.Join(missing, " "))
	}
}

// numbersOf returns the numbers that a name begins with, of which one test may have several: 071_072_words.
func numbersOf(name string) []string {
	var numbers []string
	for {
		number, rest, ok := strings.Cut(name, "_")
		if !ok || len(number) != 3 || strings.Trim(number, "0123456789") != "" {
			return numbers
		}
		numbers, name = append(numbers, number), rest
	}
}
