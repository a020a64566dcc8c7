package actions_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/errorfs"
)

// locked has one directory that cannot be read. Real permissions do not work, because tests run as root.
func locked(fsys afero.Fs, dir string) afero.Fs {
	return errorfs.Wrap(fsys, errorfs.Failing(os.ErrPermission, func(op *errorfs.Op) bool {
		return op.Kind == "open" && strings.TrimPrefix(op.Name, "/") == dir
	}))
}

// TestSearchUnreadableDirectory: an unreadable directory is left out with a warning, unless it is the path of the
// search.
func TestSearchUnreadableDirectory(t *testing.T) {
	base := afero.NewMemMapFs()
	for _, name := range []string{"a.txt", "locked/b.txt", "z/c.txt"} {
		if err := afero.WriteFile(base, name, []byte("x\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var warnings []string
	c := &actions.Call{FS: fsutil.NewStage(locked(base, "locked")), Workers: 1, OnWarning: func(m string) { warnings = append(warnings, m) }}
	out, err := actions.Search{Pattern: "x"}.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(out.Files)
	if !slices.Equal(out.Files, []string{"a.txt", "z/c.txt"}) {
		t.Errorf("files %q", out.Files)
	}
	if len(warnings) != 1 || !strings.HasPrefix(warnings[0], "locked was not searched: ") {
		t.Errorf("warnings %q", warnings)
	}
	if _, err := (actions.Search{Path: "locked", Pattern: "x"}).Run(t.Context(), c); err == nil {
		t.Error("searching the unreadable directory itself was not an error")
	}
}

// TestSearchUnreadableFile: an unreadable file among many is left out with a warning; a named file is an error.
func TestSearchUnreadableFile(t *testing.T) {
	base := afero.NewMemMapFs()
	for _, name := range []string{"a.txt", "d/b.txt", "d/c.txt"} {
		if err := afero.WriteFile(base, name, []byte("x\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var warnings []string
	c := &actions.Call{FS: fsutil.NewStage(locked(base, "d/b.txt")), Workers: 1, OnWarning: func(m string) { warnings = append(warnings, m) }}
	out, err := actions.Search{Pattern: "x"}.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(out.Files)
	if !slices.Equal(out.Files, []string{"a.txt", "d/c.txt"}) {
		t.Errorf("files %q", out.Files)
	}
	if len(warnings) != 1 || warnings[0] != "left out: 1 unreadable file (d/b.txt)" {
		t.Errorf("warnings %q", warnings)
	}
	if len(out.LeftOut) != 1 || out.LeftOut[0].Reason != actions.LeftOutDenied {
		t.Errorf("left out %+v", out.LeftOut)
	}
	if _, err := (actions.Search{Path: "d/b.txt", Pattern: "x"}).Run(t.Context(), c); err == nil {
		t.Error("searching the unreadable file itself was not an error")
	}
}
