package backups_test

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"path"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/backups"
	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/guard"
	"github.com/millrace-go/millrace/internal/raise"
	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/millrace-go/millrace/internal/stage"
)

const stateDir = ".millrace"

var (
	bg      = context.Background()
	testKey = []byte("a key for tests, of thirty-two b")
	longAgo = time.Date(2019, 5, 6, 7, 8, 9, 123_000_000, time.UTC)
)

func backends(t *testing.T) map[string]afero.Fs {
	t.Helper()
	root, err := rootfs.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	mem, err := raise.FS(afero.NewMemMapFs())
	if err != nil {
		t.Fatal(err)
	}
	return map[string]afero.Fs{"root": root, "memory": mem}
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, fsys afero.Fs, name, content string, mode fs.FileMode) {
	t.Helper()
	must(t, fsys.MkdirAll(path.Dir(name), 0o755), afero.WriteFile(fsys, name, []byte(content), 0o644),
		fsys.Chmod(name, mode), fsys.Chtimes(name, longAgo, longAgo))
}

// tree describes everything outside the state directory.
func tree(t *testing.T, fsys afero.Fs) map[string]string {
	t.Helper()
	all := make(map[string]string)
	err := afero.Walk(fsys, ".", func(p string, info fs.FileInfo, err error) error {
		switch {
		case err != nil:
			return err
		case p == stateDir:
			return fs.SkipDir
		case p == ".":
			return nil
		case info.IsDir():
			all[p] = info.Mode().String()
			return nil
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := fsys.(afero.LinkReader).ReadlinkIfPossible(p)
			all[p] = "-> " + target
			return err
		}
		data, err := afero.ReadFile(fsys, p)
		all[p] = info.Mode().String() + info.ModTime().UTC().Format(time.RFC3339Nano) + string(data)
		return err
	})
	must(t, err)
	return all
}

func options(fsys afero.Fs) commit.Options {
	return commit.Options{FS: fsys, StateDir: stateDir, Key: testKey, NoSync: true, Pipeline: "test"}
}

// change commits the changes of do on a stage and returns the id of the backup.
func change(t *testing.T, o commit.Options, do func(s *stage.Stage) error) string {
	t.Helper()
	s := stage.New(o.FS)
	defer s.Close()
	s.SetGuard(guard.Policy{Reserved: stateDir})
	must(t, do(s))
	changes, err := s.Changes()
	must(t, err)
	rep, err := commit.Apply(bg, o, changes)
	must(t, err)
	return rep.BackupID
}

func open(t *testing.T, fsys afero.Fs) *backups.Store {
	t.Helper()
	s, err := backups.Open(fsys, stateDir, testKey)
	must(t, err)
	return s
}

// restore undoes a commit and returns the id of the new backup.
func restore(t *testing.T, fsys afero.Fs, id string) (string, error) {
	t.Helper()
	b, err := open(t, fsys).Load(id)
	must(t, err)
	changes, err := b.Changes(bg, nil)
	must(t, err)
	rep, err := commit.Apply(bg, options(fsys), changes)
	return rep.BackupID, err
}

func write(s *stage.Stage, name, content string) error {
	return afero.WriteFile(s, name, []byte(content), 0o644)
}

// TestRestore undoes every kind of change, redoes it by undoing the undo, and undoes it again.
func TestRestore(t *testing.T) {
	t.Parallel()
	tests := map[string]func(s *stage.Stage) error{
		"same base name": func(s *stage.Stage) error {
			return errors.Join(write(s, "a/main.go", "A"), write(s, "b/main.go", "B"))
		},
		"delete": func(s *stage.Stage) error { return errors.Join(s.Remove("run.sh"), s.RemoveAll("a")) },
		"create": func(s *stage.Stage) error { return errors.Join(s.MkdirAll("n/n", 0o750), write(s, "n/n/f", "new")) },
		"rename": func(s *stage.Stage) error { return errors.Join(s.Rename("run.sh", "go.sh"), s.Rename("a", "c")) },
		"rename and edit": func(s *stage.Stage) error {
			return errors.Join(s.Rename("run.sh", "go.sh"), write(s, "go.sh", "edited"), s.Chmod("go.sh", 0o600))
		},
		"swap": func(s *stage.Stage) error {
			return errors.Join(s.Rename("a/main.go", "t"), s.Rename("b/main.go", "a/main.go"), s.Rename("t", "b/main.go"))
		},
		"rename over": func(s *stage.Stage) error { return s.Rename("a/main.go", "b/main.go") },
		"chain": func(s *stage.Stage) error {
			return errors.Join(s.Rename("b/main.go", "c"), s.Rename("a/main.go", "b/main.go"))
		},
		"mode and time": func(s *stage.Stage) error {
			return errors.Join(s.Chmod("run.sh", 0o600), s.Chmod("empty", 0o700), s.Chtimes("b/main.go", time.Unix(1, 0), time.Unix(1, 0)))
		},
		"type": func(s *stage.Stage) error {
			return errors.Join(s.RemoveAll("a"), write(s, "a", "file"), s.Remove("run.sh"), s.Mkdir("run.sh", 0o755), write(s, "run.sh/x", "x"))
		},
		"rename and put the same in its place": func(s *stage.Stage) error {
			return errors.Join(s.Rename("twin1", "c"), s.Rename("twin2", "twin1"))
		},
	}
	tests["rename over a twin"] = func(s *stage.Stage) error { return s.Rename("twin1", "twin2") }
	for name, do := range tests {
		for fsName, fsys := range backends(t) {
			t.Run(fsName+"/"+name, func(t *testing.T) {
				t.Parallel()
				put(t, fsys, "a/main.go", "package a", 0o644)
				put(t, fsys, "b/main.go", "package b", 0o640)
				put(t, fsys, "run.sh", "#!", 0o755)
				put(t, fsys, "twin1", "same", 0o644)
				put(t, fsys, "twin2", "same", 0o644)
				must(t, fsys.Mkdir("empty", 0o755))
				old := tree(t, fsys)
				id := change(t, options(fsys), do)
				changed := tree(t, fsys)
				if maps.Equal(old, changed) {
					t.Fatal("nothing was changed")
				}
				for range 2 {
					undo, err := restore(t, fsys, id)
					must(t, err)
					if diff := cmp.Diff(old, tree(t, fsys)); diff != "" {
						t.Fatalf("not as before (-want +got):\n%s", diff)
					}
					id, err = restore(t, fsys, undo)
					must(t, err)
					if diff := cmp.Diff(changed, tree(t, fsys)); diff != "" {
						t.Fatalf("undoing the undo (-want +got):\n%s", diff)
					}
				}
			})
		}
	}
}

func TestRestore_links(t *testing.T) {
	t.Parallel()
	fsys := backends(t)["root"]
	link := fsys.(afero.Linker)
	put(t, fsys, "f", "f", 0o644)
	must(t, link.SymlinkIfPossible("f", "l"), link.SymlinkIfPossible("nowhere", "m"))
	old := tree(t, fsys)
	id := change(t, options(fsys), func(s *stage.Stage) error {
		return errors.Join(s.Remove("l"), s.Rename("m", "k"), s.SymlinkIfPossible("f", "n"), s.Remove("f"), s.SymlinkIfPossible("n", "f"))
	})
	_, err := restore(t, fsys, id)
	must(t, err)
	if diff := cmp.Diff(old, tree(t, fsys)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestRestore_conflict(t *testing.T) {
	t.Parallel()
	for name, fsys := range backends(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			put(t, fsys, "a", "a", 0o644)
			put(t, fsys, "b", "b", 0o644)
			put(t, fsys, "other", "o", 0o644)
			id := change(t, options(fsys), func(s *stage.Stage) error { return errors.Join(write(s, "a", "A"), write(s, "b", "B")) })
			put(t, fsys, "b", "later", 0o644)
			put(t, fsys, "other", "later", 0o644)
			now := tree(t, fsys)
			_, err := restore(t, fsys, id)
			c, ok := errors.AsType[*commit.Conflict](err)
			if !ok || len(c.Paths) != 1 || c.Paths[0].Path != "b" {
				t.Errorf("error is %v", err)
			}
			if diff := cmp.Diff(now, tree(t, fsys)); diff != "" {
				t.Errorf("tree was written to (-want +got):\n%s", diff)
			}
			put(t, fsys, "b", "B", 0o644)
			if _, err := restore(t, fsys, id); err != nil {
				t.Error(err)
			}
			if data, _ := afero.ReadFile(fsys, "other"); string(data) != "later" {
				t.Error("a later edit of another file was lost")
			}
		})
	}
}

func TestTrash(t *testing.T) {
	t.Parallel()
	for name, fsys := range backends(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			put(t, fsys, "d/soft", "s", 0o600)
			put(t, fsys, "hard", "h", 0o644)
			put(t, fsys, "edited", "e", 0o644)
			o := options(fsys)
			o.DropBackup = true
			id := change(t, o, func(s *stage.Stage) error {
				return errors.Join(s.RemoveAll("d"), s.Discard("hard"), write(s, "edited", "E"))
			})
			b, err := open(t, fsys).Load(id)
			must(t, err)
			if info := b.Info(); info.Files != 1 || info.Bytes != 1 || !info.Trash || info.Pipeline != "test" {
				t.Errorf("info %+v", info)
			}
			if diff := cmp.Diff([]string{"edited", "hard"}, b.NotKept()); diff != "" {
				t.Errorf("not kept (-want +got):\n%s", diff)
			}
			if found := images(t, fsys, id); len(found) != 1 {
				t.Errorf("kept: %v", found)
			}
			_, err = restore(t, fsys, id)
			must(t, err)
			if data, _ := afero.ReadFile(fsys, "d/soft"); string(data) != "s" {
				t.Errorf("restored %q", data)
			}
			if data, _ := afero.ReadFile(fsys, "edited"); string(data) != "E" {
				t.Errorf("edited is %q", data)
			}
		})
	}
}

func TestMovedAndWritten(t *testing.T) {
	t.Parallel()
	fsys := backends(t)["root"]
	put(t, fsys, "a", "a", 0o644)
	id := change(t, options(fsys), func(s *stage.Stage) error { return s.Rename("a", "b") })
	f, err := fsys.OpenFile("b", 2, 0)
	must(t, err)
	_, err = f.WriteString("later")
	must(t, err, f.Close())
	_, err = restore(t, fsys, id)
	if _, ok := errors.AsType[*commit.Conflict](err); !ok {
		t.Errorf("error is %v, not a conflict", err)
	}
}
