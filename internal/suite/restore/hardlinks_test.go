package restore_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/suite"
)

// TestHardLinkOfBackup: the backup of a rename is a hard link to the file, but needs no warning to the user.
func TestHardLinkOfBackup(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not report how many links a file has")
	}
	for name, tt := range map[string]struct {
		twins []string
		want  []string
	}{
		"no other name":   {nil, nil},
		"one other name":  {[]string{"twin"}, []string{"c.txt has 2 hard links: its other names keep the old content"}},
		"two other names": {[]string{"twin", "third"}, []string{"c.txt has 3 hard links: its other names keep the old content"}},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("x\n"), 0o640); err != nil {
			t.Fatal(err)
		}
		for _, twin := range tt.twins {
			if err := os.Link(filepath.Join(dir, "a.txt"), filepath.Join(dir, twin)); err != nil {
				t.Skip("no hard links here:", err)
			}
		}
		root := suite.OpenRoot(t, dir)
		for _, names := range [][2]string{{"a.txt", "b.txt"}, {"b.txt", "c.txt"}} {
			p := millrace.New("move").Step("move", actions.Rename{Files: names[:1], To: names[1]}).MustBuild()
			if _, err := millrace.Run(t.Context(), root, p); err != nil {
				t.Fatal(err)
			}
		}
		res, err := millrace.Run(t.Context(), root, suite.Edit("c.txt"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, res.Warnings); diff != "" {
			t.Errorf("%s: warnings (-want +got):\n%s", name, diff)
		}
	}
}
