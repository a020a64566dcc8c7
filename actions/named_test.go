package actions_test

import (
	"testing"

	"github.com/millrace-go/millrace/actions"
)

// TestFilesOfNamed: a step that creates named files lists all of them, even if they were already right. A second run
// lists the same files and changes nothing.
func TestFilesOfNamed(t *testing.T) {
	for name, a := range map[string]actions.Action{
		"create":      actions.Create{Paths: []string{"a", "new"}, Content: "x\n", Overwrite: true},
		"copy":        actions.Copy{Files: []string{"a"}, To: "new", Overwrite: true},
		"edit_files":  one("a", over(actions.CreateText("x\n"))),
		"sync files":  actions.SyncFiles{Dir: "d", Mark: "m", Texts: map[string]string{"d/a": "m\n", "d/e/new": "m2\n"}},
		"write files": actions.WriteFiles(map[string]string{"a": "x\n", "b": "y\n", "d/new": "z\n", "empty": ""}),
	} {
		t.Run(name, func(t *testing.T) {
			b := inMemory(t, files{"a": "x\n", "b": "old\n"})
			first := b.must("first", a, []string{"a"})
			before, err := b.stage.Changes()
			if err != nil {
				t.Fatal(err)
			}
			second := b.must("second", a, []string{"a"})
			equal(t, "files of the second run", second.Files, first.Files)
			if len(first.Files) == 0 {
				t.Error("the step has no files")
			}
			after, err := b.stage.Changes()
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "number of changes", len(after), len(before))
			for i := range after {
				equal(t, "bytes of "+after[i].Path, after[i].New.Hash, before[i].New.Hash)
			}
		})
	}
}
