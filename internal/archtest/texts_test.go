package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// looking matches functions and methods that find something in a text.
	looking = regexp.MustCompile(`^((Contains|HasPrefix|HasSuffix|Cut|CutPrefix|CutSuffix|Index|LastIndex|TrimPrefix|` +
		`TrimSuffix|EqualFold|Fields|Split|SplitN|Replace|ReplaceAll)|` +
		`(Match|Find)(All)?(String)?(Submatch)?(Index)?)$`)
	// messages are fields and methods with a text for people.
	messages = []string{"Error", "Message", "Msg", "Reason", "BlockReason", "SkipReason", "Why", "Hint"}
)

// takenApart are the places that may look into a message, with the reason.
var takenApart = map[string]string{
	"visit.go":                             "retry_if looks for its keyword in the message, as docs/flow.md documents",
	"hold.go":                              "the text of an error that wraps ErrHold is the reason, as ErrHold documents",
	"internal/match/parse.go":              "package regexp has this message without a type",
	"millracetest/action.go":               "the test of an action names a part of the message",
	"stepresult.go":                        "a stored result has the message only, which begins with the name of the action",
	"mcpserver/edited.go":                  "a stored report has the text only, and its first words are documented",
	"cmd/millrace/internal/cli/failure.go": "for codes of syntax errors the message repeats the place",
	"wording/wording.go":                   "an error of another package contains the message of its cause",
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

// given returns the parameters that receive a message in a call of their function, by the names of the functions of a
// package and of their parameters.
func given(files []*ast.File) map[string]map[string]bool {
	params := make(map[string][]string)
	for _, file := range files {
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil {
				continue
			}
			for _, field := range f.Type.Params.List {
				for _, name := range field.Names {
					params[f.Name.Name] = append(params[f.Name.Name], name.Name)
				}
			}
		}
	}
	all := make(map[string]map[string]bool)
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			name, ok := call.Fun.(*ast.Ident)
			if !ok {
				return true
			}
			for i, arg := range call.Args {
				if i < len(params[name.Name]) && isMessage(arg, nil) {
					if all[name.Name] == nil {
						all[name.Name] = make(map[string]bool)
					}
					all[name.Name][params[name.Name][i]] = true
				}
			}
			return true
		})
	}
	return all
}

// looksInto reports whether a call searches in a message, or searches a message in another text. Splitting a text into
// lines and shortening a text are harmless.
func looksInto(s *ast.SelectorExpr, args []ast.Expr, from map[string]bool) bool {
	if !looking.MatchString(s.Sel.Name) || len(args) == 0 {
		return false
	}
	of := ""
	if id, ok := s.X.(*ast.Ident); ok {
		of = id.Name
	}
	inText := of == "strings" || of == "bytes"
	isLineEnd := func(e ast.Expr) bool { return isText(e, func(text string) bool { return text == "\n" }) }
	switch {
	case of == "show", !inText && strings.HasPrefix(s.Sel.Name, "Replace"), slices.ContainsFunc(args, isLineEnd):
		return false
	case isMessage(args[0], from):
		return true
	}
	return inText && len(args) > 1 && isMessage(args[1], from)
}

// readsMessages returns the positions in a function where a message is taken apart, replaced in another text, or
// compared with a text. given are the parameters of the function that are messages.
func readsMessages(f *ast.FuncDecl, given map[string]bool) (found []token.Pos) {
	from := make(map[string]bool)
	maps.Copy(from, given)
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, to := range n.Lhs {
				if id, ok := to.(*ast.Ident); ok && len(n.Lhs) == len(n.Rhs) && isMessage(n.Rhs[i], nil) {
					from[id.Name] = true
				}
			}
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && looksInto(s, n.Args, from) {
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

// No text is taken apart to find its meaning: errors have types and codes, reports have causes. A message may change,
// and a file name in it may have any words.
func TestTakenApart(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	fset, files := products(t)
	packages := make(map[string][]*ast.File)
	for _, f := range files {
		packages[f.dir()] = append(packages[f.dir()], f.syntax)
	}
	for _, f := range files {
		messages := given(packages[f.dir()])
		for _, d := range f.syntax.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			for _, pos := range readsMessages(fn, messages[fn.Name.Name]) {
				if seen[f.name] = true; takenApart[f.name] == "" {
					t.Errorf("%s:%d takes a message apart: use a type, a code or a cause of the error", f.name,
						fset.Position(pos).Line)
				}
			}
		}
	}
	for place := range takenApart {
		if !seen[place] {
			t.Errorf("%s no longer takes a message apart: remove it from the list", place)
		}
	}
}

// The check finds each form of taking a message apart.
func TestTakenApartFinds(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]int{
		`strings.Contains(err.Error(), "x")`:                            1,
		`strings.HasPrefix(strings.ToLower(p.Message), "x")`:            1,
		`_ = c.Reason == "exists already"`:                              1,
		`_ = "x" != err.Error()`:                                        1,
		`words.MatchString(err.Error())`:                                1,
		`text := err.Error(); strings.Cut(text, ":")`:                   1,
		`strings.LastIndex(run.Reason[2:], "x")`:                        1,
		`strings.Replace(text, err.Error(), "x", 1)`:                    1,
		`strings.ReplaceAll(c.Reason, "x", "y")`:                        1,
		`f(run.Reason) }; func f(s string) { strings.CutSuffix(s, "x")`: 1,
		`f(run.Name) }; func f(s string) { strings.CutSuffix(s, "x")`:   0,
		`strings.Contains(name, "x")`:                                   0,
		`_ = c.Reason == ""`:                                            0,
		`_ = c.Reason == LeftOutBinary`:                                 0,
		`fmt.Println(strings.ToUpper(p.Message), err.Error())`:          0,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package p\nfunc g() { "+body+" }", 0)
		if err != nil {
			t.Fatal(err)
		}
		got, messages := 0, given([]*ast.File{file})
		for _, d := range file.Decls {
			f := d.(*ast.FuncDecl)
			got += len(readsMessages(f, messages[f.Name.Name]))
		}
		if got != want {
			t.Errorf("%s: %d places, want %d", body, got, want)
		}
	}
}
