package hostile_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/names"
)

// The parameter base only removes the beginning of a name. Nothing is read or written there, so the policy does not
// cover it.
func TestHostile_the_state_directory(t *testing.T) {
	t.Parallel()
	for i, p := range []string{
		".millrace/lock", ".millrace", ".MILLRACE/x", ".Millrace", ".millrace./x", ".millrace /x", ".millrace::$INDEX_ALLOCATION/x",
		"dir/../.millrace/backups", "./.millrace/tx/x", ".mill\u200crace/x",
	} {
		t.Run(p, func(t *testing.T) {
			eachUseOf(t, backendsFor(i), p, func(t *testing.T, b *backend, u use) {
				b.refuses(t, names.ErrReserved, "", u.steps...)
			}, source, looked, asked, target)
		})
	}
}

// A search does not find files in an existing state directory.
func TestHostile_the_state_directory_is_not_searched(t *testing.T) {
	t.Parallel()
	eachBackend(t, func(t *testing.T, b *backend) {
		if _, err := b.run(t, act("edit", obj{"files": []string{"a.txt"}, "old_text": "needle", "new_text": "pin"})); err != nil {
			t.Fatal(err)
		}
		if b.commits && !b.has(".millrace/backups") {
			t.Fatal("there is no state directory to hide")
		}
		res := b.dry(t, act("search", obj{"pattern": "needle", "no_ignore": true, "include": []string{"**/*", ".millrace/**"}}))
		if slices.ContainsFunc(res.FilesAffected, func(f string) bool { return strings.HasPrefix(f, ".millrace") }) || len(res.FilesAffected) != 3 {
			t.Errorf("found %q", res.FilesAffected)
		}
		before := b.snapshot(t)
		for _, u := range usesIn(".millrace/.gitignore", source, looked, asked, target) {
			b.refuses(t, names.ErrReserved, "", u.steps...)
		}
		b.unchanged(t, before)
	})
}

// Version control directories can only be read, under every name that some file system resolves to them.
func TestHostile_directories_of_version_control(t *testing.T) {
	t.Parallel()
	for i, p := range []string{
		".git/hooks/pre-commit", ".GIT/config", "git~1/config", "GIT~1/config", ".g\u200cit/config", ".git./config", ".git /config",
		".git::$INDEX_ALLOCATION/config", "dir/.git/config", ".hg/hgrc", ".svn/entries", ".jj/repo", ".git",
	} {
		t.Run(p, func(t *testing.T) {
			eachOf(t, backendsFor(i), func(t *testing.T, b *backend) {
				for _, u := range usesIn(p, target) {
					b.refuses(t, names.ErrProtected, "", u.steps...)
				}
				b.plant(t, map[string]string{p: "needle\n"})
				for _, u := range usesIn(p, source) {
					if u.writes {
						b.refuses(t, names.ErrProtected, "", u.steps...)
					}
				}
				b.dry(t, act("read_ranges", obj{"files": []string{p}}), act("copy", obj{"files": []string{p}, "to": "made"}))
				b.refuses(t, names.ErrProtected, "", act("copy", obj{"files": []string{"a.txt"}, "to": p, "overwrite": true}))
			})
		})
	}
}
