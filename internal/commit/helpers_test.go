// The names of the test files contain the phase: verify, apply, undo, recover, lock, statedir. Those that begin with
// "every" try something at every operation of all phases: a kill, a power cut, a fault, another program.
package commit_test

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/guard"
	"github.com/millrace-go/millrace/internal/modes"
	"github.com/millrace-go/millrace/internal/raise"
	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/millrace-go/millrace/internal/stage"
)

const stateDir = ".millrace"

var testKey = []byte("a key for tests, of thirty-two b")

// backends are the file systems on which everything must work: with all abilities, in memory, and with none at all.
func backends() map[string]func(t testing.TB) afero.Fs {
	return map[string]func(t testing.TB) afero.Fs{
		"root":   rootFs,
		"memory": func(t testing.TB) afero.Fs { return raised(t, afero.NewMemMapFs()) },
		"plain":  func(t testing.TB) afero.Fs { return errorfs.Plain(rootFs(t)) },
		"rawmem": func(testing.TB) afero.Fs { return afero.NewMemMapFs() },
	}
}

func rootFs(t testing.TB) afero.Fs {
	t.Helper()
	r, err := rootfs.Open(fstest.TempDir(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func raised(t testing.TB, fsys afero.Fs) afero.Fs {
	t.Helper()
	made, err := raise.FS(fsys)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// longAgo is the time of all files that must not look as if just written.
var longAgo = time.Date(2020, 2, 3, 4, 5, 6, 789_000_000, time.UTC)

// plant makes files: "path" a file, "path/" a directory, "path -> target" a link, "path 0600" with a mode. The content
// of a file is its path and the text after "=".
func plant(t testing.TB, fsys afero.Fs, specs ...string) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, spec := range specs {
		name, content, _ := strings.Cut(spec, "=")
		name, target, isLink := strings.Cut(name, " -> ")
		mode := fs.FileMode(0o644)
		if n, m, ok := strings.Cut(name, " "); ok {
			name = n
			_, err := fmt.Sscanf(m, "%o", &mode)
			must(err)
		}
		must(fsys.MkdirAll(path.Dir(name), 0o755))
		switch {
		case isLink:
			must(fsys.(afero.Linker).SymlinkIfPossible(target, name))
		case strings.HasSuffix(name, "/"):
			must(fsys.MkdirAll(strings.TrimSuffix(name, "/"), 0o755))
		default:
			must(afero.WriteFile(fsys, name, []byte(name+content), mode))
			must(fsys.Chmod(name, mode))
			must(fsys.Chtimes(name, longAgo, longAgo))
		}
	}
}

// snapshot describes a tree, one line per path, without the state directory. inodes adds their numbers.
func snapshot(t testing.TB, fsys afero.Fs, inodes bool) map[string]string {
	t.Helper()
	all := make(map[string]string)
	var walk func(dir string)
	walk = func(dir string) {
		f, err := fsys.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		names, err := f.Readdirnames(-1)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(names)
		for _, n := range names {
			p := path.Join(dir, n)
			if p == stateDir {
				continue
			}
			all[p] = describe(t, fsys, p, inodes)
			if strings.HasPrefix(all[p], "dir") {
				walk(p)
			}
		}
	}
	walk(".")
	return all
}

func describe(t testing.TB, fsys afero.Fs, p string, inodes bool) string {
	t.Helper()
	var info fs.FileInfo
	var err error
	if l, ok := fsys.(afero.Lstater); ok {
		info, _, err = l.LstatIfPossible(p)
	} else {
		info, err = fsys.Stat(p)
	}
	if err != nil {
		t.Fatal(err)
	}
	id := ""
	if ident, ok := fsys.(capability.Identifier); ok && inodes && !info.IsDir() {
		if i, ok := ident.IdentityOf(info); ok {
			id = fmt.Sprintf(" #%d/%d", i.Ino, i.Nlink)
		}
	}
	switch modes.KindOf(info.Mode()) {
	case change.Dir:
		return fmt.Sprintf("dir %v", info.Mode()&modes.PermBits)
	case change.Symlink:
		target, err := fsys.(afero.LinkReader).ReadlinkIfPossible(p)
		if err != nil {
			t.Fatal(err)
		}
		return "link " + target + id
	default:
		data, err := afero.ReadFile(fsys, p)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("file %v %s %q%s", info.Mode()&modes.PermBits, info.ModTime().UTC().Format(time.RFC3339Nano), data, id)
	}
}

func untimed(m map[string]string) map[string]string {
	out := maps.Clone(m)
	for k, v := range out {
		if strings.HasPrefix(v, "file ") {
			parts := strings.SplitN(v, " ", 4)
			out[k] = parts[0] + " " + parts[1] + " " + parts[3]
		}
	}
	return out
}

func options(fsys afero.Fs) commit.Options {
	return commit.Options{FS: fsys, StateDir: stateDir, Key: testKey, NoSync: true}
}

// staged returns the changes that do makes on a stage over fsys.
func staged(t testing.TB, fsys afero.Fs, do func(s *stage.Stage) error) []change.Change {
	t.Helper()
	s := stage.New(fsys)
	s.SetGuard(guard.Policy{Reserved: stateDir})
	s.RefuseMounted(true)
	t.Cleanup(func() { s.Close() })
	if err := do(s); err != nil {
		t.Fatal(err)
	}
	changes, err := s.Changes()
	if err != nil {
		t.Fatal(err)
	}
	return changes
}

// preview returns the tree after the commit, as the stage sees it.
func preview(t testing.TB, fsys afero.Fs, do func(s *stage.Stage) error) map[string]string {
	t.Helper()
	s := stage.New(fsys)
	s.SetGuard(guard.Policy{Reserved: stateDir})
	defer s.Close()
	if err := do(s); err != nil {
		t.Fatal(err)
	}
	return untimed(snapshot(t, s, false))
}

func steps(all ...func(s *stage.Stage) error) func(s *stage.Stage) error {
	return func(s *stage.Stage) error {
		for _, do := range all {
			if err := do(s); err != nil {
				return err
			}
		}
		return nil
	}
}

func write(name, content string) func(*stage.Stage) error {
	return func(s *stage.Stage) error { return afero.WriteFile(s, name, []byte(content), 0o644) }
}

func remove(name string) func(*stage.Stage) error {
	return func(s *stage.Stage) error { return s.RemoveAll(name) }
}

func rename(from, to string) func(*stage.Stage) error {
	return func(s *stage.Stage) error { return s.Rename(from, to) }
}

func mkdir(name string) func(*stage.Stage) error {
	return func(s *stage.Stage) error { return s.Mkdir(name, 0o755) }
}

func chmod(name string, m fs.FileMode) func(*stage.Stage) error {
	return func(s *stage.Stage) error { return s.Chmod(name, m) }
}

func touch(name string, at time.Time) func(*stage.Stage) error {
	return func(s *stage.Stage) error { return s.Chtimes(name, at, at) }
}

func symlink(target, name string) func(*stage.Stage) error {
	return func(s *stage.Stage) error { return s.SymlinkIfPossible(target, name) }
}

var bg = context.Background()

type fsInfo = fs.FileInfo

func lstat(fsys afero.Fs, name string) (fs.FileInfo, bool, error) {
	if l, ok := fsys.(afero.Lstater); ok {
		return l.LstatIfPossible(name)
	}
	info, err := fsys.Stat(name)
	return info, false, err
}
