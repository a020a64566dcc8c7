package stage_test

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/guard"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/stage"
)

// attempts are all operations that name one path, and whether they write.
var attempts = []struct {
	name   string
	writes bool
	do     func(s *stage.Stage, name string) error
}{
	{"stat", false, func(s *stage.Stage, name string) error { _, err := s.Stat(name); return err }},
	{"lstat", false, func(s *stage.Stage, name string) error { _, _, err := s.LstatIfPossible(name); return err }},
	{"open", false, func(s *stage.Stage, name string) error { _, err := s.Open(name); return err }},
	{"readfile", false, func(s *stage.Stage, name string) error { _, err := s.ReadFile(name); return err }},
	{"copy from", false, func(s *stage.Stage, name string) error { return s.Copy(name, "ok/copy") }},
	{"copy to", true, func(s *stage.Stage, name string) error { return s.Copy("ok/file", name+"/new") }},
	{"create", true, func(s *stage.Stage, name string) error { _, err := s.Create(name); return err }},
	{"append", true, func(s *stage.Stage, name string) error {
		_, err := s.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
		return err
	}},
	{"truncate", true, func(s *stage.Stage, name string) error { _, err := s.OpenFile(name, os.O_TRUNC, 0); return err }},
	{"edit", true, func(s *stage.Stage, name string) error {
		return s.Edit(name, []change.Splice{{Text: []byte("x")}})
	}},
	{"chmod", true, func(s *stage.Stage, name string) error { return s.Chmod(name, 0o600) }},
	{"remove", true, func(s *stage.Stage, name string) error { return s.Remove(name) }},
	{"removeall", true, func(s *stage.Stage, name string) error { return s.RemoveAll(name) }},
	{"discard", true, func(s *stage.Stage, name string) error { return s.Discard(name) }},
	{"rename from", true, func(s *stage.Stage, name string) error { return s.Rename(name, "ok/moved") }},
	{"rename to", true, func(s *stage.Stage, name string) error { return s.Rename("ok/file", name) }},
	{"mkdir", true, func(s *stage.Stage, name string) error { return s.Mkdir(name+"/sub", 0o755) }},
	{"mkdirall", true, func(s *stage.Stage, name string) error { return s.MkdirAll(name+"/sub/sub", 0o755) }},
	{"symlink", true, func(s *stage.Stage, name string) error { return s.SymlinkIfPossible("x", name) }},
}

func TestGuardRefuses(t *testing.T) {
	t.Parallel()
	policy := guard.Policy{Reserved: ".millrace", Allowed: nil}
	tests := []struct {
		path   string
		policy guard.Policy
		read   error // nil means that reading is allowed
		write  error
	}{
		{".millrace/lock", policy, names.ErrReserved, names.ErrReserved},
		{".millrace/absent", policy, names.ErrReserved, names.ErrReserved},
		{".MILLRACE/lock", policy, names.ErrReserved, names.ErrReserved},
		{".millrace./lock", policy, names.ErrReserved, names.ErrReserved},
		{".millrace /lock", policy, names.ErrReserved, names.ErrReserved},
		{".mill\u200crace/lock", policy, names.ErrReserved, names.ErrReserved},
		{"a/../.millrace/lock", policy, names.ErrReserved, names.ErrReserved},
		{"deep/state/x", guard.Policy{Reserved: "deep/state"}, names.ErrReserved, names.ErrReserved},
		{"Deep/STATE. /x", guard.Policy{Reserved: "deep/state"}, names.ErrReserved, names.ErrReserved},
		{"sub/.millrace/backups", policy, names.ErrReserved, names.ErrReserved},
		{"sub/.Mill\u00adrace./backups", policy, names.ErrReserved, names.ErrReserved},
		{"sub/.millrace/backups", guard.Policy{Reserved: "state"}, names.ErrReserved, names.ErrReserved},
		{"a/deep/state/x", guard.Policy{Reserved: "deep/state"}, names.ErrReserved, names.ErrReserved},
		{"home/.config/millrace/key", guard.Policy{Closed: []string{"home/.config/millrace"}}, names.ErrReserved, names.ErrReserved},
		{"home/.Config/Millrace", guard.Policy{Closed: []string{"home/.config/millrace"}}, names.ErrReserved, names.ErrReserved},
		{".env", guard.Policy{Denied: []string{".env"}}, names.ErrDenied, names.ErrDenied},
		{"sub/.ENV", guard.Policy{Denied: []string{".env"}}, names.ErrDenied, names.ErrDenied},
		{"sub/.env/deeper", guard.Policy{Denied: []string{".Env"}}, names.ErrDenied, names.ErrDenied},
		{"other/file", guard.Policy{Denied: []string{"other/*"}, Allowed: []string{"ok", "other"}}, names.ErrDenied, names.ErrDenied},
		{"other/absent", guard.Policy{Denied: []string{"./other/"}}, names.ErrDenied, names.ErrDenied},
		{"other/file", guard.Policy{Denied: []string{"o{ther,penssl}/**"}}, names.ErrDenied, names.ErrDenied},
		{"other/file", guard.Policy{Denied: []string{"[bad"}}, names.ErrDenied, names.ErrDenied},
		{"other/file", guard.Policy{ReadOnly: []string{"**/file"}, Denied: []string{"none"}}, nil, names.ErrReadOnlyPath},
		{"other/absent", guard.Policy{ReadOnly: []string{"other"}}, fs.ErrNotExist, names.ErrReadOnlyPath},
		{"other/file", guard.Policy{ReadOnly: []string{"OTHER/F*"}}, nil, names.ErrReadOnlyPath},
		{"other/file", guard.Policy{ReadOnly: []string{"other"}, Denied: []string{"other"}}, names.ErrDenied, names.ErrDenied},
		{".git/config", policy, nil, names.ErrProtected},
		{".git/hooks/absent", policy, fs.ErrNotExist, names.ErrProtected},
		{".GIT/config", policy, fs.ErrNotExist, names.ErrProtected},
		{".git./config", policy, fs.ErrNotExist, names.ErrProtected},
		{".git /config", policy, fs.ErrNotExist, names.ErrProtected},
		{".git::$INDEX_ALLOCATION/config", policy, fs.ErrNotExist, names.ErrProtected},
		{"git~1/config", policy, fs.ErrNotExist, names.ErrProtected},
		{".g\u200cit/config", policy, fs.ErrNotExist, names.ErrProtected},
		{"sub/.hg/store", policy, nil, names.ErrProtected},
		{"sub/.svn", policy, fs.ErrNotExist, names.ErrProtected},
		{".jj/x", policy, fs.ErrNotExist, names.ErrProtected},
		{".bzr/x", policy, fs.ErrNotExist, names.ErrProtected},
		{".g\u00adit/config", policy, fs.ErrNotExist, names.ErrProtected},
		{".\ufe0fgit/config", policy, fs.ErrNotExist, names.ErrProtected},
		{".\u017fvn/entries", policy, fs.ErrNotExist, names.ErrProtected},
		{".sl/store", policy, fs.ErrNotExist, names.ErrProtected},
		{".pijul/x", policy, fs.ErrNotExist, names.ErrProtected},
		{"_DARCS/prefs/prehook", policy, fs.ErrNotExist, names.ErrProtected},
		{"sub/CVS/Root", policy, fs.ErrNotExist, names.ErrProtected},
		{"worktree/.git", policy, nil, names.ErrProtected},
		{"other/file", guard.Policy{Allowed: []string{"ok", "src/main.go"}}, names.ErrNotAllowed, names.ErrNotAllowed},
		{"other/absent", guard.Policy{Allowed: []string{"ok"}}, names.ErrNotAllowed, names.ErrNotAllowed},
		{"okay/file", guard.Policy{Allowed: []string{"ok"}}, names.ErrNotAllowed, names.ErrNotAllowed},
		{"src/main.goo", guard.Policy{Allowed: []string{"ok", "src/main.go"}}, names.ErrNotAllowed, names.ErrNotAllowed},
		{"../outside", policy, names.ErrEscape, names.ErrEscape},
		{"a/../../outside", policy, names.ErrEscape, names.ErrEscape},
		{"a\x00b", policy, names.ErrBadName, names.ErrBadName},
		{strings.Repeat("n", 256), policy, names.ErrNameTooLong, names.ErrNameTooLong},
		{strings.Repeat("n/", 3000), policy, names.ErrNameTooLong, names.ErrNameTooLong},
		{"", policy, names.ErrEmptyPath, names.ErrEmptyPath},
	}
	for _, tt := range tests {
		for _, a := range attempts {
			t.Run(tt.path+"/"+a.name, func(t *testing.T) {
				t.Parallel()
				want := tt.read
				if a.writes {
					want = tt.write
				}
				if tt.path == "" && (a.name == "copy to" || strings.HasPrefix(a.name, "mkdir")) {
					t.Skip("the path is not empty with what is added to it")
				}
				s := stage.New(fstest.Plant(t, ".millrace/lock", "deep/state/x", ".git/config", "sub/.hg/store", "worktree/.git",
					"ok/file", "okay/file", "other/file", "src/main.go", "src/main.goo", "sub/.millrace/backups",
					"a/deep/state/x", "home/.config/millrace/key", ".env"))
				s.SetGuard(tt.policy)
				err := a.do(s, tt.path)
				if !errors.Is(err, want) {
					t.Fatalf("error = %v, want %v", err, want)
				}
				if changes, err := s.Changes(); err != nil || a.writes && len(changes) > 0 {
					t.Errorf("changes = %v, %v", changes, err)
				}
			})
		}
	}
}

func TestGuardRefusesDirectoriesThatHoldSomething(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, dir string
		want      error
	}{
		{"state directory", "deep", names.ErrReserved},
		{"repository", "vendor/lib", names.ErrProtected},
		{"repository further down", "vendor", names.ErrProtected},
		{"worktree", "tree", names.ErrProtected},
		{"directory of CVS", "cvs", names.ErrProtected},
		{"state of a tree in the tree", "nested", names.ErrReserved},
		{"directory of the key", "home", names.ErrReserved},
		{"denied", "secrets", names.ErrDenied},
		{"read-only", "frozen", names.ErrReadOnlyPath},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := stage.New(fstest.Plant(t, "deep/state/x", "vendor/lib/.git/config", "vendor/lib/x", "tree/sub/.git", "ok/file",
				"cvs/CVS/Entries", "nested/tree/.millrace/backups/x", "home/me/.config/millrace/key", "secrets/deep/.env", "frozen/a/LICENSE"))
			s.SetGuard(guard.Policy{
				Reserved: "deep/state", Closed: []string{"home/me/.config/millrace"}, Denied: []string{".env"}, ReadOnly: []string{"LICENSE"},
			})
			for _, err := range []error{s.RemoveAll(tt.dir), s.Rename(tt.dir, "moved"), s.Remove(tt.dir)} {
				if !errors.Is(err, tt.want) {
					t.Errorf("error = %v, want %v", err, tt.want)
				}
			}
			// A directory must not take the place of the future state directory either.
			if err := s.Rename("ok", "deep"); !errors.Is(err, names.ErrReserved) {
				t.Errorf("error = %v, want ErrReserved", err)
			}
			if changes, err := s.Changes(); err != nil || len(changes) > 0 {
				t.Errorf("changes = %v, %v", changes, err)
			}
		})
	}
}

func TestGuardKeepsTheWayToTheStateDirectory(t *testing.T) {
	t.Parallel()
	s := stage.New(fstest.Plant(t, "ok/.millrace/planted"))
	s.SetGuard(guard.Policy{Reserved: "state/.millrace"})
	if err := s.Rename("ok", "state"); !errors.Is(err, names.ErrReserved) {
		t.Errorf("error = %v, want ErrReserved", err)
	}
	fstest.Must(t, s.Mkdir("state", 0o755))
	if err := s.Mkdir("state/.Millrace", 0o755); !errors.Is(err, names.ErrReserved) {
		t.Errorf("error = %v, want ErrReserved", err)
	}
}

func TestGuardLetsTheWayToAllowedBeMade(t *testing.T) {
	t.Parallel()
	s := stage.New(afero.NewMemMapFs())
	s.SetGuard(guard.Policy{Allowed: []string{"a/b/c"}})
	if err := s.MkdirAll("a/x", 0o755); !errors.Is(err, names.ErrNotAllowed) {
		t.Errorf("error = %v, want ErrNotAllowed", err)
	}
	if err := s.MkdirAll("a/b/c/d", 0o755); err != nil {
		t.Error(err)
	}
	if err := afero.WriteFile(s, "a/b/c/d/f", nil, 0o644); err != nil {
		t.Error(err)
	}
}

func TestReadOnlyView(t *testing.T) {
	t.Parallel()
	stage := stage.New(fstest.Plant(t, "ok/file", "there"))
	view := stage.For("reader", true)
	for _, a := range attempts {
		err := a.do(view, "there")
		if a.writes != errors.Is(err, names.ErrReadOnly) && a.name != "copy from" {
			t.Errorf("%s: error = %v", a.name, err)
		}
	}
	if changes, err := stage.Changes(); err != nil || len(changes) > 0 {
		t.Errorf("changes = %v, %v", changes, err)
	}
}

// A directory move cannot bring an entry to a path that a rule covers.
func TestGuardHoldsForWhereADirectoryGoes(t *testing.T) {
	t.Parallel()
	s := stage.New(fstest.Plant(t, "from/state/x", "from/b/key", "from/.millrace/x"))
	s.SetGuard(guard.Policy{Reserved: "deep/state", Closed: []string{"home/key"}, Denied: []string{"d/**/key"}, ReadOnly: []string{"r/b/*"}})
	fstest.Must(t, s.Mkdir("sub", 0o755))
	for to, want := range map[string]error{"sub/deep": names.ErrReserved, "home": names.ErrReserved,
		"x": names.ErrReserved} {
		if err := s.Rename("from", to); !errors.Is(err, want) {
			t.Errorf("to %s: error = %v, want %v", to, err, want)
		}
	}
	s = stage.New(fstest.Plant(t, "from/b/key"))
	s.SetGuard(guard.Policy{Denied: []string{"d/**/key"}, ReadOnly: []string{"r/b/*"}})
	for to, want := range map[string]error{"d": names.ErrDenied, "r": names.ErrReadOnlyPath} {
		if err := s.Rename("from", to); !errors.Is(err, want) {
			t.Errorf("to %s: error = %v, want %v", to, err, want)
		}
	}
	fstest.Must(t, s.Rename("from", "free"))
}

// A rule about a name also applies to a symbolic link with that name, whatever its target.
func TestGuardHoldsForLinksOnTheWay(t *testing.T) {
	t.Parallel()
	base := stage.New(fstest.Plant(t, "real/file", "ok/file"))
	for _, name := range []string{"denied", "frozen", ".millrace", "free"} {
		fstest.Must(t, base.SymlinkIfPossible("real", name))
	}
	s := stage.New(base)
	s.SetGuard(guard.Policy{Reserved: "state", Denied: []string{"denied"}, ReadOnly: []string{"frozen"}})
	for name, want := range map[string][2]error{
		"denied": {names.ErrDenied, names.ErrDenied}, "frozen": {nil, names.ErrReadOnlyPath},
		".millrace": {names.ErrReserved, names.ErrReserved}, "free": {nil, nil},
	} {
		if _, err := s.ReadFile(name + "/file"); !errors.Is(err, want[0]) {
			t.Errorf("read %s: error = %v, want %v", name, err, want[0])
		}
		if err := s.Edit(name+"/file", []change.Splice{{Text: []byte("x")}}); !errors.Is(err, want[1]) {
			t.Errorf("edit %s: error = %v, want %v", name, err, want[1])
		}
	}
}
