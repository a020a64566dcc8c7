package archtest

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// maxColumns is how many characters a line of Go has at most. A tab counts as one.
const maxColumns = 120

// narrow are the directories whose product files have no wider line. A directory joins when its last one is gone. A
// struct tag, a text in backquotes and a row of a table may be wider: they cannot be broken, or are read as one.
var narrow = []string{
	"budget", "change", "fleet", "fsutil", "internal/backing", "internal/bounds", "internal/casing", "internal/charset",
	"internal/crashfs", "internal/disk", "internal/exact", "internal/filelock", "internal/flow", "internal/fstest",
	"internal/guard", "internal/handle", "internal/held", "internal/hostile", "internal/ignore", "internal/library",
	"internal/lineedit", "internal/match", "internal/memfs", "internal/mend", "internal/modes", "internal/mounts",
	"internal/names", "internal/outcome", "internal/panics", "internal/parallel", "internal/paramtags",
	"internal/planfile", "internal/poll", "internal/posix", "internal/progress", "internal/raise", "internal/recordlog",
	"internal/rootfs", "internal/schedule", "internal/scratch", "internal/show", "internal/splice", "internal/stage",
	"internal/synonyms", "internal/textdiff", "internal/torture", "internal/txtarfs", "internal/walk", "internal/watch",
	"millracetest",
	"risk",
}

func TestColumns(t *testing.T) {
	t.Parallel()
	fset, files := sources(t)
	for _, f := range files {
		if f.isTest() || !slices.Contains(narrow, f.dir()) || len(f.wide) == 0 {
			continue
		}
		free := unbreakable(fset, f.syntax)
		for _, line := range f.wide {
			if !free[line] {
				t.Errorf("%s:%d is wider than %d columns: break it", f.name, line, maxColumns)
			}
		}
	}
}

// unbreakable returns the lines that a text in backquotes is on, and the rows of tables.
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
