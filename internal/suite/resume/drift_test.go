package resume_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/suite"
)

// Changes in the tree while a run waits are found before anything is done. The error names the step from which to
// resume.
func TestDrift(t *testing.T) {
	t.Parallel()
	p := millrace.New("p").
		Step("find", actions.Search{Path: "src", Pattern: "[abx]"}).
		Step("edit", actions.Edit{Files: []string{"src/a.go"}, OldText: "x", NewText: "y"}).
		Step("move", actions.Rename{Files: []string{"old/f"}, To: "new/f"}).
		Step("drop", actions.Delete{Files: []string{"gone"}}).
		Step("make", actions.Create{Path: "made", Content: "m"}).
		Step("stop", actions.Create{Path: "later", Content: "l"}).Manual().MustBuild()
	for name, c := range map[string]struct {
		do     func(in func(string) string) error
		drifts []millrace.Drift
		from   string
	}{
		"nothing":         {func(func(string) string) error { return nil }, nil, ""},
		"another file":    {func(in func(string) string) error { return os.WriteFile(in("other"), []byte("o"), 0o600) }, nil, ""},
		"touched, edited": {func(in func(string) string) error { return os.WriteFile(in("src/a.go"), []byte("x a\n"), 0o600) }, nil, ""},
		"edited": {func(in func(string) string) error { return os.WriteFile(in("src/a.go"), []byte("x b\n"), 0o600) },
			[]millrace.Drift{{Path: "src/a.go", Reason: "content", Step: "find"}}, "find"},
		"matched": {func(in func(string) string) error { return os.WriteFile(in("src/b.go"), []byte("other"), 0o600) },
			[]millrace.Drift{{Path: "src/b.go", Reason: "content", Step: "find"}}, "find"},
		"removed": {func(in func(string) string) error { return os.Remove(in("src/b.go")) },
			[]millrace.Drift{{Path: "src/b.go", Reason: "removed", Step: "find"}}, "find"},
		"moved": {func(in func(string) string) error { return os.WriteFile(in("old/f"), []byte("longer"), 0o600) },
			[]millrace.Drift{{Path: "old/f", Reason: "content", Step: "move"}}, "move"},
		"a directory in its place": {func(in func(string) string) error {
			if err := os.Remove(in("gone")); err != nil {
				return err
			}
			return os.Mkdir(in("gone"), 0o700)
		}, []millrace.Drift{{Path: "gone", Reason: "kind", Step: "drop"}}, "drop"},
		"created": {func(in func(string) string) error { return os.WriteFile(in("made"), nil, 0o600) },
			[]millrace.Drift{{Path: "made", Reason: "created", Step: "make"}}, "make"},
		"two": {func(in func(string) string) error {
			if err := os.Remove(in("gone")); err != nil {
				return err
			}
			return os.WriteFile(in("old/f"), []byte("longer"), 0o600)
		}, []millrace.Drift{{Path: "gone", Reason: "removed", Step: "drop"}, {Path: "old/f", Reason: "content", Step: "move"}}, "move"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, fsys := suite.Rooted(t, "src/a.go", "x a\n", "src/b.go", "b\n", "old/f", "f\n", "gone", "g\n")
			s := new(store)
			x := millrace.Executor{Checkpoints: s, State: millrace.State{NoSync: true}}
			res, err := x.Run(t.Context(), fsys, p)
			held(t, res, err)
			if err := c.do(func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }); err != nil {
				t.Fatal(err)
			}
			before := treeOf(t, fsys)
			res, err = x.Resume(t.Context(), fsys, p, s.saved())
			if c.drifts == nil {
				if err != nil {
					t.Errorf("%v", err)
				}
				return
			}
			drift, ok := err.(*millrace.DriftError)
			if !ok || res != nil {
				t.Fatalf("%v, %+v", err, res)
			}
			if d := cmp.Diff(c.drifts, drift.Drifts); d != "" || drift.From != c.from {
				t.Errorf("resume from %q, want %q (-want +got):\n%s", drift.From, c.from, d)
			}
			if millrace.ErrorCode(err) != "drift" || !errors.Is(err, fsutil.ErrDrift) || !strings.HasSuffix(err.Error(), "; resume from '"+c.from+"'") {
				t.Errorf("%v", err)
			}
			if treeOf(t, fsys) != before {
				t.Error("the run has written")
			}
			goBack(t, x, fsys, p, s, c.from)
		})
	}
}

// turns matches other files and returns other words at each call.
type turns struct {
	calls *int
	files []string
	words []string
}

// Spec describes the action.
func (turns) Spec() actions.Spec {
	return actions.Spec{Name: "turns", Summary: "matches a file, or says a word", ReadOnly: true}
}

// Run takes its turn.
func (a turns) Run(context.Context, *actions.Call) (actions.Outcome, error) {
	turn := *a.calls
	*a.calls++
	return actions.Outcome{Files: a.files[turn : turn+1], Output: a.words[turn]}, nil
}

// A restart drops the staged changes, but not the dependency: a file that was matched by the step that caused the
// restart still counts as read.
func TestDrift_matchedBeforeRestart(t *testing.T) {
	t.Parallel()
	p := millrace.New("p").
		Step("edit", actions.Edit{Files: []string{"a"}, OldText: "x", NewText: "y"}).
		Step("judge", turns{new(int), []string{"b", "c"}, []string{"again", ""}}).Retry(millrace.Retry{Step: "edit", Keyword: "again", Restart: true}).
		Step("stop", actions.Create{Path: "later", Content: "l"}).Manual().MustBuild()
	dir, fsys := suite.Rooted(t, "a", "x\n", "b", "b\n", "c", "c\n")
	s := new(store)
	x := millrace.Executor{Checkpoints: s, State: millrace.State{NoSync: true}}
	res, err := x.Run(t.Context(), fsys, p)
	held(t, res, err)
	fstest.Must(t, os.WriteFile(filepath.Join(dir, "b"), []byte("other\n"), 0o600))
	_, err = x.Resume(t.Context(), fsys, p, s.saved())
	drift, ok := err.(*millrace.DriftError)
	if !ok {
		t.Fatalf("%v", err)
	}
	if d := cmp.Diff([]millrace.Drift{{Path: "b", Reason: "content", Step: "judge"}}, drift.Drifts); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// goBack resumes from before a step: the checkpoints up to it are valid.
func goBack(t *testing.T, x millrace.Executor, fsys afero.Fs, p millrace.Pipeline, s *store, from string) {
	t.Helper()
	first := slices.IndexFunc(s.list(t), func(c millrace.Checkpoint) bool { return c.Step == from })
	s.kept = s.kept[:first]
	s.entered = nil
	res, err := x.Resume(t.Context(), fsys, p, s.saved())
	if err == nil || len(s.entered) == 0 {
		t.Fatalf("%v, %+v", err, s.entered)
	}
	if got := s.entered[0].Step; got != from {
		t.Errorf("it resumes with step %q, want %q", got, from)
	}
	if suite.Is[*millrace.HeldError](err) {
		held(t, res, err)
	}
}
