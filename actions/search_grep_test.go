package actions_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/fstest"
)

// grepLines returns the output of grep for a file, in the form of search. ok is false without grep.
func grepLines(t *testing.T, dir, file string, flags ...string) (text string, ok bool) {
	t.Helper()
	cmd := exec.Command("grep", append([]string{"-n"}, append(flags, "--", file)...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
	out, err := cmd.Output()
	if exit, is := errors.AsType[*exec.ExitError](err); err != nil && (!is || exit.ExitCode() != 1) {
		return err.Error(), false
	}
	numbered := regexp.MustCompile(`^([0-9]+)([:-])(.*)\n$`)
	var b strings.Builder
	for line := range strings.Lines(string(out)) {
		if m := numbered.FindStringSubmatch(line); m != nil {
			b.WriteString("Line " + m[1] + m[2] + " " + m[3] + "\n")
			continue
		}
		b.WriteString(line) // "--"
	}
	return b.String(), true
}

// TestSearchLinesAgainstGrep compares line numbers, contexts and groups with grep -n -C.
func TestSearchLinesAgainstGrep(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("grep"); err != nil {
		t.Skip("grep is not installed")
	}
	seed := fstest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 3))
	dir := t.TempDir()
	words := []string{"x", "y", "xy", "foo", "Foo", "", " ", "é", "a-b", "10:x", "--", "9-y"}
	patterns := []string{"x", "y", "foo", "xy|é", "^x", "y$", "^$", "o+", "[x-z]", "a-b", "(x|f)o*", "nothing", "-", "."}
	runs, shown := fstest.Runs(100, 300, 10_000), 0
	for range runs {
		var text bytes.Buffer
		for range r.IntN(40) {
			for range r.IntN(4) {
				text.WriteString(words[r.IntN(len(words))])
			}
			if r.IntN(3) == 0 {
				text.WriteString("filler")
			}
			text.WriteByte('\n')
		}
		if r.IntN(2) == 0 {
			text.WriteString(words[r.IntN(len(words))])
		}
		if err := os.WriteFile(filepath.Join(dir, "f"), text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		pattern, context := patterns[r.IntN(len(patterns))], r.IntN(4)
		search := actions.Search{Pattern: pattern, Mode: "regex", Lines: true, ContextLines: context,
			IgnoreCase: r.IntN(2) == 0}
		flags := []string{"-a", "-E"}
		// grep matches line by line, and sees no line after the last newline.
		search.Pattern = "(?m:" + pattern + ")"
		if r.IntN(2) == 0 && regexp.QuoteMeta(pattern) == pattern {
			search.Pattern, search.Mode = pattern, "literal"
			flags = []string{"-a", "-F"}
		}
		if context > 0 {
			flags = append(flags, "-C", strconv.Itoa(context))
		}
		if search.IgnoreCase {
			flags = append(flags, "-i")
		}
		want, ok := grepLines(t, dir, "f", append(flags, "-e", pattern)...)
		if !ok {
			t.Skipf("grep does not take %q: %s", flags, want)
		}
		b := inMemory(t, files{"f": text.String()})
		out := b.must("search", search, nil)
		if got := out.Content["f"]; got != want {
			t.Fatalf("%+v in %q\ngot\n%s\ngrep %q has\n%s", search, text.String(), got, flags, want)
		}
		if want != "" {
			shown++
		}
	}
	if shown < runs/3 {
		t.Errorf("only %d of %d searches found anything", shown, runs)
	}
	fstest.Countf(t, "%d searches compared with grep -n -C, of which %d found something", runs, shown)
}
