package patch_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/millrace-go/millrace/internal/patch"
)

// parsed returns a patch as one text: a line for each file, each hunk, and each line of a hunk.
func parsed(p *patch.Patch) string {
	var b strings.Builder
	for _, f := range p.Files {
		fmt.Fprintf(&b, "%s %s>%s %o>%o", [...]string{"modify", "create", "delete", "rename", "copy"}[f.Op], f.Old, f.New, f.OldMode, f.NewMode)
		for flag, set := range map[string]bool{" mixed": f.Mixed, " maybe": f.MayBeNew, " unchecked": f.Unchecked, " binary": f.Binary != nil} {
			if set {
				b.WriteString(flag) // none of the cases has two
			}
		}
		b.WriteByte('\n')
		for _, h := range f.Hunks {
			fmt.Fprintf(&b, " @%d %d,%d %d,%d %d+%d-%d+%d%q", h.Line, h.OldStart, h.OldLines, h.NewStart, h.NewLines, h.Lead, h.Removed, h.Added, h.Trail, h.Anchors)
			if h.AtEnd {
				b.WriteString(" end")
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func TestParse(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text string
		opt  patch.Options
		want string
	}{
		"unified with a mail around it": {"From: me\n\nfix\n---\n f | 2 +-\n\n--- f.orig\t2026-01-01\n+++ f\t2026-01-02\n@@ -1,2 +1,2 @@ func x() {\n a\n-b\n+c\n-- \n2.39.5\n\n", patch.Options{},
			"modify f>f 0>0\n @9 1,2 1,2 1+1-1+0[]\n"},
		"old and new mode":        {"diff --git a/x y b/x y\nold mode 100644\nnew mode 100755\n", patch.Options{}, "modify x y>x y 100644>100755\n"},
		"quoted and not":          {"diff --git a/x \"b/\\tx\"\nsimilarity index 100%\ncopy from x\ncopy to \"\\tx\"\n", patch.Options{}, "copy x>\tx 0>0\n"},
		"strip of a rename":       {"diff --git p/a/x p/b/y\nrename from a/x\nrename to b/y\n", patch.Options{Strip: 2}, "rename x>y 0>0\n"},
		"both kinds of line ends": {"--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\r\n-b\n+b\r\n", patch.Options{}, "modify f>f 0>0 mixed\n @3 1,2 1,2 1+1-1+0[]\n"},
		"signature after a hunk":  {"--- a/f\n+++ b/f\n@@ -1,2 +1 @@\n a\n-b\n-- \n2.39.5\n", patch.Options{}, "modify f>f 0>0\n @3 1,2 1,1 1+1-0+0[]\n"},
		"a header within the numbers": {"--- a/f\n+++ b/f\n@@ -1,9 +1,9 @@\n a\n-b\n\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n", patch.Options{},
			"modify f>f 0>0\n @3 1,2 1,1 1+1-0+0[]\nmodify g>g 0>0\n @9 1,1 1,1 0+1-1+0[]\n"},
		"binary":     {"diff --git a/f b/f\nindex 1..2 100644\nGIT binary patch\nliteral 0\nHcmV?d00001\n\nliteral 0\nHcmV?d00001\n\n", patch.Options{}, "modify f>f 100644>100644 binary\n"},
		"may be new": {"--- a/f\n+++ b/f\n@@ -0,0 +1 @@\n+a\n", patch.Options{}, "modify f>f 0>0 maybe\n @3 0,0 1,1 0+0-1+0[]\n"},
		"a diff that quotes marks": {"--- a/f\n+++ b/f\n@@ -1,7 +1,5 @@\n *** Begin Patch\n *** Delete File: g\n *** End Patch\n------- SEARCH\n a\n-b\n c\n",
			patch.Options{}, "modify f>f 0>0\n @3 1,7 1,5 3+2-0+1[]\n"},
		"two envelopes": {"x\n*** Begin Patch\n*** Delete File: f\n*** End Patch\nand\n*** Begin Patch\n*** Update File: a/g\n@@ class A\n@@ def f\n-b\n+c\n\n*** End of File\n*** End Patch\n", patch.Options{Strip: -1},
			"delete f>f 0>0 unchecked\nmodify a/g>a/g 0>0\n @8 0,1 0,1 0+1-1+0[\"class A\" \"def f\"] end\n"},
		"numbers in an envelope":               {"*** Begin Patch\n*** Update File: f\n@@ -1,2 +3,4 @@\n-b\n+c\n*** End Patch\n", patch.Options{}, "modify f>f 0>0\n @3 0,1 0,1 0+1-1+0[]\n"},
		"another format than that of the text": {"*** Begin Patch\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n", patch.Options{Format: patch.Unified, Strip: -1}, "modify f>f 0>0\n @4 1,1 1,1 0+1-1+0[]\n"},
	} {
		if test.opt.Strip == 0 {
			test.opt.Strip = -1
		}
		p, problems, err := patch.Parse(test.text, test.opt)
		if err != nil || len(problems) > 0 {
			t.Errorf("%s: %v, %v", name, err, problems)
			continue
		}
		if got := parsed(p); got != test.want {
			t.Errorf("%s:\n%swant\n%s", name, got, test.want)
		}
	}
}

func TestParseProblems(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                               "0: this is not a patch",
		"--- a/f\n+++ b/f\n":             "1: no hunk follows the name of the file",
		"--- a/f\n@@ -1 +1 @@\n-a\n+b\n": `1: a line "+++ " with the name of the file is missing behind this one`,
		"--- /dev/null\n+++ /dev/null\n@@ -0,0 +1 @@\n+a\n":                                        "1: neither line names a file",
		"--- \"a\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n":                                                  "1: the name of the file has no closing quote",
		"--- \"a\\x\"\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n":                                             "1: the name of the file has an unknown escape",
		"--- a/f\n+++ b/f\n@@ -1 +1 @@\n":                                                          "3: the hunk has no lines",
		"--- a/f\n+++ b/f\n@@ -1,5 +1,5 @@\n-a\nb\n+c\n":                                           "5: lines of a hunk begin with a space, +, - or \\, and this one does not",
		"diff --git a/f b/g\nrename from f\n":                                                      "1: only one of the names of a rename or a copy is there",
		"diff --git a/f b/g\nold mode 100644\nnew mode 100755\n":                                   "1: the names in this line cannot be told apart",
		"diff --git a/f b/f\nold mode 100644\nnew mode 120000\n":                                   "1: a file does not change its type by a mode",
		"diff --git a/f b/f\nold mode 100644\nnew mode 100755\nold mode 100755\nnew mode 100644\n": `4: this line disagrees with the "old mode" in line 2`,
		"diff --git a/f b/f\nnew file mode 777\n":                                                  `2: unknown mode "777"`,
		"diff --git a/f b/f\nindex 1..2 100644\nGIT binary patch\nx\n":                             `3: "literal" or "delta" and a size should follow, and lines with the bytes`,
		"diff --git a/f b/f\nGIT binary patch\nliteral 0\nHcmV?d00001\n":                           "4: the patch ends within a binary file",
		"diff --git a/f b/f\n--- a/f\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n":                              `1: the names differ, but the file is not renamed: "f" and "g"`,
		"--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-a\n\\ No newline\n-b\n+c\n+d\n":                       "3: a line of the old file follows the one without newline at its end",
		"*** Begin Patch\n*** Update File:\n@@\n-a\n*** End Patch\n":                               "2: the name of the file is missing",
		"*** Begin Patch\n*** Update File: f\n@@ x\n*** End Patch\n":                               "3: no lines follow @@",
	} {
		_, problems, err := patch.Parse(text, patch.Options{Strip: -1})
		if err != nil || len(problems) == 0 {
			t.Errorf("%q: %v, no problems", text, err)
			continue
		}
		if got := fmt.Sprintf("%d: %s", problems[0].Line, problems[0].Text); got != want {
			t.Errorf("%q:\n%s\nwant\n%s", text, got, want)
		}
	}
}

func TestParseLimits(t *testing.T) {
	t.Parallel()
	for what, text := range map[string]string{
		patch.WhatBytes: strings.Repeat("\n", patch.MaxBytes+1),
		patch.WhatFiles: strings.Repeat("diff --git a/f b/f\nold mode 100644\nnew mode 100755\n", patch.MaxFiles+1),
		patch.WhatHunks: "--- a/f\n+++ b/f\n" + strings.Repeat("@@ -1 +1 @@\n-a\n+b\n", patch.MaxHunks+1),
	} {
		_, _, err := patch.Parse(text, patch.Options{Strip: -1})
		if e, ok := err.(*patch.LimitError); !ok || e.What != what {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestParseQuotedEnds: blanks at the end are not read again at each line that could be the last mark.
func TestParseQuotedEnds(t *testing.T) {
	t.Parallel()
	const quoted = 5000
	text := "*** Begin Patch\n*** Update File: f\n" + strings.Repeat(" *** End Patch\n", quoted) + strings.Repeat(" ", 4<<20)
	start := time.Now()
	p, problems, err := patch.Parse(text, patch.Options{Strip: -1})
	if err != nil || len(problems) > 0 || p.Files[0].Hunks[0].OldLines != quoted-1 {
		t.Errorf("%+v, %v, %v", p, problems, err)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
}
