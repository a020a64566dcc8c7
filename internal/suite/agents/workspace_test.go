package agents_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/agent"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/millracetest"
)

// trees returns the trees from which a workspace is made: in memory, and in the system.
func trees(t *testing.T, files ...string) map[string]afero.Fs {
	_, rooted := suite.Rooted(t, files...)
	return map[string]afero.Fs{"in memory": suite.Tree(files...), "in the system": rooted}
}

// The changes of an agent are the work of its step: shown, limited, committed. The agent sees the work of earlier
// steps, and never the tree itself.
func TestWorkspace(t *testing.T) {
	t.Parallel()
	for name, fsys := range trees(t, "a.txt", "one\ntwo\n", "gone.txt", "x", "old.txt", "long enough to be known again\n") {
		h := &host{work: func(ctx context.Context, r *agent.Request) error {
			dir, err := r.Workspace(ctx)
			if err != nil {
				return err
			}
			if again, err := r.Workspace(ctx); again != dir || err != nil {
				return fmt.Errorf("the workspace is %s, then %s, %v", dir, again, err)
			}
			seen, err := os.ReadFile(filepath.Join(dir, "a.txt"))
			if err != nil || string(seen) != "ONE\ntwo\n" {
				return fmt.Errorf("it sees %q, %v", seen, err)
			}
			return errors.Join(
				os.WriteFile(filepath.Join(dir, "a.txt"), []byte("ONE\nTWO\n"), 0o644),
				os.MkdirAll(filepath.Join(dir, "sub"), 0o755),
				os.WriteFile(filepath.Join(dir, "sub", "new.txt"), []byte("n"), 0o644),
				os.Remove(filepath.Join(dir, "gone.txt")),
				os.Rename(filepath.Join(dir, "old.txt"), filepath.Join(dir, "renamed.txt")),
			)
		}}
		p := millrace.New("p").Step("edit", actions.Edit{Files: []string{"a.txt"}, OldText: "one", NewText: "ONE"}).
			Step("ask", actions.Prompt{Prompt: "p"}).
			Step("c", actions.Create{Path: "files.txt", Content: "{{ask.files}} {{ask.edits}}"}).MustBuild()
		x := executor(t, h)
		plan, err := x.Plan(t.Context(), fsys, p)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := suite.Read(t, fsys, "a.txt"); got != "one\ntwo\n" {
			t.Errorf("%s: the plan has changed the tree: %q", name, got)
		}
		if res, err := plan.Commit(t.Context()); err != nil || res.Results[1].Output != "done ask" {
			t.Errorf("%s: %v", name, err)
		}
		if h.steps() != "ask" {
			t.Errorf("%s: asked %s", name, h.steps())
		}
		for file, want := range map[string]string{
			"a.txt": "ONE\nTWO\n", "sub/new.txt": "n", "renamed.txt": "long enough to be known again\n", "files.txt": "a.txt,renamed.txt,sub/new.txt 2",
		} {
			if got := suite.Read(t, fsys, file); got != want {
				t.Errorf("%s: %s has %q, want %q", name, file, got, want)
			}
		}
		for _, file := range []string{"gone.txt", "old.txt"} {
			if _, err := fsys.Stat(file); err == nil {
				t.Errorf("%s: %s exists", name, file)
			}
		}
	}
}

// A workspace for reading shows the tree, and its changes are dropped; a step without a workspace has none. Both count
// as steps that only read.
func TestReadOnlyWorkspace(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"read", "none"} {
		h := &host{work: func(ctx context.Context, r *agent.Request) error {
			if r.Workspace == nil {
				return nil
			}
			return write("new.txt", "x")(ctx, r)
		}}
		p := millrace.New("p").Step("ask", actions.Prompt{Prompt: "p", Workspace: kind}).MustBuild()
		x := executor(t, h)
		x.ReadOnly = true
		fsys := suite.Tree("a.txt", "x")
		if _, err := x.Run(t.Context(), fsys, p); err != nil || p.Mutates() {
			t.Errorf("%s: %v", kind, err)
		}
		if _, err := fsys.Stat("new.txt"); err == nil {
			t.Errorf("%s: it has written", kind)
		}
		if kind == "none" && h.asked[0].Workspace != nil {
			t.Error("there is a workspace")
		}
	}
	x := executor(t, new(host))
	x.ReadOnly = true
	if _, err := x.Run(t.Context(), suite.Tree(), suite.One(actions.Prompt{Prompt: "p"})); !errors.Is(err, millrace.ErrReadOnly) {
		t.Errorf("a prompt that may write: %v", err)
	}
}

// The changes of a failed attempt are dropped: for the next attempt, for the later steps, and for the tree.
func TestFailedWork(t *testing.T) {
	t.Parallel()
	seen := make([]string, 0, 3)
	h := &host{script: map[string][]string{"ask": {"fail", "done"}, "bad": {"fail"}}, work: func(ctx context.Context, r *agent.Request) error {
		dir, err := r.Workspace(ctx)
		if err != nil {
			return err
		}
		data, _ := os.ReadFile(filepath.Join(dir, "a.txt"))
		seen = append(seen, string(data))
		return os.WriteFile(filepath.Join(dir, "a.txt"), append(data, r.Step[0]), 0o644)
	}}
	p := millrace.New("p").Step("ask", actions.Prompt{Prompt: "p"}).Backoff(1e6).
		Step("bad", actions.Prompt{Prompt: "p"}).MaxRetries(0).OnFail("end").
		Step("end", actions.Prompt{Prompt: "p"}).MustBuild()
	fsys := suite.Tree("a.txt", "x")
	if _, err := executor(t, h).Run(t.Context(), fsys, p); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"x", "x", "xa", "xa"}, seen); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := suite.Read(t, fsys, "a.txt"); got != "xae" {
		t.Errorf("got %q", got)
	}
}

// An agent that writes to a forbidden path fails its step. A workspace that it keeps is useless after the step.
func TestForbiddenWork(t *testing.T) {
	t.Parallel()
	x := executor(t, &host{work: write("key.pem", "x")})
	x.DeniedPaths = []string{"*.pem"}
	fsys := suite.Tree("a.txt", "x")
	if _, err := x.Run(t.Context(), fsys, suite.One(actions.Prompt{Prompt: "p"})); !errors.Is(err, fsutil.ErrDenied) {
		t.Errorf("%v", err)
	}
	var late func(context.Context) (string, error)
	keeps := agent.Func(func(_ context.Context, r *agent.Request) (agent.Reply, error) {
		late = r.Workspace
		return agent.Reply{}, nil
	})
	if _, err := executor(t, keeps).Run(t.Context(), fsys, suite.One(actions.Prompt{Prompt: "p"})); err != nil {
		t.Fatal(err)
	}
	if dir, err := late(t.Context()); err == nil {
		t.Errorf("it has %s", dir)
	}
}

// An invalid directory for workspaces is found before an agent is asked.
func TestBadScratch(t *testing.T) {
	t.Parallel()
	x := executor(t, millracetest.Agent(t))
	x.Commands.Scratch = "not/absolute"
	_, err := x.Run(t.Context(), suite.Tree(), suite.One(actions.Prompt{Prompt: "p"}))
	if e, ok := errors.AsType[*millrace.ExecutorError](err); !ok || e.Field != "Commands" {
		t.Errorf("%v", err)
	}
}

// All steps share a directory outside of the tree, which is removed after the run.
func TestShared(t *testing.T) {
	t.Parallel()
	dirs := make([]string, 0, 3)
	h := &host{work: func(_ context.Context, r *agent.Request) error {
		dirs = append(dirs, r.Shared)
		note := filepath.Join(r.Shared, "note")
		if r.Step == "a" {
			return os.WriteFile(note, []byte("from a"), 0o600)
		}
		data, err := os.ReadFile(note)
		if string(data) != "from a" || !strings.Contains(r.Prompt, r.Shared) {
			return fmt.Errorf("%s finds %q, %v, asked %q", r.Step, data, err, r.Prompt)
		}
		return nil
	}}
	p := millrace.New("p").Step("a", actions.Prompt{Prompt: "p"}).
		Step("b", actions.Prompt{Prompt: "read {{run.shared}}/note"}).
		Step("c", quiet("read {{run.shared}}/note")).MustBuild()
	fsys := suite.Tree("a.txt", "x")
	res, err := executor(t, h).Run(t.Context(), fsys, p)
	if err != nil {
		t.Fatal(err)
	}
	if len(dirs) != 3 || dirs[0] == "" || dirs[1] != dirs[0] || dirs[2] != dirs[0] || res.FilesChanged.Count() != 0 {
		t.Errorf("shared are %q, changed %v", dirs, res.FilesChanged)
	}
	if _, err := os.Stat(dirs[0]); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it still exists after the run: %v", err)
	}
}
