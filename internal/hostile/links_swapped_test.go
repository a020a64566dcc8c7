package hostile_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/names"
)

// hardLink makes a second name for a file of the tree.
func (b *backend) hardLink(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Link(from, to); err != nil {
		t.Skipf("the file system has no hard links: %v", err)
	}
}

// onDisk is eachBackend for backends whose tree is in the operating system and accepts commits.
func onDisk(t *testing.T, test func(t *testing.T, b *backend)) {
	t.Helper()
	eachBackend(t, func(t *testing.T, b *backend) {
		if b.dir == "" || !b.commits {
			t.Skipf("%s: no other program can reach a tree in memory, and it has no hard links", b.name)
		}
		test(t, b)
	})
}

// The content is edited once. Each name then has its own file with the new content, and a warning reports that the names
// are no longer the same file.
func TestHostile_two_hard_links(t *testing.T) {
	t.Parallel()
	onDisk(t, func(t *testing.T, b *backend) {
		b.hardLink(t, b.path("a.txt"), b.path("z.txt"))
		res := b.works(t,
			act("search", obj{"pattern": "alpha needle"}),
			act("edit", obj{"old_text": "needle", "new_text": "needles"}, obj{"input_from": "search"}))
		if b.content(t, "a.txt") != "alpha needles\n" || b.content(t, "z.txt") != "alpha needles\n" {
			t.Errorf("a.txt %q, z.txt %q", b.content(t, "a.txt"), b.content(t, "z.txt"))
		}
		if b.name == "plain" {
			return // this backend does not report that there are two names
		}
		for _, name := range []string{"a.txt", "z.txt"} {
			if !strings.Contains(strings.Join(res.Warnings, "\n"), name+" has 2 hard links") {
				t.Errorf("no warning of %s: %q", name, res.Warnings)
			}
		}
	})
}

func TestHostile_a_hard_link_to_outside(t *testing.T) {
	t.Parallel()
	onDisk(t, func(t *testing.T, b *backend) {
		b.changeOutside(t, func() {
			out := filepath.Join(b.outside.parent, "shared")
			if err := os.WriteFile(out, []byte("shared needle\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(out, longAgo, longAgo); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"edited", "moved", "deleted", "copied"} {
				b.hardLink(t, out, b.path(name))
			}
		})
		res := b.works(t,
			act("edit", obj{"files": []string{"edited"}, "old_text": "needle", "new_text": "pin"}),
			act("rename", obj{"files": []string{"moved"}, "to": "moved2"}),
			act("edit", obj{"files": []string{"moved2"}, "old_text": "needle", "new_text": "pin"}, obj{"id": "edit2"}),
			act("copy", obj{"files": []string{"copied"}, "to": "copied2"}),
			act("edit", obj{"files": []string{"copied2"}, "old_text": "needle", "new_text": "pin"}, obj{"id": "edit3"}),
			act("delete", obj{"files": []string{"deleted"}, "permanent": true}))
		for _, name := range []string{"edited", "moved2", "copied2"} {
			if got := b.content(t, name); got != "shared pin\n" {
				t.Errorf("%s is %q", name, got)
			}
		}
		b.checkOutside(t)
		if _, err := b.host.Restore(t.Context(), b.fs, res.BackupID); err != nil {
			t.Fatal(err)
		}
		if b.content(t, "edited") != "shared needle\n" || b.content(t, "moved") != "shared needle\n" {
			t.Error("the restored content differs")
		}
	})
}

// swapTest plans changes of dir/c.txt, calls swap, which puts a link there as another program would, and commits.
func swapTest(t *testing.T, swap func(t *testing.T, b *backend)) {
	t.Helper()
	onDisk(t, func(t *testing.T, b *backend) {
		for _, step := range []obj{
			act("edit", obj{"files": []string{"dir/c.txt"}, "old_text": "needle", "new_text": "pin"}),
			act("delete", obj{"files": []string{"dir/c.txt"}}),
			act("rename", obj{"files": []string{"dir/c.txt"}, "to": "dir/new.txt"}),
			act("rename", obj{"files": []string{"a.txt"}, "to": "dir/c.txt", "overwrite": true}),
		} {
			b := newBackend(t, b.name)
			plan, err := b.host.Plan(t.Context(), b.fs, decoded(t, step))
			if err != nil {
				t.Fatal(err)
			}
			swap(t, b)
			before := b.snapshot(t)
			res, err := plan.Commit(t.Context())
			checkSilent(t, res, err)
			conflict, ok := errors.AsType[*millrace.ConflictError](err)
			if !ok && !errors.Is(err, names.ErrEscape) {
				t.Errorf("%s: %v, want a conflict", step["id"], err)
			} else if ok && !strings.HasPrefix(conflict.Conflicts[0].Path, "dir/") {
				t.Errorf("%s: %v does not name the path", step["id"], err)
			}
			after := b.snapshot(t)
			for path, was := range before {
				if after[path] != was {
					t.Errorf("%s: %q is %s, was %s", step["id"], path, after[path], was)
				}
			}
			for path := range after {
				if before[path] == "" && !strings.HasPrefix(path, ".millrace") {
					t.Errorf("%s: %q was made", step["id"], path)
				}
			}
			b.checkOutside(t)
		}
	})
}

func TestHostile_a_target_replaced_by_a_link(t *testing.T) {
	t.Parallel()
	swapTest(t, func(t *testing.T, b *backend) {
		if err := os.Remove(b.path("dir/c.txt")); err != nil {
			t.Fatal(err)
		}
		b.link(t, "../../secret/file", "dir/c.txt")
	})
}

// The target of the link has a file of the same name, bytes and time, so that only the link itself shows the
// difference.
func TestHostile_a_parent_replaced_by_a_link(t *testing.T) {
	t.Parallel()
	swapTest(t, func(t *testing.T, b *backend) {
		if err := os.Rename(b.path("dir"), b.path("old")); err != nil {
			t.Fatal(err)
		}
		b.changeOutside(t, func() {
			decoy := filepath.Join(b.outside.parent, "decoy")
			if err := os.Mkdir(decoy, 0o755); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(b.path("old/c.txt"))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(decoy, "c.txt"), data, 0o644); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(filepath.Join(decoy, "c.txt"), longAgo, longAgo); err != nil {
				t.Fatal(err)
			}
		})
		b.link(t, "../decoy", "dir")
	})
}

// The same at each phase of the commit, where only os.Root can help. Without it the last check and the rename are two
// calls, and a swap between them is not noticed: see the list of things that are not guaranteed.
func TestHostile_a_parent_replaced_by_a_link_in_commit(t *testing.T) {
	t.Parallel()
	onDisk(t, func(t *testing.T, b *backend) {
		if !b.confined {
			t.Skipf("%s: writes to a file system without directory handles cannot be confined to the tree", b.name)
		}
		for _, phase := range []string{"verify", "stage", "backup", "journal", "apply", "commit", "clean"} {
			b := newBackend(t, b.name)
			seen := false
			b.host.Observe = func(e millrace.Event) {
				if p, ok := e.(millrace.CommitPhase); ok && p.Phase == phase && !seen {
					seen = true
					if err := os.Rename(b.path("dir"), b.path("old")); err != nil {
						t.Error(err)
					}
					b.link(t, "../secret", "dir")
				}
			}
			_, err := b.run(t,
				act("edit", obj{"files": []string{"dir/c.txt", "a.txt"}, "old_text": "needle", "new_text": "pin"}),
				act("copy", obj{"files": []string{"a.txt"}, "to": "dir/file"}))
			if !seen {
				t.Errorf("there is no phase %q", phase)
			}
			late := phase == "commit" || phase == "clean" // the changes are applied by then
			if !late && !errors.Is(err, names.ErrEscape) || late && err != nil {
				t.Errorf("%s: %v", phase, err)
			}
			b.checkOutside(t)
		}
	})
}
