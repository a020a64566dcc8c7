package plans_test

import (
	"context"
	"errors"
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/htmlreport"
	"github.com/millrace-go/millrace/internal/crashfs"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/suite"
)

// TestAllDoorsNameTheSameKinds plans changes between files, links and directories. The lists of the result, the files
// of the plan and the HTML report name the same kind at each path, the diff has the same paths, and the stored plan is
// accepted with the same diff.
func TestAllDoorsNameTheSameKinds(t *testing.T) {
	under := func(s *fsutil.Stage, name string) error {
		return errors.Join(s.Mkdir(name, 0o755), afero.WriteFile(s, name+"/x", []byte("x\n"), 0o644))
	}
	for name, test := range map[string]struct {
		do   func(s *fsutil.Stage) error
		want map[string]change.ChangeKind // of all paths that the plan lists
	}{
		"a file becomes a directory": {
			func(s *fsutil.Stage) error { return errors.Join(s.Remove("f"), under(s, "f")) },
			map[string]change.ChangeKind{"f": change.Deleted, "f/x": change.Created},
		},
		"a directory is renamed to a deleted file": {
			func(s *fsutil.Stage) error { return errors.Join(s.Remove("f"), s.Rename("d", "f")) },
			map[string]change.ChangeKind{"d": change.Deleted, "f": change.Deleted, "f/y": change.Renamed},
		},
		"a directory is made where a file was renamed": {
			func(s *fsutil.Stage) error { return errors.Join(s.Rename("f", "g"), under(s, "f")) },
			map[string]change.ChangeKind{"f": change.Created, "f/x": change.Created, "g": change.Renamed},
		},
		"a link becomes a directory": {
			func(s *fsutil.Stage) error { return errors.Join(s.Remove("l"), under(s, "l")) },
			map[string]change.ChangeKind{"l": change.Deleted, "l/x": change.Created},
		},
		"a link becomes a file": {
			func(s *fsutil.Stage) error {
				return errors.Join(s.Remove("l"), afero.WriteFile(s, "l", []byte("l\n"), 0o644))
			},
			map[string]change.ChangeKind{"l": change.Modified},
		},
		"a directory becomes a file": {
			func(s *fsutil.Stage) error {
				return errors.Join(s.Remove("d/y"), s.Remove("d"), afero.WriteFile(s, "d", []byte("d\n"), 0o644))
			},
			map[string]change.ChangeKind{"d": change.Created, "d/y": change.Deleted},
		},
		"a mode": {
			func(s *fsutil.Stage) error { return s.Chmod("f", 0o755) },
			map[string]change.ChangeKind{"f": change.Modified},
		},
	} {
		t.Run(name, func(t *testing.T) {
			fsys := crashfs.New()
			fstest.Must(t, fsys.Mkdir("d", 0o755))
			fstest.Must(t, afero.WriteFile(fsys, "f", []byte("f\n"), 0o644))
			fstest.Must(t, afero.WriteFile(fsys, "d/y", []byte("y\n"), 0o644))
			fstest.Must(t, fsys.SymlinkIfPossible("f", "l"))
			act := suite.Action{Do: func(_ context.Context, c *actions.Call) (actions.Outcome, error) {
				return actions.Outcome{}, test.do(c.FS)
			}}
			plan, err := millrace.Executor{}.Plan(t.Context(), fsys, millrace.New("kinds").Step("s", act).MustBuild())
			fstest.Must(t, err)
			files, err := plan.Files()
			fstest.Must(t, err)
			listed := make(map[string]change.ChangeKind)
			for _, f := range files {
				listed[f.Path] = f.Kind
				for _, h := range f.Hunks {
					if f.Kind == change.Created && strings.Contains("\n"+h.Text, "\n-") {
						t.Errorf("%s is created, and its hunk removes lines:\n%s", f.Path, h.Text)
					}
				}
			}
			if d := cmp.Diff(test.want, listed); d != "" {
				t.Errorf("files of the plan (-want +got):\n%s", d)
			}
			var report strings.Builder
			fstest.Must(t, htmlreport.Write(&report, plan, htmlreport.Options{}))
			shown := make(map[string]change.ChangeKind)
			row := regexp.MustCompile(`<summary><b>(\w+)</b> <span class="name">(?:.* → )?(.*?)</span>`)
			for _, m := range row.FindAllStringSubmatch(report.String(), -1) {
				shown[html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(m[2], ""))] = change.ChangeKind(m[1])
			}
			if d := cmp.Diff(test.want, shown); d != "" {
				t.Errorf("report (-want +got):\n%s", d)
			}
			diff, changed := plan.Diff(), plan.Result().FilesChanged
			taken, err := millrace.Executor{}.OpenPlan(t.Context(), fsys, suite.Stored(t, plan))
			fstest.Must(t, err)
			if d := cmp.Diff(diff, taken.Diff()); d != "" {
				t.Errorf("the stored plan has another diff (-plan +stored):\n%s", d)
			}
			for kind, names := range map[change.ChangeKind][]string{
				change.Created: changed.Created, change.Modified: changed.Modified, change.Deleted: changed.Deleted,
			} {
				for _, name := range names {
					if test.want[name] != kind {
						t.Errorf("the result has %s as %s", name, kind)
					}
					if !strings.Contains(diff, " b/"+name+"\n") {
						t.Errorf("the diff has no %s:\n%s", name, diff)
					}
				}
			}
		})
	}
}
