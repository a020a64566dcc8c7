package gocode

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"strings"

	"github.com/millrace-go/millrace/actions"
)

// The kinds of holes without a type.
const (
	holeExpr  = "expr"  // any expression, or any type
	holeIdent = "ident" // a name
	holeArgs  = "args"  // the last arguments of a call, or none
	holeStmt  = "stmt"  // a statement
	holeStmts = "stmts" // statements, or none
)

// hole is a placeholder for other code in a pattern.
type hole struct {
	kind string
	typ  ast.Expr // of the values that it matches, nil for any
}

// code is Go code with holes: one expression, or statements.
type code struct {
	text  string
	base  token.Pos // the start of the text
	expr  ast.Expr  // nil for statements
	stmts []ast.Stmt
}

// rule is a pattern and its replacement.
type rule struct {
	pattern, replacement code
	holes                map[string]hole
	// packages are the import paths of the qualifiers in pattern and replacement.
	packages map[string]string
}

// newRule parses the parameters of a step. The error names the wrong parameter.
func newRule(r Rewrite) (*rule, *paramError) {
	rule := &rule{holes: make(map[string]hole), packages: make(map[string]string)}
	for i, line := range r.Imports {
		name, path, named := strings.Cut(line, "=")
		if !named {
			name, path = assumedName(line), line
			if standard()[line] != nil {
				name = standardName(line)
			}
		}
		if !token.IsIdentifier(name) || path == "" || strings.HasPrefix(path, "-") ||
			strings.ContainsAny(path, " \"`\\") {
			return nil, &paramError{fmt.Sprintf("/imports/%d", i), errors.New("write an import path, or name=path")}
		}
		rule.packages[name] = path
	}
	for _, name := range sortedNames(r.Where) {
		h, err := parseHole(r.Where[name])
		if err == nil && !token.IsIdentifier(name) {
			err = errors.New("a hole has the name of a variable")
		}
		if err != nil {
			return nil, &paramError{"/where/" + actions.PointerToken(name), err}
		}
		rule.holes[name] = h
	}
	var err error
	rule.pattern, rule.replacement, err = parseBoth(r.Pattern, r.Replacement)
	if err != nil {
		return nil, err.(*paramError)
	}
	return rule, rule.check()
}

// paramError is an error of one parameter.
type paramError struct {
	param string
	err   error
}

func (e *paramError) Error() string { return e.param[1:] + ": " + e.err.Error() }
func (e *paramError) Unwrap() error { return e.err }

func parseHole(text string) (hole, error) {
	switch text {
	case "", holeExpr:
		return hole{kind: holeExpr}, nil
	case holeIdent, holeArgs, holeStmt, holeStmts:
		return hole{kind: text}, nil
	}
	typ, err := parser.ParseExpr(text)
	if err != nil {
		return hole{}, fmt.Errorf("write a type, such as io.Closer, or one of expr, ident, args, stmt, stmts: %w",
			syntaxError(err))
	}
	return hole{kind: holeExpr, typ: typ}, nil
}

// parseBoth parses pattern and replacement as expressions, if both are expressions, and as statements otherwise.
func parseBoth(pattern, replacement string) (p, r code, err error) {
	p, notP := parseExpr(pattern)
	r, notR := parseExpr(replacement)
	if notP == nil && notR == nil {
		return p, r, nil
	}
	if p, err = parseStmts(pattern); err != nil {
		return p, r, &paramError{"/pattern", err}
	}
	if r, err = parseStmts(replacement); err != nil {
		return p, r, &paramError{"/replacement", err}
	}
	if len(p.stmts) == 0 {
		return p, r, &paramError{"/pattern", errors.New("it is empty")}
	}
	return p, r, nil
}

func parseExpr(text string) (code, error) {
	fset := token.NewFileSet()
	expr, err := parser.ParseExprFrom(fset, "", text, parser.SkipObjectResolution)
	if err != nil {
		return code{}, syntaxError(err)
	}
	return code{text: text, base: fset.File(expr.Pos()).Pos(0), expr: expr}, nil
}

func parseStmts(text string) (code, error) {
	const head = "package p\nfunc _() {\n"
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", head+text+"\n}\n", parser.SkipObjectResolution)
	if err != nil {
		if list, ok := errors.AsType[scanner.ErrorList](err); ok && len(list) > 0 {
			list[0].Pos.Line -= strings.Count(head, "\n")
		}
		return code{}, fmt.Errorf("it is neither an expression nor statements of Go: %w", syntaxError(err))
	}
	if len(file.Decls) != 1 {
		return code{}, errors.New("it is more than statements of one function")
	}
	body := file.Decls[0].(*ast.FuncDecl).Body
	return code{text: text, base: fset.File(file.Pos()).Pos(len(head)), stmts: body.List}, nil
}

// nodes returns the syntax nodes of the code.
func (c code) nodes() []ast.Node {
	if c.expr != nil {
		return []ast.Node{c.expr}
	}
	nodes := make([]ast.Node, len(c.stmts))
	for i, s := range c.stmts {
		nodes[i] = s
	}
	return nodes
}

// inspect calls do for all names in the code that may be holes or qualifiers. Fields and methods are neither.
func (c code) inspect(do func(id *ast.Ident)) {
	for _, n := range c.nodes() {
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				ast.Inspect(n.X, func(n ast.Node) bool { return inspectName(n, do) })
				return false
			case *ast.Ident:
				do(n)
			}
			return true
		})
	}
}

func inspectName(n ast.Node, do func(id *ast.Ident)) bool {
	switch n := n.(type) {
	case *ast.SelectorExpr:
		ast.Inspect(n.X, func(n ast.Node) bool { return inspectName(n, do) })
		return false
	case *ast.Ident:
		do(n)
	}
	return true
}

// isHole reports whether a name is a hole: one of the holes of the step, or a lower-case letter, as in gofmt -r.
func (r *rule) isHole(name string) bool {
	_, ok := r.holes[name]
	return ok || len(name) == 1 && name[0] >= 'a' && name[0] <= 'z'
}

// check reports holes that make no sense, and finds the packages of the standard library that the code uses.
func (r *rule) check() *paramError {
	seen := make(map[string]bool)
	r.pattern.inspect(func(id *ast.Ident) { seen[id.Name] = seen[id.Name] || r.isHole(id.Name) })
	for _, name := range sortedNames(r.holes) {
		if !seen[name] {
			return &paramError{"/where", fmt.Errorf("the pattern has no '%s'", name)}
		}
	}
	if id, ok := r.pattern.expr.(*ast.Ident); ok && r.isHole(id.Name) {
		return &paramError{"/pattern", errors.New("it is nothing but a hole, which everything matches")}
	}
	missing := ""
	r.replacement.inspect(func(id *ast.Ident) {
		if _, ok := r.holes[id.Name]; !seen[id.Name] && (ok || r.isHole(id.Name)) && missing == "" {
			missing = id.Name
		}
	})
	if missing != "" {
		return &paramError{"/replacement", fmt.Errorf("the pattern has no hole '%s'", missing)}
	}
	for _, c := range []code{r.pattern, r.replacement} {
		for _, n := range c.nodes() {
			ast.Inspect(n, r.qualify)
		}
	}
	if r.hasTwo(&ast.BlockStmt{List: r.pattern.stmts}) {
		return &paramError{"/pattern",
			errors.New("one list of statements has two holes of the kind stmts: one is the most")}
	}
	for _, name := range sortedNames(r.holes) {
		if typ := r.holes[name].typ; typ != nil {
			ast.Inspect(typ, r.qualify)
		}
	}
	return nil
}

// hasTwo reports whether a list of statements has two holes for statements.
func (r *rule) hasTwo(n ast.Node) (two bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		holes := 0
		for _, s := range listOf(n) {
			if r.stmtHole(s, holeStmts) != "" {
				holes++
			}
		}
		two = two || holes > 1
		return true
	})
	return two
}

// qualify records the package of the standard library for a qualifier, unless the step names another.
func (r *rule) qualify(n ast.Node) bool {
	if sel, ok := n.(*ast.SelectorExpr); ok {
		if id, ok := sel.X.(*ast.Ident); ok && !r.isHole(id.Name) && r.packages[id.Name] == "" {
			for _, path := range standardNamed(id.Name) {
				if standard()[path][sel.Sel.Name] {
					r.packages[id.Name] = path
					break
				}
			}
		}
	}
	return true
}

// stmtHole returns the name of the hole that makes up a whole statement, "" if the statement is not a hole of that
// kind.
func (r *rule) stmtHole(s ast.Stmt, kind string) string {
	if e, ok := s.(*ast.ExprStmt); ok {
		if id, ok := e.X.(*ast.Ident); ok && r.holes[id.Name].kind == kind {
			return id.Name
		}
	}
	return ""
}

// listOf returns the statements of a node that is a list of statements.
func listOf(n ast.Node) []ast.Stmt {
	switch n := n.(type) {
	case *ast.BlockStmt:
		return n.List
	case *ast.CaseClause:
		return n.Body
	case *ast.CommClause:
		return n.Body
	}
	return nil
}

var _ actions.Validator = Rewrite{}
