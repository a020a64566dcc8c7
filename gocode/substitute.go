package gocode

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// rewriter makes the replacements in one file.
type rewriter struct {
	*matcher
	file *ast.File
	src  []byte
	base token.Pos // the start of src
	// uses are the packages that the new code uses; names are the file's names for packages, by path.
	uses  map[string]string
	names map[string]string
}

// piece returns the text between two positions of the file.
func (r *rewriter) piece(from, to token.Pos) string { return string(r.src[from-r.base : to-r.base]) }

// changes returns the replacements in a node of the file, in their order. Replacements within the code of a hole are
// part of the outer replacement.
func (r *rewriter) changes(root ast.Node) []textChange {
	var all []textChange
	var stack []ast.Node
	add := func(from, to token.Pos, text string) {
		all = append(all, textChange{off: int64(from - r.base), end: int64(to - r.base), text: []byte(text)})
	}
	var visit func(n ast.Node) bool
	walk := func(n ast.Node) {
		kept := stack
		stack = slices.Clone(stack)
		ast.Inspect(n, visit)
		stack = kept
	}
	visit = func(n ast.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return false
		}
		if e, ok := n.(ast.Expr); ok && r.pattern.expr != nil && r.tryExpr(e) {
			add(e.Pos(), e.End(), r.replaceExpr(e, parent(stack)))
			return false
		}
		switch n := n.(type) {
		case *ast.SelectorExpr:
			stack = append(stack, n)
			walk(n.X)
			stack = stack[:len(stack)-1]
			return false
		case *ast.ImportSpec:
			return false
		}
		if list := listOf(n); r.pattern.expr == nil && list != nil {
			r.statements(n, list, walk, add)
			return false
		}
		stack = append(stack, n)
		return true
	}
	walk(root)
	return all
}

func parent(stack []ast.Node) ast.Node {
	if len(stack) == 0 {
		return nil
	}
	return stack[len(stack)-1]
}

// statements makes the replacements in a list of statements.
func (r *rewriter) statements(
	n ast.Node, list []ast.Stmt, walk func(n ast.Node), add func(from, to token.Pos, text string),
) {
	switch n := n.(type) {
	case *ast.CaseClause:
		for _, e := range n.List {
			walk(e)
		}
	case *ast.CommClause:
		if n.Comm != nil {
			walk(n.Comm)
		}
	}
	for i := 0; i < len(list); {
		taken := r.tryStmts(list[i:])
		if taken == 0 {
			walk(list[i])
			i++
			continue
		}
		from, to := list[i].Pos(), list[i+taken-1].End()
		text := r.substitute(r.indent(from))
		if text == "" {
			cut := wholeLines(r.src, int(from-r.base), int(to-r.base))
			from, to = r.base+token.Pos(cut.Off), r.base+token.Pos(cut.Off+cut.Len)
		}
		add(from, to, text)
		i += taken
	}
}

// indent returns the white space at the start of the line of a position.
func (r *rewriter) indent(pos token.Pos) string {
	at := int(pos - r.base)
	start := strings.LastIndexByte(string(r.src[:at]), '\n') + 1
	line := string(r.src[start:at])
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// replaceExpr returns the replacement of an expression, in parentheses if it needs them.
func (r *rewriter) replaceExpr(old ast.Expr, parent ast.Node) string {
	text := r.substitute(r.indent(old.Pos()))
	if needsParens(parent, old, text) {
		return "(" + text + ")"
	}
	return text
}

// substitute returns the replacement with the holes filled in. The lines after the first start with the indent.
func (r *rewriter) substitute(indent string) string {
	var edits []textChange
	c := r.replacement
	binds := r.binds // saved, because matches within the holes overwrite it
	at := func(pos token.Pos) int64 { return int64(pos - c.base) }
	var stack []ast.Node
	strs := make([]*ast.BasicLit, 0)
	visit := func(n ast.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return false
		}
		above := parent(stack)
		stack = append(stack, n)
		switch n := n.(type) {
		case *ast.BasicLit:
			strs = append(strs, n)
		case *ast.SelectorExpr:
			if id, ok := n.X.(*ast.Ident); ok && r.packages[id.Name] != "" && !r.isHole(id.Name) {
				qualifier := r.qualifier(id.Name)
				if qualifier != "" {
					qualifier += "."
				}
				edits = append(edits, textChange{off: at(id.Pos()), end: at(n.Sel.Pos()), text: []byte(qualifier)})
			}
		case *ast.Ident:
			b, ok := binds[n.Name]
			if sel, isSel := above.(*ast.SelectorExpr); !ok || isSel && sel.Sel == n {
				break
			}
			text := r.taken(b)
			if needsParens(above, n, text) {
				text = "(" + text + ")"
			}
			off := at(n.Pos())
			if text == "" { // no argument: remove the comma before it, too
				head := strings.TrimRight(c.text[:off], " \t\n")
				if strings.HasSuffix(head, ",") {
					off = int64(len(head) - 1)
				}
			}
			edits = append(edits, textChange{off: off, end: at(n.End()), text: []byte(text)})
		}
		return true
	}
	for _, n := range c.nodes() {
		ast.Inspect(n, visit)
	}
	r.binds = binds
	for i := range len(c.text) {
		inside := func(lit *ast.BasicLit) bool { return at(lit.Pos()) <= int64(i) && int64(i) < at(lit.End()) }
		if c.text[i] == '\n' && indent != "" && !slices.ContainsFunc(strs, inside) {
			edits = append(edits, textChange{off: int64(i + 1), end: int64(i + 1), text: []byte(indent)})
		}
	}
	return applied(c.text, edits)
}

// taken returns the code that a hole has matched, with the replacements in it.
func (r *rewriter) taken(b bound) string {
	if len(b.nodes) == 0 {
		return ""
	}
	var inner []textChange
	for _, n := range b.nodes {
		inner = append(inner, r.changes(n)...)
	}
	start, size := int64(b.from-r.base), int64(b.to-b.from)
	for i := range inner { // the lines of a removed statement may be wider
		inner[i].off = max(0, inner[i].off-start)
		inner[i].end = min(size, inner[i].end-start)
	}
	return applied(r.piece(b.from, b.to), inner)
}

// applied returns a text with changes that do not overlap.
func applied(text string, edits []textChange) string {
	slices.SortStableFunc(edits, func(a, b textChange) int { return cmp.Compare(a.off, b.off) })
	var b strings.Builder
	done := int64(0)
	for _, e := range edits {
		b.WriteString(text[done:max(done, e.off)])
		b.Write(e.text)
		done = e.end
	}
	b.WriteString(text[done:])
	return b.String()
}

// qualifier returns the file's name for a package, "" for the package of the file itself. A package that the file does
// not import is recorded, to be imported.
func (r *rewriter) qualifier(name string) string {
	path := r.packages[name]
	if path == r.pkg.PkgPath && !strings.HasSuffix(r.file.Name.Name, "_test") {
		return ""
	}
	if have, ok := r.names[path]; ok {
		return have
	}
	r.uses[path] = name
	return name
}

// The precedence of expressions other than binary ones, see token.Token.Precedence.
const (
	unaryPrecedence   = token.UnaryPrec
	primaryPrecedence = token.HighestPrec
)

func precedence(e ast.Expr) int {
	switch e := e.(type) {
	case *ast.BinaryExpr:
		return e.Op.Precedence()
	case *ast.UnaryExpr, *ast.StarExpr:
		return unaryPrecedence
	case *ast.FuncType, *ast.ChanType:
		return unaryPrecedence // they need parentheses before a call
	}
	return primaryPrecedence
}

// needsParens reports whether a text needs parentheses in place of another expression.
func needsParens(parent ast.Node, old ast.Expr, text string) bool {
	made, err := parser.ParseExpr(text)
	if err != nil {
		return false // several arguments, or none
	}
	have := precedence(made)
	switch p := parent.(type) {
	case *ast.BinaryExpr:
		beside := p.Y == old && int(p.OpPos)+len(p.Op.String()) == int(old.Pos())
		return have < p.Op.Precedence() || have == p.Op.Precedence() && p.Y == old || beside && joins(p.Op, text)
	case *ast.UnaryExpr:
		return have < unaryPrecedence || joins(p.Op, text)
	case *ast.StarExpr:
		return have < unaryPrecedence
	case *ast.SelectorExpr, *ast.TypeAssertExpr:
		return have < primaryPrecedence
	case *ast.IndexExpr:
		return p.X == old && have < primaryPrecedence
	case *ast.SliceExpr:
		return p.X == old && have < primaryPrecedence
	case *ast.CallExpr:
		return p.Fun == old && have < primaryPrecedence
	}
	return false
}

// joins reports whether an operator and a text without a space between them would form another token, such as -- or /*.
func joins(op token.Token, text string) bool {
	name := op.String()
	switch name[len(name)-1:] + text[:1] {
	case "--", "++", "&&", "&^", "<-", "/*":
		return true
	}
	return false
}
