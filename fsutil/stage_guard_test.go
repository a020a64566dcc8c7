package fsutil_test

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/fsutil"
)

// plantFiles returns a file system in memory with the files; a name with a slash at its end is a directory.
func plantFiles(t testing.TB, names ...string) afero.Fs {
	t.Helper()
	base := afero.NewMemMapFs()
	for _, name := range names {
		var err error
		if dir, isDir := strings.CutSuffix(name, "/"); isDir {
			err = base.MkdirAll(dir, 0o755)
		} else if err = base.MkdirAll(path.Dir(name), 0o755); err == nil {
			err = afero.WriteFile(base, name, []byte("content of "+name+"\n"), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return base
}

// attempts are all operations that say something of one path, and whether they write.
var attempts = []struct {
	name   string
	writes bool
	do     func(s *fsutil.Stage, name string) error
}{
	{"stat", false, func(s *fsutil.Stage, name string) error { _, err := s.Stat(name); return err }},
	{"lstat", false, func(s *fsutil.Stage, name string) error { _, _, err := s.LstatIfPossible(name); return err }},
	{"open", false, func(s *fsutil.Stage, name string) error { _, err := s.Open(name); return err }},
	{"readfile", false, func(s *fsutil.Stage, name string) error { _, err := s.ReadFile(name); return err }},
	{"copy from", false, func(s *fsutil.Stage, name string) error { return s.Copy(name, "ok/copy") }},
	{"copy to", true, func(s *fsutil.Stage, name string) error { return s.Copy("ok/file", name+"/new") }},
	{"create", true, func(s *fsutil.Stage, name string) error { _, err := s.Create(name); return err }},
	{"append", true, func(s *fsutil.Stage, name string) error {
		_, err := s.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
		return err
	}},
	{"truncate", true, func(s *fsutil.Stage, name string) error { _, err := s.OpenFile(name, os.O_TRUNC, 0); return err }},
	{"edit", true, func(s *fsutil.Stage, name string) error {
		return s.Edit(name, []fsutil.Splice{{Text: []byte("x")}})
	}},
	{"chmod", true, func(s *fsutil.Stage, name string) error { return s.Chmod(name, 0o600) }},
	{"remove", true, func(s *fsutil.Stage, name string) error { return s.Remove(name) }},
	{"removeall", true, func(s *fsutil.Stage, name string) error { return s.RemoveAll(name) }},
	{"discard", true, func(s *fsutil.Stage, name string) error { return s.Discard(name) }},
	{"rename from", true, func(s *fsutil.Stage, name string) error { return s.Rename(name, "ok/moved") }},
	{"rename to", true, func(s *fsutil.Stage, name string) error { return s.Rename("ok/file", name) }},
	{"mkdir", true, func(s *fsutil.Stage, name string) error { return s.Mkdir(name+"/sub", 0o755) }},
	{"mkdirall", true, func(s *fsutil.Stage, name string) error { return s.MkdirAll(name+"/sub/sub", 0o755) }},
	{"symlink", true, func(s *fsutil.Stage, name string) error { return s.SymlinkIfPossible("x", name) }},
}

func TestGuardRefuses(t *testing.T) {
	t.Parallel()
	guard := fsutil.Guard{Reserved: ".millrace", Allowed: nil}
	tests := []struct {
		path  string
		guard fsutil.Guard
		read  error // nil means that reading is allowed
		write error
	}{
		{".millrace/lock", guard, fsutil.ErrReserved, fsutil.ErrReserved},
		{".millrace/absent", guard, fsutil.ErrReserved, fsutil.ErrReserved},
		{".MILLRACE/lock", guard, fsutil.ErrReserved, fsutil.ErrReserved},
		{".millrace./lock", guard, fsutil.ErrReserved, fsutil.ErrReserved},
		{".millrace /lock", guard, fsutil.ErrReserved, fsutil.ErrReserved},
		{".mill\u200crace/lock", guard, fsutil.ErrReserved, fsutil.ErrReserved},
		{"a/../.millrace/lock", guard, fsutil.ErrReserved, fsutil.ErrReserved},
		{"deep/state/x", fsutil.Guard{Reserved: "deep/state"}, fsutil.ErrReserved, fsutil.ErrReserved},
		{"Deep/STATE. /x", fsutil.Guard{Reserved: "deep/state"}, fsutil.ErrReserved, fsutil.ErrReserved},
		{"sub/.millrace/backups", guard, fsutil.ErrReserved, fsutil.ErrReserved},
		{"sub/.Mill\u00adrace./backups", guard, fsutil.ErrReserved, fsutil.ErrReserved},
		{"sub/.millrace/backups", fsutil.Guard{Reserved: "state"}, fsutil.ErrReserved, fsutil.ErrReserved},
		{"a/deep/state/x", fsutil.Guard{Reserved: "deep/state"}, fsutil.ErrReserved, fsutil.ErrReserved},
		{"home/.config/millrace/key", fsutil.Guard{Closed: []string{"home/.config/millrace"}}, fsutil.ErrReserved, fsutil.ErrReserved},
		{"home/.Config/Millrace", fsutil.Guard{Closed: []string{"home/.config/millrace"}}, fsutil.ErrReserved, fsutil.ErrReserved},
		{".env", fsutil.Guard{Denied: []string{".env"}}, fsutil.ErrDenied, fsutil.ErrDenied},
		{"sub/.ENV", fsutil.Guard{Denied: []string{".env"}}, fsutil.ErrDenied, fsutil.ErrDenied},
		{"sub/.env/deeper", fsutil.Guard{Denied: []string{".Env"}}, fsutil.ErrDenied, fsutil.ErrDenied},
		{"other/file", fsutil.Guard{Denied: []string{"other/*"}, Allowed: []string{"ok", "other"}}, fsutil.ErrDenied, fsutil.ErrDenied},
		{"other/absent", fsutil.Guard{Denied: []string{"./other/"}}, fsutil.ErrDenied, fsutil.ErrDenied},
		{"other/file", fsutil.Guard{Denied: []string{"o{ther,penssl}/**"}}, fsutil.ErrDenied, fsutil.ErrDenied},
		{"other/file", fsutil.Guard{Denied: []string{"[bad"}}, fsutil.ErrDenied, fsutil.ErrDenied},
		{"other/file", fsutil.Guard{ReadOnly: []string{"**/file"}, Denied: []string{"none"}}, nil, fsutil.ErrReadOnlyPath},
		{"other/absent", fsutil.Guard{ReadOnly: []string{"other"}}, fs.ErrNotExist, fsutil.ErrReadOnlyPath},
		{"other/file", fsutil.Guard{ReadOnly: []string{"OTHER/F*"}}, nil, fsutil.ErrReadOnlyPath},
		{"other/file", fsutil.Guard{ReadOnly: []string{"other"}, Denied: []string{"other"}}, fsutil.ErrDenied, fsutil.ErrDenied},
		{".git/config", guard, nil, fsutil.ErrProtected},
		{".git/hooks/absent", guard, fs.ErrNotExist, fsutil.ErrProtected},
		{".GIT/config", guard, fs.ErrNotExist, fsutil.ErrProtected},
		{".git./config", guard, fs.ErrNotExist, fsutil.ErrProtected},
		{".git /config", guard, fs.ErrNotExist, fsutil.ErrProtected},
		{".git::$INDEX_ALLOCATION/config", guard, fs.ErrNotExist, fsutil.ErrProtected},
		{"git~1/config", guard, fs.ErrNotExist, fsutil.ErrProtected},
		{".g\u200cit/config", guard, fs.ErrNotExist, fsutil.ErrProtected},
		{"sub/.hg/store", guard, nil, fsutil.ErrProtected},
		{"sub/.svn", guard, fs.ErrNotExist, fsutil.ErrProtected},
		{".jj/x", guard, fs.ErrNotExist, fsutil.ErrProtected},
		{".bzr/x", guard, fs.ErrNotExist, fsutil.ErrProtected},
		{".g\u00adit/config", guard, fs.ErrNotExist, fsutil.ErrProtected},
		{".\ufe0fgit/config", guard, fs.ErrNotExist, fsutil.ErrProtected},
		{".\u017fvn/entries", guard, fs.ErrNotExist, fsutil.ErrProtected},
		{".sl/store", guard, fs.ErrNotExist, fsutil.ErrProtected},
		{".pijul/x", guard, fs.ErrNotExist, fsutil.ErrProtected},
		{"_DARCS/prefs/prehook", guard, fs.ErrNotExist, fsutil.ErrProtected},
		{"sub/CVS/Root", guard, fs.ErrNotExist, fsutil.ErrProtected},
		{"worktree/.git", guard, nil, fsutil.ErrProtected},
		{"other/file", fsutil.Guard{Allowed: []string{"ok", "src/main.go"}}, fsutil.ErrNotAllowed, fsutil.ErrNotAllowed},
		{"other/absent", fsutil.Guard{Allowed: []string{"ok"}}, fsutil.ErrNotAllowed, fsutil.ErrNotAllowed},
		{"okay/file", fsutil.Guard{Allowed: []string{"ok"}}, fsutil.ErrNotAllowed, fsutil.ErrNotAllowed},
		{"src/main.goo", fsutil.Guard{Allowed: []string{"ok", "src/main.go"}}, fsutil.ErrNotAllowed, fsutil.ErrNotAllowed},
		{"../outside", guard, fsutil.ErrEscape, fsutil.ErrEscape},
		{"a/../../outside", guard, fsutil.ErrEscape, fsutil.ErrEscape},
		{"a\x00b", guard, fsutil.ErrBadName, fsutil.ErrBadName},
		{strings.Repeat("n", 256), guard, fsutil.ErrNameTooLong, fsutil.ErrNameTooLong},
		{strings.Repeat("n/", 3000), guard, fsutil.ErrNameTooLong, fsutil.ErrNameTooLong},
		{"", guard, fsutil.ErrEmptyPath, fsutil.ErrEmptyPath},
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
				s := fsutil.NewStage(plantFiles(t, ".millrace/lock", "deep/state/x", ".git/config", "sub/.hg/store", "worktree/.git",
					"ok/file", "okay/file", "other/file", "src/main.go", "src/main.goo", "sub/.millrace/backups",
					"a/deep/state/x", "home/.config/millrace/key", ".env"))
				s.SetGuard(tt.guard)
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
		{"state directory", "deep", fsutil.ErrReserved},
		{"repository", "vendor/lib", fsutil.ErrProtected},
		{"repository further down", "vendor", fsutil.ErrProtected},
		{"worktree", "tree", fsutil.ErrProtected},
		{"directory of CVS", "cvs", fsutil.ErrProtected},
		{"state of a tree in the tree", "nested", fsutil.ErrReserved},
		{"directory of the key", "home", fsutil.ErrReserved},
		{"denied", "secrets", fsutil.ErrDenied},
		{"read-only", "frozen", fsutil.ErrReadOnlyPath},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := fsutil.NewStage(plantFiles(t, "deep/state/x", "vendor/lib/.git/config", "vendor/lib/x", "tree/sub/.git", "ok/file",
				"cvs/CVS/Entries", "nested/tree/.millrace/backups/x", "home/me/.config/millrace/key", "secrets/deep/.env", "frozen/a/LICENSE"))
			s.SetGuard(fsutil.Guard{
				Reserved: "deep/state", Closed: []string{"home/me/.config/millrace"}, Denied: []string{".env"}, ReadOnly: []string{"LICENSE"},
			})
			for _, err := range []error{s.RemoveAll(tt.dir), s.Rename(tt.dir, "moved"), s.Remove(tt.dir)} {
				if !errors.Is(err, tt.want) {
					t.Errorf("error = %v, want %v", err, tt.want)
				}
			}
			// A directory may not take the place in which the state directory would appear, either.
			if err := s.Rename("ok", "deep"); !errors.Is(err, fsutil.ErrReserved) {
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
	s := fsutil.NewStage(plantFiles(t, "ok/.millrace/planted"))
	s.SetGuard(fsutil.Guard{Reserved: "state/.millrace"})
	if err := s.Rename("ok", "state"); !errors.Is(err, fsutil.ErrReserved) {
		t.Errorf("error = %v, want ErrReserved", err)
	}
	must(t, s.Mkdir("state", 0o755))
	if err := s.Mkdir("state/.Millrace", 0o755); !errors.Is(err, fsutil.ErrReserved) {
		t.Errorf("error = %v, want ErrReserved", err)
	}
}

func TestGuardListings(t *testing.T) {
	t.Parallel()
	base := plantFiles(t, ".millrace/lock", "a/b/c/x", "a/b/y", "a/z", "top", "src/main.go", "src/other.go")
	list := func(s *fsutil.Stage, dir string) []string {
		f, err := s.Open(dir)
		if err != nil {
			return []string{err.Error()}
		}
		defer f.Close()
		names, err := f.Readdirnames(-1)
		if err != nil {
			t.Error(err)
		}
		handle, err := s.OpenDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer handle.Close()
		entries, err := handle.ReadDir()
		if err != nil {
			t.Error(err)
		}
		if len(entries) != len(names) {
			t.Errorf("%s: Open lists %q, OpenDir %v", dir, names, entries)
		}
		return names
	}
	s := fsutil.NewStage(base)
	s.SetGuard(fsutil.Guard{Reserved: ".millrace", Allowed: []string{"a/b", "src/main.go"}})
	for dir, want := range map[string][]string{
		".": {"a", "src"}, "a": {"b"}, "a/b": {"c", "y"}, "a/b/c": {"x"}, "src": {"main.go"},
	} {
		if diff := cmp.Diff(want, list(s, dir)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", dir, diff)
		}
	}
	handle, err := s.OpenDir("src")
	if err != nil {
		t.Fatal(err)
	}
	defer handle.Close()
	if _, err := handle.OpenFile("other.go"); !errors.Is(err, fsutil.ErrNotAllowed) {
		t.Errorf("error = %v, want ErrNotAllowed", err)
	}
	if _, err := handle.OpenFile("../top"); !errors.Is(err, fsutil.ErrEscape) {
		t.Errorf("error = %v, want ErrEscape", err)
	}
	if err := s.Remove("a"); !errors.Is(err, fsutil.ErrNotAllowed) {
		t.Errorf("error = %v, want ErrNotAllowed", err)
	}
	all := fsutil.NewStage(base)
	all.SetGuard(fsutil.Guard{Reserved: ".millrace"})
	if diff := cmp.Diff([]string{"a", "src", "top"}, list(all, ".")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestGuardLetsTheWayToAllowedBeMade(t *testing.T) {
	t.Parallel()
	s := fsutil.NewStage(afero.NewMemMapFs())
	s.SetGuard(fsutil.Guard{Allowed: []string{"a/b/c"}})
	if err := s.MkdirAll("a/x", 0o755); !errors.Is(err, fsutil.ErrNotAllowed) {
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
	stage := fsutil.NewStage(plantFiles(t, "ok/file", "there"))
	view := stage.For("reader", true)
	for _, a := range attempts {
		err := a.do(view, "there")
		if a.writes != errors.Is(err, fsutil.ErrReadOnly) && a.name != "copy from" {
			t.Errorf("%s: error = %v", a.name, err)
		}
	}
	if changes, err := stage.Changes(); err != nil || len(changes) > 0 {
		t.Errorf("changes = %v, %v", changes, err)
	}
}

// What a rule takes by its place is not moved there with the directory it is in.
func TestGuardHoldsForWhereADirectoryGoes(t *testing.T) {
	t.Parallel()
	s := fsutil.NewStage(plantFiles(t, "from/state/x", "from/b/key", "from/.millrace/x"))
	s.SetGuard(fsutil.Guard{Reserved: "deep/state", Closed: []string{"home/key"}, Denied: []string{"d/**/key"}, ReadOnly: []string{"r/b/*"}})
	must(t, s.Mkdir("sub", 0o755))
	for to, want := range map[string]error{"sub/deep": fsutil.ErrReserved, "home": fsutil.ErrReserved, "x": fsutil.ErrReserved} {
		if err := s.Rename("from", to); !errors.Is(err, want) {
			t.Errorf("to %s: error = %v, want %v", to, err, want)
		}
	}
	s = fsutil.NewStage(plantFiles(t, "from/b/key"))
	s.SetGuard(fsutil.Guard{Denied: []string{"d/**/key"}, ReadOnly: []string{"r/b/*"}})
	for to, want := range map[string]error{"d": fsutil.ErrDenied, "r": fsutil.ErrReadOnlyPath} {
		if err := s.Rename("from", to); !errors.Is(err, want) {
			t.Errorf("to %s: error = %v, want %v", to, err, want)
		}
	}
	must(t, s.Rename("from", "free"))
}

// A rule about a name holds for a symbolic link of that name too, wherever it leads.
func TestGuardHoldsForLinksOnTheWay(t *testing.T) {
	t.Parallel()
	base := fsutil.NewStage(plantFiles(t, "real/file", "ok/file"))
	for _, name := range []string{"denied", "frozen", ".millrace", "free"} {
		must(t, base.SymlinkIfPossible("real", name))
	}
	s := fsutil.NewStage(base)
	s.SetGuard(fsutil.Guard{Reserved: "state", Denied: []string{"denied"}, ReadOnly: []string{"frozen"}})
	for name, want := range map[string][2]error{
		"denied": {fsutil.ErrDenied, fsutil.ErrDenied}, "frozen": {nil, fsutil.ErrReadOnlyPath},
		".millrace": {fsutil.ErrReserved, fsutil.ErrReserved}, "free": {nil, nil},
	} {
		if _, err := s.ReadFile(name + "/file"); !errors.Is(err, want[0]) {
			t.Errorf("read %s: error = %v, want %v", name, err, want[0])
		}
		if err := s.Edit(name+"/file", []fsutil.Splice{{Text: []byte("x")}}); !errors.Is(err, want[1]) {
			t.Errorf("edit %s: error = %v, want %v", name, err, want[1])
		}
	}
}

func TestGuardHidesWhatIsReservedOrDenied(t *testing.T) {
	t.Parallel()
	base := plantFiles(t, ".millrace/x", "sub/.millrace/x", "sub/.MillRace/y", "sub/deep/state/z", "deep/state/z", "deep/other", "sub/a",
		"home/millrace/key", "home/a", "sub/.env", "frozen/b")
	guard := fsutil.Guard{Reserved: "deep/state", Closed: []string{"home/millrace"}, Denied: []string{".env"}, ReadOnly: []string{"frozen"}}
	want := []string{"deep/other", "frozen/b", "home/a", "sub/a"}
	for name, fsys := range map[string]afero.Fs{"base": base, "staged": base} {
		s := fsutil.NewStage(fsys)
		s.SetGuard(guard)
		if name == "staged" { // then listings are put together anew
			for _, dir := range []string{"sub/new", "deep/new", "home/new", "new"} {
				must(t, s.Mkdir(dir, 0o755))
			}
		}
		var got []string
		err := fsutil.Walk(t.Context(), s, ".", fsutil.WalkOptions{NoIgnore: true, Workers: 1}, func(e fsutil.Entry) error {
			got = append(got, e.Path())
			return nil
		})
		slices.Sort(got)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
		f, err := s.Open("sub")
		must(t, err)
		names, err := f.Readdirnames(-1)
		if err != nil || slices.Contains(names, ".millrace") || slices.Contains(names, ".env") {
			t.Errorf("%s: sub lists %q, %v", name, names, err)
		}
	}
}

func TestGuardValidate(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]bool{
		"": false, ".": false, "/etc": false, "../x": false, "a/../b": false, "[a": false, "{a": false,
		".env": true, "**/*.key": true, "./a/": true, "{a,b}/**": true,
	} {
		for _, g := range []fsutil.Guard{{Denied: []string{pattern}}, {ReadOnly: []string{"ok", pattern}}} {
			if err := g.Validate(); (err == nil) != want {
				t.Errorf("%q: %v", pattern, err)
			}
		}
	}
}
