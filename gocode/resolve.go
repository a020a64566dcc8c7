package gocode

import (
	"context"
	"go/ast"
	"path"
	"slices"
	"strings"
)

// resolve finds the imports to add to a file, and those to remove.
func (x *index) resolve(ctx context.Context, name string, f *imported) error {
	dir, err := x.at(path.Dir(name))
	if err != nil {
		return err
	}
	missing := make(references)
	for id, selectors := range f.refs {
		if !dir.declared[f.file.Name.Name][id] {
			missing[id] = selectors
		}
	}
	var doubtful []*ast.ImportSpec // whose names are guesses, and not used
	for _, spec := range f.file.Imports {
		used, sure, err := x.usedName(spec, dir)
		switch {
		case err != nil:
			return err
		case used == "": // _ and . and C
		case missing[used] != nil:
			delete(missing, used)
		case f.refs[used] != nil:
		case sure:
			f.remove = append(f.remove, spec)
		default:
			doubtful = append(doubtful, spec)
		}
	}
	external := f.file.Name.Name == dir.name+"_test"
	for id := range inOrder(missing) {
		at := slices.IndexFunc(doubtful, func(s *ast.ImportSpec) bool { return perhapsNamed(importPath(s), id) })
		if at >= 0 {
			doubtful = slices.Delete(doubtful, at, at+1) // it is kept
			continue
		}
		found, ok, err := x.find(ctx, dir, external, id, missing[id])
		if err != nil {
			return err
		}
		if ok {
			f.add = append(f.add, found)
			continue
		}
		f.unknown = append(f.unknown, id)
	}
	if len(f.unknown) == 0 {
		f.remove = append(f.remove, doubtful...) // they cannot provide any remaining name
	}
	return nil
}

// usedName returns the name by which a file uses an import, and whether it is certain.
func (x *index) usedName(spec *ast.ImportSpec, dir *directory) (name string, sure bool, err error) {
	importPath := importPath(spec)
	if spec.Name != nil || importPath == "C" {
		return localName(spec, nil), true, nil
	}
	if standard()[importPath] != nil {
		return standardName(importPath), true, nil
	}
	if d, err := x.byPath(importPath, dir); err != nil || d != nil && d.name != "" {
		if err != nil {
			return "", false, err
		}
		return d.name, true, nil
	}
	return assumedName(importPath), false, nil
}

// byPath returns the directory with an import path, or nil. It searches the directories that were read, and the module
// of dir.
func (x *index) byPath(importPath string, dir *directory) (*directory, error) {
	if d := x.imported[importPath]; d != nil {
		return d, nil
	}
	rest, ok := strings.CutPrefix(importPath+"/", dir.root+"/")
	if !ok || dir.root == "" {
		return nil, nil
	}
	d, err := x.at(path.Join(dir.module, rest))
	if err != nil || d.imported != importPath {
		return nil, err
	}
	return d, nil
}

// find returns the import that provides a name with its selectors. It tries the imports of files in the same directory
// first, then the standard library, then packages of the tree, then the imports of any file of the tree. An external
// test may import the package of its own directory.
func (x *index) find(
	ctx context.Context, dir *directory, external bool, id string, selectors map[string]bool,
) (newImport, bool, error) {
	for s := range selectors {
		if !ast.IsExported(s) {
			return newImport{}, false, nil
		}
	}
	for _, n := range dir.imports[id] {
		if ok, err := x.explains(n.path, dir, selectors); ok || err != nil {
			return n, ok, err
		}
	}
	for _, importPath := range standardNamed(id) {
		if subset(selectors, standard()[importPath]) {
			return newImport{path: importPath}, true, nil
		}
	}
	all, err := x.walk(ctx)
	if err != nil {
		return newImport{}, false, err
	}
	var best *directory
	for _, d := range all {
		fits := d.name == id && d.imported != "" && (d != dir || external) && visible(d.imported, dir.imported)
		if fits && subset(selectors, d.exports) && (best == nil || nearer(d, best, dir)) {
			best = d
		}
	}
	if best != nil {
		n := newImport{path: best.imported}
		if assumedName(n.path) != id {
			n.name = id
		}
		return n, true, nil
	}
	for _, d := range all {
		for _, n := range d.imports[id] {
			if d.module != dir.module || !visible(n.path, dir.imported) {
				continue
			}
			if ok, err := x.explains(n.path, dir, selectors); ok || err != nil {
				return n, ok, err
			}
		}
	}
	return newImport{}, false, nil
}

// explains reports whether a package may have these exports. A package of another module may have any.
func (x *index) explains(importPath string, dir *directory, selectors map[string]bool) (bool, error) {
	if exports := standard()[importPath]; exports != nil {
		return subset(selectors, exports), nil
	}
	d, err := x.byPath(importPath, dir)
	if err != nil || d == nil || d.name == "" {
		return err == nil, err
	}
	return subset(selectors, d.exports), nil
}

func subset(some, all map[string]bool) bool {
	for s := range some {
		if !all[s] {
			return false
		}
	}
	return true
}

// visible reports whether the rule for "internal" lets a package import another.
func visible(importPath, from string) bool {
	before, _, found := strings.Cut("/"+importPath+"/", "/internal/")
	if !found {
		return true
	}
	parent := strings.TrimPrefix(before, "/")
	return parent == "" || from == parent || strings.HasPrefix(from, parent+"/")
}

// nearer reports whether a is nearer to a directory than b: by the number of common path elements, then the shorter
// path, then alphabetically.
func nearer(a, b, to *directory) bool {
	shared := func(d *directory) int {
		x, y := strings.Split(d.imported, "/"), strings.Split(to.imported, "/")
		n := 0
		for n < min(len(x), len(y)) && x[n] == y[n] {
			n++
		}
		return n
	}
	if m, n := shared(a), shared(b); m != n {
		return m > n
	}
	if m, n := strings.Count(a.imported, "/"), strings.Count(b.imported, "/"); m != n {
		return m < n
	}
	return a.imported < b.imported
}
