package cli_test

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/cmd/millrace/internal/cli"
)

// theirWords are words that a command-line user has not seen: pointers, steps, methods and options of Go.
var theirWords = regexp.MustCompile(`/steps/|/params/|\bsteps? '\w+'|\b[A-Z]\w+\.[A-Z]\w+|\bMax[A-Z]\w+|the host|\bset \w+( to|:|$)|force=true|` +
	`'(to|destination|pattern|replacement|files|path|paths|reverse|fuzz|ambiguous)'|[^-]encoding auto\b|mode "|include of search`)

// parameterNames returns the names of actions and parameters that are not English words.
func parameterNames() []string {
	all := make(map[string]bool)
	for _, name := range actions.Builtin().Names() {
		a, _ := actions.Builtin().Lookup(name)
		all[name] = true
		for field := range reflect.Indirect(reflect.ValueOf(a)).Type().Fields() {
			tag, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			all[tag] = true
		}
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(all)), func(name string) bool { return !strings.Contains(name, "_") })
}

// messages are one-line commands that end in an error or have a warning, and a part of the message.
var messages = []struct{ command, says string }{
	{"replace nowhere x", "no file matched"},
	{"replace nowhere x .", "--encoding auto reads UTF-16"},
	{"replace one one a.txt", `^warning: "one" is found`},
	{"replace ONE x a.txt", `^warning: "ONE" matches nothing in a.txt; nearest is a.txt:1`},
	{"replace --map same a.txt", `^warning: "one" is found`},
	{"replace --map other a.txt", `^warning: "absent" matches nothing`},
	{"replace --map twice a.txt", `replace failed: there are two new texts for "one"`},
	{"replace --map odd a.txt", "write OLD, a tab and NEW"},
	{"replace --map nothing a.txt", "has no texts to replace"},
	{"replace --before x absent a.txt", `^warning: "absent" matches nothing`},
	{"replace -r --after x ab.ent a.txt", `^warning: "ab.ent" matches nothing`},
	{"replace -w absent x a.txt", `^warning: "absent" matches nothing`},
	{"replace --preserve-case absent x a.txt", `^warning: "absent" matches nothing`},
	{"replace -w " + strings.Repeat("long", 20) + " x a.txt", strings.Repeat("long", 15) + `"... matches nothing`},
	{"replace -r ( x a.txt", "or leave out -r"},
	{"replace -r o $2 a.txt", "has no group"},
	{`replace -r o \1 a.txt`, "not a group"},
	{"replace -r one|on x a.txt --expect 9", "replace failed: expected 9 edits, got 1"},
	{"replace one x nofile", "replace failed: path not found: nofile"},
	{"replace one x zz*", "write -g"},
	{"replace one x b.bin", "is a binary file; millrace do edit"},
	{"replace one x u16.txt", "--encoding auto reads it"},
	{"replace one x -t nosuch", "no file below . is taken by -g and -t"},
	{"replace one x -g *.none", "no file below . is taken by -g and -t"},
	{"replace one x -g [", "not a valid glob"},
	{"replace one x --max -1", "--max"},
	{"replace one x --max 0", "take a number from 1"},
	{"replace one x --max-total 0", "take a number from 1"},
	{"replace --preserve-case -r one x", "--preserve-case"},
	{"replace --preserve-case absent x a.txt", "matches nothing"},
	{"replace one x many.txt", "blocked due to HIGH risk"},
	{"replace -n one x many.txt", "would be blocked: operation blocked due to HIGH risk$"},
	{"replace one x --deny a.txt a.txt", "a.txt"},
	{"replace one x --expect 3..1 a.txt", "--expect"},
	{"replace " + strings.Repeat("x", 2000000) + " y a.txt", "too long"},
	{"replace -r (a{1000}){1000} y a.txt", "regular expression"},
	{"mv a.txt c.txt", "mv failed: c.txt exists already (from a.txt); --overwrite replaces"},
	{"mv a.txt a.txt", "is the file itself (from a.txt)$"},
	{"mv nofile x", "mv failed: nofile: file does not exist"},
	{"mv zz* x/", "no file matched"},
	{"mv a.txt c.txt x", "'x' is one name"},
	{"mv a.txt {{nope}}", "DEST has the unknown part"},
	{"mv *.txt x{{dir}}", "would be made from more than one file"},
	{"mv a.txt ../x", "outside of the tree"},
	{"mv d d/x", "would lie inside"},
	{"mv . x", "stays where it is"},
	{"mv a.txt c.txt/x", "not a directory"},
	{"mv a.txt " + strings.Repeat("n", 5000), "n"},
	{"mv -r absent x", "matches no path"},
	{"mv -r ^f x d", "(^|/)"},
	{"mv -r ( x", "leave out -r"},
	{"mv -r a $9", "has no group"},
	{"mv -r a.* ", "not the name of a file"},
	{"mv --replace a=a", "its replacement is the same"},
	{"mv --replace a", "write --replace OLD=NEW"},
	{"mv a.txt q --expect 3", "mv failed: expected 3 files, got 1"},
	{"cp a.txt c.txt", "cp failed: c.txt exists already"},
	{"cp d x", "is a directory"},
	{"cp nofile x", "cp failed: nofile"},
	{"cp zz* x/", "no file matched"},
	{"cp a.txt {{nope}}", "DEST has the unknown part"},
	{"rm nofile", "rm failed: nofile: file does not exist"},
	{"rm d", "add -r"},
	{"rm zz*", "no file matched"},
	{"rm ../x", "outside of the tree"},
	{"rm *.txt --expect 1", "rm failed: expected 1 file"},
	{"sed s/(/x/ a.txt", "Unmatched"},
	{"sed s/absent/x/ a.txt", "changes nothing"},
	{"sed s/a/x/ zz*", `no file below . that "zz*" takes`},
	{"sed s/a/x/ nofile", "sed failed: nofile"},
	{"sed s/one/x/ b.bin", "--binary takes them"},
	{"sed s/o/x/ u16.txt", "--binary takes them"},
	{"sed w a.txt", "writes files"},
	{"sed N;P;D a.txt", "no window of lines is kept; millrace replace -r sees the whole file"},
	{"sed s/a/x a.txt", "unterminated"},
	{"sed s/a/x/ d", "is a directory"},
	{"sed s/one/x/ a.txt --expect 4", "sed failed: expected 4 edits, got 1"},
	{"patch p/nope", "its lines are not in the file"},
	{"patch p/nofile", "File not found"},
	{"patch p/exists", "--overwrite replaces it"},
	{"patch p/noname", "or name it with --path"},
	{"patch p/short", "or use --recount"},
	{"patch p/block", "or name it with --path"},
	{"patch p/binary", "--binary takes it"},
	{"patch p/junk", "this is not a patch"},
	{"patch p/names", "use --strip"},
	{"patch -R p/begin", "--reverse is only for unified diffs"},
	{"patch --fuzz 2 p/begin", "--fuzz is only for unified diffs"},
	{"patch --recount p/begin", "--recount is only for unified diffs"},
	{"patch --nearest p/begin", "--nearest is only for unified diffs"},
	{"patch --fuzz 9 p/nope", "--fuzz is 9, and can be 0 to 3"},
	{"patch --strip 7 p/nope", "use a smaller --strip"},
	{"patch --strip -1 p/nope", "--strip is -1"},
	{"patch --strip 1 p/plain", "use --strip 0"},
	{"patch --in d p/nope", "File not found"},
	{"patch --path nofile p/noname", "nofile"},
	{"patch --keep-going p/half", "not patched"},
	{"patch p/done", "applied already"},
	{"exec millrace-no-such-program", "'millrace-no-such-program': there is no such program in your PATH"},
}

// TestMessages checks that no message of a one-line command names a parameter, a pointer or a method, which its user
// has not seen, and that each message is written once.
func TestMessages(t *testing.T) {
	t.Parallel()
	names := make([]string, 0, 100)
	for _, name := range parameterNames() {
		names = append(names, regexp.QuoteMeta(name))
	}
	if len(names) < 30 {
		t.Fatalf("only %d names of parameters were found", len(names))
	}
	parameters := regexp.MustCompile(`\b(` + strings.Join(names, "|") + `)\b`)
	for _, test := range messages {
		t.Run(test.command[:min(len(test.command), 40)], func(t *testing.T) {
			t.Parallel()
			_, text := outputOf(t, test.command, "-y")
			if found, err := regexp.MatchString(`(?m)`+says(test.says), text); err != nil || !found {
				t.Errorf("the message does not have %q:\n%s", test.says, text)
			}
			if word := parameters.FindString(text); word != "" {
				t.Errorf("the message names the parameter %s:\n%s", word, text)
			}
			if word := theirWords.FindString(text); word != "" {
				t.Errorf("the message has %q:\n%s", word, text)
			}
			lines := strings.Split(text, "\n")
			slices.Sort(lines)
			if len(slices.Compact(slices.Clone(lines))) != len(lines) {
				t.Errorf("a line is printed twice:\n%s", text)
			}
			for line := range strings.Lines(text) {
				half, rest, ok := strings.Cut(strings.TrimSpace(line), ": ")
				if ok && len(half) > 20 && strings.Contains(rest, half) {
					t.Errorf("a part is printed twice:\n%s", line)
				}
			}
		})
	}
}

// says returns a regular expression for a part of a message, with ^ and $ for the ends of a line.
func says(part string) string {
	inner := strings.TrimSuffix(strings.TrimPrefix(part, "^"), "$")
	before, after := "", ""
	if strings.HasPrefix(part, "^") {
		before = "^"
	}
	if strings.HasSuffix(part, "$") {
		after = "$"
	}
	return before + regexp.QuoteMeta(inner) + after
}

// outputOf runs a command with flags, in its own tree.
func outputOf(t *testing.T, command string, flags ...string) (stdout, stderr string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.txt": "one\n", "c.txt": "c\n", "d/f": "1\n", "b.bin": "one\x00", "u16.txt": "\xff\xfeo\x00n\x00e\x00\n\x00",
		"many.txt": strings.Repeat("one\n", 600),
		"same":     "one\tone\n", "other": "absent\tx\n", "twice": "one\t1\none\t2\n", "odd": "one\n", "nothing": "",
		"p/nope":   "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-nope\n+x\n",
		"p/nofile": "--- a/none.txt\n+++ b/none.txt\n@@ -1 +1 @@\n-nope\n+x\n",
		"p/exists": "--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+x\n",
		"p/noname": "@@ -1 +1 @@\n-one\n+x\n",
		"p/begin":  "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+x\n*** End Patch\n",
		"p/short":  "--- a/a.txt\n+++ b/a.txt\n@@ -1,5 +1,5 @@\n-one\n+x\n",
		"p/block":  "<<<<<<< SEARCH\none\n=======\ntwo\n>>>>>>> REPLACE\n",
		"p/binary": "--- a/b.bin\n+++ b/b.bin\n@@ -1 +1 @@\n-one\n+x\n",
		"p/junk":   "junk\n",
		"p/names":  "diff --git a/x y b/x z\nold mode 100644\nnew mode 100755\n",
		"p/plain":  "--- d/f\n+++ d/f\n@@ -1 +1 @@\n-1\n+2\n",
		"p/half":   "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+x\n--- a/none\n+++ b/none\n@@ -1 +1 @@\n-1\n+x\n",
		"p/done":   "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-two\n+one\n",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	words := slices.Insert(strings.Split(command, " "), 1, flags...)
	var out, errs bytes.Buffer
	a := &cli.App{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Getenv: os.Getenv, Dir: dir}
	a.Run(t.Context(), words)
	return out.String(), errs.String()
}
