package actions_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace/actions"
)

// mail begins a commit in the form of git format-patch.
const mail = "From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\nFrom: a <a>\n" +
	"Subject: [PATCH] m\n\n---\n"

// fiveBlocks are five equal blocks, so that only their places differ.
var fiveBlocks = strings.Repeat("{\nroot\n}\n", 5)

// TestPatchSeries: the sections of a later commit apply to the result of the earlier commits, the sections of one
// commit to the tree before it.
func TestPatchSeries(t *testing.T) {
	t.Parallel()
	const (
		eight  = "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,2 +1,10 @@\n+1\n+2\n+3\n+{\n+root\n+}\n+7\n+8\n {\n root\n"
		first  = "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -8,4 +8,4 @@\n 8\n {\n-root\n+ROOT\n }\n"
		modify = "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -9,3 +9,3 @@\n {\n-root\n+ROOT\n }\n"
		swap   = "diff --git a/f b/g\nrename from f\nrename to g\ndiff --git a/g b/f\nrename from g\nrename to f\n"
		chain  = "diff --git a/f b/g\nrename from f\nrename to g\n"
		onward = "diff --git a/g b/h\nrename from g\nrename to h\n"
		copies = "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-1\n+one\n"
		copied = "diff --git a/f b/c\ncopy from f\ncopy to c\n"
		log1   = "commit 1111111111111111111111111111111111111111\nDate:   Sun Sep 9 01:46:40 2001 +0000\n\n    m\n\n"
		log2   = "commit 2222222222222222222222222222222222222222\nDate:   Sun Sep 9 02:46:40 2001 +0000\n\n    m\n\n"
	)
	indexed := func(diff, ids string) string { return strings.Replace(diff, "\n--- ", "\nindex "+ids+"\n--- ", 1) }
	undated := func(log string) string { return strings.ReplaceAll(log, "Date:", "When:") }
	turn := func(old, now string) string {
		return "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-" + old + "\n+" + now + "\n"
	}
	gone := func(old string) string {
		return "diff --git a/f b/f\ndeleted file mode 100644\n--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-" + old + "\n"
	}
	fresh := func(now string) string {
		return "diff --git a/f b/f\nnew file mode 100644\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+" + now + "\n"
	}
	moveTo := func(from, to string) string {
		return "diff --git a/" + from + " b/" + to + "\nrename from " + from + "\nrename to " + to + "\n"
	}
	above := "1\n2\n3\n{\nroot\n}\n7\n8\n"
	want := files{"f": above + strings.Replace(fiveBlocks, "root", "ROOT", 1)}
	plain := func(diff string) string { return strings.ReplaceAll(diff, "diff --git a/f b/f\n", "") }
	runPatchCases(t, []patchCase{
		{"mails", files{"f": fiveBlocks}, text(mail + eight + "-- \n2.39.5\n\n" + mail + modify + "-- \n2.39.5\n\n"), want,
			"", ""},
		{"log, oldest first", files{"f": fiveBlocks}, text(log1 + eight + "\n" + log2 + modify), want, "", ""},
		{"log, newest first", files{"f": fiveBlocks}, text(log2 + modify + "\n" + log1 + eight), want, "",
			"the newest commit stands first"},
		{"log, order unknown", files{"f": fiveBlocks}, text(undated(log2 + modify + "\n" + log1 + eight)), nil,
			"nothing tells in which order", ""},
		{"mails, deleted and made again", files{"f": "1\n"}, text(mail + indexed(gone("1"), "d00491f..0000000") + mail +
			indexed(fresh("1"), "0000000..d00491f")), files{"f": "1\n"}, "", ""},
		{"log, deleted and made again", files{"f": "1\n"}, text(log2 + indexed(fresh("2"), "0000000..0cfbf08") + "\n" + log1 +
			indexed(gone("1"), "d00491f..0000000")), files{"f": "2\n"}, "", "the newest commit stands first"},
		{"log, a copy of what goes back", files{"f": "2\n"}, text(log2 + indexed(turn("1", "2"), "d00491f..0cfbf08") +
			copied + "\n" + log1 + indexed(turn("2", "1"), "0cfbf08..d00491f")), files{"f": "2\n", "c": "1\n"}, "",
			"the newest commit stands first"},
		{"log without times, changed and renamed", files{"f": "1\n"},
			text(undated(log2) + chain + "\n" + undated(log1) + indexed(turn("1", "2"), "d00491f..0cfbf08")), files{"g": "2\n"},
			"", "the newest commit stands first"},
		{"diffs of git, one behind the other", files{"f": fiveBlocks}, text(eight + modify), want, "", ""},
		{"plain diffs, one behind the other", files{"f": fiveBlocks}, text(plain(eight) + plain(modify)), want, "", ""},
		{"quotes what was put in", files{"f": fiveBlocks}, text(eight + first), want, "", ""},
		{"taken back", want, actions.Patch{Text: eight + modify, Reverse: true}, files{"f": fiveBlocks}, "", ""},
		{"swap in one commit", files{"f": "1\n", "g": "2\n"}, text(mail + swap), files{"f": "2\n", "g": "1\n"}, "", ""},
		{"swap, and back", files{"f": "1\n", "g": "2\n"}, text(mail + swap + mail + swap), files{"f": "1\n", "g": "2\n"}, "",
			"the patch changes nothing"},
		{"renamed twice", files{"f": "1\n"}, text(chain + onward), files{"h": "1\n"}, "", ""},
		{"rotated in one commit", files{"f": "1\n", "g": "2\n"}, text(mail + chain + onward), files{"g": "1\n", "h": "2\n"},
			"", ""},
		{"onto a file that a later commit moves", files{"f": "1\n", "g": "2\n"}, text(mail + chain + mail + onward), nil,
			"file already exists", ""},
		{"copied in the same commit", files{"f": "1\n"}, text(mail + copies + copied), files{"f": "one\n", "c": "1\n"}, "",
			""},
		{"copied in a later commit", files{"f": "1\n"}, text(mail + copies + mail + copied),
			files{"f": "one\n", "c": "one\n"}, "", ""},
		{"made, changed and renamed", files{}, text(mail +
			"diff --git a/f b/f\nnew file mode 100644\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+1\n" + mail + copies + mail +
			chain), files{"g": "one\n"}, "", ""},
		{"a link makes room for a directory, and moves on", files{"l@": "d", "d/x/y": "1\n"},
			text(mail + moveTo("l", "l/x/y") + mail + moveTo("l/x/y", "l/x")), files{"l/x@": "d", "d/x/y": "1\n"}, "", ""},
		{"a link to itself makes room, and moves on", files{"l@": "l"},
			text(mail + moveTo("l", "l/x/y") + mail + moveTo("l/x/y", "l/x")), files{"l/x@": "l"}, "", ""},
		{"a file makes room for a directory, and moves on", files{"f": "1\n"},
			text(mail + moveTo("f", "f/x/y") + mail + moveTo("f/x/y", "f/x")), files{"f/x": "1\n"}, "", ""},
		{"a directory makes room for a file, and moves on", files{"d/x": "1\n"},
			text(mail + moveTo("d/x", "d") + mail + moveTo("d", "e")), files{"e": "1\n"}, "", ""},
		{"through a link that stays, and on", files{"l@": "d", "d/x": "1\n", "f": "1\n"},
			text(mail + moveTo("f", "l/y") + mail + moveTo("l/y", "g")), nil, "file already exists", ""},
		{"below a file that stays, and on", files{"f": "1\n", "g": "1\n"},
			text(mail + moveTo("g", "f/x") + mail + moveTo("f/x", "h")), nil, "file already exists", ""},
		{"onto a directory that stays, and on", files{"d/x": "1\n", "f": "1\n"},
			text(mail + moveTo("f", "d") + mail + moveTo("d", "h")), nil, "file already exists", ""},
		{"copied and deleted", files{"f": "1\n"}, text(mail + copied + mail +
			"diff --git a/c b/c\ndeleted file mode 100644\n--- a/c\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n"), files{"f": "1\n"}, "",
			"the patch changes nothing"},
	})
}

// TestPatchSections: hunks, blocks and sections of one file, in all formats, as in a table of docs/patch.md.
func TestPatchSections(t *testing.T) {
	t.Parallel()
	uni := func(hunks string) string { return "--- a/f\n+++ b/f\n" + hunks }
	env := func(body string) actions.Patch { return text("*** Begin Patch\n" + body + "*** End Patch\n") }
	block := func(old, now string) string {
		return "<<<<<<< SEARCH\n" + old + "=======\n" + now + ">>>>>>> REPLACE\n"
	}
	const update = "*** Update File: f\n"
	const put = "that another hunk of the patch has put in"
	ab, ba, ac := files{"f": "a\nb\n"}, files{"f": "b\na\n"}, files{"f": "c\nb\n"}
	runPatchCases(t, []patchCase{
		// Two hunks or blocks refer to the present file.
		{"hunks, unified", ab, text(uni("@@ -1 +1 @@\n-a\n+b\n@@ -2 +2 @@\n-b\n+a\n")), ba, "", ""},
		{"hunks, apply_patch", ab, env(update + "@@\n-a\n+b\n@@\n-b\n+a\n"), ba, "", ""},
		{"blocks", ab, text("f\n" + block("a\n", "b\n") + block("b\n", "a\n")), ba, "", ""},
		{"blocks with another file between", files{"f": "a\nb\n", "g": "1\n"},
			text("f\n" + block("a\n", "b\n") + "g\n" + block("1\n", "2\n") + "f\n" + block("b\n", "a\n")),
			files{"f": "b\na\n", "g": "2\n"}, "", ""},
		{"blocks, the name in two spellings", ab, text("./f\n" + block("a\n", "b\n") + "f\n" + block("b\n", "a\n")), ba, "",
			""},
		{"later text, the name in two spellings", ab, text("d/../f\n" + block("a\n", "x\n") + "f\n" + block("x\n", "c\n")),
			ac, "", put},
		// One block quotes text that another block inserts.
		{"later text, unified", ab, text(uni("@@ -1 +1 @@\n-a\n+x\n@@ -1 +1 @@\n-x\n+c\n")), nil,
			"its lines are not in the file", ""},
		{"later text, apply_patch", ab, env(update + "@@\n-a\n+x\n@@\n-x\n+c\n"), ac, "", put},
		{"later text, blocks", ab, text("f\n" + block("a\n", "x\n") + block("x\n", "c\n")), ac, "", put},
		{"later text that changes nothing", files{"f": "a\n"}, text("f\n" + block("a\n", "b\n") + block("b\n", "a\n")),
			files{"f": "a\n"}, "", "the patch changes nothing"},
		// A section refers to the result of the earlier sections.
		{"sections, unified", ab, text(uni("@@ -1 +1 @@\n-a\n+x\n") + uni("@@ -1 +1 @@\n-x\n+c\n")), ac, "", ""},
		{"sections, apply_patch", ab, env(update + "@@\n-a\n+x\n" + update + "@@\n-x\n+c\n"), ac, "", ""},
		// A name is a name that the earlier sections have left.
		{"names, apply_patch", files{"f": "a\n", "g": "1\n"}, env(update +
			"*** Move to: h\n*** Update File: g\n*** Move to: f\n" + update + "@@\n-1\n+2\n"), files{"h": "a\n", "f": "2\n"}, "",
			""},
		{"swap, apply_patch", files{"f": "a\n", "g": "1\n"}, env(update +
			"*** Move to: g\n*** Update File: g\n*** Move to: f\n"), nil, "file already exists", ""},
		{"names, search_replace", files{}, text("f\n" + block("", "a\n") + "f\n" + block("a\n", "c\n")), files{"f": "c\n"},
			"", ""},
		// Two sections that name the same old text.
		{"sections of one text", ab, text("diff --git a/f b/f\nindex 422c2b7..0e1677a 100644\n" +
			uni("@@ -1 +1 @@\n-a\n+b\n") + "diff --git a/f b/f\nindex 422c2b7..0e1677a 100644\n" + uni("@@ -2 +2 @@\n-b\n+a\n")),
			ba, "", ""},
	})
}

// TestPatchNames: the file names in the lines of a patch.
func TestPatchNames(t *testing.T) {
	t.Parallel()
	const hunk = "@@ -1 +1 @@\n-1\n+2\n"
	both := files{"f": "1\n", "d/f": "1\n"}
	inner := files{"f": "1\n", "d/f": "2\n"}
	block := "<<<<<<< SEARCH\n1\n=======\n2\n>>>>>>> REPLACE\n"
	made := "<<<<<<< SEARCH\n=======\n2\n>>>>>>> REPLACE\n"
	runPatchCases(t, []patchCase{
		{"no prefix", both, text("diff --git d/f d/f\n--- d/f\n+++ d/f\n" + hunk), inner, "", ""},
		{"no prefix, made", files{"f": "1\n"},
			text("diff --git d/f d/f\nnew file mode 100644\n--- /dev/null\n+++ d/f\n@@ -0,0 +1 @@\n+2\n"), inner, "", ""},
		{"no prefix, below a", files{"f": "1\n", "a/f": "1\n"},
			text("diff --git a/f b/f\nrename from a/f\nrename to b/f\n--- a/f\n+++ b/f\n" + hunk),
			files{"f": "1\n", "b/f": "2\n"}, "", ""},
		{"index and work tree", both, text("--- i/d/f\n+++ w/d/f\n" + hunk), inner, "", ""},
		{"commit and work tree, git", both, text("diff --git c/d/f w/d/f\n--- c/d/f\n+++ w/d/f\n" + hunk), inner, "", ""},
		{"a time after blanks", both,
			text("--- a/d/f     2010-08-18 20:13:00.000000000 +0200\n+++ b/d/f     2010-08-18 20:13:01\n" + hunk), inner, "",
			""},
		{"a date after blanks", both, text("--- a/d/f  2010-08-18\n+++ b/d/f 10-08-18 \n" + hunk), inner, "", ""},
		{"a date that ends a name of git", files{"f 2010-08-18": "1\n", "f": "1\n"},
			text("diff --git a/f 2010-08-18 b/f 2010-08-18\n--- a/f 2010-08-18\n+++ b/f 2010-08-18\n" + hunk),
			files{"f 2010-08-18": "2\n", "f": "1\n"}, "", ""},
		{"a date that ends a name before a tab", files{"f 2010-08-18": "1\n", "f": "1\n"},
			text("--- a/f 2010-08-18\t\n+++ b/f 2010-08-18\t\n" + hunk), files{"f 2010-08-18": "2\n", "f": "1\n"}, "", ""},
		{"names disagree", both, text("diff --git a/f b/f\n--- a/d/f\n+++ b/d/f\n" + hunk), nil, "disagree on which file",
			""},
		{"names disagree after a mode", both,
			text("diff --git a/f b/f\nold mode 100644\nnew mode 100755\n--- a/d/f\n+++ b/d/f\n" + hunk), nil,
			"disagree on which file", ""},
		{"made and renamed", both, text("diff --git a/f b/g\nnew file mode 100644\nrename from f\nrename to g\n"), nil,
			"disagree on what is done", ""},
		{"made, with an old name", files{},
			text("diff --git a/f b/f\nnew file mode 100644\n--- a/f\n+++ b/f\n@@ -0,0 +1 @@\n+2\n"), nil,
			"disagree on which file", ""},
		{"a sentence above a block", files{}, text("Here is the new file: it has one line\n" + made), nil,
			"is not the name of a file", ""},
		{"a name with blanks, quoted", files{}, text("`a b`\n" + made), files{"a b": "2\n"}, "", ""},
		{"dots between blocks", files{"f": "1\n3\n"}, text("f\n" + block + "...\n" +
			strings.NewReplacer("1", "3", "2", "4").Replace(block)), files{"f": "2\n4\n"}, "", ""},
		{"padded marks", files{"f": "1\n"}, text(" *** Begin Patch\n*** Update File: f\n@@\n-1\n+2\n *** End Patch\n"),
			files{"f": "2\n"}, "", ""},
		{"a padded mark in a file", files{"f": "*** End Patch\n1\n"},
			text("*** Begin Patch\n*** Update File: f\n@@\n *** End Patch\n-1\n+2\n*** End Patch\n"),
			files{"f": "*** End Patch\n2\n"}, "", ""},
		{"the end of the file is elsewhere", files{"f": ten},
			text("--- a/f\n+++ b/f\n@@ -3,0 +4 @@\n+x\n\\ No newline at end of file\n"), nil, "must end the file", ""},
	})
}

// TestPatchApplied: a patch can be applied again without harm.
func TestPatchApplied(t *testing.T) {
	t.Parallel()
	const made = "diff --git a/f b/f\nnew file mode 100644\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+1\n"
	const moved = "diff --git a/f b/g\nrename from f\nrename to g\n"
	runPatchCases(t, []patchCase{
		{"made", files{"f": "1\n"}, text(made), files{"f": "1\n"}, "", "is there already"},
		{"made with other text", files{"f": "2\n"}, text(made), nil, "set overwrite", ""},
		{"deleted", files{"g": ""}, text("--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n"), files{"g": ""}, "",
			"f is deleted already"},
		{"renamed", files{"g": "1\n"}, text(moved), files{"g": "1\n"}, "", "f is renamed to g already"},
		{"renamed, neither is there", files{}, text(moved), nil, "f (line 1 of the patch): File not found", ""},
		{"copied", files{"f": "1\n", "g": "1\n"}, text(strings.ReplaceAll(moved, "rename", "copy")),
			files{"f": "1\n", "g": "1\n"}, "", "g is there already"},
		{"link", files{"l@": "f"},
			text("diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+f\n" +
				"\\ No newline at end of file\n"), files{"l@": "f"}, "", "l is there already"},
		{"changed, as the index names it", files{"f": "a\na\n"}, text("diff --git a/f b/f\nindex 7898192..7e8a165 100644\n" +
			"--- a/f\n+++ b/f\n@@ -1 +1,2 @@\n a\n+a\n"), files{"f": "a\na\n"}, "", "f: the patch is applied already"},
		{"not as the index names it", files{"f": "a\nb\n"}, text("diff --git a/f b/f\nindex 422c2b7..1234567 100644\n" +
			"--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-a\n+c\n b\n"), files{"f": "c\nb\n"}, "", "somebody has altered the patch"},
		{"a file becomes a directory of its name", files{"f": "1\n"},
			text("diff --git a/f b/f/x\nrename from f\nrename to f/x\n"), files{"f/x": "1\n"}, "", ""},
		{"and back", files{"f/d/x": "1\n"}, text("diff --git a/f/d/x b/f\nrename from f/d/x\nrename to f\n"),
			files{"f": "1\n"}, "", ""},
		{"a link to a directory becomes one", files{"l@": "d", "d/x": "1\n"},
			text("diff --git a/l b/l\ndeleted file mode 120000\n--- a/l\n+++ /dev/null\n@@ -1 +0,0 @@\n-d\n" +
				"\\ No newline at end of file\ndiff --git a/l/x b/l/x\nnew file mode 100644\n--- /dev/null\n" +
				"+++ b/l/x\n@@ -0,0 +1 @@\n+2\n"), files{"l/x": "2\n", "d/x": "1\n"}, "", ""},
	})
}

// TestPatchAppliedMode: a file that is there already with its text, but with another mode, gets the mode of the patch.
func TestPatchAppliedMode(t *testing.T) {
	t.Parallel()
	const rename = "diff --git a/f b/g\nold mode 100644\nnew mode 100755\nsimilarity index 100%\nrename from f\nrename to g\n"
	for name, test := range map[string]struct {
		tree  files
		patch string
		file  string
	}{
		"made":    {files{"g": "1\n"}, "diff --git a/g b/g\nnew file mode 100755\n--- /dev/null\n+++ b/g\n@@ -0,0 +1 @@\n+1\n", "g"},
		"copied":  {files{"f": "1\n", "g": "1\n"}, strings.ReplaceAll(rename, "rename", "copy"), "g"},
		"renamed": {files{"g": "1\n"}, rename, "g"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := inMemory(t, test.tree)
			for i, warning := range []string{"", "changes nothing"} {
				out := b.must("p", text(test.patch), nil)
				info, err := b.stage.Stat("g")
				if err != nil || info.Mode() != 0o755 {
					t.Errorf("mode %v, %v", info.Mode(), err)
				}
				if want := 1 - i; out.Counts["g"] != want || len(out.Renames) > 0 {
					t.Errorf("%v and %v, want %d change of g", out.Counts, out.Renames, want)
				}
				if told := strings.Join(b.warnings, "\n"); !strings.Contains(told, warning) {
					t.Errorf("warnings %q", told)
				}
			}
			if d := cmp.Diff(test.tree, b.tree()); d != "" {
				t.Errorf("tree (-want +got):\n%s", d)
			}
		})
	}
}
