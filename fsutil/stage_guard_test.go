package fsutil_test

import (
	"errors"
	"io/fs"
	"os"
	"path"
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
					"ok/file", "okay/file", "other/file", "src/main.go", "src/main.goo"))
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
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := fsutil.NewStage(plantFiles(t, "deep/state/x", "vendor/lib/.git/config", "vendor/lib/x", "tree/sub/.git", "ok/file"))
			s.SetGuard(fsutil.Guard{Reserved: "deep/state"})
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
