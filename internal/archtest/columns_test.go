package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// maxColumns is the most characters of a line. A tab counts as one.
const maxColumns = 120

// wideLines is the number of wider lines in the product: long messages, and comments with a line that cannot be broken.
// It only falls. A struct tag, a text in backquotes and a row of a table may be wider: they cannot be broken, or are
// easier to read in a single line.
const wideLines = 17

func TestColumns(t *testing.T) {
	t.Parallel()
	fset, files := sources(t)
	var wide []string
	for _, f := range files {
		if f.isTest() || len(f.wide) == 0 {
			continue
		}
		free := unbreakable(fset, f.syntax)
		for _, line := range f.wide {
			if !free[line] {
				wide = append(wide, fmt.Sprintf("%s:%d", f.name, line))
			}
		}
	}
	switch n := len(wide); {
	case n > wideLines:
		t.Errorf("%d lines are wider than %d columns, at most %d may be: break yours\n%s", n, maxColumns, wideLines,
			strings.Join(wide, "\n"))
	case n < wideLines:
		t.Errorf("%d lines are wider than %d columns: lower wideLines", n, maxColumns)
	}
}

// TestMarkdownColumns: no line of a page is wider than maxColumns, except in tables, code blocks and headings. cli.md
// is left out, because it is generated from the help.
func TestMarkdownColumns(t *testing.T) {
	t.Parallel()
	page, code := "", false
	eachLine(t, func(name string, n int, line string) {
		if filepath.Ext(name) != ".md" || filepath.Base(name) == "cli.md" {
			return
		}
		if name != page {
			page, code = name, false
		}
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			code = !code
		}
		free := code || strings.HasPrefix(line, "|") || strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "#")
		if !free && utf8.RuneCountInString(line) > maxColumns && strings.Contains(strings.TrimSpace(line), " ") {
			t.Errorf("%s:%d is wider than %d columns: break it", name, n, maxColumns)
		}
	})
}

// unbreakable returns the lines of texts in backquotes, and the first lines of rows of tables.
func unbreakable(fset *token.FileSet, f *ast.File) map[int]bool {
	lines := make(map[int]bool)
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if strings.HasPrefix(n.Value, "`") {
				for line := fset.Position(n.Pos()).Line; line <= fset.Position(n.End()).Line; line++ {
					lines[line] = true
				}
			}
		case *ast.CompositeLit:
			for _, row := range n.Elts {
				if lit, ok := row.(*ast.CompositeLit); ok && lit.Type == nil {
					lines[fset.Position(lit.Pos()).Line] = true
				}
			}
		}
		return true
	})
	return lines
}
