package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// distances are names of functions that find how far two words are apart.
var distances = regexp.MustCompile(`(?i)^(edit|word)?_?distance$|levenshtein|damerau`)

// secondDistances returns the functions of a file that find how far two words are apart.
func secondDistances(file *ast.File) (names []string) {
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && distances.MatchString(f.Name.Name) {
			names = append(names, f.Name.Name)
		}
	}
	return names
}

// One function finds the word that was meant, for all modules. A second one would soon answer differently: packages of the
// root call internal/nearest, other modules call Nearest of package actions.
func TestOneDistance(t *testing.T) {
	t.Parallel()
	root, found := filepath.Join("..", ".."), 0
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if base := d.Name(); base == "testdata" || base[0] == '_' || base[0] == '.' && name != root {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, second := range secondDistances(file) {
			if found++; filepath.Base(filepath.Dir(name)) != "nearest" {
				t.Errorf("%s has %s: use internal/nearest", name, second)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found == 0 {
		t.Error("internal/nearest has no such function, so this test finds none")
	}
}
