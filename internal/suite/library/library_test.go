package library_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/suite"
)

// text returns a pipeline of that name, "" for none.
func text(name string) string {
	if name != "" {
		name = fmt.Sprintf("%q: %q, ", "name", name)
	}
	return "{" + name + `"steps": [{"id": "find", "action": "search", "params": {"pattern": "x"}}]}`
}

// each calls test with every kind of file system for a library directory: its kind, and its path there.
func each(t *testing.T, test func(t *testing.T, dir millrace.LibraryDir)) {
	t.Helper()
	for kind, make := range map[string]func(t *testing.T) millrace.LibraryDir{
		"disk": func(t *testing.T) millrace.LibraryDir {
			return millrace.LibraryDir{FS: afero.NewOsFs(), Path: filepath.Join(t.TempDir(), "pipelines")}
		},
		"root": func(t *testing.T) millrace.LibraryDir {
			root, err := fsutil.OpenRoot(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { root.Close() })
			return millrace.LibraryDir{FS: root, Path: "a/pipelines"}
		},
		"base path": func(t *testing.T) millrace.LibraryDir {
			return millrace.LibraryDir{FS: afero.NewBasePathFs(afero.NewOsFs(), t.TempDir()), Path: "pipelines"}
		},
		"base path of its own": func(t *testing.T) millrace.LibraryDir {
			return millrace.LibraryDir{FS: afero.NewBasePathFs(afero.NewOsFs(), t.TempDir())}
		},
		"memory": func(*testing.T) millrace.LibraryDir {
			return millrace.LibraryDir{FS: afero.NewMemMapFs(), Path: "/home/me/pipelines"}
		},
		"unknown": func(*testing.T) millrace.LibraryDir {
			return millrace.LibraryDir{FS: errorfs.Only(afero.NewMemMapFs()), Path: "pipelines"}
		},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			dir := make(t)
			dir.Name = "project"
			test(t, dir)
		})
	}
}

// put writes files into a directory: names and texts in turn.
func put(t *testing.T, dir millrace.LibraryDir, files ...string) {
	t.Helper()
	for i := 0; i < len(files); i += 2 {
		name := filepath.Join(dir.Path, files[i])
		if err := errors.Join(dir.FS.MkdirAll(filepath.Dir(name), 0o755), afero.WriteFile(dir.FS, name, []byte(files[i+1]), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
}

func userDir(t *testing.T, files ...string) millrace.LibraryDir {
	t.Helper()
	dir := millrace.LibraryDir{Name: "user", FS: afero.NewMemMapFs(), Path: "pipelines"}
	put(t, dir, files...)
	return dir
}

// told returns a list of entries in short.
func told(entries []millrace.LibraryEntry) []string {
	var lines []string
	for _, e := range entries {
		line := e.Dir + "/" + e.Name
		if e.Shadowed {
			line += " shadowed"
		}
		if e.Err != nil {
			line += ": " + e.Err.Error()
		} else {
			line += " " + e.Pipeline.Name()
		}
		lines = append(lines, line)
	}
	return lines
}

// The first directory that has the file wins, on every file system.
func TestLoad(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, project millrace.LibraryDir) {
		user := userDir(t, "fix.json", text("user's fix"), "mine.json", text("mine"), "Fix.json", text("other case"))
		l := millrace.Library{Dirs: []millrace.LibraryDir{project, user}}
		if p, err := l.Load(t.Context(), "fix"); err != nil || p.Name() != "user's fix" {
			t.Errorf("without the directory: %q, %v", p.Name(), err)
		}
		put(t, project, "fix.json", text("project's fix"), "plain.json", text(""), "note.txt", "x", "sub/deep.json", text("deep"))
		for name, want := range map[string]string{"fix": "project's fix", "Fix": "other case", "mine": "mine", "plain": "plain"} {
			p, err := l.Load(t.Context(), name)
			if err != nil || p.Name() != want {
				t.Errorf("%s: got %q, %v, want %q", name, p.Name(), err, want)
			}
			if opened, err := l.Open(t.Context(), name); err != nil || !opened.Equal(p) {
				t.Errorf("Open of %s: %v", name, err)
			}
		}
		for name, want := range map[string]string{
			"fox":   "no pipeline 'fox' in project, user: did you mean 'fix'?",
			"FIX":   "no pipeline 'FIX' in project, user: did you mean 'Fix'?",
			"deep":  "no pipeline 'deep' in project, user",
			"other": "no pipeline 'other' in project, user",
		} {
			_, err := l.Load(t.Context(), name)
			if err == nil || err.Error() != want || !errors.Is(err, fs.ErrNotExist) || millrace.ErrorCode(err) != "invalid_pipeline" {
				t.Errorf("%s: got %v, code %q", name, err, millrace.ErrorCode(err))
			}
		}
		entries, err := l.List(t.Context())
		if err != nil {
			t.Error(err)
		}
		want := []string{"user/Fix other case", "project/fix project's fix", "user/fix shadowed user's fix", "user/mine mine", "project/plain plain"}
		if d := cmp.Diff(want, told(entries)); d != "" {
			t.Errorf("entries (-want +got):\n%s", d)
		}
	})
}

// An unusable file is an error of its entry, and still hides the files of lower rank.
func TestBrokenFiles(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, project millrace.LibraryDir) {
		names := []string{"empty", "no", "long", "dir", "fine"}
		var files []string
		for _, name := range names {
			files = append(files, name+".json", text("user's "+name))
		}
		put(t, project, "empty.json", "", "no.json", `{"steps": [{"id": "a", "action": "no"}]}`, "dir.json/x", "",
			"long.json", text("long")+strings.Repeat(" ", 1000), "a.b.json", text("dots"), ".hidden.json", text("hidden"), "con.json", text("device"))
		l := millrace.Library{Decoder: millrace.Decoder{MaxBytes: 1000}, Dirs: []millrace.LibraryDir{project, userDir(t, files...)}}
		for name, want := range map[string]string{
			"empty": "Invalid pipeline JSON", "no": "unknown action 'no'", "long": "too large", "dir": "directory", "fine": "",
		} {
			_, err := l.Load(t.Context(), name)
			if want == "" {
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				continue
			}
			if err == nil || !strings.HasPrefix(err.Error(), "pipeline '"+name+"' in project: ") || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, want %q", name, err, want)
			}
		}
		entries, err := l.List(t.Context())
		if err != nil {
			t.Error(err)
		}
		failed := make(map[string]bool)
		for _, e := range entries {
			if e.Dir == "project" && (e.Err == nil || e.Shadowed) || e.Dir == "user" && (e.Err != nil || e.Shadowed != (e.Name != "fine")) {
				t.Errorf("got %+v", e)
			}
			failed[e.Name] = failed[e.Name] || e.Err != nil
		}
		want := map[string]bool{"empty": true, "no": true, "long": true, "dir": true, "fine": false, "a.b": true, "con": true}
		if d := cmp.Diff(want, failed); d != "" {
			t.Errorf("files (-want +got):\n%s", d)
		}
	})
}

// No name leads out of the directory, or to any file except NAME.json.
func TestNamesOfStrangers(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret.json"), []byte(text("secret")), 0o600); err != nil {
		t.Fatal(err)
	}
	each(t, func(t *testing.T, dir millrace.LibraryDir) {
		if dir.Path != "" {
			put(t, dir, "../up.json", text("up"))
		}
		put(t, dir, "fine.json", text("fine"), "a.b.json", text("dots"), "nul.json", text("device"))
		l := millrace.Library{Dirs: []millrace.LibraryDir{dir}}
		for _, name := range []string{
			"", ".", "..", "../up", "..\\up", "/etc/passwd", filepath.Join(outside, "secret"), "sub/../fine", "./fine", "fine.json", "fine\x00",
			"\x00", "fine/", "fine ", " fine", "a.b", "a.b.", "nul", "NUL", "con", "com1", "lpt9", "prn", "aux", "CON", "fine:stream", "*", "f*", "~",
			"ﬁne", "fıne", "fine\u200b", "FINE", "\xff", strings.Repeat("a", 256), strings.Repeat("a", 1<<20), "-rf; rm", "${HOME}", "%2e%2e", "fine\n",
		} {
			p, err := l.Load(t.Context(), name)
			e, _ := l.Find(t.Context(), name)
			switch {
			case err == nil:
				t.Errorf("%q: got %s", name, p.Name())
			case millrace.ErrorCode(err) != "invalid_pipeline" || e.Dir != "":
				t.Errorf("%q: got %#v of %q", name, err, e.Dir)
			case len(err.Error()) > 400 || fsutil.Visible(err.Error()) != err.Error():
				t.Errorf("%.40q: the message is %q", name, err.Error())
			}
		}
	})
}

// Open accepts JSON and names, and distinguishes them.
func TestOpen(t *testing.T) {
	t.Parallel()
	strict := millrace.Library{Dirs: []millrace.LibraryDir{userDir(t, "fix.json", text("by name"))}}
	lenient := strict
	lenient.Decoder.Lenient = true
	for _, test := range []struct {
		l                millrace.Library
		definition, want string
	}{
		{strict, "fix", "by name"},
		{strict, text("inline"), "inline"},
		{strict, " \r\n\t" + text("inline"), "inline"},
		{strict, text(""), "pipeline name is required"},
		{strict, "{", "Invalid pipeline JSON"},
		{strict, "", "invalid pipeline name ''"},
		{strict, "[1]", "invalid pipeline name '[1]'"},
		{strict, "fixx", "did you mean 'fix'?"},
		{lenient, "fix", "by name"},
		{lenient, "```json\n" + text("fenced") + "\n```", "fenced"},
		{lenient, "fixx", "did you mean 'fix'?"},
	} {
		p, err := test.l.Open(t.Context(), test.definition)
		if got := fmt.Sprint(p.Name(), err); !strings.Contains(got, test.want) {
			t.Errorf("%q: got %s, want %s", test.definition, got, test.want)
		}
	}
	if _, err := (millrace.Library{}).Load(t.Context(), "fix"); err == nil || err.Error() != "no pipeline 'fix': the library has no directories" {
		t.Errorf("without directories: %v", err)
	}
}

// A directory that cannot be listed hides the later directories, since it may have the name.
func TestBrokenDirectories(t *testing.T) {
	t.Parallel()
	user := userDir(t, "fix.json", text("user's"))
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var none *afero.OsFs
	for what, test := range map[string]struct {
		dir  millrace.LibraryDir
		want error
	}{
		"no file system":   {millrace.LibraryDir{Name: "project"}, millrace.ErrNoFs},
		"nil file system":  {millrace.LibraryDir{Name: "project", FS: none}, millrace.ErrNoFs},
		"a file":           {millrace.LibraryDir{Name: "project", FS: afero.NewOsFs(), Path: file}, fsutil.ErrNotDir},
		"a file in memory": {millrace.LibraryDir{Name: "project", FS: suite.Tree("f", "x"), Path: "f"}, fsutil.ErrNotDir},
		"outside":          {millrace.LibraryDir{Name: "project", FS: suite.Tree("f", "x"), Path: "../x"}, fsutil.ErrEscape},
		"below a file":     {millrace.LibraryDir{Name: "project", FS: afero.NewOsFs(), Path: filepath.Join(file, "x")}, fsutil.ErrNotDir},
	} {
		l := millrace.Library{Dirs: []millrace.LibraryDir{test.dir, user}}
		if _, err := l.Load(t.Context(), "fix"); !errors.Is(err, test.want) || !strings.HasPrefix(err.Error(), "pipeline 'fix' in project: ") {
			t.Errorf("%s: Load: %v", what, err)
		}
		entries, err := l.List(t.Context())
		if !errors.Is(err, test.want) || !strings.HasPrefix(err.Error(), "pipelines in project: ") || len(entries) != 1 || entries[0].Dir != "user" {
			t.Errorf("%s: List: %v, %v", what, told(entries), err)
		}
	}
}

// Too many files are an error, and all loops check the context.
func TestManyFiles(t *testing.T) {
	t.Parallel()
	dir := millrace.LibraryDir{Name: "project", FS: afero.NewMemMapFs(), Path: "p"}
	put(t, dir, "fix.json", text("fix"))
	l := millrace.Library{Dirs: []millrace.LibraryDir{dir}}
	done, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	_, loaded := l.Load(done, "fix")
	_, listed := l.List(done)
	_, opened := l.Open(done, text("x"))
	for what, err := range map[string]error{"Load": loaded, "List": listed, "Open": opened} {
		if err == nil || !strings.Contains(err.Error(), "enough") {
			t.Errorf("%s: %v", what, err)
		}
	}
	for i := range 10_000 {
		if err := afero.WriteFile(dir.FS, fmt.Sprintf("p/%d", i), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.Load(t.Context(), "fix"); err == nil || !strings.Contains(err.Error(), "it has more than 10000 entries") {
		t.Errorf("Load: %v", err)
	}
	if entries, err := l.List(t.Context()); err == nil || len(entries) > 0 {
		t.Errorf("List: %v, %v", told(entries), err)
	}
}

// List reads only that much text.
func TestLongFiles(t *testing.T) {
	t.Parallel()
	dir := millrace.LibraryDir{Name: "project", FS: afero.NewMemMapFs(), Path: "p"}
	long := text("") + strings.Repeat(" ", 15<<20)
	put(t, dir, "a.json", long, "b.json", long, "c.json", long, "d.json", long, "e.json", long, "f.json", text(""))
	l := millrace.Library{Dirs: []millrace.LibraryDir{dir}}
	entries, err := l.List(t.Context())
	if err != nil || len(entries) != 6 {
		t.Fatalf("%v, %v", told(entries), err)
	}
	for i, e := range entries {
		if read := i < 5; (e.Err == nil) != read {
			t.Errorf("%s: %v", e.Name, e.Err)
		}
	}
	if p, err := l.Load(t.Context(), "f"); err != nil || p.Name() != "f" {
		t.Errorf("Load: %v", err)
	}
}
