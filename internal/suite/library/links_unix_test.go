//go:build unix

package library_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fsutil"
)

// ways returns the file systems through which a directory of the disk can be a library directory: the disk itself, a
// root around the directory, and a root at the directory.
func ways(t *testing.T, top, dir string) map[string]millrace.LibraryDir {
	t.Helper()
	open := func(name string) *fsutil.RootFs {
		root, err := fsutil.OpenRoot(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { root.Close() })
		return root
	}
	return map[string]millrace.LibraryDir{
		"disk":      {Name: "project", FS: afero.NewOsFs(), Path: filepath.Join(top, dir)},
		"root":      {Name: "project", FS: open(top), Path: dir},
		"base path": {Name: "project", FS: afero.NewBasePathFs(afero.NewOsFs(), top), Path: dir},
		"itself":    {Name: "project", FS: open(filepath.Join(top, dir))},
	}
}

// Links are followed while they stay in the directory, and only regular files are opened. Everything else is an error
// of its entry, and hides files of the same name elsewhere.
func TestLinks(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	at := func(name string) string { return filepath.Join(top, "pipelines", name) }
	for _, err := range []error{
		os.MkdirAll(at("sub/below"), 0o755), os.WriteFile(at("fine.json"), []byte(text("fine")), 0o644),
		os.WriteFile(at("sub/below/deep.json"), []byte(text("deep")), 0o644),
		os.WriteFile(filepath.Join(top, "secret.json"), []byte(text("secret")), 0o644),
		os.Symlink("fine.json", at("alias.json")), os.Symlink("./sub/../alias.json", at("again.json")),
		os.Symlink("sub/below/deep.json", at("deep.json")),
		os.Symlink("../secret.json", at("up.json")), os.Symlink(filepath.Join(top, "secret.json"), at("absolute.json")),
		os.Symlink("..", at("sub/out")), os.Symlink("sub/out/../secret.json", at("around.json")), os.Symlink("../..", at("sub/top")),
		os.Symlink("sub/top/secret.json", at("through.json")),
		os.Symlink("loop.json", at("loop.json")), os.Symlink("nowhere.json", at("nowhere.json.json")), os.Symlink("gone", at("gone.json")),
		os.Symlink("/dev/zero", at("zero.json")), os.Mkdir(at("dir.json"), 0o755), syscall.Mkfifo(at("pipe.json"), 0o644),
		os.Link(filepath.Join(top, "secret.json"), at("hard.json")),
	} {
		if err != nil {
			t.Skip("the file system lacks a feature:", err)
		}
	}
	users := []string{}
	for _, name := range []string{"up", "absolute", "around", "through", "loop", "gone", "zero", "dir", "pipe"} {
		users = append(users, name+".json", text("user's"))
	}
	user := userDir(t, users...)
	for way, dir := range ways(t, top, "pipelines") {
		l := millrace.Library{Dirs: []millrace.LibraryDir{dir, user}}
		for name, want := range map[string]string{"fine": "fine", "alias": "fine", "again": "fine", "deep": "deep", "hard": "secret"} {
			if p, err := l.Load(t.Context(), name); err != nil || p.Name() != want {
				t.Errorf("%s: %s: %q, %v", way, name, p.Name(), err)
			}
		}
		for name, want := range map[string]error{
			"up": fsutil.ErrEscape, "absolute": fsutil.ErrEscape, "around": fsutil.ErrEscape, "through": fsutil.ErrEscape, "zero": fsutil.ErrEscape,
			"loop": fsutil.ErrLinkLoop, "gone": fs.ErrNotExist, "dir": fsutil.ErrIsDir, "pipe": fsutil.ErrNotRegular,
		} {
			p, err := l.Load(t.Context(), name)
			if err == nil || !strings.HasPrefix(err.Error(), "pipeline '"+name+"' in project: ") || !errors.Is(err, want) {
				t.Errorf("%s: %s: %q, %v, want %v", way, name, p.Name(), err, want)
			}
			if err != nil && strings.Contains(err.Error(), top) {
				t.Errorf("%s: %s: the message has a path of the system: %v", way, name, err)
			}
		}
		entries, err := l.List(t.Context())
		if err != nil {
			t.Errorf("%s: %v", way, err)
		}
		for _, e := range entries {
			if (e.Dir == "user") != e.Shadowed || e.Pipeline.Name() == "secret" && e.Name != "hard" {
				t.Errorf("%s: %+v", way, e)
			}
		}
	}
}

// A directory that the host names may be reached through a link: people keep their directories in other places.
func TestLinkToDirectory(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	for _, err := range []error{
		os.MkdirAll(filepath.Join(top, "dotfiles/p"), 0o755), os.WriteFile(filepath.Join(top, "dotfiles/p/fix.json"), []byte(text("fix")), 0o644),
		os.Symlink("dotfiles/p", filepath.Join(top, "pipelines")), os.Symlink(t.TempDir(), filepath.Join(top, "outside")),
		os.Symlink("nothing", filepath.Join(top, "nowhere")), syscall.Mkfifo(filepath.Join(top, "pipe"), 0o644),
	} {
		if err != nil {
			t.Skip("the file system lacks a feature:", err)
		}
	}
	for way, dir := range ways(t, top, "pipelines") {
		if p, err := (millrace.Library{Dirs: []millrace.LibraryDir{dir}}).Load(t.Context(), "fix"); err != nil || p.Name() != "fix" {
			t.Errorf("%s: %v", way, err)
		}
	}
	root, err := fsutil.OpenRoot(top)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	user := userDir(t, "fix.json", text("user's"))
	for _, test := range []struct {
		fs   afero.Fs
		path string
		want error
	}{
		{root, "outside", fsutil.ErrEscape}, {root, "nowhere", fs.ErrNotExist}, {root, "pipe", fsutil.ErrNotDir},
		{afero.NewOsFs(), filepath.Join(top, "nowhere"), fs.ErrNotExist}, {afero.NewOsFs(), filepath.Join(top, "pipe"), fsutil.ErrNotDir},
	} {
		l := millrace.Library{Dirs: []millrace.LibraryDir{{Name: "project", FS: test.fs, Path: test.path}, user}}
		if p, err := l.Load(t.Context(), "fix"); !errors.Is(err, test.want) {
			t.Errorf("%s: %q, %v, want %v", test.path, p.Name(), err, test.want)
		}
	}
}

// A file that may not be read is an error, and hides files with the same name elsewhere.
func TestPermissions(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root may read everything")
	}
	top := t.TempDir()
	closed, file := filepath.Join(top, "closed"), filepath.Join(top, "open", "fix.json")
	for _, err := range []error{
		os.Mkdir(closed, 0o700), os.WriteFile(filepath.Join(closed, "fix.json"), []byte(text("fix")), 0o644), os.Chmod(closed, 0),
		os.Mkdir(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text("fix")), 0),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = os.Chmod(closed, 0o700) }) // so that it can be removed
	user := userDir(t, "fix.json", text("user's"))
	for _, dir := range []string{closed, filepath.Dir(file)} {
		l := millrace.Library{Dirs: []millrace.LibraryDir{{Name: "project", FS: afero.NewOsFs(), Path: dir}, user}}
		if p, err := l.Load(t.Context(), "fix"); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s: %q, %v", dir, p.Name(), err)
		}
	}
}
