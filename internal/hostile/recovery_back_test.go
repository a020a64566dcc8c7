package hostile_test

import (
	"context"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace"
)

// takenBack undoes a pipeline in two ways and compares the tree with the tree before it: by a restore, and by the
// rollback of a commit that is canceled after all its changes are applied.
func takenBack(t *testing.T, steps ...obj) {
	t.Helper()
	eachBackend(t, func(t *testing.T, b *backend) {
		if !b.commits {
			t.Skip("overlay: a CopyOnWriteFs cannot rename what is below it, so nothing is ever committed")
		}
		b.plant(t, map[string]string{"same.txt": "top needle\n", "dir/same.txt": "below needle\n", "dir/sub/same.txt": "deep needle\n"})
		before := visible(t, b)
		res, err := b.run(t, steps...)
		if err != nil {
			t.Fatal(err)
		}
		if maps.Equal(before, visible(t, b)) {
			t.Fatal("nothing was changed, so nothing is tested")
		}
		if _, err := host().Restore(t.Context(), b.fs, res.BackupID); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before, visible(t, b)); diff != "" {
			t.Errorf("after the restore (-want +got):\n%s", diff)
		}
		if b.dir == "" {
			return // a tree in memory has no sync phase to cancel
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		applied := false
		x := millrace.Executor{Observe: func(e millrace.Event) {
			if p, ok := e.(millrace.CommitPhase); ok && p.Phase == "sync" {
				applied = !maps.Equal(before, visible(t, b))
				cancel()
			}
		}}
		res, err = x.Run(ctx, b.fs, decoded(t, steps...))
		if err == nil || res.Commit.State != millrace.CommitRolledBack || !applied {
			t.Fatalf("error %v, result %v, applied %v", err, res, applied)
		}
		if diff := cmp.Diff(before, visible(t, b)); diff != "" {
			t.Errorf("after the rollback (-want +got):\n%s", diff)
		}
	})
}

// visible returns the tree without the state directory.
func visible(t *testing.T, b *backend) map[string]string {
	t.Helper()
	all := b.snapshot(t)
	maps.DeleteFunc(all, func(name, _ string) bool { return strings.HasPrefix(name, millrace.DefaultStateDir) })
	return all
}

// TestHostile_two_files_of_one_base_name: the reference system kept backups by base name, so it restored a file with
// the bytes of another file.
func TestHostile_two_files_of_one_base_name(t *testing.T) {
	t.Parallel()
	same := []string{"same.txt", "dir/same.txt", "dir/sub/same.txt"}
	for name, step := range map[string]obj{
		"edited":  act("edit", obj{"files": same, "old_text": "needle", "new_text": "pin"}),
		"deleted": act("delete", obj{"files": same}),
		"renamed": act("rename", obj{"files": same, "to": "{{dir}}/{{stem}}.old"}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			takenBack(t, step)
		})
	}
}

// TestHostile_copy_create_mkdir_gone: undoing a run removes the files and directories that it made.
func TestHostile_copy_create_mkdir_gone(t *testing.T) {
	t.Parallel()
	for name, steps := range map[string][]obj{
		"copy":         {act("copy", obj{"files": []string{"a.txt"}, "to": "copy.txt"})},
		"directories":  {act("copy", obj{"files": []string{"a.txt", "dir/c.txt"}, "destination": "new/deep/er", "preserve_paths": true})},
		"over another": {act("copy", obj{"files": []string{"a.txt"}, "to": "b.txt", "overwrite": true})},
		"rename":       {act("rename", obj{"files": []string{"a.txt", "b.txt"}, "destination": "new/place"})},
		"swap": {
			act("rename", obj{"files": []string{"a.txt"}, "to": "t.txt"}, id("one")),
			act("rename", obj{"files": []string{"b.txt"}, "to": "a.txt"}, id("two")),
			act("rename", obj{"files": []string{"t.txt"}, "to": "b.txt"}, id("three")),
		},
		"copied, edited, deleted": {
			act("copy", obj{"files": []string{"a.txt"}, "to": "new/copy.txt"}),
			act("edit", obj{"files": []string{"new/copy.txt"}, "old_text": "needle", "new_text": "pin"}),
			act("delete", obj{"files": []string{"a.txt"}}),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			takenBack(t, steps...)
		})
	}
}
