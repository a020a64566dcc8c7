package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/millracetest"
	"github.com/millrace-go/millrace/risk"
)

// forest has trees in memory by root. A missing tree cannot be opened.
type forest map[string]afero.Fs

func (f forest) Open(_ context.Context, t fleet.Target) (fleet.Tree, error) {
	fsys, ok := f[t.Root]
	if !ok {
		return fleet.Tree{}, fmt.Errorf("there is no tree %q", t.Root)
	}
	return fleet.Tree{FS: fsys}, nil
}

// plant returns n trees with a file each, and the targets.
func plant(t testing.TB, n int) (forest, []fleet.Target) {
	t.Helper()
	trees := make(forest)
	var targets []fleet.Target
	for i := range n {
		name := fmt.Sprintf("tree-%03d", i)
		trees[name] = millracetest.Tree(t, "-- a.txt --\nx\n")
		targets = append(targets, fleet.Target{ID: "id-" + name, Root: name})
	}
	return trees, targets
}

// opener turns a function into Trees.
type opener func(ctx context.Context, t fleet.Target) (fleet.Tree, error)

func (o opener) Open(ctx context.Context, t fleet.Target) (fleet.Tree, error) { return o(ctx, t) }

// edit returns a pipeline that replaces x by y in a.txt.
func edit() millrace.Pipeline {
	return millrace.New("edit").Step("e", actions.Edit{Files: []string{"a.txt"}, OldText: "x", NewText: "y"}).MustBuild()
}

// atOnce is a Sleep without a wait.
func atOnce(context.Context, time.Duration) error { return nil }

// kept collects outcomes by index.
type kept struct {
	mu   sync.Mutex
	list []fleet.Outcome
}

func (k *kept) sink(o fleet.Outcome) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.list = append(k.list, o)
	return nil
}

// sorted returns the outcomes by index, and checks that each index has an outcome.
func (k *kept) sorted(t *testing.T, n int) []fleet.Outcome {
	t.Helper()
	slices.SortFunc(k.list, func(a, b fleet.Outcome) int { return a.Index - b.Index })
	for i, o := range k.list {
		if o.Index != i {
			t.Fatalf("outcome %d has the index %d", i, o.Index)
		}
	}
	if len(k.list) != n {
		t.Fatalf("%d outcomes, want %d", len(k.list), n)
	}
	return k.list
}

func text(t testing.TB, fsys afero.Fs) string {
	t.Helper()
	data, err := afero.ReadFile(fsys, "a.txt")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestRun(t *testing.T) {
	t.Parallel()
	trees, targets := plant(t, 30)
	fstest.Must(t, trees["tree-007"].Remove("a.txt"))
	delete(trees, "tree-011")
	targets[13].ID = "bad\nid"
	targets[20].Labels = map[string]string{"team": "blue"}
	var got kept
	f := fleet.Fleet{Scheduler: fleet.Local{Worker: fleet.Worker{Trees: trees, Sleep: atOnce}, Parallel: 4}}
	sum, err := f.Run(t.Context(), fleet.Campaign{ID: "c", Pipeline: edit()}, fleet.Targets(targets...), got.sink)
	if err != nil {
		t.Fatal(err)
	}
	want := fleet.Summary{Campaign: "c", Targets: 30,
		Counts: fleet.Counts{Success: 27, Failed: 3, Files: 27, Edits: 27, Risks: risk.Counts{Low: 27}}}
	// A failed step judges the files that it saw, so a failed run may have a level too.
	if d := cmp.Diff(want, sum, cmpopts.IgnoreFields(fleet.Summary{}, "Failures", "Duration", "Risks")); d != "" {
		t.Errorf("summary (-want +got):\n%s", d)
	}
	for i, o := range got.sorted(t, 30) {
		code, attempts := "", 1
		switch i {
		case 7:
			code = "step_failed"
		case 11:
			code, attempts = "tree_unavailable", 4
		case 13:
			code = "invalid_target"
		default:
			if got := text(t, trees[o.Target.Root]); got != "y\n" || o.Status != fleet.Success || o.Files != 1 || o.Edits != 1 ||
				len(o.RunID) != 32 {
				t.Errorf("%+v with %q", o, got)
			}
		}
		if o.Code != code || o.Attempts != attempts || (o.Status == fleet.Failed) != (code != "") ||
			(o.Message == "") != (code == "") || o.Replayed {
			t.Errorf("target %d: %+v, want the code %q", i, o, code)
		}
	}
	if codes := []string{sum.Failures[0].Code, sum.Failures[1].Code, sum.Failures[2].Code}; !slices.Equal(codes,
		[]string{"step_failed", "tree_unavailable", "invalid_target"}) {
		t.Errorf("failures: %q", codes)
	}
	if got.list[20].Target.Labels["team"] != "blue" {
		t.Errorf("labels are lost: %+v", got.list[20])
	}
	if s := sum.String(); s != "30 targets: 27 success, 3 failed | 27 files | 27 edits" {
		t.Error(s)
	}
}

// A campaign that is run again runs the failed targets, and leaves all else alone, even the times of files.
func TestRerun(t *testing.T) {
	t.Parallel()
	var dirs []string
	root := t.TempDir()
	for i := range 12 {
		dir := filepath.Join(root, fmt.Sprintf("t%02d", i))
		fstest.Must(t, os.Mkdir(dir, 0o755))
		if i != 5 {
			fstest.Must(t, os.WriteFile(filepath.Join(dir, "a.txt"), []byte("x x\n"), 0o644))
		}
		dirs = append(dirs, dir)
	}
	once := millrace.New("once").Step("e", actions.Edit{Files: []string{"a.txt"}, OldText: "x x",
		NewText: "x x x"}).MustBuild()
	f := fleet.Fleet{Scheduler: fleet.Local{Worker: fleet.Worker{Trees: fleet.Dirs{}, Sleep: atOnce}, Parallel: 3}}
	run := func(id string) (fleet.Summary, []fleet.Outcome) {
		t.Helper()
		var got kept
		sum, err := f.Run(t.Context(), fleet.Campaign{ID: id, Pipeline: once}, fleet.Paths(dirs...), got.sink)
		if err != nil {
			t.Fatal(err)
		}
		return sum, got.sorted(t, len(dirs))
	}
	if sum, _ := run("one"); sum.Success != 11 || sum.Failed != 1 || sum.Replayed != 0 {
		t.Fatalf("first: %v", sum)
	}
	before := make([]string, len(dirs))
	for i, dir := range dirs {
		before[i] = fstest.Listing(t, dir, facts)
	}
	fstest.Must(t, os.WriteFile(filepath.Join(dirs[5], "a.txt"), []byte("x x\n"), 0o644))
	sum, outcomes := run("one")
	if sum.Success != 12 || sum.Replayed != 11 || sum.Files != 12 || sum.Edits != 12 {
		t.Errorf("again: %+v", sum)
	}
	for i, o := range outcomes {
		if after := fstest.Listing(t, dirs[i], facts); i != 5 && after != before[i] {
			t.Errorf("tree %d was touched (-before +after):\n%s", i, cmp.Diff(before[i], after))
		}
		if o.Replayed != (i != 5) {
			t.Errorf("%+v", o)
		}
		if data, _ := os.ReadFile(filepath.Join(dirs[i], "a.txt")); string(data) != "x x x\n" {
			t.Errorf("tree %d has %q", i, data)
		}
	}
	if sum, _ := run("two"); sum.Success != 12 || sum.Replayed != 0 {
		t.Errorf("another campaign: %+v", sum)
	}
	if data, _ := os.ReadFile(filepath.Join(dirs[0], "a.txt")); string(data) != "x x x x\n" {
		t.Errorf("another campaign has left %q", data)
	}
}

func facts(info os.FileInfo) string { return fmt.Sprint(info.Mode(), info.ModTime().UnixNano()) }

// Targets that were not begun when the context ended have an outcome too, and their trees are unchanged.
func TestCancel(t *testing.T) {
	t.Parallel()
	trees, targets := plant(t, 40)
	why := errors.New("the user has had enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	var got kept
	left := 10
	sink := func(o fleet.Outcome) error {
		if left--; left == 0 {
			cancel(why)
		}
		return got.sink(o)
	}
	f := fleet.Fleet{Scheduler: fleet.Local{Worker: fleet.Worker{Trees: trees}, Parallel: 4}}
	sum, err := f.Run(ctx, fleet.Campaign{ID: "c", Pipeline: edit()}, fleet.Targets(targets...), sink)
	if !errors.Is(err, why) || !errors.Is(err, context.Canceled) ||
		err.Error() != "fleet canceled: the user has had enough" {
		t.Errorf("error %v", err)
	}
	if sum.Stopped != "canceled" || sum.Targets != 40 || sum.Skipped == 0 ||
		sum.Success+sum.Canceled+sum.Skipped != 40 {
		t.Errorf("%+v", sum)
	}
	for _, o := range got.sorted(t, 40) {
		want := "x\n"
		if o.Status == fleet.Success {
			want = "y\n"
		} else if o.Code != "canceled" || o.Status == fleet.Failed {
			t.Errorf("%+v", o)
		}
		if now := text(t, trees[o.Target.Root]); now != want {
			t.Errorf("%s has %q: %+v", o.Target.ID, now, o)
		}
	}
	// A cancellation after everything is done undoes nothing.
	ctx, cancel = context.WithCancelCause(t.Context())
	left = 3
	sum, err = f.Run(ctx, fleet.Campaign{ID: "c", Pipeline: edit()}, fleet.Targets(targets[:3]...), func(fleet.Outcome) error {
		if left--; left == 0 {
			cancel(why)
		}
		return nil
	})
	if err != nil || sum.Success != 3 || sum.Stopped != "" {
		t.Errorf("%+v, %v", sum, err)
	}
}

// When the context ends the running targets are stopped, and their trees stay unchanged.
func TestCancelRunning(t *testing.T) {
	t.Parallel()
	trees, targets := plant(t, 3)
	ctx, cancel := context.WithCancel(t.Context())
	slow := millrace.New("slow").Step("e", actions.Edit{Files: []string{"a.txt"}, OldText: "x", NewText: "y"}).
		Step("wait", waits{do: func(ctx context.Context) error { cancel(); <-ctx.Done(); return ctx.Err() }}).MustBuild()
	f := fleet.Fleet{Scheduler: fleet.Local{Worker: fleet.Worker{Trees: trees}, Parallel: 1}}
	sum, err := f.Run(ctx, fleet.Campaign{ID: "c", Pipeline: slow}, fleet.Targets(targets...), nil)
	if !errors.Is(err, context.Canceled) || sum.Canceled != 1 || sum.Skipped != 2 {
		t.Errorf("%+v, %v", sum, err)
	}
	if now := text(t, trees["tree-000"]); now != "x\n" {
		t.Errorf("the tree has %q", now)
	}
}

// waits is an action of this test.
type waits struct {
	do func(ctx context.Context) error
}

func (waits) Spec() actions.Spec { return actions.Spec{Name: "waits", Summary: "waits"} }

func (w waits) Run(ctx context.Context, _ *actions.Call) (actions.Outcome, error) {
	return actions.Outcome{}, w.do(ctx)
}

// If outcomes cannot be kept, no more targets are begun.
func TestSinkErrors(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func() error{
		"error": func() error { return os.ErrPermission },
		"panic": func() error { panic(os.ErrPermission) },
	} {
		trees, targets := plant(t, 40)
		calls := 0
		f := fleet.Fleet{Scheduler: fleet.Local{Worker: fleet.Worker{Trees: trees}, Parallel: 4}}
		sum, err := f.Run(t.Context(), fleet.Campaign{ID: "c", Pipeline: edit()}, fleet.Targets(targets...), func(fleet.Outcome) error {
			if calls++; calls < 3 {
				return nil
			}
			return fail()
		})
		if !errors.Is(err, os.ErrPermission) || !strings.HasPrefix(err.Error(), "fleet: outcome could not be kept: ") ||
			calls != 3 || sum.Stopped != "internal" {
			t.Errorf("%s: %v after %d calls, %+v", name, err, calls, sum)
		}
		touched := 0
		for _, fsys := range trees {
			if text(t, fsys) == "y\n" {
				touched++
			}
		}
		if touched > 3+3 {
			t.Errorf("%s: %d trees were changed after the sink had failed", name, touched)
		}
	}
}
