package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// looking are functions and methods that find something in a text.
	looking = regexp.MustCompile(`^((Contains|HasPrefix|HasSuffix|Cut|CutPrefix|CutSuffix|Index|LastIndex|TrimPrefix|` +
		`TrimSuffix|EqualFold|Fields|Split|SplitN)|(Match|Find)(All)?(String)?(Submatch)?(Index)?)$`)
	// messages are fields and methods with a text for people.
	messages = []string{"Error", "Message", "Msg", "Reason", "BlockReason", "SkipReason", "Why", "Hint"}
)

// takenApart are the places that may look into a message, with the reason.
var takenApart = map[string]string{
	"visit.go":                "retry_if looks for its keyword in the message, as docs/flow.md documents",
	"hold.go":                 "an error that wraps ErrHold gives the reason by its text, as ErrHold documents",
	"internal/match/parse.go": "package regexp has this message without a type",
	"millracetest/action.go":  "the test of an action names a part of the message",
	"result.go":               "a result that was stored has the message only, which the action begins",
	"stepresult.go":           "a result that was stored has the message only, which the action begins",
}

// isMessage reports whether an expression is a message, or begins with a variable that has one.
func isMessage(e ast.Expr, from map[string]bool) bool {
	switch e := e.(type) {
	case *ast.CallExpr:
		s, ok := e.Fun.(*ast.SelectorExpr)
		if !ok {
			return false
		}
		if id, is := s.X.(*ast.Ident); is && (id.Name == "strings" || id.Name == "bytes") {
			return len(e.Args) > 0 && isMessage(e.Args[0], from)
		}
		return len(e.Args) == 0 && s.Sel.Name == "Error"
	case *ast.SelectorExpr:
		return slices.Contains(messages, e.Sel.Name)
	case *ast.SliceExpr:
		return isMessage(e.X, from)
	case *ast.Ident:
		return from[e.Name]
	}
	return false
}

// readsMessages returns the positions in a function at which a message is taken apart, or compared with a text.
func readsMessages(f *ast.FuncDecl) (found []token.Pos) {
	from := make(map[string]bool)
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, to := range n.Lhs {
				if id, ok := to.(*ast.Ident); ok && len(n.Lhs) == len(n.Rhs) && isMessage(n.Rhs[i], nil) {
					from[id.Name] = true
				}
			}
		case *ast.CallExpr:
			s, ok := n.Fun.(*ast.SelectorExpr)
			if ok && looking.MatchString(s.Sel.Name) && len(n.Args) > 0 && isMessage(n.Args[0], from) {
				found = append(found, n.Pos())
			}
		case *ast.BinaryExpr:
			if n.Op != token.EQL && n.Op != token.NEQ {
				return true
			}
			for _, sides := range [][2]ast.Expr{{n.X, n.Y}, {n.Y, n.X}} {
				if isMessage(sides[0], from) && isText(sides[1], func(text string) bool { return text != "" }) {
					found = append(found, n.Pos())
				}
			}
		}
		return true
	})
	return found
}

// No text is taken apart to learn its meaning: errors have types and codes, reports have causes. A message may change,
// and a name of a file in it may have any words.
func TestTakenApart(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	seen := make(map[string]bool)
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
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			for _, pos := range readsMessages(f) {
				place := filepath.ToSlash(rel)
				if seen[place] = true; takenApart[place] == "" {
					t.Errorf("%s:%d takes a message apart: give the error a type, a code or a cause", place,
						fset.Position(pos).Line)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for place := range takenApart {
		if !seen[place] {
			t.Errorf("%s takes no message apart any more: remove it from the list", place)
		}
	}
}

// The check finds each form.
func TestTakenApartFinds(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]int{
		`strings.Contains(err.Error(), "x")`:                   1,
		`strings.HasPrefix(strings.ToLower(p.Message), "x")`:   1,
		`_ = c.Reason == "exists already"`:                     1,
		`_ = "x" != err.Error()`:                               1,
		`words.MatchString(err.Error())`:                       1,
		`text := err.Error(); strings.Cut(text, ":")`:          1,
		`strings.LastIndex(run.Reason[2:], "x")`:               1,
		`strings.Contains(name, "x")`:                          0,
		`_ = c.Reason == ""`:                                   0,
		`_ = c.Reason == LeftOutBinary`:                        0,
		`fmt.Println(strings.ToUpper(p.Message), err.Error())`: 0,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package p\nfunc f() { "+body+" }", 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(readsMessages(file.Decls[0].(*ast.FuncDecl))); got != want {
			t.Errorf("%s: %d places, want %d", body, got, want)
		}
	}
}
