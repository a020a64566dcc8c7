//go:build linux

package hostile_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/fstest"
)

// TestHostile_kill_in_recovery_twice kills a commit, then two recoveries, each before some operation, then lets a
// recovery finish.
func TestHostile_kill_in_recovery_twice(t *testing.T) {
	t.Parallel()
	want := after(t, everything, diskPipelines()["everything"])
	for _, p := range []point{
		{name: "half applied", after: `^exchange [a-z]`, at: `^exchange [a-z]`},
		{name: "not marked", at: `^rename T/done$`},
		{name: "marked", after: `^rename T/done$`, at: `^syncdir T$`, isNew: true},
	} {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			step, kills := fstest.Runs(13, 5, 1), 0
			for at := 1; ; at += step {
				dir := fstest.TempDir(t)
				everything(t, dir)
				old := treeOf(t, dir, exact)
				first := diskJob{Dir: dir, Pipeline: "everything", Sigkill: p.at, SigkillAfter: p.after}
				if r := first.start(t); !r.Killed {
					t.Fatalf("it was not killed: %+v", r)
				}
				again := diskJob{Dir: dir, Sigkill: `^(mkdir|create|write|remove|rename|exchange|link|symlink|sync|syncdir|chmod|chtimes) `, SigkillAt: at}
				died := again.start(t).Killed
				again.SigkillAt = 1 + at*2/3
				if again.start(t).Killed {
					kills++
				}
				_, err := millrace.Executor{State: millrace.State{NoSync: true}}.Recover(t.Context(), openDir(t, dir))
				must(t, err)
				if p.isNew {
					got := treeOf(t, dir, contents)
					delete(got, stateName)
					if diff := cmp.Diff(want, got); diff != "" {
						t.Fatalf("killed at %d: the tree is not new (-want +got):\n%s", at, diff)
					}
				} else {
					sameTree(t, "recovered", dir, old, exact)
				}
				if !died {
					break
				}
			}
			if kills < 3 {
				t.Errorf("only %d recoveries were killed twice", kills)
			}
			fstest.Countf(t, "%d recoveries were killed twice", kills)
		})
	}
}
