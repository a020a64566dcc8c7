package hostile_test

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/rootfs"
)

// The stage resolves links itself, up to 40 on a path as Linux does, so every backend agrees about loops. Nine links
// in a row, at which os.Root gives up, are not a loop.
func TestHostile_chain_of_links(t *testing.T) {
	t.Parallel()
	eachLinking(t, func(t *testing.T, b *backend) {
		b.link(t, "a.txt", "chain1")
		for i := 2; i <= 41; i++ {
			b.link(t, fmt.Sprintf("chain%d", i-1), fmt.Sprintf("chain%d", i))
		}
		if root, ok := b.fs.(*rootfs.FS); ok {
			if _, err := root.Stat("chain9"); !isLoop(err) {
				t.Errorf("a RootFs without a stage: %v", err)
			}
		}
		for _, u := range usesIn("chain41", source, looked, asked) {
			if !actsOnLink(u) {
				b.refuses(t, names.ErrLinkLoop, "chain41", u.steps...)
			}
		}
		for _, link := range []string{"chain9", "chain40"} {
			b.works(t, act("edit", obj{"files": []string{link}, "old_text": "needle", "new_text": "needle needle"}))
		}
		if b.commits && b.content(t, "a.txt") != "alpha needle needle needle needle\n" {
			t.Errorf("a.txt is %q", b.content(t, "a.txt"))
		}
	})
}

func TestHostile_loops_of_links(t *testing.T) {
	t.Parallel()
	eachLinking(t, func(t *testing.T, b *backend) {
		b.link(t, "self", "self")
		b.link(t, "ping", "pong")
		b.link(t, "pong", "ping")
		b.link(t, "dir/../dir/../selfdir/x", "selfdir")
		for _, p := range []string{"self", "ping", "selfdir"} {
			for _, u := range usesIn(p, source, looked, asked) {
				if !actsOnLink(u) {
					b.refuses(t, names.ErrLinkLoop, p, u.steps...)
				}
			}
			for _, u := range usesIn(p+"/x", source, looked, asked, target) {
				b.refuses(t, names.ErrLinkLoop, p, u.steps...)
			}
		}
		if res := b.dry(t, act("search", obj{"pattern": "needle"})); len(res.FilesAffected) != len(planted) {
			t.Errorf("found %q", res.FilesAffected)
		}
		b.works(t, act("delete", obj{"files": []string{"self", "ping", "pong", "selfdir"}}))
		if b.commits && b.has("self") {
			t.Error("the loop is still there")
		}
	})
}

func TestHostile_directory_cycle(t *testing.T) {
	t.Parallel()
	eachLinking(t, func(t *testing.T, b *backend) {
		b.link(t, "..", "dir/loop")
		b.link(t, "../..", "dir/sub/loop")
		want := []string{"a.txt", "b.txt", "dir/c.txt", "dir/sub/d.txt"}
		for path, want := range map[string][]string{"": want, ".": want, "dir/loop": want, "dir": want[2:], "dir/loop/dir/loop/dir": want[2:]} {
			res := b.dry(t, act("search", obj{"pattern": "needle", "path": path, "include_content": true}),
				act("edit", obj{"old_text": "needle", "new_text": "pin"}, obj{"input_from": "search"}))
			if !slices.Equal(res.FilesAffected, want) || res.TotalEdits != len(want) {
				t.Errorf("%q: found %q, %d edits, want %q", path, res.FilesAffected, res.TotalEdits, want)
			}
		}
		// A file with many names in the list is edited once.
		res := b.works(t, act("edit", obj{"files": []string{"dir/loop/a.txt", "dir/loop/dir/loop/a.txt", "a.txt"}, "old_text": "needle", "new_text": "pin"}))
		if res.TotalEdits != 1 || !slices.Equal(res.FilesChanged.Modified, []string{"a.txt"}) {
			t.Errorf("%d edits of %q", res.TotalEdits, res.FilesChanged.Modified)
		}
	})
}

func TestHostile_dangling_link(t *testing.T) {
	t.Parallel()
	eachLinking(t, func(t *testing.T, b *backend) {
		b.link(t, "gone", "dangling")
		b.link(t, "gone/deep/file", "deep")
		b.link(t, "../secret/new", "out")
		for p, want := range map[string]error{"dangling": fs.ErrNotExist, "deep": fs.ErrNotExist, "out": names.ErrEscape} {
			for _, u := range usesIn(p, source, looked) {
				if !actsOnLink(u) {
					b.refuses(t, want, "", u.steps...)
				}
			}
		}
		if b.has("gone") {
			t.Error("a file was made where the link leads")
		}
	})
}

// A link at the destination of a copy blocks it, whatever its target, even if files may be overwritten.
func TestHostile_dangling_link_as_destination(t *testing.T) {
	t.Parallel()
	eachLinking(t, func(t *testing.T, b *backend) {
		for name, leads := range map[string]string{"dangling": "gone", "out": "../secret/new", "live": "b.txt", "absolute": b.outside.parent + "/secret/file"} {
			b.link(t, leads, name)
			for _, action := range []string{"copy", "rename"} {
				for _, overwrite := range []bool{false, true} {
					b.refuses(t, fs.ErrExist, name, act(action, obj{"files": []string{"a.txt"}, "to": name, "overwrite": overwrite}))
				}
			}
		}
		// As a destination directory the link does not exist, and its target is not made.
		b.refuses(t, fs.ErrNotExist, "dangling", act("copy", obj{"files": []string{"a.txt"}, "destination": "dangling"}))
		if b.has("gone") {
			t.Error("a file was made where the link leads")
		}
	})
}

func TestHostile_a_link_and_its_target(t *testing.T) {
	t.Parallel()
	eachLinking(t, func(t *testing.T, b *backend) {
		b.link(t, "a.txt", "link")
		b.link(t, "dir", "linkdir")
		files := []string{"link", "a.txt", "linkdir/c.txt", "dir/c.txt", "dir/../link"}
		for _, u := range []obj{
			act("edit", obj{"files": files, "old_text": "needle", "new_text": "needles"}),
			act("multi_edit", obj{"files": files, "edits": []obj{{"old_text": "needle", "new_text": "needles"}}}),
			act("regex_transform", obj{"files": files, "patterns": []obj{{"pattern": "needle", "replacement": "${0}s"}}}),
		} {
			res := b.dry(t, u)
			if res.TotalEdits != 2 || !slices.Equal(res.FilesChanged.Modified, []string{"a.txt", "dir/c.txt"}) {
				t.Errorf("%s: %d edits of %q", u["id"], res.TotalEdits, res.FilesChanged.Modified)
			}
		}
		b.works(t, act("edit", obj{"files": files, "old_text": "needle", "new_text": "needles"}))
		if !b.commits {
			return
		}
		if got := b.content(t, "a.txt"); got != "alpha needles\n" {
			t.Errorf("a.txt is %q", got)
		}
		if target, err := os.Readlink(b.path("link")); err != nil || target != "a.txt" {
			t.Errorf("the link leads to %q, %v", target, err)
		}
	})
}

func isLoop(err error) bool {
	return err != nil && strings.Contains(err.Error(), names.ErrLinkLoop.Error())
}
