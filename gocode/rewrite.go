package gocode

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/change"
)

// Rewrite replaces Go expressions or statements by others. Holes of the pattern match other code, of a type if the step
// names one. It adds the imports that the replacement needs, removes those that are no longer needed, and checks the
// types of the new code: if they do not check, the step fails, and nothing is staged.
type Rewrite struct {
	// Pattern is an expression, or statements. A single lower-case letter is a hole that matches any expression, the same
	// at each use; so is each name in Where.
	Pattern string `json:"pattern" param:"required" doc:"Go expression or statements to find. A single small letter, and each name in where, is a hole."`
	// Replacement replaces them. Empty removes statements.
	Replacement string `json:"replacement" param:"required,empty" doc:"Go code to put in its place, with the same holes; empty removes statements."`
	// Where describes the code that a hole matches: a type, such as "io.Closer" or "[]string", or a kind: "expr", "ident",
	// "args", "stmt" or "stmts". A value has the type, or implements it.
	Where map[string]string `json:"where,omitempty" doc:"What holes take, by their names: a Go type such as io.Closer, or expr, ident, args, stmt, stmts. Default: any expression."`
	// Imports are the import paths, or name=path, of the packages that pattern, replacement and types use. The standard
	// library needs none.
	Imports []string `json:"imports,omitempty" doc:"Import paths of the packages in pattern and replacement, or name=path. The standard library is known."`
	// Packages, Dir and Files are as in [Fix].
	Packages []string `json:"packages,omitempty" doc:"Packages, as go list takes them from dir. Default: [./...]."`
	Dir      string   `json:"dir,omitempty" doc:"Directory of the module. Default: the root of the tree."`
	Files    []string `json:"files,omitempty" doc:"Change these files alone. Default: all files of the packages."`
}

// Spec implements [actions.Action].
func (Rewrite) Spec() actions.Spec {
	return actions.Spec{
		Name: "go_rewrite", Summary: "Replace Go expressions or statements by others, with typed holes",
		Exclusive: true,
	}
}

// Touches implements [actions.Toucher]: the changed files are only known when the step runs.
func (Rewrite) Touches() (reads, writes []string, known bool) { return nil, nil, false }

// Words returns the command that the step runs. The host has to allow it.
func (r Rewrite) Words() []string {
	rule, err := newRule(r)
	if err != nil {
		return listWords(r.Packages) // never run
	}
	return listWords(r.asked(rule))
}

// asked returns the packages of the step, and those that its code uses.
func (r Rewrite) asked(rule *rule) []string {
	asked := r.patterns()
	for name := range inOrder(rule.packages) {
		asked = append(asked, rule.packages[name])
	}
	return asked
}

func (r Rewrite) patterns() []string {
	if len(r.Packages) == 0 {
		return []string{"./..."}
	}
	return slices.Clone(r.Packages)
}

// Validate implements [actions.Validator].
func (r Rewrite) Validate(c *actions.Check) {
	checkPackages(c, r.Packages)
	texts := append([]string{r.Pattern, r.Replacement}, r.Imports...)
	for name, kind := range r.Where {
		texts = append(texts, name, kind)
	}
	for _, text := range texts {
		if c.Templated(text) {
			return
		}
	}
	if _, err := newRule(r); err != nil {
		c.Problemf(err.param, "bad_pattern", "", "%v", err)
	}
}

// Run implements [actions.Action].
func (r Rewrite) Run(ctx context.Context, c *actions.Call) (actions.Outcome, error) {
	rule, wrong := newRule(r)
	if wrong != nil {
		return actions.Outcome{}, actions.Permanent(wrong)
	}
	var out actions.Outcome
	err := inPackages(ctx, c, r.Dir, r.asked(rule), func(t *tree) (err error) {
		t.keep(path.Join(r.Dir, "."), r.patterns())
		out, err = t.rewrite(ctx, c, rule)
		return err
	})
	return out, err
}

// keep keeps only the roots that match the patterns. Others were listed for their types.
func (t *tree) keep(dir string, patterns []string) {
	var roots []*packages.Package
	for _, pkg := range t.roots {
		rel := t.named(pkg.Dir)
		for _, p := range patterns {
			name := strings.TrimSuffix(pkg.PkgPath, "_test")
			if strings.HasPrefix(p, ".") {
				p, name = path.Join(dir, p), rel
			}
			glob := strings.ReplaceAll(regexp.QuoteMeta(p), `\.\.\.`, ".*")
			glob = strings.ReplaceAll(glob, "/.*", "(/.*)?")
			if ok, err := regexp.MatchString("^("+glob+")$", name); takes(nil, rel) && err == nil &&
				(ok || p == "...") {
				roots = append(roots, pkg)
				break
			}
		}
	}
	t.roots = roots
}

// rewrite makes the replacements in the packages without type errors.
func (t *tree) rewrite(ctx context.Context, c *actions.Call, rule *rule) (actions.Outcome, error) {
	work, err := t.sound(c)
	if err != nil {
		return actions.Outcome{}, err
	}
	only, err := limited(c)
	if err != nil {
		return actions.Outcome{}, err
	}
	plan := &rewriting{tree: t, splices: map[string][]change.Splice{}, add: map[string][]newImport{}}
	for _, pkg := range work {
		if err := ctx.Err(); err != nil {
			return actions.Outcome{}, err
		}
		if err := plan.rewrite(pkg, rule, only); err != nil {
			return actions.Outcome{}, err
		}
	}
	if len(plan.splices) == 0 {
		c.Warnf("the pattern matches nothing in %d packages", len(work))
		return actions.Outcome{}, nil
	}
	return t.stage(ctx, c, plan.splices, func(name string, now []byte) ([]change.Splice, error) {
		return added(now, plan.add[name])
	})
}

// rewriting holds the planned changes of a step.
type rewriting struct {
	*tree
	splices map[string][]change.Splice
	add     map[string][]newImport
}

// rewrite finds the replacements in a package, and checks the types of the new code.
func (w *rewriting) rewrite(pkg *packages.Package, rule *rule, only map[string]bool) error {
	known := w.holeTypes(pkg, rule)
	changed := make(map[string][]byte) // by name in the copy
	for _, file := range pkg.Syntax {
		real := w.fset.File(file.Pos()).Name()
		name := w.named(real)
		if !takes(only, name) {
			continue
		}
		r := &rewriter{
			file: file, src: w.texts[real], base: w.fset.File(file.Pos()).Pos(0), uses: map[string]string{},
			names: importNames(file, pkg.TypesInfo),
		}
		r.matcher = &matcher{rule: rule, pkg: pkg, types: known, text: r.piece}
		for _, ch := range r.changes(file) {
			w.splices[name] = append(w.splices[name], change.Splice{Off: ch.off, Len: ch.end - ch.off, Text: ch.text})
		}
		if len(w.splices[name]) == 0 {
			continue
		}
		for path := range inOrder(r.uses) {
			n := newImport{path: path}
			if w.packageName(path) != r.uses[path] {
				n.name = r.uses[path]
			}
			w.add[name] = append(w.add[name], n)
		}
		text, err := w.result(name, r.src)
		if err != nil {
			err = fmt.Errorf("the replacement makes code that does not parse: %w", err)
			return actions.Permanent(&actions.FileError{Path: name, Err: err})
		}
		changed[real] = text
	}
	return w.recheck(pkg, changed)
}

// result returns the new text of a file.
func (w *rewriting) result(name string, src []byte) ([]byte, error) {
	text := spliced(src, w.splices[name])
	splices, err := added(text, w.add[name])
	if err != nil {
		return nil, err
	}
	text = spliced(text, splices)
	if splices, err = unneeded(src, text, w.packageName); err != nil {
		return nil, err
	}
	return spliced(text, splices), nil
}

// recheck returns an error if a package has type errors with the new texts of files.
func (w *rewriting) recheck(pkg *packages.Package, changed map[string][]byte) error {
	if len(changed) == 0 {
		return nil
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range pkg.GoFiles {
		text, ok := changed[name]
		if !ok {
			text = w.texts[name]
		}
		file, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
		if err != nil {
			return actions.Permanent(fmt.Errorf("the replacement makes code that does not parse: %w", syntaxError(err)))
		}
		files = append(files, file)
	}
	var first error
	config := types.Config{
		Importer: importer{w.tree, w.listed[pkg], pkg}, FakeImportC: true, Sizes: pkg.TypesSizes,
		GoVersion: goVersion(pkg),
		Error: func(err error) {
			if e, ok := errors.AsType[types.Error](err); ok && first == nil {
				at := fset.PositionFor(e.Pos, false)
				first = actions.Permanent(&actions.FileError{Path: w.named(at.Filename), Err: fmt.Errorf(
					"the replacement makes code whose types do not check: line %d of the new text: %s", at.Line,
					e.Msg)})
			}
		},
	}
	_, _ = config.Check(pkg.PkgPath, fset, files, nil) // config keeps the first error
	return first
}

// holeTypes returns the types of the holes in this package. A type that the package cannot know is left out: no value
// in the package has it.
func (w *rewriting) holeTypes(pkg *packages.Package, rule *rule) map[string]types.Type {
	scope := types.NewPackage(pkg.PkgPath, pkg.Name)
	for _, name := range pkg.Types.Scope().Names() {
		scope.Scope().Insert(pkg.Types.Scope().Lookup(name))
	}
	imported := importsOf(pkg.Types)
	for name := range inOrder(rule.packages) {
		of := imported[rule.packages[name]]
		if found := w.all[rule.packages[name]]; of == nil && found != nil {
			of = found.Types
		}
		if of != nil {
			scope.Scope().Insert(types.NewPkgName(token.NoPos, scope, name, of))
		}
	}
	known := make(map[string]types.Type)
	for name, h := range rule.holes {
		if h.typ == nil {
			continue
		}
		info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
		err := types.CheckExpr(token.NewFileSet(), scope, token.NoPos, h.typ, info)
		if err == nil && info.Types[h.typ].IsType() {
			known[name] = info.Types[h.typ].Type
		}
	}
	return known
}

// importsOf returns a package and all its dependencies, by path.
func importsOf(pkg *types.Package) map[string]*types.Package {
	all := map[string]*types.Package{}
	var visit func(p *types.Package)
	visit = func(p *types.Package) {
		if all[p.Path()] == nil {
			all[p.Path()] = p
			for _, i := range p.Imports() {
				visit(i)
			}
		}
	}
	visit(pkg)
	return all
}

// importNames returns the names that a file has for its imports, by path.
func importNames(file *ast.File, info *types.Info) map[string]string {
	names := make(map[string]string)
	for _, spec := range file.Imports {
		var obj types.Object = info.Implicits[spec]
		if spec.Name != nil {
			obj = info.Defs[spec.Name]
		}
		if pkg, ok := obj.(*types.PkgName); ok && pkg.Name() != "_" {
			names[importPath(spec)] = pkg.Name()
		}
		if spec.Name != nil && spec.Name.Name == "." {
			names[importPath(spec)] = ""
		}
	}
	return names
}

// goVersion returns the Go version of the module of a package, "" if it has none.
func goVersion(pkg *packages.Package) string {
	if pkg.Module == nil || pkg.Module.GoVersion == "" {
		return ""
	}
	return "go" + pkg.Module.GoVersion
}
