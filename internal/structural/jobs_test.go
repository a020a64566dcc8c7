package structural_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// job is a pair of docs/structural.md for ast-grep: the code around it, the pattern with its replacement, and whether
// the result is the same. A rule in YAML replaces pattern and replacement if these are not enough.
type job struct {
	file, before, after      string
	around                   [2]string
	pattern, kind, with, all string
	same                     bool
}

var inGo = [2]string{"package p\n\nfunc f() {\n\t", "\n}\n"}

// jobs are the ten pairs of the page in order, some of them in two ways.
var jobs = []job{
	{file: "a.go", before: `errors.New(fmt.Sprintf("%d", f(1)))`, after: `fmt.Errorf("%d", f(1))`, around: inGo,
		pattern: "func t() { errors.New(fmt.Sprintf($$$A)) }", kind: "call_expression", with: "fmt.Errorf($$$A)", same: true},
	{file: "a.go", before: `errors.New(fmt.Sprintf("%d", f(1)))`, after: `fmt.Errorf("%d", f(1))`, around: inGo,
		pattern: "errors.New(fmt.Sprintf($$$A))", with: "fmt.Errorf($$$A)"},
	{file: "a.go", before: `assert(f(1, 2), "x, y")`, after: `assert("x, y", f(1, 2))`, around: inGo,
		pattern: "assert($A, $B)", with: "assert($B, $A)", same: true},
	{file: "a.go", before: "list = append(list, g(1))", after: "push(&list, g(1))", around: inGo,
		pattern: "$X = append($X, $V)", with: "push(&$X, $V)", same: true},
	{file: "a.js", before: "import a from './b'", after: "const a = require('./b')",
		pattern: "import $N from '$M'", with: "const $N = require('$M')", same: true},
	{file: "a.js", before: "if (!a.b(1)) { return; }", after: "if (a.b(1) == null) return;",
		pattern: "if (!$X) { return; }", with: "if ($X == null) return;", same: true},
	{file: "a.py", before: "print(f(1), file=sys.stderr)", after: "log.error(f(1))",
		pattern: "print($A, file=sys.stderr)", with: "log.error($A)", same: true},
	{file: "a.c", before: "malloc(n * sizeof(struct a))", after: "calloc(n, sizeof(struct a))",
		around: [2]string{"void f() { x = ", "; }\n"}, pattern: "malloc($N * sizeof($T))", with: "calloc($N, sizeof($T))"},
	{file: "a.c", before: "malloc(n * sizeof(struct a))", after: "calloc(n, sizeof(struct a))",
		around: [2]string{"void f() { x = ", "; }\n"}, pattern: "void t() { x = malloc($N * $S); }", kind: "call_expression",
		with: "calloc($N, $S)", same: true},
	{file: "a.rs", before: `try!(f(")"))`, after: `f(")")?`, around: [2]string{"fn g() { let x = ", "; }\n"},
		pattern: "try!($$$E)", with: "$$$E?"},
	{file: "a.html", before: "<b>a <b>c</b></b>", after: "<strong>a <b>c</b></strong>",
		pattern: "<b>$$$X</b>", with: "<strong>$$$X</strong>", same: true},
	{file: "a.css", before: "color: #ffa;", after: "color: #FFA;", around: [2]string{"a { ", " }\n"}, same: true,
		all: `{id: c, language: css, rule: {pattern: {context: 'a { color: $C; }', selector: declaration}},
constraints: {C: {regex: '^#[0-9a-f]+$'}}, transform: {U: {convert: {source: $C, toCase: upperCase}}}, fix: 'color: $U;'}`},
}

// TestJobsByAstGrep runs the ten pairs of docs/structural.md with ast-grep.
func TestJobsByAstGrep(t *testing.T) {
	t.Parallel()
	program := astGrep(t)
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "structural.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range jobs {
		file := filepath.Join(t.TempDir(), j.file)
		if err := os.WriteFile(file, []byte(j.around[0]+j.before+j.around[1]), 0o600); err != nil {
			t.Fatal(err)
		}
		args := []string{"run", "-p", j.pattern, "-r", j.with, "-U", file}
		if j.kind != "" {
			args = append(args, "--selector", j.kind)
		}
		if j.all != "" {
			args = []string{"scan", "--inline-rules", j.all, "-U", file}
		}
		// The status is not 0 if nothing is found.
		out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput()
		got, readErr := os.ReadFile(file)
		if readErr != nil {
			t.Fatal(readErr)
		}
		if same := string(got) == j.around[0]+j.after+j.around[1]; same != j.same || err != nil && same {
			t.Errorf("%s %s: %q, %v\n%s", j.file, j.pattern, got, err, out)
		}
		if j.pattern != "" && !strings.Contains(string(page), "`"+j.pattern+"`") {
			t.Errorf("the page does not have %s", j.pattern)
		}
		if !strings.Contains(string(page), "| `"+j.before+"` | `"+j.after+"` |") {
			t.Errorf("the page does not have the pair %s", j.before)
		}
	}
}
