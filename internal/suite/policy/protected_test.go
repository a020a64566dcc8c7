package policy_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fsutil"
)

// With on_error continue a read-only file fails alone, and the change goes on. With force, and for a file that the
// pipeline has made itself, the file is written to.
func TestReadOnlyIsTheFilesFailure(t *testing.T) {
	t.Parallel()
	for _, action := range []string{
		`"edit","params":{"files":["a.txt","b.txt","c.txt"],"old_text":"one","new_text":"two"`,
		`"multi_edit","params":{"files":["a.txt","b.txt","c.txt"],"edits":[{"old_text":"one","new_text":"two"}]`,
		`"regex_transform","params":{"files":["a.txt","b.txt","c.txt"],"patterns":[{"pattern":"one","replacement":"two"}]`,
		`"pattern_replace","params":{"files":["a.txt","b.txt","c.txt"],"sed_pattern":"s/one/two/"`,
		`"pattern_replace","params":{"file_pattern":"*.txt","sed_pattern":"s/one/two/"`,
		`"edit_files","params":{"file_edits":[` + strings.Join([]string{fileEdit("a.txt"), fileEdit("b.txt"), fileEdit("c.txt")}, ",") + `]`,
	} {
		for _, c := range []struct{ onError, force, want string }{
			{`,"on_error":"continue"`, `false`, "two one two"},
			{`,"on_error":"continue"`, `true`, "two two two"},
			{``, `true`, "two two two"},
			{``, `false`, "one one one"},
		} {
			dir := t.TempDir()
			for name, mode := range map[string]os.FileMode{"a.txt": 0o644, "b.txt": 0o444, "c.txt": 0o644} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte("one"), mode); err != nil {
					t.Fatal(err)
				}
			}
			root, err := fsutil.OpenRoot(dir)
			if err != nil {
				t.Fatal(err)
			}
			text := `{"name":"x","force":` + c.force + `,"steps":[{"id":"new","action":"create","params":{"path":"d.txt","content":"one","mode":"0444"}},` +
				`{"id":"own","action":"edit","params":{"files":["d.txt"],"old_text":"one","new_text":"two","on_error":"continue"}},` +
				`{"id":"s","action":` + action + c.onError + `}}]}`
			p, err := millrace.Decode([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Fields(c.want)
			res, err := millrace.Executor{}.Run(t.Context(), root, p)
			if blocked := want[0] == "one"; blocked != (err != nil) || !blocked && res.Results[2].Success != true {
				t.Fatalf("%s %s: %v", action, c, err)
			}
			for i, name := range []string{"a.txt", "b.txt", "c.txt"} {
				if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want[i] {
					t.Errorf("%s %v: %s is %q (%v)", action, c, name, got, err)
				}
			}
			if got, err := os.ReadFile(filepath.Join(dir, "d.txt")); want[0] != "one" && string(got) != "two" {
				t.Errorf("the file of the pipeline is %q (%v)", got, err)
			}
			for _, r := range res.Results[2].Files {
				if failed := r.Path == "b.txt" && want[1] == "one" && err == nil; failed != (r.Error == "Permission denied") {
					t.Errorf("%s %v: the report is %+v", action, c, r)
				}
			}
			_ = root.Close()
		}
	}
}

func fileEdit(path string) string {
	return `{"path":"` + path + `","edits":[{"command":"str_replace","old_str":"one","new_str":"two"}]}`
}
