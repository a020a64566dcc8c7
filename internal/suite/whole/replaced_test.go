package whole_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/suite"
)

// movesOver moves the directory d to f, which was a file or a link.
func movesOver(permanent bool) millrace.Pipeline {
	return millrace.New("p").
		Step("delete", actions.Delete{Files: []string{"f"}, Permanent: permanent}).
		Step("move", suite.Action{Do: staged(func(s afero.Fs) error { return s.Rename("d", "f") })}).MustBuild()
}

// TestPlans_directoryOverFile: a file is deleted if a directory is moved to its path, and every report lists the
// deletion.
func TestPlans_directoryOverFile(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"file", "link"} {
		for _, permanent := range []bool{false, true} {
			t.Run(kind, func(t *testing.T) {
				t.Parallel()
				dir, root := suite.Rooted(t, "d/x", "x\n", "d/y", "y\n", "other", "o\n")
				if kind == "link" {
					suite.Link(t, "other", filepath.Join(dir, "f"))
				} else if err := os.WriteFile(filepath.Join(dir, "f"), []byte("the end\n"), 0o644); err != nil {
					t.Fatal(err)
				}
				x := millrace.Executor{State: millrace.State{NoSync: true}, MaxFiles: 2}
				plan, err := x.Plan(t.Context(), root, movesOver(permanent).WithOptions(millrace.Options{NoBackup: true}))
				if err != nil {
					t.Fatal(err)
				}
				res := plan.Result()
				want := millrace.FilesChanged{Deleted: []string{"f"}, Renamed: []millrace.RenamedFile{{From: "d/x", To: "f/x"}, {From: "d/y", To: "f/y"}}}
				if d := cmp.Diff(want, res.FilesChanged); d != "" {
					t.Errorf("files changed (-want +got):\n%s", d)
				}
				if !res.WouldBlock || !strings.Contains(res.BlockReason, "3 > 2") {
					t.Errorf("blocked: %v, %q", res.WouldBlock, res.BlockReason)
				}
				if diff := plan.Diff(); !strings.Contains(diff, "deleted file mode") {
					t.Errorf("the diff has no deletion:\n%s", diff)
				}
				if _, err = plan.WithForce(true).Commit(t.Context()); err != nil {
					t.Fatal(err)
				}
				kept := exec.Command("grep", "-rq", "the end", filepath.Join(dir, ".millrace")).Run() == nil
				if kind == "file" && kept == permanent {
					t.Errorf("the file is in the trash: %v; it was deleted for good: %v", kept, permanent)
				}
			})
		}
	}
}

// TestPlans_toldOnce: a file that is moved is listed only as moved, even if its old name becomes a directory with a new
// file.
func TestPlans_toldOnce(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(s afero.Fs) error{
		"below its old name": func(s afero.Fs) error {
			return errors.Join(s.Rename("f", "g"), s.Mkdir("f", 0o755), afero.WriteFile(s, "f/x", []byte("new\n"), 0o644))
		},
		"into its own name": func(s afero.Fs) error {
			return errors.Join(s.Rename("f", "tmp"), s.Mkdir("f", 0o755), s.Rename("tmp", "f/f"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, root := suite.Rooted(t, "f", "text\n")
			plan, err := millrace.Executor{State: millrace.State{NoSync: true}}.Plan(t.Context(), root, suite.One(suite.Action{Do: staged(do)}))
			if err != nil {
				t.Fatal(err)
			}
			defer plan.Close()
			if f := plan.Result().FilesChanged; len(f.Renamed) != 1 || len(f.Deleted)+len(f.Modified) > 0 {
				t.Errorf("files changed: %+v", f)
			}
			if err := gitApply(dir, plan.Diff()); err != nil {
				t.Errorf("%v\n%s", err, plan.Diff())
			}
		})
	}
}

// TestPlans_rejectOver rejects each part of a plan that moves a directory over a file. The rejected part stays
// unchanged and the rest is done, or the error names the parts to reject as well.
func TestPlans_rejectOver(t *testing.T) {
	t.Parallel()
	p := millrace.New("p").Step("delete", actions.Delete{Files: []string{"f", "d/y"}}).
		Step("move", suite.Action{Do: staged(func(s afero.Fs) error { return s.Rename("d", "f") })}).MustBuild()
	for reject, want := range map[string]string{
		"f":   "d/x f",
		"d":   "d/y f/x",
		"d/y": "d/y f/x",
		"f/x": "", // would need f
	} {
		t.Run(reject, func(t *testing.T) {
			t.Parallel()
			dir, root := suite.Rooted(t, "d/x", "x\n", "d/y", "y\n", "f", "text\n")
			plan, err := millrace.Executor{State: millrace.State{NoSync: true}}.Plan(t.Context(), root, p)
			if err != nil {
				t.Fatal(err)
			}
			left, err := plan.Reject(reject)
			if err == nil {
				_, err = left.Commit(t.Context())
			}
			if err != nil {
				if want != "" {
					t.Fatal(err)
				}
				return
			}
			var names []string
			for name := range snapshot(t, dir) {
				names = append(names, name)
			}
			if got := sortedText(names); want != "" && got != want {
				t.Errorf("the tree has %s, want %s", got, want)
			}
		})
	}
}

// TestPlans_rejectKinds: a change between a file, a link and a directory can be rejected, and is listed as the change
// of the file.
func TestPlans_rejectKinds(t *testing.T) {
	t.Parallel()
	put := map[string]func(s afero.Fs) error{
		"file": func(s afero.Fs) error { return afero.WriteFile(s, "it", []byte("new\n"), 0o644) },
		"link": func(s afero.Fs) error { return s.(afero.Linker).SymlinkIfPossible("other", "it") },
		"dir": func(s afero.Fs) error {
			return errors.Join(s.Mkdir("it", 0o755), afero.WriteFile(s, "it/in", []byte("in\n"), 0o644))
		},
	}
	for from, first := range put {
		for to, then := range put {
			t.Run(from+" to "+to, func(t *testing.T) {
				t.Parallel()
				dir, root := suite.Rooted(t, "other", "o\n", "a", "a\n")
				if _, err := millrace.Run(t.Context(), root, suite.One(suite.Action{Do: staged(first)})); err != nil {
					t.Fatal(err)
				}
				before := snapshot(t, dir)
				plan, err := millrace.Executor{State: millrace.State{NoSync: true}}.Plan(t.Context(), root, suite.One(suite.Action{Do: staged(func(s afero.Fs) error {
					return errors.Join(s.RemoveAll("it"), then(s), afero.WriteFile(s, "a", []byte("b\n"), 0o644))
				})}))
				if err != nil {
					t.Fatal(err)
				}
				if from == to && from != "file" {
					return // nothing changes at that name
				}
				left, err := plan.Reject("it")
				if from == to {
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if _, err := left.Commit(t.Context()); err != nil {
					t.Fatal(err)
				}
				before["a"] = `false "b\n"`
				if d := cmp.Diff(before, snapshot(t, dir)); d != "" {
					t.Errorf("the tree (-want +got):\n%s", d)
				}
			})
		}
	}
}
