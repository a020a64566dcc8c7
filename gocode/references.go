package gocode

import (
	"bytes"
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/millrace-go/millrace/change"
)

// references are the names that a file uses but does not declare, each with its selectors.
type references map[string]map[string]bool

func (r references) add(name, selector string) {
	if r[name] == nil {
		r[name] = make(map[string]bool)
	}
	r[name][selector] = true
}

// referencesOf returns the references of a file that was parsed with its objects.
func referencesOf(file *ast.File) references {
	free := make(map[*ast.Ident]bool, len(file.Unresolved))
	for _, id := range file.Unresolved {
		free[id] = true
	}
	refs := make(references)
	ast.Inspect(file, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := sel.X.(*ast.Ident); ok && free[id] && sel.Sel.Name != "_" {
				refs.add(id.Name, sel.Sel.Name)
			}
		}
		return true
	})
	return refs
}

// importPath returns the path of an import.
func importPath(spec *ast.ImportSpec) string {
	path, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return ""
	}
	return path
}

// localName returns the name by which a file uses an import, "" for imports without such a name: . and _, and C.
func localName(spec *ast.ImportSpec, packageName func(path string) string) string {
	switch {
	case spec.Name != nil && (spec.Name.Name == "_" || spec.Name.Name == "."), importPath(spec) == "C":
		return ""
	case spec.Name != nil:
		return spec.Name.Name
	}
	return packageName(importPath(spec))
}

// assumedName returns the most likely name of a package by its import path alone, as goimports does.
func assumedName(importPath string) string {
	notName := func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	base := path.Base(importPath)
	if isVersion(base) {
		if dir := path.Dir(importPath); dir != "." {
			base = path.Base(dir)
		}
	}
	base = strings.TrimPrefix(base, "go-")
	if i := strings.IndexFunc(base, notName); i >= 0 {
		base = base[:i]
	}
	return base
}

// perhapsNamed reports whether a package with this import path may have the name. Consecutive words of the last
// element must form the name. If the last element is a version, the words of the element before it count too.
func perhapsNamed(importPath, name string) bool {
	last := path.Base(importPath)
	if isVersion(last) {
		last = path.Base(path.Dir(importPath)) + "/" + last
	}
	const most = 256 // bytes, far more than the element of a real path has
	if len(last) > most {
		return false
	}
	words := strings.FieldsFunc(last, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for i := range words {
		for n := range len(words) - i {
			if strings.EqualFold(strings.Join(words[i:i+n+1], ""), name) {
				return true
			}
		}
	}
	return false
}

// isVersion reports whether a path element is v2, v3 and so on.
func isVersion(base string) bool {
	if !strings.HasPrefix(base, "v") {
		return false
	}
	_, err := strconv.Atoi(base[1:])
	return err == nil
}

// unneeded returns the splices that remove the imports that the old text of a file needed and the new text does not.
func unneeded(old, now []byte, packageName func(path string) string) ([]change.Splice, error) {
	before, err := parser.ParseFile(token.NewFileSet(), "", old, 0)
	if err != nil {
		return nil, syntaxError(err)
	}
	fset := token.NewFileSet()
	after, err := parser.ParseFile(fset, "", now, parser.ParseComments)
	if err != nil {
		return nil, syntaxError(err)
	}
	needed, needs := referencesOf(before), referencesOf(after)
	var splices []change.Splice
	for _, decl := range after.Decls {
		decl, ok := decl.(*ast.GenDecl)
		if !ok || decl.Tok != token.IMPORT {
			continue
		}
		var gone []*ast.ImportSpec
		for _, spec := range decl.Specs {
			spec := spec.(*ast.ImportSpec)
			name := localName(spec, packageName)
			if name != "" && needed[name] != nil && needs[name] == nil {
				gone = append(gone, spec)
			}
		}
		if len(gone) == len(decl.Specs) && len(gone) > 0 {
			cut := wholeLines(now, fset.Position(decl.Pos()).Offset, fset.Position(decl.End()).Offset)
			if end := cut.Off + cut.Len; end < int64(len(now)) && now[end] == '\n' {
				cut.Len++ // one of the empty lines around it
			}
			splices = append(splices, cut)
			continue
		}
		for _, spec := range gone {
			end := spec.End()
			if spec.Comment != nil {
				end = spec.Comment.End()
			}
			start := spec.Pos()
			if spec.Doc != nil {
				start = spec.Doc.Pos()
			}
			splices = append(splices, wholeLines(now, fset.Position(start).Offset, fset.Position(end).Offset))
		}
	}
	return splices, nil
}

// wholeLines returns the splice that removes a part of a text, with its lines if nothing else is on them.
func wholeLines(text []byte, off, end int) change.Splice {
	start, stop := off, end
	for start > 0 && (text[start-1] == ' ' || text[start-1] == '\t') {
		start--
	}
	for stop < len(text) && (text[stop] == ' ' || text[stop] == '\t' || text[stop] == '\r' || text[stop] == ';') {
		stop++
	}
	if (start == 0 || text[start-1] == '\n') && stop < len(text) && text[stop] == '\n' {
		return change.Splice{Off: int64(start), Len: int64(stop + 1 - start)}
	}
	return change.Splice{Off: int64(off), Len: int64(end - off)}
}

// spliced returns a text with the splices applied.
func spliced(text []byte, splices []change.Splice) []byte {
	var b bytes.Buffer
	done := int64(0)
	for _, s := range splices {
		b.Write(text[done:s.Off])
		b.Write(s.Text)
		done = s.Off + s.Len
	}
	b.Write(text[done:])
	return b.Bytes()
}

// added returns the splices that add imports to a file: to the first list of imports, or below the package clause.
func added(now []byte, imports []newImport) ([]change.Splice, error) {
	if len(imports) == 0 {
		return nil, nil
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", now, parser.ImportsOnly|parser.ParseComments)
	if err != nil {
		return nil, syntaxError(err)
	}
	end := "\n"
	if bytes.Contains(now, []byte("\r\n")) {
		end = "\r\n"
	}
	at := fset.Position(file.Name.End()).Offset
	var list []*ast.ImportSpec
	for _, decl := range file.Decls {
		if d, ok := decl.(*ast.GenDecl); ok && d.Tok == token.IMPORT &&
			importPath(d.Specs[0].(*ast.ImportSpec)) != "C" {
			if !d.Lparen.IsValid() {
				at = fset.Position(d.End()).Offset
				continue
			}
			for _, s := range d.Specs {
				list = append(list, s.(*ast.ImportSpec))
			}
			break
		}
	}
	var splices []change.Splice
	for _, n := range imports {
		line := strconv.Quote(n.path)
		if n.name != "" {
			line = n.name + " " + line
		}
		off, text := at, end+end+"import "+line
		if len(file.Imports) > 0 && len(list) == 0 {
			text = end + "import " + line
		}
		if spec, before := neighbour(list, n.path); spec != nil {
			stop := spec.End()
			if spec.Comment != nil {
				stop = spec.Comment.End()
			}
			off, text = fset.Position(stop).Offset, end+"\t"+line
			if before {
				off, text = fset.Position(spec.Pos()).Offset, line+end+"\t"
			}
		}
		splices = append(splices, change.Splice{Off: int64(off), Text: []byte(text)})
	}
	slices.SortStableFunc(splices, func(a, b change.Splice) int { return cmp.Compare(a.Off, b.Off) })
	return splices, nil
}

// neighbour returns the import next to which a new one is inserted, and whether it goes before it. The neighbour is of
// the same kind, the standard library or the rest, if possible.
func neighbour(list []*ast.ImportSpec, path string) (spec *ast.ImportSpec, before bool) {
	foreign := func(path string) bool { return strings.Contains(strings.Split(path, "/")[0], ".") }
	for _, s := range list {
		switch p := importPath(s); {
		case foreign(p) != foreign(path):
		case p < path:
			spec, before = s, false
		case spec == nil:
			spec, before = s, true
		}
	}
	if spec == nil && len(list) > 0 {
		return list[len(list)-1], false
	}
	return spec, before
}
