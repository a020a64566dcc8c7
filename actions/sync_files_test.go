package actions_test

import (
	"strings"
	"testing"

	"github.com/millrace-go/millrace/actions"
)

// TestSyncFiles: generated files are written, stale files are deleted, and files without the mark stay.
func TestSyncFiles(t *testing.T) {
	t.Parallel()
	const mark = "// generated\n"
	tree := files{"gen/old.go": mark + "old", "gen/deep/older.go": mark, "gen/hand.go": "by hand",
		"gen/same.go": mark + "same", "other/x.go": mark}
	sync := actions.SyncFiles{Dir: "gen", Mark: mark,
		Texts: map[string]string{"gen/new.go": mark + "new", "gen/same.go": mark + "same", "gen/sub/a.go": mark}}
	want := files{
		"gen/hand.go": "by hand", "gen/same.go": mark + "same", "other/x.go": mark, "gen/new.go": mark + "new", "gen/sub/a.go": mark,
	}
	base := bases["memory"](t)
	write(t, base, tree)
	b := newBench(t, base, tree)
	for range 2 { // the second run changes nothing, and lists the same files
		out := b.must("s", sync, nil)
		equal(t, "files", out.Files, []string{"gen/new.go", "gen/same.go", "gen/sub/a.go"})
		b.wantTree(want)
	}
	for _, wrong := range []struct {
		action actions.SyncFiles
		says   string
	}{
		{actions.SyncFiles{Dir: "gen", Mark: mark, Texts: map[string]string{"gen/hand.go": mark}}, "gen/hand.go: file already exists, and does not have the mark"},
		{actions.SyncFiles{Dir: "gen", Mark: mark, Texts: map[string]string{"other/y.go": mark}}, "other/y.go: is not below 'gen'"},
		{actions.SyncFiles{Dir: "gen", Mark: mark, Texts: map[string]string{"gen/y.go": "no"}}, "gen/y.go: its text does not have the mark"},
	} {
		if _, err := b.run("s", wrong.action, nil); err == nil || !strings.Contains(err.Error(), wrong.says) {
			t.Errorf("%v, want %q", err, wrong.says)
		}
		b.wantTree(want)
	}
}
