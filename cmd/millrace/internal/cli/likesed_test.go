package cli_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace/cmd/millrace/internal/cli"
)

// gnuSed skips the test if sed is not GNU sed.
func gnuSed(t *testing.T) {
	t.Helper()
	if out, err := exec.Command("sed", "--version").Output(); err != nil || !strings.Contains(string(out), "GNU sed") {
		t.Skip("sed is not GNU sed")
	}
}

// app runs a command in this process, and returns its exit status and streams.
func app(t *testing.T, dir, stdin string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	a := &cli.App{Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" }, Dir: dir}
	status = a.Run(t.Context(), args)
	return status, out.String(), errs.String()
}

// TestReplace_likeSed compares the effect of replace on random trees with the effect of grep, xargs and sed.
func TestReplace_likeSed(t *testing.T) {
	t.Parallel()
	gnuSed(t)
	rnd := rand.New(rand.NewPCG(1, 2))
	text := func(signs string, most int) string {
		var b strings.Builder
		for range rnd.IntN(most + 1) {
			b.WriteByte(signs[rnd.IntN(len(signs))])
		}
		return b.String()
	}
	changed := 0
	for round := range 40 {
		tree := make(map[string]string)
		for _, name := range []string{"a.txt", "b b.txt", "d/c.go", "d/e/-f", "g'h"} {
			tree[name] = text("aab_ .\n\n", 30)
		}
		old, put := "a"+text("ab", 1), text("xy", 2)
		args, flag, begin, end := []string{"replace", "-y", old, put}, "-F", "", ""
		if round%2 == 1 {
			args, flag, begin, end = append(args, "-w"), "-wF", `\b`, `\b`
		}
		one, two := t.TempDir(), t.TempDir()
		write(t, one, tree)
		write(t, two, tree)
		shell(t, one, fmt.Sprintf(`grep -rlZ %s -e %s . | xargs -0 -r sed -i -- 's/%s%s%s/%s/g'`, flag, old, begin, old, end, put))
		if status, out, errs := app(t, two, "", args...); status != 0 {
			t.Fatalf("status %d\n%s%s", status, out, errs)
		}
		want := files(t, one)
		if diff := cmp.Diff(want, files(t, two)); diff != "" {
			t.Fatalf("%q: -sed +millrace\n%s", args, diff)
		}
		write(t, one, tree)
		if !cmp.Equal(want, files(t, one)) {
			changed++
		}
	}
	if changed < 20 {
		t.Errorf("only %d rounds changed something", changed)
	}
}

// TestReplace_manyNames passes 300 names through stdin, with line ends and special characters in them.
func TestReplace_manyNames(t *testing.T) {
	t.Parallel()
	gnuSed(t)
	tree := make(map[string]string, 301)
	var list strings.Builder
	odd := []string{"line\nend", "tab\t", "star*", "[ab]", "{{find.files}}", "quote'\"", "-n", "back\\slash", "end\n",
		"#x", "ü", "a,b"}
	for i := range 300 {
		name := fmt.Sprintf("d%d/%s %d", i%7, odd[i%len(odd)], i)
		tree[name] = strings.Repeat("old\n", 1+i%3)
		list.WriteString(name + "\x00")
	}
	tree["d0/not named"] = "old\n"
	one, two := t.TempDir(), t.TempDir()
	write(t, one, tree)
	write(t, two, tree)
	write(t, one, map[string]string{".list": list.String()})
	shell(t, one, "xargs -0 sed -i s/old/new/ < .list && rm .list")

	status, out, errs := app(t, two, list.String(), "replace", "old", "new", "--files-from", "-", "-0", "-y")
	if status != 3 || !strings.Contains(errs, "--force") {
		t.Errorf("status %d\n%s%s", status, out, errs)
	}
	status, out, errs = app(t, two, list.String(), "replace", "old", "new", "--files-from", "-", "-0", "-y", "--force",
		"--expect", "600")
	if status != 0 || !strings.Contains(out, "300 files | 600 edits") {
		t.Errorf("status %d\n%s%s", status, out, errs)
	}
	if diff := cmp.Diff(files(t, one), files(t, two)); diff != "" {
		t.Errorf("-sed +millrace\n%s", diff)
	}
}
