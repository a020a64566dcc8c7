package semantics_test

import (
	"slices"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/internal/txtarfs"
)

// The second run of a pipeline that makes named files changes nothing, and its step reports the same files as in the
// first run. A later step that uses these files must not depend on the state of the tree.
func TestSecondRunChangesNothing(t *testing.T) {
	const mark = "// generated\n"
	texts := map[string]string{"gen/a.go": mark + "package a\n", "gen/sub/b.go": mark + "package b\n"}
	const patch = "--- /dev/null\n+++ b/gen/a.go\n@@ -0,0 +1 @@\n+package a\n"
	create := actions.Create{Paths: []string{"gen/a.go", "gen/b.go"}, Content: "package a\n", Overwrite: true}
	n := millrace.New("again")
	for name, p := range map[string]millrace.Pipeline{
		"create":      n.Step("make", create).MustBuild(),
		"copy":        n.Step("make", actions.Copy{Files: []string{"a"}, To: "gen/a.go", Overwrite: true}).MustBuild(),
		"write files": n.Step("make", actions.WriteFiles(texts)).MustBuild(),
		"sync_files":  n.Step("make", actions.SyncFiles{Dir: "gen", Mark: "generated", Texts: texts}).MustBuild(),
		"patch":       n.Step("make", actions.Patch{Text: patch}).MustBuild(),
		"stale files are deleted": n.Step("there", actions.List{Path: "gen", Depth: -1, Missing: "empty"}).
			Step("make", actions.WriteFiles(texts)).
			Step("stale", actions.Merge{Mode: "difference"}).FromAll("there", "make").
			Step("delete", actions.Delete{}).From("stale").MustBuild(),
	} {
		for backend, open := range suite.Backends() {
			t.Run(name+"/"+backend, func(t *testing.T) {
				fsys := open(t)
				suite.Plant(t, fsys, []txtarfs.File{
					{Name: "a", Data: []byte("package a\n")}, {Name: "gen/stale.go", Data: []byte(mark)},
				})
				var runs [2]*millrace.Result
				var files [2][]string
				for i := range runs {
					res, err := millrace.Run(t.Context(), fsys, p)
					if err != nil {
						t.Fatal(err)
					}
					runs[i] = res
					at := slices.IndexFunc(res.Results, func(s millrace.StepResult) bool { return s.StepID == "make" })
					files[i] = res.Results[at].FilesMatched
				}
				if runs[0].FilesChanged.Count() == 0 {
					t.Error("the first run changes nothing")
				}
				if runs[1].FilesChanged.Count() != 0 {
					t.Errorf("the second run changes %+v", runs[1].FilesChanged)
				}
				// The files of a patch are the changed files, as for an edit.
				if len(files[0]) == 0 || name != "patch" && !slices.Equal(files[0], files[1]) {
					t.Errorf("the files of the step are %q, then %q", files[0], files[1])
				}
			})
		}
	}
}
