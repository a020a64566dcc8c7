//go:build mutants

package fstest

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Mutant is a package in which one function leaves something out, or does it in the wrong order. Mutants are made from
// the source, so the package has no code for them.
type Mutant = struct {
	Name, File, Was, Is string // the file is relative to the package
	By                  string // the test that must fail
}

// mutantVar is the environment variable with the number of the mutant that a program runs, from 1.
const mutantVar = "MILLRACE_MUTANT"

// Mutants builds the tests of the package in the current directory with all mutants, and runs each mutant with the test
// that must fail. Building a separate program for each mutant would take ten times as long.
func Mutants(t *testing.T, all []Mutant) {
	t.Helper()
	binary := buildMutants(t, all)
	run := func(number int, tests string) (string, error) {
		cmd := exec.Command(binary, "-test.run", "^("+tests+")$")
		cmd.Env = append(os.Environ(), mutantVar+"="+strconv.Itoa(number))
		out, err := cmd.CombinedOutput()
		return string(out[:min(len(out), 2000)]), err
	}
	var tests []string
	for i, m := range all {
		tests = append(tests, m.By)
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			switch out, err := run(i+1, m.By); {
			case err == nil:
				t.Errorf("%s: no test fails:\n%s", m.Name, out)
			case !strings.Contains(out, "--- FAIL: "+m.By):
				t.Errorf("%s: %s does not fail, but %v:\n%s", m.Name, m.By, err, out)
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		t.Parallel()
		slices.Sort(tests)
		if out, err := run(0, strings.Join(slices.Compact(tests), "|")); err != nil {
			t.Errorf("the tests fail without a mutant: %v\n%s", err, out)
		}
	})
}

// buildMutants builds all mutants as one program. Packages without mutants come from the build cache.
func buildMutants(t *testing.T, all []Mutant) string {
	t.Helper()
	dir := t.TempDir()
	replace := map[string]string{}
	put := func(original, text string) {
		t.Helper()
		abs, err := filepath.Abs(original)
		if err != nil {
			t.Fatal(err)
		}
		replace[abs] = filepath.Join(dir, strings.ReplaceAll(abs, string(filepath.Separator), "_"))
		if err := os.WriteFile(replace[abs], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files := map[string]map[int]Mutant{}
	for i, m := range all {
		if files[m.File] == nil {
			files[m.File] = map[int]Mutant{}
		}
		files[m.File][i+1] = m
	}
	for file, mutants := range files {
		text, pkg, err := withMutants(file, mutants)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		put(file, text)
		put(filepath.Join(filepath.Dir(file), "mutant_number.go"), fmt.Sprintf(
			"package %s\n\nimport \"os\"\n\nvar mutantNumber = os.Getenv(%q)\n", pkg, mutantVar))
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	binary, overlay := filepath.Join(dir, "test"), filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, list, 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", binary, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return binary
}

// withMutants returns the changed text of a file, and the name of its package. Each function with mutants calls the
// mutant with the requested number, by mutantNumber. A mutant is a copy of its function with another name.
func withMutants(file string, mutants map[int]Mutant) (text, pkg string, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", "", err
	}
	source := string(data)
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, source, parser.SkipObjectResolution)
	if err != nil {
		return "", "", err
	}
	at := func(p token.Pos) int { return set.Position(p).Offset }
	var out, copies strings.Builder
	done := 0
	for _, d := range tree.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		from, name, open, to := at(f.Pos()), at(f.Name.End()), at(f.Body.Lbrace)+1, at(f.End())
		out.WriteString(source[done:open])
		done = open
		for n, m := range mutants {
			if !strings.Contains(source[from:to], m.Was) {
				continue
			}
			if strings.Count(source, m.Was) != 1 {
				return "", "", fmt.Errorf("the text to change is in the file more than once: %q", m.Was)
			}
			fmt.Fprintf(&out, " if mutantNumber == \"%d\" { %s };", n, call(f, n))
			changed := strings.Replace(source[name:to], m.Was, m.Is, 1)
			fmt.Fprintf(&copies, "\n%sMutant%d%s\n", source[from:name], n, changed)
			delete(mutants, n)
		}
	}
	for _, m := range mutants {
		return "", "", fmt.Errorf("the text to change is not in a function: %q", m.Was)
	}
	out.WriteString(source[done:])
	return out.String() + copies.String(), tree.Name.Name, nil
}

// call returns the statement that forwards a function's call to a mutant. Neither of them uses a parameter without a
// name.
func call(f *ast.FuncDecl, n int) string {
	var args []string
	for _, field := range f.Type.Params.List {
		if len(field.Names) == 0 {
			args = append(args, "*new("+types.ExprString(field.Type)+")")
		}
		for _, name := range field.Names {
			args = append(args, name.Name)
			if _, ok := field.Type.(*ast.Ellipsis); ok {
				args[len(args)-1] += "..."
			}
		}
	}
	s := fmt.Sprintf("%sMutant%d(%s)", f.Name.Name, n, strings.Join(args, ", "))
	if f.Recv != nil {
		s = f.Recv.List[0].Names[0].Name + "." + s
	}
	if f.Type.Results == nil {
		return s + "; return"
	}
	return "return " + s
}
