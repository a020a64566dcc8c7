package patches_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace/actions"
)

// TestUnusualSections: the lines of git in a section contradict each other. Where millrace and git differ,
// docs/patch.md has the reason.
func TestUnusualSections(t *testing.T) {
	t.Parallel()
	needTools(t, "git")
	const (
		both      = "both apply"
		differ    = "both apply, and git makes another tree"
		gitAlone  = "git alone applies"
		oursAlone = "millrace alone applies"
		idle      = "git refuses, and millrace changes nothing"
		none      = "neither applies"
	)
	const (
		f    = "diff --git a/f b/f\n"
		g    = "diff --git a/f b/g\n"
		x    = "diff --git a/bin b/bin\n"
		edit = "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-a\n+c\n b\n"
		gone = "--- a/f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n"
	)
	old := tree{"f": {Text: "a\nb\n"}, "bin": {Text: "\x00" + strings.Repeat("one two three four\n", 40)}}
	diff := func(now string) string { // a binary patch of bin
		t.Helper()
		work := t.TempDir()
		next := tree{"bin": {Text: now}}
		tree{"bin": old["bin"]}.plant(t, work)
		for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"commit", "-qm", "m"}} {
			if ok, out := run(t, work, "", "git", args...); !ok {
				t.Fatal(out)
			}
		}
		next.plant(t, work)
		_, out := run(t, work, "", "git", "diff", "--binary", "--full-index")
		return out
	}
	small := diff(old["bin"].Text + "five\n") // delta both ways
	large := diff("\x00short\n")              // literal forward
	body := func(patch string) (index, blobs string) {
		_, rest, _ := strings.Cut(patch, x)
		index, blobs, _ = strings.Cut(rest, "GIT binary patch\n")
		return index, blobs
	}
	blobsOf := func(patch string) (forward, backward string) {
		_, blobs := body(patch)
		forward, backward, _ = strings.Cut(blobs, "\n\n")
		return forward + "\n\n", backward
	}
	index, blobs := body(small)
	forward, backward := blobsOf(small)
	lit, _ := blobsOf(large)
	lindex, lblobs := body(large)
	const head = "GIT binary patch\n"
	for name, test := range map[string]struct{ patch, want string }{
		"binary":                          {small, both},
		"binary, literal":                 {large, both},
		"binary, delta and literal":       {x + lindex + head + lit + backward, both},
		"binary, forward alone":           {x + index + head + forward, both},
		"binary, no part":                 {x + index + head, none},
		"binary twice":                    {x + index + head + blobs + head + blobs, gitAlone},
		"binary twice, another":           {x + index + head + blobs + head + lblobs, gitAlone},
		"binary, three parts":             {x + index + head + forward + forward + backward, both},
		"binary and hunks":                {x + index + head + blobs + "--- a/bin\n+++ b/bin\n@@ -1 +1 @@\n-a\n+b\n", none},
		"binary without index":            {x + head + blobs, none},
		"binary, short index":             {x + "index 1111111..2222222 100644\n" + head + blobs, none},
		"binary, other index":             {x + strings.Replace(index, "index ", "index 0123", 1) + head + blobs, none},
		"old mode alone":                  {f + "old mode 100644\n", idle},
		"new mode alone":                  {f + "new mode 100755\n", oursAlone},
		"old mode alone, other":           {f + "old mode 100755\n" + edit, both},
		"new mode and hunks":              {f + "new mode 100755\n" + edit, both},
		"old mode and hunks":              {f + "old mode 100644\n" + edit, both},
		"similarity alone":                {f + "similarity index 90%\n", idle},
		"similarity and hunks":            {f + "similarity index 90%\n" + edit, both},
		"similarity, names differ":        {g + "similarity index 100%\n", none},
		"rename from alone":               {g + "rename from f\n", none},
		"rename to alone":                 {g + "rename to g\n", none},
		"rename from alone, hunks":        {f + "rename from f\n" + edit, gitAlone},
		"copy from alone":                 {g + "copy from f\n", none},
		"copy to alone":                   {g + "copy to g\n", none},
		"rename from, copy to":            {g + "rename from f\ncopy to g\n", none},
		"deleted, but a new name":         {f + "deleted file mode 100644\n" + edit, none},
		"deleted, all lines, a new name":  {f + "deleted file mode 100644\n--- a/f\n+++ b/f\n@@ -1,2 +0,0 @@\n-a\n-b\n", none},
		"deleted, lines left":             {f + "deleted file mode 100644\n--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", none},
		"deleted without mode":            {f + gone, differ},
		"deleted without lines":           {f + "deleted file mode 100644\n", none},
		"index of another text":           {f + "index 1111111..2222222 100644\n" + edit, both},
		"index of another text, deletion": {f + "deleted file mode 100644\nindex 1111111..0000000\n" + gone, both},
		"index of another mode":           {f + "index 422c2b7..2222222 100755\n" + edit, both},
		"index, and no hunks":             {f + "index 422c2b7..2222222 100644\n", idle},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			old.plant(t, dir)
			byGit, out := run(t, dir, test.patch, "git", "apply", "-")
			got, err := inRoot(t, old, actions.Patch{Text: test.patch})
			is := none
			switch ours := err == nil; {
			case byGit && ours && cmp.Equal(readTree(t, dir), got):
				is = both
			case byGit && ours:
				is = differ
			case byGit:
				is = gitAlone
			case ours && cmp.Equal(old, got):
				is = idle
			case ours:
				is = oursAlone
			}
			if is != test.want {
				t.Errorf("%s, want %s; git: %s; millrace: %v; the tree has %v", is, test.want, out, err, got)
			}
			if err != nil && !cmp.Equal(old, got) {
				t.Errorf("refused, and the tree has %v", got)
			}
		})
	}
}
