package hostile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/names"
)

// actsOnLink reports whether a use acts on the link itself, not on its target.
func actsOnLink(u use) bool {
	return strings.HasPrefix(u.what, "rename files") || strings.HasPrefix(u.what, "delete files")
}

// outTargets returns link targets that lead to the secret file, or to its directory.
func outTargets(b *backend, file string) map[string]string {
	return map[string]string{
		"relative": "../secret" + file,
		"absolute": filepath.Join(b.outside.parent, "secret") + file,
		"detour":   "dir/../../secret" + file,
		"through":  "dir/sub/../../../secret" + file,
	}
}

func TestHostile_link_to_outside_file(t *testing.T) {
	t.Parallel()
	eachLinking(t, func(t *testing.T, b *backend) {
		for name, leads := range outTargets(b, "/file") {
			b.link(t, leads, name)
			for _, u := range usesIn(name, source, looked, asked) {
				if !actsOnLink(u) {
					b.refuses(t, names.ErrEscape, name, u.steps...)
				}
			}
			for _, u := range usesIn(name, source) {
				if !actsOnLink(u) {
					continue
				}
				b.works(t, u.steps...)
				if !b.commits {
					continue
				}
				if b.has(name) {
					t.Errorf("%s: the link is still there", u.what)
				}
				if moved, err := os.Readlink(b.path("made/" + name)); u.what == "rename files" && (err != nil || moved != leads) {
					t.Errorf("the moved link leads to %q, %v", moved, err)
				}
				b.link(t, leads, name)
			}
		}
		// A search of the tree does not follow the links.
		if res := b.dry(t, act("search", obj{"pattern": "needle", "include_content": true})); len(res.FilesAffected) != len(planted) {
			t.Errorf("found %q", res.FilesAffected)
		}
	})
}

func TestHostile_link_to_outside_directory(t *testing.T) {
	t.Parallel()
	eachLinking(t, func(t *testing.T, b *backend) {
		for name, leads := range outTargets(b, "") {
			b.link(t, leads, name)
			for _, p := range []string{name + "/file", name + "/sub/file", name + "/new", name + "/sub"} {
				for _, u := range usesIn(p, source, looked, asked, target) {
					b.refuses(t, names.ErrEscape, name, u.steps...)
				}
			}
			for _, u := range usesIn(name, looked, asked, target) {
				if strings.HasSuffix(u.what, " to") {
					b.refuses(t, fs.ErrExist, name, u.steps...) // the link blocks the name
				} else {
					b.refuses(t, names.ErrEscape, name, u.steps...)
				}
			}
		}
		if res := b.dry(t, act("search", obj{"pattern": "needle"})); len(res.FilesAffected) != len(planted) {
			t.Errorf("found %q", res.FilesAffected)
		}
	})
}

// A slash after a link means its target (CVE-2026-39822), so even actions on the link itself are refused.
func TestHostile_link_with_slash(t *testing.T) {
	t.Parallel()
	eachLinking(t, func(t *testing.T, b *backend) {
		for name, leads := range outTargets(b, "") {
			b.link(t, leads, name)
			for _, p := range []string{name + "/", name + "/.", name + "//"} {
				for _, u := range usesIn(p, source, looked, asked) {
					b.refuses(t, names.ErrEscape, name, u.steps...)
				}
				for _, action := range []string{"copy", "rename"} {
					b.refuses(t, names.ErrEscape, name, act(action, obj{"files": []string{"a.txt"}, "destination": p}))
				}
			}
		}
		b.link(t, "dir", "inside")
		for _, u := range usesIn("inside/", source) {
			if u.what == "rename files" {
				// The target of the link is moved, not the link.
				want := []millrace.RenamedFile{{From: "dir/c.txt", To: "made/dir/c.txt"}, {From: "dir/sub/d.txt", To: "made/dir/sub/d.txt"}}
				if res := b.dry(t, u.steps...); !slices.Equal(res.FilesChanged.Renamed, want) {
					t.Errorf("changes %+v", res.FilesChanged)
				}
				continue
			}
			b.refuses(t, names.ErrIsDir, "dir", u.steps...)
		}
		b.link(t, "a.txt", "file")
		for _, u := range usesIn("file/", source, looked) {
			b.refuses(t, names.ErrNotDir, "file", u.steps...)
		}
	})
}

// An absolute target counts as outside even if it is in the tree: its meaning depends on the location of the tree.
func TestHostile_absolute_link_to_inside(t *testing.T) {
	t.Parallel()
	eachLinking(t, func(t *testing.T, b *backend) {
		b.link(t, b.path("a.txt"), "link")
		b.link(t, b.path("dir"), "linkdir")
		for _, p := range []string{"link", "linkdir/c.txt"} {
			for _, u := range usesIn(p, source, looked, asked) {
				if p == "link" && actsOnLink(u) {
					continue
				}
				b.refuses(t, names.ErrEscape, "", u.steps...)
				_, err := b.run(t, u.steps...)
				if link, _, _ := strings.Cut(p, "/"); err == nil || !strings.Contains(err.Error(), "symbolic link "+link+" has an absolute target") {
					t.Errorf("the error has no reason: %v", err)
				}
			}
		}
	})
}

func TestHostile_a_link_through_proc_self_root(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("no /proc here")
	}
	eachLinking(t, func(t *testing.T, b *backend) {
		up := strings.Repeat("../", 30)
		for name, leads := range map[string]string{
			"absolute": "/proc/self/root", "relative": up + "proc/self/root", "cwd": "/proc/self/cwd", "fd": "/proc/self/fd",
		} {
			b.link(t, leads, name)
			for _, p := range []string{name + "/etc/passwd", name + b.outside.parent + "/secret/file", name + "/0"} {
				for _, u := range usesIn(p, source, looked, asked, target) {
					b.refuses(t, names.ErrEscape, name, u.steps...)
				}
			}
		}
	})
}

// The transaction makes the state directory without the stage, so the directory must not be a link.
func TestHostile_state_directory_is_link(t *testing.T) {
	t.Parallel()
	eachLinking(t, func(t *testing.T, b *backend) {
		if !b.commits {
			t.Skipf("%s: its state directory is in memory", b.name)
		}
		for name, leads := range outTargets(b, "") {
			if err := os.RemoveAll(b.path(".millrace")); err != nil {
				t.Fatal(err)
			}
			b.link(t, leads, ".millrace")
			b.stateRefused(t, name)
		}
		for _, inner := range []string{"tx", "backups", "results"} {
			if err := os.RemoveAll(b.path(".millrace")); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(b.path(".millrace"), 0o700); err != nil {
				t.Fatal(err)
			}
			b.link(t, "../../secret/sub", ".millrace/"+inner)
			b.stateRefused(t, inner)
		}
		if err := os.RemoveAll(b.path(".millrace")); err != nil {
			t.Fatal(err)
		}
		b.link(t, "dir", ".millrace")
		b.stateRefused(t, "a link to inside")
	})
}

// stateRefused checks that nothing can be committed, recovered or restored, and that nothing is written.
func (b *backend) stateRefused(t *testing.T, what string) {
	t.Helper()
	before := b.snapshot(t)
	_, err := b.run(t, act("edit", obj{"files": []string{"a.txt"}, "old_text": "needle", "new_text": "pin"}))
	if !errors.Is(err, commit.ErrControlDir) || !strings.Contains(err.Error(), ".millrace") {
		t.Errorf("%s: run: %v", what, err)
	}
	if _, err := b.host.Restore(t.Context(), b.fs, "20260101_000000_0000000000000000"); err == nil {
		t.Errorf("%s: restored", what)
	}
	_, _ = b.host.Recover(t.Context(), b.fs) // there is nothing to recover, which need not be an error
	b.unchanged(t, before)
}
