package archtest

import (
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// words returns the words of a list in .ci/run, a variable with parentheses.
func words(t *testing.T, script, name string) []string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^` + name + `=\(([^)]*)\)`).FindStringSubmatch(script)
	if found == nil {
		t.Fatalf(".ci/run has no list %s", name)
	}
	return strings.Fields(found[1])
}

// hasTarget reports whether the tests of a nested module, right below the root, have the target "directory.function".
func hasTarget(t *testing.T, target string) bool {
	t.Helper()
	dir, name, _ := strings.Cut(target, ".")
	if _, err := os.Stat(filepath.Join("..", "..", dir, "go.mod")); err != nil {
		return false
	}
	files, err := filepath.Glob(filepath.Join("..", "..", dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(data), "\nfunc "+name+"(") {
			return true
		}
	}
	return false
}

// Names in .ci/run must exist. Otherwise a moved fuzz target or package would silently be tested less.
func TestNamesInCI(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join("..", "..", ".ci", "run"))
	if err != nil {
		t.Fatal(err)
	}
	script := string(data)
	_, files := sources(t)
	dirs, targets := make(map[string]bool), make(map[string]bool)
	for _, f := range files {
		dirs[f.dir()] = true
		if !f.isTest() {
			continue
		}
		pkg := path.Base(f.dir())
		if f.dir() == "." {
			pkg = path.Base(module)
		}
		for _, decl := range f.syntax.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil {
				targets[pkg+"."+fn.Name.Name] = true
			}
		}
	}
	for _, target := range words(t, script, "STRANGERS") {
		if !targets[target] && !hasTarget(t, target) {
			t.Errorf("there is no fuzz target %s", target)
		}
	}
	for _, dir := range append(words(t, script, "COVERED"), words(t, script, "COVERING")...) {
		if !dirs[path.Clean(dir)] {
			t.Errorf("there is no package %s", dir)
		}
	}
	for _, test := range regexp.MustCompile(`-run '\^(Test\w+)\$' \./([\w/]+)`).FindAllStringSubmatch(script, -1) {
		if !targets[path.Base(test[2])+"."+test[1]] {
			t.Errorf("there is no test %s in %s", test[1], test[2])
		}
	}
}
