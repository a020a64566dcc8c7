package gocode

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/spf13/afero"
	"golang.org/x/mod/modfile"

	"github.com/millrace-go/millrace/actions"
)

// index has the declarations and imports of the Go files of a tree. A directory is read on its first use.
type index struct {
	c    *actions.Call
	dirs map[string]*directory
	// imported are the directories that were read, by import path.
	imported map[string]*directory
	all      []*directory // with Go files, after the tree was walked
}

// directory has the declarations and imports of the Go files of one directory.
type directory struct {
	path     string // in the tree
	imported string // its import path, "" outside of a module
	name     string // of its package, without tests; "" without a package
	module   string // directory of the module
	root     string // import path of the module
	// exports are the exported names; declared has all top-level names, by the name of the package.
	exports  map[string]bool
	declared map[string]map[string]bool
	// imports are the imports of its files, by the name that the files use for them.
	imports map[string][]newImport
}

func newIndex(c *actions.Call) *index {
	return &index{c: c, dirs: map[string]*directory{}, imported: map[string]*directory{}}
}

// at returns a directory. A file with errors counts up to its first error.
func (x *index) at(dir string) (*directory, error) {
	if d := x.dirs[dir]; d != nil {
		return d, nil
	}
	d := &directory{
		path: dir, exports: map[string]bool{}, declared: map[string]map[string]bool{},
		imports: map[string][]newImport{},
	}
	x.dirs[dir] = d
	d.module, d.root = x.moduleOf(dir)
	if d.root != "" {
		d.imported = path.Join(d.root, below(d.module, dir))
		x.imported[d.imported] = d
	}
	entries, err := afero.ReadDir(x.c.FS, dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		if !isGo(e.Name()) || strings.HasPrefix(e.Name(), "_") || strings.HasPrefix(e.Name(), ".") || e.IsDir() {
			continue
		}
		text, err := x.c.ReadFile(path.Join(dir, e.Name()))
		if err != nil {
			continue
		}
		// A file with a syntax error has the declarations before the error.
		file, _ := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
		if file != nil && file.Name != nil {
			d.take(file, strings.HasSuffix(e.Name(), "_test.go"))
		}
	}
	return d, nil
}

// below returns the rest of a path after its directory dir.
func below(dir, name string) string {
	if dir == "." {
		return name
	}
	return strings.TrimPrefix(name, dir)
}

// take adds a file of the directory.
func (d *directory) take(file *ast.File, test bool) {
	name := file.Name.Name
	if d.declared[name] == nil {
		d.declared[name] = make(map[string]bool)
	}
	if !test && name != "main" && !ignored(file) {
		d.name = name
	}
	for _, decl := range file.Decls {
		for _, id := range declaredBy(decl) {
			d.declared[name][id] = true
			if !test && ast.IsExported(id) {
				d.exports[id] = true
			}
		}
	}
	for _, spec := range file.Imports {
		n := newImport{path: importPath(spec)}
		used := assumedName(n.path)
		if exports := standard()[n.path]; exports != nil {
			used = standardName(n.path)
		}
		if spec.Name != nil {
			n.name, used = spec.Name.Name, spec.Name.Name
		}
		if used != "_" && used != "." && n.path != "C" && !slices.Contains(d.imports[used], n) {
			d.imports[used] = append(d.imports[used], n)
		}
	}
}

// ignored reports whether a build constraint excludes a file from all builds.
func ignored(file *ast.File) bool {
	for _, group := range file.Comments {
		for _, line := range group.List {
			if line.Text == "//go:build ignore" {
				return true
			}
		}
	}
	return false
}

// declaredBy returns the names that a declaration declares for its package.
func declaredBy(decl ast.Decl) []string {
	var names []string
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		if decl.Recv == nil {
			names = append(names, decl.Name.Name)
		}
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				names = append(names, spec.Name.Name)
			case *ast.ValueSpec:
				for _, id := range spec.Names {
					names = append(names, id.Name)
				}
			}
		}
	}
	return names
}

// moduleOf returns the directory and the path of the module of a directory, "" outside of a module.
func (x *index) moduleOf(dir string) (module, root string) {
	for module = dir; ; module = path.Dir(module) {
		if text, err := x.c.ReadFile(path.Join(module, "go.mod")); err == nil {
			return module, modfile.ModulePath(text)
		}
		if module == "." || module == "/" {
			return "", ""
		}
	}
}

// aside are directories whose packages the rest of the tree does not import.
var aside = [...]string{"node_modules", "testdata", "vendor"}

// walk returns all directories with Go files that can be imported.
func (x *index) walk(ctx context.Context) ([]*directory, error) {
	if x.all != nil {
		return x.all, nil
	}
	x.all = []*directory{}
	err := afero.Walk(x.c.FS, ".", func(name string, info fs.FileInfo, err error) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err != nil {
			if errors.Is(err, fs.ErrPermission) {
				return nil
			}
			return err
		}
		if !info.IsDir() {
			return nil
		}
		base := path.Base(name)
		if name != "." &&
			(strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || slices.Contains(aside[:], base)) {
			return fs.SkipDir
		}
		d, err := x.at(path.Clean(name))
		if err == nil && len(d.declared) > 0 {
			x.all = append(x.all, d)
		}
		return err
	})
	return x.all, err
}
