package foreign_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/internal/suite"
)

// theirs is the text of the other program.
const theirs = "what the other program has written\n"

// moments returns the times at which the other program writes. Each function returns the error of a run on the tree.
func moments() map[string]func(root afero.Fs, step actions.Action, write func() error) error {
	return map[string]func(root afero.Fs, step actions.Action, write func() error) error{
		"after the step": func(root afero.Fs, step actions.Action, write func() error) error {
			p := millrace.New("p").Step("one", step).Step("other", suite.Action{Do: doing(write)}).MustBuild()
			_, err := millrace.Run(context.Background(), root, p)
			return err
		},
		"after the plan": func(root afero.Fs, step actions.Action, write func() error) error {
			plan, err := millrace.Executor{}.Plan(context.Background(), root, suite.One(step))
			if err == nil {
				err = write()
			}
			if err == nil {
				_, err = plan.Commit(context.Background())
			}
			return err
		},
		"as the commit begins": func(root afero.Fs, step actions.Action, write func() error) error {
			var failed error
			done := false
			x := millrace.Executor{Observe: func(e millrace.Event) {
				if phase, ok := e.(millrace.CommitPhase); ok && !done && phase.Phase != "" {
					done = true
					failed = write()
				}
			}}
			_, err := x.Run(context.Background(), root, suite.One(step))
			return errors.Join(err, failed)
		},
	}
}

// doing returns an action that calls a function and leaves the stage alone.
func doing(do func() error) func(context.Context, *actions.Call) (actions.Outcome, error) {
	return func(context.Context, *actions.Call) (actions.Outcome, error) { return actions.Outcome{}, do() }
}

// TestForeign_moments writes a file where a step has found none, or changes a file that the step removes, at each
// moment until the commit. The run is a conflict, and the other program's file is unchanged.
func TestForeign_moments(t *testing.T) {
	t.Parallel()
	gone := actions.Delete{Files: []string{"dir"}, Recursive: true}
	rest := actions.Delete{Files: []string{"dir"}, Recursive: true, Permanent: true}
	tests := map[string]struct {
		step actions.Action
		at   string // where the other program writes
		// mayPass means that both writes can succeed: the step only reads that path, or has nothing there.
		mayPass bool
	}{
		"create":                           {actions.Create{Path: "new", Content: "ours"}, "new", false},
		"create, overwriting":              {actions.Create{Path: "new", Content: "ours", Overwrite: true}, "new", false},
		"create in a new directory":        {actions.Create{Path: "made/new", Content: "ours"}, "made/new", false},
		"create beside":                    {actions.Create{Path: "made/new", Content: "ours"}, "made/other", true},
		"create, a directory":              {actions.Create{Path: "new", Content: "ours"}, "new/in", false},
		"copy":                             {actions.Copy{Files: []string{"a"}, To: "new"}, "new", false},
		"copy, overwriting":                {actions.Copy{Files: []string{"a"}, To: "new", Overwrite: true}, "new", false},
		"copy to a directory":              {actions.Copy{Files: []string{"a"}, Destination: "made"}, "made/a", false},
		"copy, the source":                 {actions.Copy{Files: []string{"a"}, To: "new"}, "a", true},
		"rename":                           {actions.Rename{Files: []string{"a"}, To: "new"}, "new", false},
		"rename, the source":               {actions.Rename{Files: []string{"a"}, To: "new"}, "a", false},
		"rename over a file":               {actions.Rename{Files: []string{"a"}, To: "b", Overwrite: true}, "b", false},
		"patch that makes a file":          {actions.Patch{Text: "--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+ours\n"}, "new", false},
		"delete":                           {actions.Delete{Files: []string{"a"}}, "a", false},
		"delete a directory":               {gone, "dir/new", false},
		"delete a directory, below":        {gone, "dir/sub/new", false},
		"delete a directory, a file":       {gone, "dir/f", false},
		"delete a directory, a file below": {gone, "dir/sub/g", false},
		"delete for good":                  {rest, "dir/sub/new", false},
		"delete for good, a file":          {rest, "dir/sub/g", false},
		"edit":                             {actions.Edit{Files: []string{"a"}, OldText: "text", NewText: "ours"}, "a", false},
		"removed at once":                  {staged(func(s afero.Fs) error { return s.RemoveAll("dir") }), "dir/new", false},
		"removed at once, a file":          {staged(func(s afero.Fs) error { return s.RemoveAll("dir") }), "dir/sub/g", false},
		"moved":                            {staged(func(s afero.Fs) error { return s.Rename("dir", "moved") }), "dir/sub/new", false},
		"moved, the new name":              {staged(func(s afero.Fs) error { return s.Rename("dir", "moved") }), "moved", false},
		"moved over an empty directory":    {staged(func(s afero.Fs) error { return s.Rename("dir", "empty") }), "empty/new", true},
		"made, and moved with it": {staged(func(s afero.Fs) error {
			return errors.Join(afero.WriteFile(s, "dir/new", []byte("ours"), 0o644), s.Rename("dir", "moved"))
		}), "dir/new", false},
		"made, and removed with it": {staged(func(s afero.Fs) error {
			return errors.Join(afero.WriteFile(s, "dir/new", []byte("ours"), 0o644), s.RemoveAll("dir"))
		}), "dir/new", false},
		"a new directory": {staged(func(s afero.Fs) error { return s.Mkdir("new", 0o755) }), "new/in", false},
		"a new link":      {staged(func(s afero.Fs) error { return s.(afero.Linker).SymlinkIfPossible("a", "new") }), "new", false},
	}
	for when, run := range moments() {
		for name, tt := range tests {
			t.Run(when+"/"+name, func(t *testing.T) {
				t.Parallel()
				dir, root := suite.Rooted(t, "a", "text\n", "b", "text\n", "dir/f", "text\n", "dir/sub/g", "text\n")
				if err := os.Mkdir(filepath.Join(dir, "empty"), 0o755); err != nil {
					t.Fatal(err)
				}
				err := run(root, tt.step, func() error {
					at := filepath.Join(dir, tt.at)
					return errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(theirs), 0o644))
				})
				if text := suite.Read(t, root, tt.at); text != theirs {
					t.Errorf("%s is %q; the run returns %v", tt.at, text, err)
				}
				if err == nil && !tt.mayPass {
					t.Error("the run is not a conflict")
				}
				if err != nil && !suite.Is[*millrace.ConflictError](err) && !suite.Is[*millrace.CommitError](err) {
					t.Errorf("the run returns %v, want a conflict", err)
				}
			})
		}
	}
}

// staged returns an action that works on the stage.
func staged(do func(s afero.Fs) error) actions.Action {
	return suite.Action{Do: func(_ context.Context, c *actions.Call) (actions.Outcome, error) {
		return actions.Outcome{}, do(c.FS)
	}}
}

// TestForeign_madeAndTakenAway: the run does not touch a name that it has only used temporarily, so a file that another
// program puts there stays.
func TestForeign_madeAndTakenAway(t *testing.T) {
	t.Parallel()
	dir, root := suite.Rooted(t, "a", "text\n", "b", "other\n")
	swap := func(s afero.Fs) error {
		return errors.Join(s.Rename("a", "tmp"), s.Rename("b", "a"), s.Rename("tmp", "b"))
	}
	p := millrace.New("swap").Step("swap", staged(swap)).Step("other", suite.Action{Do: doing(func() error {
		return os.WriteFile(filepath.Join(dir, "tmp"), []byte(theirs), fs.ModePerm)
	})}).MustBuild()
	if _, err := millrace.Run(t.Context(), root, p); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"a": "other\n", "b": "text\n", "tmp": theirs} {
		if text := suite.Read(t, root, name); text != want {
			t.Errorf("%s is %q, want %q", name, text, want)
		}
	}
}

// TestForeign_afterMove: another program saves a file after an agent has moved its directory, and before the commit. The
// run is a conflict, and the tree is as the other program has left it.
func TestForeign_afterMove(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the command is one of Unix")
	}
	dir, root := suite.Rooted(t, "d/f", "text\n", "d/s/g", "text\n")
	x := millrace.Executor{State: millrace.State{NoSync: true}, Commands: command.Policy{Scratch: t.TempDir()}}
	move := steps()["agent"](&x, "mv d m", func() {})
	p := millrace.New("p").Step("move", move).Step("other", suite.Action{Do: doing(func() error {
		return os.WriteFile(filepath.Join(dir, "d/s/g"), []byte(theirs), 0o644)
	})}).MustBuild()
	if _, err := x.Run(t.Context(), root, p); !suite.Is[*millrace.ConflictError](err) {
		t.Errorf("the run returns %v, want a conflict", err)
	}
	if text := suite.Read(t, root, "d/s/g"); text != theirs {
		t.Errorf("d/s/g is %q", text)
	}
}
