package commands_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/panics"
	"github.com/millrace-go/millrace/internal/suite"
)

// own is an action of a host that works on real files.
type own struct {
	Shares bool                                                                                              `json:"shares,omitempty"`
	Do     func(ctx context.Context, c *actions.Call, w *actions.Workspace) (out actions.Outcome, err error) `json:"-"`
}

func (a own) Spec() actions.Spec {
	return actions.Spec{Name: "own", Summary: "works on real files", Input: actions.InputNone, Exclusive: !a.Shares}
}

func (a own) Run(ctx context.Context, c *actions.Call) (actions.Outcome, error) {
	w, err := c.Workspace(ctx, actions.WorkspaceOptions{Exclude: []string{"hidden"}})
	if err != nil {
		return actions.Outcome{}, err
	}
	return a.Do(ctx, c, w)
}

// An action of the host has the tree as real files, and its changes there are staged; no command need be allowed.
func TestOwnAction(t *testing.T) {
	t.Parallel()
	x := host(t)
	x.Commands.Allow = nil
	fsys := suite.Tree("a.txt", "one\n", "hidden", "h\n")
	p := millrace.New("p").
		Step("edit", actions.Edit{Files: []string{"a.txt"}, OldText: "one", NewText: "two"}).
		Step("own", own{Do: func(ctx context.Context, c *actions.Call, w *actions.Workspace) (actions.Outcome, error) {
			data, err := os.ReadFile(filepath.Join(w.Root, "a.txt"))
			if err != nil || string(data) != "two\n" {
				t.Errorf("%q, %v", data, err)
			}
			if _, err := os.Stat(filepath.Join(w.Root, "hidden")); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("hidden: %v", err)
			}
			if _, err := c.Workspace(ctx, actions.WorkspaceOptions{}); err == nil {
				t.Error("it has received a second workspace")
			}
			for name, text := range map[string]string{w.Root + "/b.txt": "b\n", w.Temp + "/x": "x", w.Home + "/x": "x"} {
				if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
					t.Error(err)
				}
			}
			if err := os.Remove(filepath.Join(w.Root, "a.txt")); err != nil {
				t.Error(err)
			}
			out, err := w.TakeBack(ctx)
			if _, again := w.TakeBack(ctx); again == nil {
				t.Error("it was collected twice")
			}
			w.Drop()
			return out, err
		}}).MustBuild()
	res := run(t, x, fsys, p)
	wantText(t, fsys, "a.txt", "")
	wantText(t, fsys, "b.txt", "b\n")
	wantText(t, fsys, "hidden", "h\n")
	if got := res.Results[1]; !slices.Equal(got.FilesMatched, []string{"b.txt"}) ||
		cmp.Diff(map[string]any{"changed": []any{"b.txt"}, "deleted": []any{"a.txt"}}, got.Data) != "" {
		t.Errorf("%+v", got)
	}
	empty(t, x)
}

// A command that may run in parallel gets no workspace. A workspace that is not collected has no effect, even after a
// panic.
func TestWorkspaceRefused(t *testing.T) {
	t.Parallel()
	x, fsys := host(t), memory()
	never := func(context.Context, *actions.Call, *actions.Workspace) (actions.Outcome, error) {
		t.Error("it has received a workspace")
		return actions.Outcome{}, nil
	}
	if _, err := x.Run(t.Context(), fsys, suite.One(own{Shares: true, Do: never})); err == nil {
		t.Error("it has succeeded")
	}
	var left func() (actions.Outcome, error)
	leaves := own{Do: func(ctx context.Context, _ *actions.Call, w *actions.Workspace) (actions.Outcome, error) {
		left = func() (actions.Outcome, error) { return w.TakeBack(ctx) }
		return actions.Outcome{}, os.WriteFile(filepath.Join(w.Root, "a.txt"), nil, 0o644)
	}}
	run(t, x, fsys, suite.One(leaves))
	if _, err := left(); err == nil {
		t.Error("a workspace could be collected after its step")
	}
	panicking := own{Do: func(_ context.Context, _ *actions.Call, w *actions.Workspace) (actions.Outcome, error) {
		_ = os.WriteFile(filepath.Join(w.Root, "a.txt"), nil, 0o644)
		panic("at once")
	}}
	if _, err := x.Run(t.Context(), fsys, suite.One(panicking)); !suite.Is[*panics.Error](err) {
		t.Errorf("%v", err)
	}
	wantText(t, fsys, "a.txt", "one\n")
	empty(t, x)
}

// The shared directory is passed from command to command, and removed after the run.
func TestShared(t *testing.T) {
	t.Parallel()
	x, fsys := host(t), memory()
	q := millrace.New("q").
		Step("write", script(`echo kept > "$MILLRACE_SHARED/f"; echo lost > "$HOME/f"; echo lost > "$TMPDIR/f"`)).
		Step("read", script(`cat "$MILLRACE_SHARED/f"; cat "$HOME/f" "$TMPDIR/f" 2>&1 | wc -l`)).MustBuild()
	res := run(t, x, fsys, q)
	if got := strings.Fields(res.Results[1].Output); !slices.Equal(got, []string{"kept", "2"}) {
		t.Errorf("%q", got)
	}
	if len(res.FilesAffected) != 0 {
		t.Errorf("%q were staged", res.FilesAffected)
	}
	empty(t, x)
}

// KeepScratch leaves the tree for the next run, at the same path; without it nothing is left.
func TestKeepScratch(t *testing.T) {
	t.Parallel()
	x := host(t)
	x.Commands.KeepScratch = true
	_, fsys := suite.Rooted(t, "a.txt", "one\n")
	where := suite.One(actions.Exec{Command: "pwd", Discard: true})
	first, second := run(t, x, fsys, where).Results[0].Output, run(t, x, fsys, where).Results[0].Output
	if first != second {
		t.Errorf("it has run in %s, then in %s", first, second)
	}
	if entries, err := filepath.Glob(filepath.Join(x.Commands.Scratch, "*", "*", "*", "a.txt")); err != nil || len(entries) != 1 {
		t.Errorf("left are %q, %v", entries, err)
	}
}
