package actions_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace/actions"
)

const ten = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"

// patchCase is a patch, the tree before it, and the result: a tree, or with err an error with that text.
type patchCase struct {
	name    string
	tree    files
	patch   actions.Patch
	want    files
	err     string
	warning string
}

func runPatchCases(t *testing.T, cases []patchCase) {
	t.Helper()
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			base := bases["memory"]
			if strings.Contains(test.patch.Text, "120000") || strings.Contains(test.name, "link") {
				base = bases["root"]
			}
			b := newBench(t, base(t), test.tree)
			_, err := b.run("p", test.patch, nil)
			switch {
			case test.err == "" && err != nil:
				t.Fatalf("failed: %v", err)
			case test.err != "" && err == nil:
				t.Fatalf("no error, want %q; the tree is %q", test.err, b.tree())
			case test.err != "":
				if !strings.Contains(err.Error(), test.err) {
					t.Fatalf("error %q, want %q", err, test.err)
				}
				return
			}
			if d := cmp.Diff(test.want, b.tree()); d != "" {
				t.Errorf("tree (-want +got):\n%s", d)
			}
			warnings := strings.Join(b.warnings, "\n")
			if test.warning == "" && warnings != "" || !strings.Contains(warnings, test.warning) {
				t.Errorf("warnings %q, want %q", warnings, test.warning)
			}
		})
	}
}

func text(patch string) actions.Patch { return actions.Patch{Text: patch} }

func TestPatchUnified(t *testing.T) {
	t.Parallel()
	const head = "--- a/f\n+++ b/f\n"
	one := func(change func(p *actions.Patch), patch string) actions.Patch {
		p := text(head + patch)
		change(&p)
		return p
	}
	runPatchCases(t, []patchCase{
		{"exact", files{"f": ten}, text(head + "@@ -3,3 +3,3 @@\n 3\n-4\n+four\n 5\n"), files{"f": strings.Replace(ten, "4", "four", 1)}, "", ""},
		{"moved", files{"f": "x\ny\n" + ten}, text(head + "@@ -3,3 +3,3 @@\n 3\n-4\n+four\n 5\n"),
			files{"f": "x\ny\n" + strings.Replace(ten, "4", "four", 1)}, "", "f: hunk 1 (line 3 of the patch) applied 2 lines further down"},
		{"stated place wins", files{"f": "a\nb\na\nb\n"}, text(head + "@@ -3,2 +3,2 @@\n a\n-b\n+c\n"), files{"f": "a\nb\na\nc\n"}, "", ""},
		{"ambiguous", files{"f": "x\na\nb\na\nb\n"}, text(head + "@@ -1,2 +1,2 @@\n a\n-b\n+c\n"), nil, "the file 2 times, at lines 2, 4", ""},
		{"nearest", files{"f": "x\na\nb\na\nb\n"}, one(func(p *actions.Patch) { p.Ambiguous = "nearest" }, "@@ -1,2 +1,2 @@\n a\n-b\n+c\n"),
			files{"f": "x\na\nc\na\nb\n"}, "", "1 line further down"},
		{"missing", files{"f": ten}, text(head + "@@ -3,3 +3,3 @@\n 3\n-four\n+vier\n 5\n"), nil,
			`f: hunk 1 (line 3 of the patch): its lines are not in the file; nearest is line 3, but line 4 should be "four" and is "4"`, ""},
		{"all failures", files{"f": ten, "g": ten}, text(head + "@@ -3,1 +3,1 @@\n-x\n+4\n@@ -9 +9 @@\n-y\n+z\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-q\n+z\n"),
			nil, "g: hunk 1 (line 11", ""},
		{"already there", files{"f": ten}, text(head + "@@ -3,3 +3,3 @@\n 3\n-four\n+4\n 5\n@@ -8,2 +8,2 @@\n 8\n-9\n+nine\n"),
			files{"f": strings.Replace(ten, "9", "nine", 1)}, "", "hunk 1 (line 3 of the patch) is applied already, at line 3"},
		{"added at the end once", files{"f": "1\n2\n3\n"}, text(head + "@@ -2,2 +2,3 @@\n 2\n 3\n+4\n"), files{"f": "1\n2\n3\n4\n"}, "", ""},
		{"added at the end twice", files{"f": "1\n2\n3\n4\n"}, text(head + "@@ -2,2 +2,3 @@\n 2\n 3\n+4\n"), files{"f": "1\n2\n3\n4\n"}, "", "is applied already"},
		{"added at the top", files{"f": "1\n2\n"}, text(head + "@@ -1,1 +1,2 @@\n+0\n 1\n"), files{"f": "0\n1\n2\n"}, "", ""},
		{"no context, stated", files{"f": "1\n2\n3\n"}, text(head + "@@ -2 +2 @@\n-2\n+two\n"), files{"f": "1\ntwo\n3\n"}, "", ""},
		{"no context, elsewhere", files{"f": "0\n1\n2\n3\n"}, text(head + "@@ -2 +2 @@\n-2\n+two\n"), nil, "its lines are not in the file", ""},
		{"no numbers", files{"f": ten}, text(head + "@@\n 3\n-4\n+four\n"), files{"f": strings.Replace(ten, "4", "four", 1)}, "", ""},
		{"no numbers, added alone", files{"f": ten}, text(head + "@@\n+four\n"), nil, "nothing says where its lines are to be added", ""},
		{"counted anew", files{"f": ten}, text(head + "@@ -3,9 +3,7 @@\n 3\n-4\n+four\n 5\n@@ -7,2 +7,2 @@\n 7\n-8\n+eight\n"),
			files{"f": "1\n2\n3\nfour\n5\n6\n7\neight\n9\n10\n"}, "", "line 3 of the patch: the hunk should have 9 old and 7 new lines, and has 3 and 3"},
		{"cut off", files{"f": ten}, text(head + "@@ -3,4 +3,4 @@\n 3\n-4\n+four\n 5\n"), nil, "the patch ends within a hunk", ""},
		{"cut off, recounted", files{"f": ten}, one(func(p *actions.Patch) { p.Recount = true }, "@@ -3,4 +3,4 @@\n 3\n-4\n+four\n 5\n"),
			files{"f": strings.Replace(ten, "4", "four", 1)}, "", "they were counted anew"},
		{"no first character", files{"f": ten}, text(head + "@@ -3,3 +3,3 @@\n 3\n-4\n+four\n5\n"), nil, "line 7 of the patch: lines of a hunk begin with", ""},
		{"empty context line", files{"f": "a\n\nb\n"}, text(head + "@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n"), files{"f": "a\n\nc\n"}, "", ""},
		{"removed line with dashes", files{"f": "-- a\nx\n"}, text(head + "@@ -1,2 +1,2 @@\n--- a\n+++ b\n x\n"), files{"f": "++ b\nx\n"}, "", ""},
		{"trailing space is kept", files{"f": "a  \nb\nc \n"}, one(func(p *actions.Patch) { p.Tolerance = "trailing_space" }, "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"),
			files{"f": "a  \nB\nc \n"}, "", "differ in white space at the end"},
		{"trailing space is refused", files{"f": "a  \nb\nc \n"}, text(head + "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"), nil, "not in the file", ""},
		{"indented", files{"f": "\t\tif x {\n\t\t\ty()\n\n\t\t}\n"}, one(func(p *actions.Patch) { p.Tolerance = "indent" }, "@@\n if x {\n-\ty()\n+\tz()\n+\n+\tw()\n \n }\n"),
			files{"f": "\t\tif x {\n\t\t\tz()\n\n\t\t\tw()\n\n\t\t}\n"}, "", "differ in white space"},
		{"indented less", files{"f": "a {\n  b\n}\n"}, one(func(p *actions.Patch) { p.Tolerance = "indent" }, "@@\n     a {\n-      b\n+      c\n     }\n"),
			files{"f": "a {\n  c\n}\n"}, "", "differ in white space"},
		{"indented unevenly", files{"f": "\ta\n\t\tb\n"}, one(func(p *actions.Patch) { p.Tolerance = "indent" }, "@@\n a\n-b\n+c\n"), nil, "not in the file", ""},
		{"typography", files{"f": "it’s “so” — yes\nb\n"}, one(func(p *actions.Patch) { p.Tolerance = "typography" }, "@@\n it's \"so\" - yes\n-b\n+c\n"),
			files{"f": "it’s “so” — yes\nc\n"}, "", "typography"},
		{"fuzz", files{"f": "other\n2\n3\n4\n5\n"}, one(func(p *actions.Patch) { p.Fuzz = 1 }, "@@ -1,5 +1,5 @@\n 1\n 2\n-3\n+three\n 4\n 5\n"),
			files{"f": "other\n2\nthree\n4\n5\n"}, "", "without 1 of its lines at either end"},
		{"several sections of a file", files{"f": ten}, text(head + "@@ -2,2 +2,2 @@\n 2\n-3\n+three\n" + head + "@@ -8,2 +8,2 @@\n 8\n-9\n+nine\n"),
			files{"f": "1\n2\nthree\n4\n5\n6\n7\n8\nnine\n10\n"}, "", ""},
		{"same lines twice", files{"f": ten}, text(head + "@@ -2,2 +2,2 @@\n 2\n-3\n+three\n@@ -2,2 +2,2 @@\n 2\n-3\n+drei\n"), nil, "hunk 2", ""},
		{"moved and elsewhere", files{"f": "n\nn\n" + "q\nz\na\nb\nc\na\nb\nc\n"}, text(head + "@@ -1,2 +1,2 @@\n q\n-z\n+Z\n@@ -3,2 +3,2 @@\n a\n-b\n+B\n"),
			files{"f": "n\nn\nq\nZ\na\nB\nc\na\nb\nc\n"}, "", "2 lines further down"},
		{"moved, but another place is nearer", files{"f": "n\nn\nq\nz\na\nb\na\nb\n"}, text(head + "@@ -1,2 +1,2 @@\n q\n-z\n+Z\n@@ -5,2 +5,2 @@\n a\n-b\n+B\n"), nil, "2 times, at lines 5, 7", ""},
		{"stated, but another place ends the file", files{"f": "x\na\nb\nx\na\nb\n"}, text(head + "@@ -2,2 +2,2 @@\n a\n-b\n+B\n"), nil, "2 times, at lines 2, 5", ""},
		{"stated at the beginning", files{"f": "a\nb\nx\na\nb\n"}, text(head + "@@ -1,2 +1,2 @@\n a\n-b\n+B\n"), files{"f": "a\nB\nx\na\nb\n"}, "", ""},
		{"stated, but another place has the line ends", files{"f": "a\r\nb\r\nx\r\ny\na\nb\nx\n"}, text(head + "@@ -1,3 +1,3 @@\n a\n-b\n+B\n x\n"), nil, "2 times, at lines 1, 5", ""},
		{"stale deletion is not done by its brace", files{"f": "a\n}\nnew()\n"}, text(head + "@@ -2,2 +2 @@\n }\n-old()\n"), nil, "its lines are not in the file", ""},
		{"deletion that is done", files{"f": "a\n}\nnew()\n"}, text(head + "@@ -2,3 +2,2 @@\n }\n-old()\n new()\n"), files{"f": "a\n}\nnew()\n"}, "", "applied already"},
		{"fence", files{"f": ten}, text("```diff\n" + head + "@@ -3,9 +3,9 @@\n 3\n-4\n+four\n```\n"), files{"f": strings.Replace(ten, "4", "four", 1)}, "", "counted anew"},
		{"here-document", files{"f": ten}, text("patch -p1 <<'EOF'\n" + head + "@@ -3,2 +3,2 @@\n 3\n-4\n+four\nEOF\n"), files{"f": strings.Replace(ten, "4", "four", 1)}, "", ""},
		{"path for hunks without a name", files{"d/f": ten}, actions.Patch{Text: "@@ -3,2 +3,2 @@\n 3\n-4\n+four\n", Path: "f", Directory: "d"}, files{"d/f": strings.Replace(ten, "4", "four", 1)}, "", ""},
		{"no name", files{"f": ten}, text("@@ -3,2 +3,2 @@\n 3\n-4\n+four\n"), nil, "the hunk names no file", ""},
		{"no prefixes", files{"d/f": "a\n"}, text("--- d/f\n+++ d/f\n@@ -1 +1 @@\n-a\n+b\n"), files{"d/f": "b\n"}, "", ""},
		{"strip", files{"f": "a\n"}, actions.Patch{Text: "--- x/y/f\n+++ x/y/f\n@@ -1 +1 @@\n-a\n+b\n", Strip: ref(2)}, files{"f": "b\n"}, "", ""},
		{"stripped too much", files{"d/f": "a\n"}, actions.Patch{Text: "diff --git d/f d/f\n--- d/f\n+++ d/f\n@@ -1 +1 @@\n-a\n+b\n", Strip: ref(1)}, nil, "there is d/f, so set strip to 0", ""},
		{"no prefixes", files{"d/f": "a\n", "f": "a\n"}, text("diff --git d/f d/f\n--- d/f\n+++ d/f\n@@ -1 +1 @@\n-a\n+b\n"), files{"d/f": "b\n", "f": "a\n"}, "", ""},
		{"missing file", files{"f": "a\n"}, text("--- a/g\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n"), nil, "g (line 1 of the patch): File not found", ""},
		{"out of the tree", files{"f": "a\n"}, text("--- a/../g\n+++ b/../g\n@@ -1 +1 @@\n-a\n+b\n"), nil, "../g", ""},
		{"out of the directory", files{"f": "a\n", "d/g": "a\n"}, actions.Patch{Text: "--- a/../f\n+++ b/../f\n@@ -1 +1 @@\n-a\n+b\n", Directory: "d"}, nil, "leads out of the directory", ""},
		{"version control", files{".git/config": "a\n"}, text("--- a/.git/config\n+++ b/.git/config\n@@ -1 +1 @@\n-a\n+b\n"), nil, ".git/config", ""},
		{"no patch", files{"f": "a\n"}, text("please change f"), nil, "this is not a patch (write a unified diff", ""},
		{"context diff", files{"f": "a\n"}, text("*** f\n--- f\n***************\n*** 1 ****\n! a\n--- 1 ----\n! b\n"), nil, "this is a context diff", ""},
		{"merge", files{"f": "a\n"}, text("diff --cc f\n--- a/f\n+++ b/f\n@@@ -1,1 -1,1 +1,1 @@@\n- a\n -b\n++c\n"), nil, "combined diff of a merge", ""},
	})
}

func ref[T any](v T) *T { return &v }

func TestPatchLineEnds(t *testing.T) {
	t.Parallel()
	const head = "--- a/f\n+++ b/f\n"
	runPatchCases(t, []patchCase{
		{"CRLF file, LF patch", files{"f": "a\r\nb\r\nc\r\n"}, text(head + "@@ -1,3 +1,4 @@\n a\n-b\n+B\n+B2\n c\n"), files{"f": "a\r\nB\r\nB2\r\nc\r\n"}, "", ""},
		{"LF file, CRLF patch", files{"f": "a\nb\nc\n"}, text(strings.ReplaceAll(head+"@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", "\n", "\r\n")), files{"f": "a\nB\nc\n"}, "", ""},
		{"both kinds in the patch", files{"f": "a\nb\r\nc\n"}, text(head + "@@ -1,3 +1,3 @@\n a\n-b\r\n+b\n c\n"), files{"f": "a\nb\nc\n"}, "", ""},
		{"both kinds in the file", files{"f": "a\r\nb\r\nc\nd\n"}, text(head + "@@ -1,2 +1,3 @@\n a\n-b\n+B\n+C\n"), files{"f": "a\r\nB\r\nC\r\nc\nd\n"}, "", ""},
		{"newline at the end is taken away", files{"f": "a\nb\n"}, text(head + "@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n"), files{"f": "a\nb"}, "", ""},
		{"newline at the end is added", files{"f": "a\nb"}, text(head + "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n"), files{"f": "a\nb\n"}, "", ""},
		{"no newline stays none", files{"f": "a\nb"}, text(head + "@@ -1,2 +1,3 @@\n a\n-b\n+B\n+C\n"), files{"f": "a\nB\nC"}, "", ""},
		{"no newline, lines added behind", files{"f": "a\nb"}, text(head + "@@ -1,2 +1,3 @@\n a\n b\n+c\n"), files{"f": "a\nb\nc"}, "", ""},
		{"newline that the patch does not know of", files{"f": "a\nb\n"}, text(head + "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+B\n\\ No newline at end of file\n"), files{"f": "a\nB\n"}, "", ""},
		{"byte order mark", files{"f": "\ufeffa\nb\n"}, text(head + "@@ -1,2 +1,2 @@\n-a\n+A\n b\n"), files{"f": "\ufeffA\nb\n"}, "", ""},
		{"byte order mark is removed", files{"f": "\ufeffa\nb\n"}, text(head + "@@ -1,2 +1,2 @@\n-\ufeffa\n+a\n b\n"), files{"f": "a\nb\n"}, "", ""},
		{"added lines, as the index names them", files{"f": "a\n"}, text("diff --git a/f b/f\nindex 7898192..4d68a85 100644\n" +
			head + "@@ -0,0 +1,2 @@\n+a\r\n+\r\n"), files{"f": "a\r\n\r\na\n"}, "", ""},
		{"added lines, without an index", files{"f": "a\n"}, text(head + "@@ -0,0 +1,2 @@\n+a\r\n+\r\n"),
			files{"f": "a\n\na\n"}, "", ""},
		{"nothing becomes something", files{"f": ""}, text(head + "@@ -0,0 +1 @@\n+a\n"), files{"f": "a\n"}, "", ""},
	})
}

func TestPatchFiles(t *testing.T) {
	t.Parallel()
	runPatchCases(t, []patchCase{
		{"create", files{}, text("--- /dev/null\n+++ b/d/f\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n"), files{"d/f": "a\nb"}, "", ""},
		{"create what exists", files{"f": "x\n"}, text("--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n"), nil, "set overwrite to replace it", ""},
		{"overwrite", files{"f": "x\n"}, actions.Patch{Text: "--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n", Overwrite: true}, files{"f": "a\n"}, "", ""},
		{"create by a time", files{}, text("--- a/f\t1970-01-01 01:00:00.000000000 +0100\n+++ b/f\t2026-01-01 01:00:00.000000000 +0100\n@@ -0,0 +1 @@\n+a\n"), files{"f": "a\n"}, "", ""},
		{"create without saying so", files{}, text("--- a/f\n+++ b/f\n@@ -0,0 +1 @@\n+a\n"), files{"f": "a\n"}, "", ""},
		{"delete", files{"f": "x\n", "g": ""}, text("--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"), files{"g": ""}, "", ""},
		{"delete what is longer", files{"f": "x\ny\n"}, text("--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"), nil, "has 2 bytes that the patch does not remove", ""},
		{"delete without hunks", files{"f": "x\n"}, text("diff --git a/f b/f\ndeleted file mode 100644\n"), nil, "does not remove", ""},
		{"delete empty", files{"f": "", "g": ""}, text("diff --git a/f b/f\ndeleted file mode 100644\nindex e69de29..0000000\n"), files{"g": ""}, "", ""},
		{"rename", files{"f": ten}, text("diff --git a/f b/d/g\nsimilarity index 90%\nrename from f\nrename to d/g\n--- a/f\n+++ b/d/g\n@@ -3,2 +3,2 @@\n 3\n-4\n+four\n"), files{"d/g": strings.Replace(ten, "4", "four", 1)}, "", ""},
		{"swap", files{"f": "1\n", "g": "2\n"}, text("diff --git a/f b/g\nrename from f\nrename to g\ndiff --git a/g b/f\nrename from g\nrename to f\n"), files{"f": "2\n", "g": "1\n"}, "", ""},
		{"rename onto a file", files{"f": "1\n", "g": "2\n"}, text("diff --git a/f b/g\nrename from f\nrename to g\n"), nil, "set overwrite", ""},
		{"rename onto a deleted file", files{"f": "1\n", "g": "2\n"}, text("diff --git a/f b/g\nrename from f\nrename to g\ndiff --git a/g b/g\ndeleted file mode 100644\n--- a/g\n+++ /dev/null\n@@ -1 +0,0 @@\n-2\n"), files{"g": "1\n"}, "", ""},
		{"copy sees the file as it was", files{"f": "1\n"}, text("diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-1\n+one\ndiff --git a/f b/g\ncopy from f\ncopy to g\n--- a/f\n+++ b/g\n@@ -1 +1 @@\n-1\n+uno\n"), files{"f": "one\n", "g": "uno\n"}, "", ""},
		{"file becomes a directory", files{"d": "x\n"}, text("diff --git a/d b/d\ndeleted file mode 100644\n--- a/d\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\ndiff --git a/d/f b/d/f\nnew file mode 100644\n--- /dev/null\n+++ b/d/f\n@@ -0,0 +1 @@\n+y\n"), files{"d/f": "y\n"}, "", ""},
		{"directory becomes a file", files{"d/f": "x\n"}, text("diff --git a/d b/d\nnew file mode 100644\n--- /dev/null\n+++ b/d\n@@ -0,0 +1 @@\n+y\ndiff --git a/d/f b/d/f\ndeleted file mode 100644\n--- a/d/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"), files{"d": "y\n"}, "", ""},
		{"quoted names", files{"a b\t\"é": "1\n"}, text("diff --git \"a/a b\\t\\\"\\303\\251\" \"b/a b\\t\\\"\\303\\251\"\n--- \"a/a b\\t\\\"\\303\\251\"\n+++ \"b/a b\\t\\\"\\303\\251\"\n@@ -1 +1 @@\n-1\n+2\n"), files{"a b\t\"é": "2\n"}, "", ""},
		{"name with a space", files{"a b": ""}, text("diff --git a/a b b/a b\ndeleted file mode 100644\nindex e69de29..0000000\n"), files{}, "", ""},
		{"link", files{}, text("diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+d/f\n\\ No newline at end of file\n"), files{"l@": "d/f"}, "", ""},
		{"link gets another target", files{"l@": "a"}, text("diff --git a/l b/l\nindex 1..2 120000\n--- a/l\n+++ b/l\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n"), files{"l@": "b"}, "", ""},
		{"link becomes a file", files{"l@": "a"}, text("diff --git a/l b/l\ndeleted file mode 120000\n--- a/l\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n\\ No newline at end of file\ndiff --git a/l b/l\nnew file mode 100644\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+x\n"), files{"l": "x\n"}, "", ""},
		{"text of a link", files{"f": "1\n", "l@": "f"}, text("--- a/l\n+++ b/l\n@@ -1 +1 @@\n-1\n+2\n"), nil, "is a symbolic link, which is not followed", ""},
		{"behind a link", files{"d/f": "1\n", "l@": "d"}, text("--- a/l/f\n+++ b/l/f\n@@ -1 +1 @@\n-1\n+2\n"), nil, "is behind the symbolic link l", ""},
		{"behind a link that it makes", files{"d/f": "1\n"}, text("diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+d\n\\ No newline at end of file\ndiff --git a/l/g b/l/g\nnew file mode 100644\n--- /dev/null\n+++ b/l/g\n@@ -0,0 +1 @@\n+x\n"), nil, "l (line 1 of the patch)", ""},
		{"submodule", files{}, text("diff --git a/l b/l\nnew file mode 160000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+Subproject commit 1\n"), nil, "submodules cannot be patched", ""},
		{"binary note", files{"f": "\x00"}, text("diff --git a/f b/f\nindex 1..2 100644\nBinary files a/f and b/f differ\n"), nil, "line 3 of the patch: the patch does not have the bytes of the binary file", ""},
		{"binary file", files{"f": "a\x00\nb\n"}, text("--- a/f\n+++ b/f\n@@ -2 +2 @@\n-b\n+c\n"), nil, "set binary: true", ""},
		{"binary file, allowed", files{"f": "a\x00\nb\n"}, actions.Patch{Text: "--- a/f\n+++ b/f\n@@ -2 +2 @@\n-b\n+c\n", Binary: true}, files{"f": "a\x00\nc\n"}, "", ""},
		{"reverse", files{"g": "2\n", "n": "x\n"}, actions.Patch{Text: "diff --git a/f b/g\nrename from f\nrename to g\n--- a/f\n+++ b/g\n@@ -1 +1 @@\n-1\n+2\ndiff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n", Reverse: true}, files{"f": "1\n"}, "", ""},
		{"continue", files{"f": "1\n", "g": "1\n"}, actions.Patch{Text: "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-2\n+3\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-1\n+3\n", OnError: "continue"}, files{"f": "1\n", "g": "3\n"}, "", "not patched: f: hunk 1"},
		{"continue, nothing can be done", files{"f": "1\n"}, actions.Patch{Text: "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-2\n+3\n", OnError: "continue"}, nil, "its lines are not in the file", ""},
		{"two sections make a file", files{}, text(strings.Repeat("--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n", 2)), nil, "another section of the patch puts a file there", ""},
		{"continue, three in a row", files{"f": "1\n", "g": "2\n", "h": "3\n", "o": "a\n"}, actions.Patch{Text: "diff --git a/f b/g\nrename from f\nrename to g\ndiff --git a/g b/h\nrename from g\nrename to h\ndiff --git a/o b/o\n--- a/o\n+++ b/o\n@@ -1 +1 @@\n-a\n+b\n", OnError: "continue"}, files{"f": "1\n", "g": "2\n", "h": "3\n", "o": "b\n"}, "", "not patched: g (line 1 of the patch)"},
		{"continue, one is in the way of another", files{"f": "1\n", "g": "1\n"}, actions.Patch{Text: "diff --git a/f b/g\nrename from f\nrename to g\ndiff --git a/g b/h\nrename from g\nrename to h\n--- a/g\n+++ b/h\n@@ -1 +1 @@\n-2\n+3\n", OnError: "continue"}, nil, "g (line 1 of the patch): file already exists", ""},
	})
}

func TestPatchEnvelope(t *testing.T) {
	t.Parallel()
	wrap := func(body string) actions.Patch { return text("*** Begin Patch\n" + body + "*** End Patch\n") }
	runPatchCases(t, []patchCase{
		{"all kinds", files{"f": ten, "old": "x\n", "gone": "y\n"},
			wrap("*** Add File: d/new\n+a\n+\n+b\n*** Update File: f\n@@\n 3\n-4\n+four\n*** Delete File: gone\n*** Update File: old\n*** Move to: d/moved\n@@\n-x\n+X\n"),
			files{"f": strings.Replace(ten, "4", "four", 1), "d/new": "a\n\nb\n", "d/moved": "X\n"}, "", ""},
		{"sections see each other", files{"g": "1\n"},
			wrap("*** Add File: f\n+a\n*** Update File: f\n@@\n-a\n+b\n*** Update File: g\n*** Move to: h\n*** Update File: h\n@@\n-1\n+2\n*** Add File: g\n+new\n"),
			files{"f": "b\n", "h": "2\n", "g": "new\n"}, "", ""},
		{"first line without @@", files{"f": ten}, wrap("*** Update File: f\n 3\n-4\n+four\n"), files{"f": strings.Replace(ten, "4", "four", 1)}, "", ""},
		{"anchor", files{"f": "func a\n  x\nfunc b\n  x\n"}, wrap("*** Update File: f\n@@ func b\n-  x\n+  y\n"), files{"f": "func a\n  x\nfunc b\n  y\n"}, "", ""},
		{"anchors narrow down", files{"f": "class A\n def f\n  x\nclass B\n def f\n  x\n"}, wrap("*** Update File: f\n@@ class B\n@@  def f\n-  x\n+  y\n"), files{"f": "class A\n def f\n  x\nclass B\n def f\n  y\n"}, "", ""},
		{"anchor without its indentation", files{"f": "class A\n  def f\n  x\n"}, wrap("*** Update File: f\n@@ def f\n-  x\n+  y\n"), files{"f": "class A\n  def f\n  y\n"}, "", ""},
		{"anchor is missing", files{"f": ten}, wrap("*** Update File: f\n@@ func b\n-4\n+y\n"), nil, `the line "func b" behind @@ is not in the file`, ""},
		{"ambiguous without an anchor", files{"f": "a\nx\na\nx\n"}, wrap("*** Update File: f\n@@\n a\n-x\n+y\n"), nil, "2 times, at lines 1, 3", ""},
		{"downwards", files{"f": "a\nx\nb\nx\nc\n"}, wrap("*** Update File: f\n@@\n-b\n+B\n@@\n-x\n+y\n"), files{"f": "a\nx\nB\ny\nc\n"}, "", ""},
		{"end of file", files{"f": "a\nx\na\nx\n"}, wrap("*** Update File: f\n@@\n a\n-x\n+y\n*** End of File\n"), files{"f": "a\nx\na\ny\n"}, "", ""},
		{"added at the end", files{"f": "a\n"}, wrap("*** Update File: f\n@@\n+b\n"), files{"f": "a\nb\n"}, "", ""},
		{"added at the end, again", files{"f": "a\nb\n"}, wrap("*** Update File: f\n@@\n+b\n"), files{"f": "a\nb\n"}, "", "applied already"},
		{"added behind an anchor", files{"f": "a\nc\n"}, wrap("*** Update File: f\n@@ a\n+b\n"), files{"f": "a\nb\nc\n"}, "", ""},
		{"added behind an anchor, again", files{"f": "a\nb\nc\n"}, wrap("*** Update File: f\n@@ a\n+b\n"), files{"f": "a\nb\nc\n"}, "", "applied already"},
		{"added between, again", files{"f": "a\nb\nc\n"}, wrap("*** Update File: f\n@@\n a\n+b\n c\n"), files{"f": "a\nb\nc\n"}, "", "applied already"},
		{"white space and typography", files{"f": "  it’s\n  b \n"}, wrap("*** Update File: f\n@@\n it's\n-b\n+c\n"), files{"f": "  it’s\n  c\n"}, "", "typography"},
		{"carriage returns at markers", files{"f": "a\n"}, text("*** Begin Patch\r\n*** Update File: f\r\n@@\r\n-a\r\n+b\r\n*** End Patch\r\n"), files{"f": "b\n"}, "", ""},
		{"no end", files{"f": "a\n"}, text("*** Begin Patch\n*** Update File: f\n@@\n-a\n+b\n"), nil, "the patch has no line *** End Patch", ""},
		{"add what exists", files{"f": "a\n"}, wrap("*** Add File: f\n+b\n"), nil, "set overwrite", ""},
		{"two sections add a file", files{}, wrap("*** Add File: f\n+a\n*** Add File: f\n+b\n"), nil, "another section of the patch has made it", ""},
		{"delete what is missing", files{}, wrap("*** Delete File: f\n"), nil, "File not found", ""},
		{"no plus in a new file", files{}, wrap("*** Add File: f\n+a\nb\n"), nil, "line 4 of the patch: lines of a new file begin with +", ""},
		{"unknown line", files{}, wrap("*** Change File: f\n+a\n"), nil, "line 2 of the patch: this line begins no file", ""},
		{"no hunk", files{"f": "a\n"}, wrap("*** Update File: f\n"), nil, "no hunk follows", ""},
	})
}

func TestPatchBlocks(t *testing.T) {
	t.Parallel()
	block := func(old, now string) string {
		return "<<<<<<< SEARCH\n" + old + "=======\n" + now + ">>>>>>> REPLACE\n"
	}
	runPatchCases(t, []patchCase{
		{"one", files{"d/f": ten}, text("d/f\n```go\n" + block("3\n4\n", "3\nfour\n") + "```\n"), files{"d/f": strings.Replace(ten, "4", "four", 1)}, "", ""},
		{"name in a heading", files{"d/f": ten}, text("Here it is:\n\n### `d/f`:\n" + block("4\n", "four\n")), files{"d/f": strings.Replace(ten, "4", "four", 1)}, "", ""},
		{"name of the block before", files{"f": ten}, text("f\n" + block("4\n", "four\n") + "\n" + block("four\n5\n", "four\nfive\n")), files{"f": "1\n2\n3\nfour\nfive\n6\n7\n8\n9\n10\n"}, "", "f: hunk 2 (line 8 of the patch) applied to lines that another hunk of the patch has put in"},
		{"path", files{"f": ten}, actions.Patch{Text: "------- SEARCH\n4\n=======\nfour\n+++++++ REPLACE\n", Path: "f"}, files{"f": strings.Replace(ten, "4", "four", 1)}, "", ""},
		{"no name", files{"f": ten}, text(block("4\n", "four\n")), nil, "the block names no file", ""},
		{"delete", files{"f": ten}, text("f\n" + block("4\n5\n", "")), files{"f": "1\n2\n3\n6\n7\n8\n9\n10\n"}, "", ""},
		{"twice", files{"f": "a\na\n"}, text("f\n" + block("a\n", "b\n")), nil, "2 times, at lines 1, 2", ""},
		{"new file", files{}, text("d/f\n" + block("", "a\nb\n")), files{"d/f": "a\nb\n"}, "", ""},
		{"new file, exists empty", files{"f": ""}, text("f\n" + block("", "a\n")), files{"f": "a\n"}, "", ""},
		{"new file, has text", files{"f": "x\n"}, text("f\n" + block("", "a\n")), nil, "has text, so there must be some to search", ""},
		{"dots", files{"f": ten}, text("f\n" + block("3\n...\n5\n", "x\n")), nil, `"..." stands for no lines`, ""},
		{"second divider", files{"f": ten}, text("f\n<<<<<<< SEARCH\n4\n=======\nx\n=======\ny\n>>>>>>> REPLACE\n"), nil, "line 6 of the patch: this block has a second =======", ""},
		{"no end", files{"f": ten}, text("f\n<<<<<<< SEARCH\n4\n=======\nx\n"), nil, "this block has no >>>>>>> REPLACE", ""},
		{"no divider", files{"f": ten}, text("f\n<<<<<<< SEARCH\n4\n>>>>>>> REPLACE\n"), nil, "this block has no =======", ""},
		{"lines between stay", files{"f": "a \n  b\t\nc\n"}, text("f\n" + block("a\n  b\nc\n", "A\n  b\nC\n")), files{"f": "A\n  b\t\nC\n"}, "", "white space at the end"},
		{"moved with the indentation", files{"f": "\tx\n\ty\n"}, text("f\n" + block("x\ny\n", "x\nz\ny\n")), files{"f": "\tx\n\tz\n\ty\n"}, "", "white space"},
		{"already there", files{"f": "1\nfour\n"}, text("f\n" + block("1\n4\n", "1\nfour\n")), files{"f": "1\nfour\n"}, "", "applied already"},
		{"CRLF", files{"f": "a\r\nb\r\n"}, text("f\n" + block("b\n", "c\nd\n")), files{"f": "a\r\nc\r\nd\r\n"}, "", ""},
	})
}

// TestPatchDeadline: the deadline also holds while hunks are looked for in the result of the others.
func TestPatchDeadline(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	var p strings.Builder
	p.WriteString("*** Begin Patch\n*** Update File: f\n@@\n-a\n+b\n")
	for i := range 1000 {
		fmt.Fprintf(&p, "@@\n-none %d\n+c\n", i)
	}
	p.WriteString("*** End Patch\n")
	b := inMemory(t, files{"f": "a\n" + strings.Repeat("x", 4<<20) + "\n"})
	start := time.Now()
	_, err := b.runWith(ctx, "p", text(p.String()), nil)
	if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || took > 5*time.Second {
		t.Errorf("after %v: %v", took, err)
	}
}
