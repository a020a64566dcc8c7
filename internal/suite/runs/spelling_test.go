package runs_test

import (
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/suite"
)

// A directory is deleted with its contents, even if the same run creates a name that differs only in upper and lower
// case.
func TestDirectoryMakesRoom(t *testing.T) {
	t.Parallel()
	gone := actions.Delete{Files: []string{"d"}, Recursive: true, Permanent: true}
	for name, test := range map[string]struct {
		steps      []actions.Action
		path, text string
	}{
		"a file":      {[]actions.Action{gone, actions.Create{Path: "D", Content: "new\n"}}, "D", "new\n"},
		"a directory": {[]actions.Action{gone, actions.Create{Path: "D/new", Content: "new\n"}}, "D/new", "new\n"},
		"a move":      {[]actions.Action{gone, actions.Rename{Files: []string{"a"}, To: "D"}}, "D", "a"},
		"from within": {[]actions.Action{actions.Rename{Files: []string{"d/e/f"}, To: "x"}, gone, actions.Rename{Files: []string{"x"}, To: "D"}}, "D", "d/e/f"},
	} {
		b := millrace.New("p").Options(millrace.Options{Force: true})
		for i, action := range test.steps {
			b = b.Step(string(rune('a'+i)), action).Builder
		}
		for kind, open := range suite.Backends() {
			fsys := open(t)
			for _, file := range []string{"a", "d/a", "d/e/f", "d/z"} {
				fstest.Must(t, fsys.MkdirAll("d/e", 0o755))
				fstest.Must(t, afero.WriteFile(fsys, file, []byte(file), 0o644))
			}
			if _, err := (millrace.Executor{State: millrace.State{NoSync: true}}).Run(t.Context(), fsys, b.MustBuild()); err != nil {
				t.Errorf("%s, %s: %v", name, kind, err)
				continue
			}
			if got := suite.Read(t, fsys, test.path); got != test.text {
				t.Errorf("%s, %s: got %q, want %q", name, kind, got, test.text)
			}
			for _, file := range []string{"d/a", "d/e/f", "d/z"} {
				if there, err := afero.Exists(fsys, file); there || err != nil {
					t.Errorf("%s, %s: %s still exists, %v", name, kind, file, err)
				}
			}
		}
	}
}
