package archtest

import (
	"encoding/json"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// maxCircle is the most files of a package that may depend on each other in a circle.
const maxCircle = 15

// circles are the packages with a larger circle than maxCircle, by module and directory, with the present size of the
// circle. The numbers only fall: when a circle shrinks, its number must follow.
var circles = map[string]map[string]int{
	".":            {},
	"cmd/millrace": {},
	"gocode":       {},
	"mcpserver":    {},
	"yamlform":     {},
}

// Files in a circle of dependencies cannot be read separately, and no part of them can move to a package of its own. A
// file depends on another file of its package if it uses a name, a method or a field that is declared there.
func TestCircles(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("the circles are the same on every system, and counted where the tests run without -short")
	}
	for _, mod := range slices.Sorted(maps.Keys(circles)) {
		seen := make(map[string]bool)
		for _, p := range typedPackages(t, mod) {
			seen[p.dir] = true
			circle := largestCircle(p.edges)
			switch most, listed := circles[mod][p.dir]; {
			case !listed && len(circle) > maxCircle:
				t.Errorf("%s of %s has a circle of %d files, more than %d: %q", p.dir, mod, len(circle), maxCircle, circle)
			case listed && len(circle) > most:
				t.Errorf("%s of %s has a circle of %d files, and had one of %d: %q", p.dir, mod, len(circle), most, circle)
			case listed && len(circle) <= maxCircle:
				t.Errorf("%s of %s has a circle of only %d files: remove it from the table", p.dir, mod, len(circle))
			case listed && len(circle) < most:
				t.Errorf("%s of %s has a circle of %d files: lower %d to it", p.dir, mod, len(circle), most)
			}
		}
		for dir := range circles[mod] {
			if !seen[dir] {
				t.Errorf("%s of %s is listed, but does not exist", dir, mod)
			}
		}
	}
}

// The search finds a circle through a method that is not in the file of its type, and ignores local names.
func TestLargestCircle(t *testing.T) {
	t.Parallel()
	sources := map[string]string{
		"a.go": "package p; type A struct{ b B[int] }; func (a A) Go() { a.b.Go() }",
		"b.go": "package p; type B[T any] struct{ n T }",
		"m.go": "package p; func (B[T]) Go() { _ = C }",
		"c.go": "package p; var C = D().size",
		"d.go": "package p; func D() (e E) { return e }; func back() { A{}.Go() }",
		"e.go": "package p; type E struct{ size int }; func local() { A := 1; _ = A }",
	}
	fset, files := token.NewFileSet(), []*ast.File(nil)
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		f, err := parser.ParseFile(fset, name, sources[name], 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	edges, err := dependencies(fset, "p", files, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := largestCircle(edges), []string{"a.go", "c.go", "d.go", "m.go"}; !slices.Equal(got, want) {
		t.Errorf("the largest circle is %q, want %q", got, want)
	}
}

// typedPackage is a package of a module, with the dependencies between its files.
type typedPackage struct {
	dir   string
	edges map[string]map[string]bool
}

// typedPackages returns the packages of one of our modules, as they are built for Linux: the table holds on every system.
func typedPackages(t *testing.T, mod string) []typedPackage {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", "..", filepath.FromSlash(mod)))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps",
		"-json=Dir,ImportPath,Export,GoFiles,DepOnly", "./...")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "GOOS=linux", "GOARCH=amd64")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list in %s: %v\n%s", mod, err, &stderr)
	}
	type listed struct {
		Dir, ImportPath, Export string
		GoFiles                 []string
		DepOnly                 bool
	}
	var ours []listed
	exports := make(map[string]string)
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if exports[p.ImportPath] = p.Export; !p.DepOnly {
			ours = append(ours, p)
		}
	}
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	var packages []typedPackage
	for _, p := range ours {
		var files []*ast.File
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
		edges, err := dependencies(fset, p.ImportPath, files, imports)
		if err != nil {
			t.Fatal(err)
		}
		dir, err := filepath.Rel(root, p.Dir)
		if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, typedPackage{filepath.ToSlash(dir), edges})
	}
	return packages
}

// dependencies returns, for each file of a package, the other files that declare a name, method or field it uses.
func dependencies(fset *token.FileSet, path string, files []*ast.File, imports types.Importer) (map[string]map[string]bool, error) {
	info := &types.Info{Uses: make(map[*ast.Ident]types.Object)}
	conf := types.Config{Importer: imports}
	checked, err := conf.Check(path, fset, files, info)
	if err != nil {
		return nil, err
	}
	edges := make(map[string]map[string]bool)
	for id, object := range info.Uses {
		if object.Pkg() != checked {
			continue
		}
		from, to := filepath.Base(fset.Position(id.Pos()).Filename), filepath.Base(fset.Position(object.Pos()).Filename)
		if from == to {
			continue
		}
		if edges[from] == nil {
			edges[from] = make(map[string]bool)
		}
		edges[from][to] = true
	}
	return edges, nil
}

// largestCircle returns the largest set of files in which each file depends on every other, directly or indirectly.
func largestCircle(edges map[string]map[string]bool) []string {
	reach := make(map[string]map[string]bool)
	for from := range edges {
		seen, todo := make(map[string]bool), []string{from}
		for len(todo) > 0 {
			last := len(todo) - 1
			next := edges[todo[last]]
			todo = todo[:last]
			for to := range next {
				if !seen[to] {
					seen[to] = true
					todo = append(todo, to)
				}
			}
		}
		reach[from] = seen
	}
	var largest []string
	for _, from := range slices.Sorted(maps.Keys(reach)) {
		var circle []string
		for to := range reach[from] {
			if reach[to][from] {
				circle = append(circle, to)
			}
		}
		if len(circle) > len(largest) {
			largest = circle
		}
	}
	slices.Sort(largest)
	return largest
}
