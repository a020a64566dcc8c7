package hostile_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/names"
)

// The state directory of a nested tree is refused in every use of a path, under every name that some file system
// resolves to it.
func TestHostile_the_state_of_a_nested_tree_is_closed(t *testing.T) {
	t.Parallel()
	for i, p := range []string{
		"dir/.millrace/backups/x/old/00/00", "dir/.millrace", "dir/sub/.MILLRACE/tx", "dir/.millrace./x", "dir/.mill\u00adrace/x",
		"dir/.mi\u200dllrace/x", "dir/.millrace::$INDEX_ALLOCATION/x",
	} {
		t.Run(p, func(t *testing.T) {
			t.Parallel()
			eachUseOf(t, backendsFor(i), p, func(t *testing.T, b *backend, u use) {
				b.refuses(t, names.ErrReserved, "", u.steps...)
			}, source, looked, asked, target)
		})
	}
}

// A search and a list do not find the state directory of a nested tree, with any options.
func TestHostile_the_state_of_a_nested_tree_is_not_found(t *testing.T) {
	t.Parallel()
	eachBackend(t, func(t *testing.T, b *backend) {
		b.plant(t, map[string]string{"dir/.millrace/backups/x/old/00/00": "needle password\n", "dir/sub/.Millrace/done": "needle\n"})
		res := b.dry(t, act("search", obj{"pattern": "needle", "no_ignore": true, "include": []string{"**/*", "**/.millrace/**"}}),
			act("list", obj{"depth": -1, "no_ignore": true}))
		if slices.ContainsFunc(res.FilesAffected, func(f string) bool { return strings.Contains(strings.ToLower(f), ".millrace") }) {
			t.Errorf("found %q", res.FilesAffected)
		}
		if !slices.Contains(res.FilesAffected, "dir/sub/d.txt") {
			t.Errorf("the search did not find dir/sub/d.txt: %q", res.FilesAffected)
		}
	})
}

// A link in the tree never extends the allowed paths of the host.
func TestHostile_a_link_does_not_widen_what_is_allowed(t *testing.T) {
	t.Parallel()
	for _, target := range []string{".", "..", "dir", "dir/sub/..", "./dir/"} {
		t.Run(target, func(t *testing.T) {
			t.Parallel()
			eachLinking(t, func(t *testing.T, b *backend) {
				b.link(t, target, "docs")
				x := host()
				x.AllowedPaths = []string{"docs"}
				before := b.snapshot(t)
				for _, p := range []string{"docs/a.txt", "docs/c.txt", "docs/dir/c.txt", "a.txt", "dir/c.txt"} {
					for _, u := range usesIn(p, source) {
						if _, err := x.Run(t.Context(), b.fs, decoded(t, u.steps...)); err == nil {
							t.Errorf("%s %s was done", u.what, p)
						}
					}
				}
				b.unchanged(t, before)
			})
		})
	}
}

// A path that the host denies is refused like a path that it does not allow, in every spelling and every use, also with
// force.
func TestHostile_denied_paths_are_closed(t *testing.T) {
	t.Parallel()
	for i, p := range []string{"dir/.env", "dir/.ENV", "dir/.env.", "dir/.e\u200bnv", "dir/.env/deeper", "dir/sub/../.env", "vault/key", "Vault/x"} {
		t.Run(p, func(t *testing.T) {
			t.Parallel()
			eachUseOf(t, backendsFor(i), p, func(t *testing.T, b *backend, u use) {
				b.host.DeniedPaths = []string{".env", "vault/**"}
				b.refuses(t, names.ErrDenied, "", u.steps...)
			}, source, looked, asked, target)
		})
	}
	t.Run("through a link", func(t *testing.T) {
		t.Parallel()
		eachLinking(t, func(t *testing.T, b *backend) {
			b.plant(t, map[string]string{"vault/key": "needle\n", "open/x": "needle\n"})
			b.link(t, "vault", "way")
			b.link(t, "open", "denied")
			b.host.DeniedPaths = []string{"vault", "denied"}
			for _, p := range []string{"way/key", "denied/x"} {
				for _, u := range usesIn(p, source) {
					b.refuses(t, names.ErrDenied, "", u.steps...)
				}
			}
		})
	})
}

// A read-only path can only be read. A directory that contains it cannot be moved or deleted.
func TestHostile_read_only_paths_are_only_read(t *testing.T) {
	t.Parallel()
	eachBackend(t, func(t *testing.T, b *backend) {
		b.host.ReadOnlyPaths = []string{"dir/sub/**", "a.txt"}
		for _, p := range []string{"dir/sub/d.txt", "a.txt"} {
			for _, u := range usesIn(p, source) {
				if u.writes {
					b.refuses(t, names.ErrReadOnlyPath, "", u.steps...)
				}
			}
			b.dry(t, act("read_ranges", obj{"files": []string{p}}), act("search", obj{"pattern": "needle"}))
			b.refuses(t, names.ErrReadOnlyPath, "", act("copy", obj{"files": []string{"b.txt"}, "to": p, "overwrite": true}))
		}
		b.refuses(t, names.ErrReadOnlyPath, "", act("create", obj{"path": "dir/sub/new", "content": ""}))
		for _, dir := range []string{"dir", "dir/sub"} {
			before := b.snapshot(t)
			for _, step := range []obj{act("delete", obj{"files": []string{dir}}), act("rename", obj{"files": []string{dir}, "to": "moved"})} {
				if _, err := b.host.Run(t.Context(), b.fs, decoded(t, step)); err == nil {
					t.Errorf("%v was done", step)
				}
			}
			b.unchanged(t, before)
		}
	})
}

// The same list of version control directories is hidden from walks and closed for writing, under every spelling that
// some file system resolves to them.
func TestHostile_version_control_has_one_list(t *testing.T) {
	t.Parallel()
	for i, p := range []string{
		"dir/.sl/store", "dir/.pijul/x", "_darcs/prefs/prehook", "dir/CVS/Root", "dir/cvs/Entries", ".\u017fvn/entries", ".g\u00adit/config",
		".\ufe0fgit/config", "dir/.b\u2060zr/x",
	} {
		t.Run(p, func(t *testing.T) {
			t.Parallel()
			eachOf(t, backendsFor(i+1), func(t *testing.T, b *backend) {
				for _, u := range usesIn(p, target) {
					b.refuses(t, names.ErrProtected, "", u.steps...)
				}
				b.plant(t, map[string]string{p: "needle\n"})
				if strings.Contains(strings.ToLower(p), "cvs") {
					b.plant(t, map[string]string{"dir/CVS/Entries": "needle\n", "dir/CVS/Repository": "needle\n", "dir/CVS/Root": "needle\n"})
				}
				for _, u := range usesIn(p, source) {
					if u.writes {
						b.refuses(t, names.ErrProtected, "", u.steps...)
					}
				}
				if p == "dir/cvs/Entries" {
					return // with case-sensitive names this is not a directory of CVS, so the search finds it
				}
				res := b.dry(t, act("search", obj{"pattern": "needle", "no_ignore": true}))
				if slices.Contains(res.FilesAffected, p) {
					t.Errorf("found %q", res.FilesAffected)
				}
			})
		})
	}
}

// An invalid glob of the host is an error of the host, and nothing runs. It does not silently deny nothing.
func TestHostile_a_bad_glob_denies_nothing_in_silence(t *testing.T) {
	t.Parallel()
	eachBackend(t, func(t *testing.T, b *backend) {
		before := b.snapshot(t)
		for _, bad := range []string{"[a", "{a", "", "/a.txt", "../x"} {
			for _, x := range []millrace.Executor{{DeniedPaths: []string{bad}}, {ReadOnlyPaths: []string{bad}}} {
				_, err := x.Run(t.Context(), b.fs, decoded(t, act("edit", obj{"files": []string{"a.txt"}, "old_text": "needle", "new_text": "pin"})))
				if _, ok := errors.AsType[*millrace.ExecutorError](err); !ok {
					t.Errorf("%q: error = %v", bad, err)
				}
			}
		}
		b.unchanged(t, before)
	})
}
