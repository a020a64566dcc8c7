package archtest

import (
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// distances matches names of functions that compute the distance of two words.
var distances = regexp.MustCompile(`(?i)^(edit|word)?_?distance$|levenshtein|damerau`)

// secondDistances returns the functions of a file that compute the distance of two words.
func secondDistances(file *ast.File) (names []string) {
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && distances.MatchString(f.Name.Name) {
			names = append(names, f.Name.Name)
		}
	}
	return names
}

// A single function finds the word that was meant, for all modules. A second function would soon answer differently.
// Packages of the root module call internal/synonyms for words of the library, and internal/nearest for words of a
// user. Other modules call actions.Nearest.
func TestOneDistance(t *testing.T) {
	t.Parallel()
	found := 0
	_, files := products(t)
	for _, f := range files {
		for _, second := range secondDistances(f.syntax) {
			if found++; path.Base(f.dir()) != "nearest" {
				t.Errorf("%s has %s: use internal/nearest", f.name, second)
			}
		}
	}
	if found == 0 {
		t.Error("internal/nearest has no such function, so this test cannot find another")
	}
}

// once are texts and shapes of code that only a single file of the project has, so that all messages look alike.
var once = []struct {
	what  string
	place string // the file that has the text or shape
	use   string
	found func(n ast.Node) bool
}{
	{"escapes a name in a JSON pointer", "internal/strictjson/node.go", "strictjson.EscapeToken or actions.PointerToken", func(n ast.Node) bool {
		return isText(n, func(text string) bool { return text == "~1" })
	}},
	{"counts what a list leaves out", "internal/names/few.go", "names.Few, names.Some, names.First or actions.Few", func(n ast.Node) bool {
		return isText(n, func(text string) bool { return strings.HasSuffix(text, "and %d more") })
	}},
	{"cuts a text", "internal/show/show.go", "internal/show or actions.Short", func(n ast.Node) bool {
		sum, ok := n.(*ast.BinaryExpr)
		if !ok || sum.Op != token.ADD || !isText(sum.Y, func(text string) bool { return strings.Trim(text, " .…") == "" && text != "" && text != "." }) {
			return false
		}
		cut := sum.X
		if call, ok := cut.(*ast.CallExpr); ok && len(call.Args) > 0 {
			cut = call.Args[0]
		}
		_, ok = cut.(*ast.SliceExpr)
		return ok
	}},
	{"makes a text one line", "cmd/millrace/internal/render/line.go", "render.Line", func(n ast.Node) bool {
		f, ok := n.(*ast.FuncDecl)
		return ok && f.Recv == nil && f.Name.Name == "oneLine"
	}},
}

// isText reports whether a node is a string literal for which has returns true.
func isText(n ast.Node, has func(text string) bool) bool {
	lit, ok := n.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return false
	}
	text, err := strconv.Unquote(lit.Value)
	return err == nil && has(text)
}

// elsewhere are other files that may have a shape: the report has a documented form.
var elsewhere = map[string]string{
	"report.go": "counts what a list leaves out",
}

// TestOnce refuses a second implementation of a part of all messages.
func TestOnce(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	_, files := products(t)
	for _, f := range files {
		if strings.HasPrefix(f.name, "examples/") || f.dir() == "internal/archtest" {
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			for _, o := range once {
				if n == nil || !o.found(n) {
					continue
				}
				if seen[o.what] = true; f.name != o.place && elsewhere[f.name] != o.what {
					t.Errorf("%s %s: use %s", f.name, o.what, o.use)
				}
			}
			return true
		})
	}
	for _, o := range once[:2] {
		if !seen[o.what] {
			t.Errorf("no file %s, so this test cannot find another", o.what)
		}
	}
}
