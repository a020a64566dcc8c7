package patches_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace/actions"
)

// TestRepeatedHeaders: a section has a line of git twice. An accepted patch gives the same tree as git. A patch that
// git refuses is refused. Two lines that disagree are refused, where git applies the last of them.
func TestRepeatedHeaders(t *testing.T) {
	t.Parallel()
	needTools(t, "git")
	const (
		f     = "diff --git a/f b/f\n"
		g     = "diff --git a/f b/g\n"
		n     = "diff --git a/n b/n\n"
		edit  = "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-a\n+c\n b\n"
		gone  = "--- a/f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n"
		fresh = "--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+c\n"
	)
	const both, lone, none = "both apply", "only git applies", "neither applies"
	for name, test := range map[string]struct{ patch, want string }{
		"modes, the same":           {f + "old mode 100644\nnew mode 100755\nold mode 100644\nnew mode 100755\n", both},
		"modes, and back":           {f + "old mode 100644\nnew mode 100755\nold mode 100755\nnew mode 100644\n", lone},
		"old mode":                  {f + "old mode 100755\nold mode 100644\nnew mode 100755\n", lone},
		"new mode":                  {f + "old mode 100644\nnew mode 100644\nnew mode 100755\n", lone},
		"new mode, and back":        {f + "old mode 100644\nnew mode 100755\nnew mode 100644\n", none},
		"modes, first of a link":    {f + "old mode 100644\nnew mode 120000\nold mode 100644\nnew mode 100755\n", lone},
		"new file, the same":        {n + "new file mode 100755\nnew file mode 100755\n" + fresh, both},
		"new file":                  {n + "new file mode 100644\nnew file mode 100755\n" + fresh, lone},
		"deleted file, the same":    {f + "deleted file mode 100644\ndeleted file mode 100644\n" + gone, both},
		"deleted file":              {f + "deleted file mode 100755\ndeleted file mode 100644\n" + gone, lone},
		"new and deleted file":      {f + "new file mode 100644\ndeleted file mode 100644\n" + gone, none},
		"rename from, the same":     {g + "rename from f\nrename from f\nrename to g\n", both},
		"rename from":               {g + "rename from h\nrename from f\nrename to g\n", lone},
		"rename to, the same":       {g + "rename from f\nrename to g\nrename to g\n", both},
		"rename to":                 {g + "rename from f\nrename to g\nrename to h\n", lone},
		"copy from, the same":       {g + "copy from f\ncopy from f\ncopy to g\n", both},
		"copy from":                 {g + "copy from h\ncopy from f\ncopy to g\n", lone},
		"copy to":                   {g + "copy from f\ncopy to h\ncopy to g\n", lone},
		"rename and copy":           {g + "rename from f\nrename to g\ncopy from f\ncopy to g\n", none},
		"rename and deleted file":   {g + "rename from f\nrename to g\ndeleted file mode 100644\n", none},
		"similarity":                {g + "similarity index 100%\nsimilarity index 90%\nrename from f\nrename to g\n", both},
		"dissimilarity":             {f + "dissimilarity index 90%\ndissimilarity index 80%\n" + edit, both},
		"index, the same":           {f + "index 1111111..2222222 100644\nindex 1111111..2222222 100644\n" + edit, both},
		"index":                     {f + "index 1111111..2222222 100644\nindex 3333333..4444444 100644\n" + edit, lone},
		"modes and a mode in index": {f + "old mode 100644\nnew mode 100755\nindex 1111111..2222222\n" + edit, both},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old := tree{"f": {Text: "a\nb\n"}}
			dir := t.TempDir()
			old.plant(t, dir)
			byGit, out := run(t, dir, test.patch, "git", "apply", "-")
			got, err := inRoot(t, old, actions.Patch{Text: test.patch})
			if byGit != (test.want != none) || (err == nil) != (test.want == both) {
				t.Fatalf("want %s; git: %v %s; millrace: %v", test.want, byGit, out, err)
			}
			if err != nil && test.want == lone && !strings.Contains(err.Error(), "this line disagrees with the ") {
				t.Errorf("refused for another reason: %v", err)
			}
			want := old
			if err == nil {
				want = readTree(t, dir)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("(-want +got): %s", d)
			}
		})
	}
}
