//go:build linux

package hostile_test

import (
	"errors"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/fstest"
)

// TestHostile_fsync_fails makes fsync fail. It is never repeated, because its second result would be wrong.
func TestHostile_fsync_fails(t *testing.T) {
	t.Parallel()
	want := after(t, everything, diskPipelines()["everything"])
	for _, tt := range []struct {
		point
		state millrace.CommitState
		path  string
	}{
		{point{name: "new file", at: `^sync T/new/`}, millrace.CommitNone, "edit"},
		{point{name: "before-images", at: `^syncdir T/old`}, millrace.CommitNone, ".millrace/tx/"},
		{point{name: "plan", at: `^sync T/plan\.tmp`}, millrace.CommitNone, "plan.tmp"},
		{point{name: "name of the plan", after: `^rename T/plan$`, at: `^syncdir T$`}, millrace.CommitNone, ".millrace/tx/"},
		{point{name: "directory", after: `^phase sync`, at: `^syncdir swap$`}, millrace.CommitRolledBack, "swap"},
		{point{name: "top directory", after: `^phase sync`, at: `^syncdir \.$`}, millrace.CommitRolledBack, "."},
		{point{name: "moved file", after: `^phase sync`, at: `^sync moved/to$`}, millrace.CommitRolledBack, "moved/to"},
		{point{name: "commit mark", after: `^rename T/done$`, at: `^syncdir T$`, isNew: true}, millrace.CommitPending, ".millrace/tx/"},
		{point{name: "rename to the commit mark", at: `^rename T/done$`}, millrace.CommitPending, ".millrace/tx/"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := fstest.TempDir(t)
			everything(t, dir)
			before := treeOf(t, dir, exact)
			match, failures, again, path := seen(tt.after, tt.at), 0, 0, ""
			h := &opHook{before: func(event string) error {
				if failures == 0 && match(event) {
					failures++
					path = event
					return syscall.EIO
				}
				if failures > 0 && event == path && strings.HasPrefix(event, "sync ") {
					again++
				}
				return nil
			}}
			x := millrace.Executor{Workers: 1, Observe: h.observe}
			res, err := x.Run(t.Context(), h.wrap(openDir(t, dir)), diskPipelines()["everything"])
			failedAs(t, err, tt.state, syscall.EIO)
			if res.Commit.State != tt.state || res.Success || !strings.Contains(err.Error(), tt.path) {
				t.Errorf("result %+v, error %v", res.Commit, err)
			}
			if tt.state != millrace.CommitPending {
				if tt.state == millrace.CommitNone && again > 0 {
					t.Errorf("fsync of %s was repeated", path)
				}
				sameTree(t, "failed", dir, before, exact)
				return
			}
			if !errors.Is(err, commit.ErrIndeterminate) {
				t.Errorf("error %v does not report that the result is unknown", err)
			}
			got := treeOf(t, dir, contents)
			delete(got, stateName)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("something was undone (-want +got):\n%s", diff)
			}
			if rep := regexp.MustCompile("Run Recover").FindString(err.Error()); rep == "" {
				t.Errorf("error %v does not name the next step", err)
			}
			_, err = millrace.Executor{State: millrace.State{NoSync: true}}.Recover(t.Context(), openDir(t, dir))
			must(t, err)
			if !tt.isNew {
				sameTree(t, "recovered", dir, before, exact)
				return
			}
			got = treeOf(t, dir, contents)
			delete(got, stateName)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("recovered (-want +got):\n%s", diff)
			}
		})
	}
}
