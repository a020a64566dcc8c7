//go:build unix

package runs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/suite"
)

const linkPatch = `diff --git a/L b/L
new file mode 120000
--- /dev/null
+++ b/L
@@ -0,0 +1 @@
+t.txt
\ No newline at end of file
`

// Steps in parallel have the outcome of the sequence, even if an earlier step makes or moves a link by which a later
// step names a file.
func TestParallel_links(t *testing.T) {
	t.Parallel()
	edit := func(name, from, to string) actions.Action {
		return actions.Edit{Files: []string{name}, OldText: from, NewText: to, OnError: "continue"}
	}
	for name, steps := range map[string][]actions.Action{
		"patch": {actions.Patch{Text: linkPatch}, edit("L", "one", "two"), edit("t.txt", "two", "three")},
		"rename": {actions.Rename{Files: []string{"M"}, To: "N"}, edit("N", "one", "two"),
			edit("t.txt", "two", "three")},
		"copy": {actions.Copy{Files: []string{"M"}, To: "N"}, edit("N", "one", "two"),
			edit("t.txt", "two", "three")},
		"directory": {actions.Rename{Files: []string{"links"}, To: "moved"}, edit("moved/M", "one", "two"),
			edit("t.txt", "two", "three")},
		"overwrite": {actions.Rename{Files: []string{"M"}, To: "other.txt", Overwrite: true},
			edit("other.txt", "one", "two"), edit("t.txt", "two", "three")},
		"read": {actions.Patch{Text: linkPatch}, actions.CountOccurrences{Files: []string{"L"}, Pattern: "one"},
			edit("t.txt", "one", "two")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, parallel := range []bool{false, true} {
				dir := t.TempDir()
				root := fstest.OpenRoot(t, dir)
				fstest.Must(t, root.MkdirAll("links", 0o755))
				fstest.Must(t, afero.WriteFile(root, "t.txt", []byte("one\n"), 0o644))
				fstest.Must(t, afero.WriteFile(root, "other.txt", []byte("other\n"), 0o644))
				fstest.Must(t, os.Symlink(filepath.Join("..", "t.txt"), filepath.Join(dir, "links", "M")))
				fstest.Must(t, os.Symlink("t.txt", filepath.Join(dir, "M")))
				b := millrace.New("links").Options(millrace.Options{Parallel: parallel})
				for i, s := range steps {
					b = b.Step(string(rune('a'+i)), s).Builder
				}
				res, err := millrace.Run(t.Context(), root, b.MustBuild())
				fstest.Must(t, err)
				text := suite.Read(t, root, "t.txt")
				for _, r := range res.Results {
					text += fmt.Sprint(r.StepID, r.EditsApplied, r.Counts, r.FilesMatched, "\n")
				}
				got = append(got, text)
			}
			if got[0] != got[1] {
				t.Errorf("in sequence:\n%s\nin parallel:\n%s", got[0], got[1])
			}
		})
	}
}
