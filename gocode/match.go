package gocode

import (
	"go/ast"
	"go/scanner"
	"go/token"
	"go/types"
	"maps"
	"reflect"
	"slices"

	"golang.org/x/tools/go/packages"
)

// bound is the code that a hole has matched: one expression, or arguments or statements from the first to the last.
type bound struct {
	nodes    []ast.Node
	from, to token.Pos // the same, as a range of the text
}

// matcher compares code of one package with a pattern.
type matcher struct {
	*rule
	pkg   *packages.Package
	types map[string]types.Type // of the holes with a type
	text  func(from, to token.Pos) string
	binds map[string]bound
}

// tryExpr reports whether an expression matches.
func (m *matcher) tryExpr(e ast.Expr) bool {
	m.binds = make(map[string]bound)
	if _, ok := e.(*ast.ParenExpr); ok {
		return false // its content matches, and the parentheses stay
	}
	if id, ok := e.(*ast.Ident); ok {
		if obj, ok := m.pkg.TypesInfo.Uses[id].(*types.Var); m.pkg.TypesInfo.Uses[id] == nil || ok && obj.IsField() {
			return false // a declaration, or the name of a field
		}
	}
	return m.match(reflect.ValueOf(m.pattern.expr), reflect.ValueOf(e))
}

// tryStmts returns how many statements at the start of a list match, 0 for none.
func (m *matcher) tryStmts(list []ast.Stmt) int {
	m.binds = make(map[string]bound)
	n, ok := m.stmts(m.pattern.stmts, list, false)
	if !ok {
		return 0
	}
	return n
}

var (
	posType = reflect.TypeFor[token.Pos]()
	//lint:ignore SA1019 the comparison leaves the fields of this type out
	objectType  = reflect.TypeFor[*ast.Object]()
	commentType = reflect.TypeFor[*ast.CommentGroup]()
	stmtsType   = reflect.TypeFor[[]ast.Stmt]()
)

// match compares two pieces of code. White space, comments and parentheses are ignored.
func (m *matcher) match(p, v reflect.Value) bool {
	if !p.IsValid() || !v.IsValid() {
		return p.IsValid() == v.IsValid()
	}
	if p.Kind() == reflect.Interface || v.Kind() == reflect.Interface {
		if p.Kind() == reflect.Interface {
			p = p.Elem()
		}
		if v.Kind() == reflect.Interface {
			v = v.Elem()
		}
		return m.match(p, v)
	}
	if e, ok := expr(p); ok {
		if paren, ok := e.(*ast.ParenExpr); ok {
			return m.match(reflect.ValueOf(paren.X), v)
		}
		have, _ := expr(v)
		if id, ok := e.(*ast.Ident); ok && m.isHole(id.Name) {
			return have != nil && m.bind(id.Name, have)
		}
		if paren, ok := have.(*ast.ParenExpr); ok {
			return m.match(p, reflect.ValueOf(paren.X))
		}
		if matched, decided := m.special(e, have); decided {
			return matched
		}
	}
	if p.Type() != v.Type() {
		return false
	}
	switch p.Kind() {
	case reflect.Pointer:
		if p.IsNil() || v.IsNil() {
			return p.IsNil() == v.IsNil()
		}
		return m.match(p.Elem(), v.Elem())
	case reflect.Struct:
		return m.fields(p, v)
	case reflect.Slice:
		return m.list(p, v)
	default:
		return p.Interface() == v.Interface()
	}
}

func expr(v reflect.Value) (ast.Expr, bool) {
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return nil, false
	}
	e, ok := v.Interface().(ast.Expr)
	return e, ok
}

// fields compares two structs of the syntax tree.
func (m *matcher) fields(p, v reflect.Value) bool {
	for i := range p.NumField() {
		switch p.Field(i).Type() {
		case posType:
			switch name := p.Type().Field(i).Name; name {
			case "Assign", "Ellipsis", "Arrow": // determined by the kind of the node
				if p.Field(i).Int() == 0 != (v.Field(i).Int() == 0) {
					return false
				}
			}
		case objectType, commentType:
		default:
			if !m.match(p.Field(i), v.Field(i)) {
				return false
			}
		}
	}
	return true
}

// list compares two lists.
func (m *matcher) list(p, v reflect.Value) bool {
	if p.Type() == stmtsType {
		_, ok := m.stmts(p.Interface().([]ast.Stmt), v.Interface().([]ast.Stmt), true)
		return ok
	}
	if p.Len() != v.Len() {
		return false
	}
	for i := range p.Len() {
		if !m.match(p.Index(i), v.Index(i)) {
			return false
		}
	}
	return true
}

// special compares expressions that need more than a comparison of their syntax: names, selectors and calls.
func (m *matcher) special(p, v ast.Expr) (matched, decided bool) {
	switch p := p.(type) {
	case *ast.Ident:
		have, ok := v.(*ast.Ident)
		if !ok || have.Name != p.Name {
			return false, true
		}
		if universal := types.Universe.Lookup(p.Name); universal != nil {
			return m.pkg.TypesInfo.Uses[have] == universal, true
		}
		return true, true
	case *ast.SelectorExpr:
		if id, ok := p.X.(*ast.Ident); ok && m.packages[id.Name] != "" && !m.isHole(id.Name) {
			return m.isObject(v, m.packages[id.Name], p.Sel.Name), true
		}
		have, ok := v.(*ast.SelectorExpr)
		return ok && have.Sel.Name == p.Sel.Name && m.match(reflect.ValueOf(p.X), reflect.ValueOf(have.X)), true
	case *ast.CallExpr:
		have, ok := v.(*ast.CallExpr)
		return ok && m.match(reflect.ValueOf(p.Fun), reflect.ValueOf(have.Fun)) && m.args(p, have), true
	}
	return false, false
}

// isObject reports whether an expression refers to an object of a package, under any name that the file has for the
// package.
func (m *matcher) isObject(e ast.Expr, path, name string) bool {
	id, ok := e.(*ast.Ident)
	if sel, qualified := e.(*ast.SelectorExpr); qualified {
		id, ok = sel.Sel, true
	}
	if !ok {
		return false
	}
	obj := m.pkg.TypesInfo.Uses[id]
	return obj != nil && obj.Pkg() != nil && obj.Pkg().Path() == path && obj.Name() == name &&
		obj.Parent() == obj.Pkg().Scope()
}

// args compares the arguments of two calls.
func (m *matcher) args(p, v *ast.CallExpr) bool {
	if n := len(p.Args) - 1; n >= 0 {
		if id, ok := p.Args[n].(*ast.Ident); ok && m.holes[id.Name].kind == holeArgs {
			if len(v.Args) < n || !m.exprs(p.Args[:n], v.Args[:n]) {
				return false
			}
			b := bound{from: v.Rparen, to: v.Rparen}
			for _, arg := range v.Args[n:] {
				b.nodes = append(b.nodes, arg)
			}
			if len(b.nodes) > 0 {
				b.from, b.to = v.Args[n].Pos(), v.Args[len(v.Args)-1].End()
				if v.Ellipsis.IsValid() {
					b.to = v.Ellipsis + token.Pos(len("..."))
				}
			}
			return m.keep(id.Name, b)
		}
	}
	return p.Ellipsis.IsValid() == v.Ellipsis.IsValid() && m.exprs(p.Args, v.Args)
}

func (m *matcher) exprs(p, v []ast.Expr) bool {
	return m.list(reflect.ValueOf(p), reflect.ValueOf(v))
}

// stmts compares statements, all of a list or those at its start, and returns how many it matched.
func (m *matcher) stmts(p, v []ast.Stmt, whole bool) (taken int, ok bool) {
	for i, s := range p {
		name := m.stmtHole(s, holeStmts)
		if name == "" {
			continue
		}
		rest := p[i+1:]
		if _, ok := m.stmts(p[:i], v[:min(i, len(v))], true); !ok || len(v) < i {
			return 0, false
		}
		least, most := i, len(v)-len(rest)
		if whole {
			least = most
		}
		before := m.binds
		for end := least; end <= most && end >= i; end++ {
			m.binds = maps.Clone(before)
			n, ok := m.stmts(rest, v[end:], whole)
			if ok && m.keep(name, piece(v, i, end)) && end+n > 0 {
				return end + n, true
			}
		}
		return 0, false
	}
	if len(v) < len(p) || whole && len(v) != len(p) {
		return 0, false
	}
	for i, s := range p {
		if name := m.stmtHole(s, holeStmt); name != "" {
			if !m.keep(name, piece(v, i, i+1)) {
				return 0, false
			}
			continue
		}
		if !m.match(reflect.ValueOf(s), reflect.ValueOf(v[i])) {
			return 0, false
		}
	}
	return len(p), true
}

// piece returns a part of a list of statements.
func piece(list []ast.Stmt, from, to int) bound {
	var b bound
	for _, s := range list[from:to] {
		b.nodes = append(b.nodes, s)
	}
	if len(b.nodes) > 0 {
		b.from, b.to = list[from].Pos(), list[to-1].End()
	}
	return b
}

// bind binds a hole to an expression, if the expression is of the kind and type of the hole.
func (m *matcher) bind(name string, e ast.Expr) bool {
	h := m.holes[name] // the zero hole, of a single letter, matches all
	switch h.kind {
	case holeArgs, holeStmt, holeStmts:
		return false
	case holeIdent:
		if _, ok := e.(*ast.Ident); !ok {
			return false
		}
	}
	if h.typ != nil && !m.hasType(e, m.types[name]) {
		return false
	}
	return m.keep(name, bound{nodes: []ast.Node{e}, from: e.Pos(), to: e.End()})
}

// hasType reports whether a value has a type, or implements it.
func (m *matcher) hasType(e ast.Expr, want types.Type) bool {
	tv, ok := m.pkg.TypesInfo.Types[e]
	if id, isName := e.(*ast.Ident); !ok && isName {
		if v, isVar := m.pkg.TypesInfo.ObjectOf(id).(*types.Var); isVar {
			tv, ok = types.TypeAndValue{Type: v.Type()}, true
		}
	} else if !tv.IsValue() {
		return false
	}
	switch {
	case !ok || want == nil || tv.Type == nil || tv.IsNil():
		return false
	case types.IsInterface(want):
		return types.AssignableTo(tv.Type, want)
	}
	return types.Identical(types.Default(tv.Type), want)
}

// keep records the code that a hole has matched. Two uses of a hole must match the same code.
func (m *matcher) keep(name string, b bound) bool {
	have, ok := m.binds[name]
	if !ok {
		m.binds[name] = b
		return true
	}
	return sameTokens(m.text(have.from, have.to), m.text(b.from, b.to))
}

// sameTokens reports whether two pieces of code differ in white space and comments only.
func sameTokens(a, b string) bool {
	return a == b || slices.Equal(tokens(a), tokens(b))
}

func tokens(text string) (all []string) {
	fset := token.NewFileSet()
	var s scanner.Scanner
	s.Init(fset.AddFile("", fset.Base(), len(text)), []byte(text), nil, 0)
	for {
		_, tok, lit := s.Scan()
		if tok == token.EOF {
			return all
		}
		all = append(all, tok.String()+" "+lit)
	}
}
