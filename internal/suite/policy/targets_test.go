package policy_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/suite"
)

// TestLinkTargets: no step makes a link out of the tree or to a protected path, by any means. A plan that may be
// committed may be stored.
func TestLinkTargets(t *testing.T) {
	t.Parallel()
	patch := func(name, target string) actions.Action {
		return actions.Patch{Text: "diff --git a/" + name + " b/" + name + "\nnew file mode 120000\n--- /dev/null\n+++ b/" + name +
			"\n@@ -0,0 +1 @@\n+" + target + "\n\\ No newline at end of file\n"}
	}
	link := func(name, target string) actions.Action {
		return onStage(func(s *fsutil.Stage) error { return s.SymlinkIfPossible(target, name) })
	}
	tests := map[string]struct {
		name, target string
		want         error // nil: the link is made
	}{
		"inside":              {"l", "a.txt", nil},
		"inside, up":          {"d/l", "../a.txt", nil},
		"to nothing":          {"l", "missing/file", nil},
		"to the root":         {"d/l", "..", nil},
		"absolute":            {"l", "/root/.bashrc", fsutil.ErrEscape},
		"out":                 {"l", "../x", fsutil.ErrEscape},
		"out, by a detour":    {"d/l", "e/../../../x", fsutil.ErrEscape},
		"out, by a link":      {"l", "out/x", fsutil.ErrEscape},
		"out, up from a link": {"l", "up/../../x", fsutil.ErrEscape},
		"version control":     {"l", ".git/config", fsutil.ErrProtected},
		"to its directory":    {"d/l", "../.git", fsutil.ErrProtected},
		"by a link":           {"l", "git/config", fsutil.ErrProtected},
		"the state directory": {"l", ".millrace/runs", fsutil.ErrReserved},
		"a denied path":       {"l", "secret/key", fsutil.ErrDenied},
		"a read-only path":    {"l", "locked/f", fsutil.ErrReadOnlyPath},
	}
	for how, make := range map[string]func(name, target string) actions.Action{"patch": patch, "stage": link} {
		for name, tt := range tests {
			t.Run(how+"/"+name, func(t *testing.T) {
				t.Parallel()
				dir, root := suite.Rooted(t, "a.txt", "a\n", "d/e/f", "f\n", ".git/config", "c\n", "secret/key", "k\n", "locked/f", "f\n")
				suite.Link(t, t.TempDir(), filepath.Join(dir, "out"))
				suite.Link(t, "d/e", filepath.Join(dir, "up"))
				suite.Link(t, ".git", filepath.Join(dir, "git"))
				x := millrace.Executor{State: millrace.State{NoSync: true}, DeniedPaths: []string{"secret"}, ReadOnlyPaths: []string{"locked"}}
				plan, err := x.Plan(t.Context(), root, suite.One(make(tt.name, tt.target)))
				if tt.want == nil && err == nil {
					_, err = x.OpenPlan(t.Context(), root, suite.Stored(t, plan))
				}
				if !errors.Is(err, tt.want) {
					t.Fatalf("%v, want %v", err, tt.want)
				}
				if tt.want == nil {
					_, err = plan.Commit(t.Context())
					if target, wrong := os.Readlink(filepath.Join(dir, tt.name)); err != nil || target != tt.target {
						t.Errorf("the link leads to %q, %v, %v", target, err, wrong)
					}
				}
			})
		}
	}
}

// TestLinkTargets_together: a link that is moved, or whose path is changed by a later link, does not lead out either.
func TestLinkTargets_together(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(s *fsutil.Stage) error{
		"a link that moves up":      func(s *fsutil.Stage) error { return s.Rename("d/e/l", "l") },
		"a directory that moves up": func(s *fsutil.Stage) error { return s.Rename("d/e", "e") },
		"a link that comes later": func(s *fsutil.Stage) error {
			return errors.Join(s.SymlinkIfPossible("d/n/../../x", "l"), s.SymlinkIfPossible("..", "d/n"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, root := suite.Rooted(t, "a.txt", "a\n", "d/e/f", "f\n")
			suite.Link(t, "../../a.txt", filepath.Join(dir, "d/e/l"))
			_, err := millrace.Executor{State: millrace.State{NoSync: true}}.Run(t.Context(), root, suite.One(onStage(do)))
			if !errors.Is(err, fsutil.ErrEscape) {
				t.Errorf("%v, want ErrEscape", err)
			}
		})
	}
	// A link that already led out may be moved: no new link leads out.
	dir, root := suite.Rooted(t, "a.txt", "a\n")
	suite.Link(t, "/outside", filepath.Join(dir, "out"))
	move := onStage(func(s *fsutil.Stage) error { return errors.Join(s.Mkdir("d", 0o755), s.Rename("out", "d/out")) })
	plan, err := millrace.Executor{State: millrace.State{NoSync: true}}.Plan(t.Context(), root, suite.One(move))
	if err == nil {
		_, err = millrace.Executor{State: millrace.State{NoSync: true}}.OpenPlan(t.Context(), root, suite.Stored(t, plan))
	}
	if err != nil {
		t.Error(err)
	}
}

func onStage(do func(s *fsutil.Stage) error) actions.Action {
	return suite.Action{Do: func(_ context.Context, c *actions.Call) (actions.Outcome, error) { return actions.Outcome{}, do(c.FS) }}
}
