package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// TestRangesOverMapLiterals: the order of a loop over a map literal is random, and so is the order of the errors that
// it reports, or of the names that it makes. Examples and the suite for file systems may write their trees that way.
func TestRangesOverMapLiterals(t *testing.T) {
	t.Parallel()
	fset, files := sources(t)
	for _, f := range files {
		dir := f.dir()
		if f.isTest() || strings.HasPrefix(dir, "examples") || dir == "internal/fstest" {
			continue
		}
		for _, at := range rangesOverMapLiterals(f.syntax) {
			t.Errorf("%s: a loop over a map literal has no fixed order: write a slice", fset.Position(at))
		}
	}
}

func rangesOverMapLiterals(file *ast.File) (found []token.Pos) {
	ast.Inspect(file, func(n ast.Node) bool {
		loop, ok := n.(*ast.RangeStmt)
		if !ok {
			return true
		}
		literal, ok := loop.X.(*ast.CompositeLit)
		if !ok {
			return true
		}
		if _, ok := literal.Type.(*ast.MapType); ok {
			found = append(found, loop.Pos())
		}
		return true
	})
	return found
}

func TestRangesOverMapLiteralsCheck(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "a.go", `package a
func f() {
	for k, v := range map[string]int{"a": 1} { g(k, v) }
	for _, v := range []int{1} { g("", v) }
	for k, v := range table { g(k, v) }
}`, 0)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(rangesOverMapLiterals(file)); n != 1 {
		t.Errorf("%d loops found, want 1", n)
	}
}
