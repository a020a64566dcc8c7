package scenarios_test

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/millrace-go/millrace/internal/stage"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/internal/txtarfs"
)

// TestNamespace moves names in all the ways that are hard to show as a diff, to commit, and to undo.
func TestNamespace(t *testing.T) {
	in := []txtarfs.File{{Name: "a.txt", Data: []byte("a\n")}, {Name: "b.txt", Data: []byte("b\n")}, {Name: "d/x", Data: []byte("x\n")}}
	for name, change := range map[string]func(s *stage.Stage) error{
		"moved away, another in its place": func(s *stage.Stage) error {
			return first(s.Rename("a.txt", "c.txt"), afero.WriteFile(s, "a.txt", []byte("new\n"), 0o644))
		},
		"moved over another": func(s *stage.Stage) error { return s.Rename("a.txt", "b.txt") },
		"swapped": func(s *stage.Stage) error {
			return first(s.Rename("a.txt", "t"), s.Rename("b.txt", "a.txt"), s.Rename("t", "b.txt"))
		},
		"moved and edited": func(s *stage.Stage) error {
			return first(s.Rename("a.txt", "e.txt"), s.Edit("e.txt", []change.Splice{{Off: 1, Text: []byte("bc")}}))
		},
		"directory moved, a file in its place": func(s *stage.Stage) error {
			return first(s.Rename("d", "e"), afero.WriteFile(s, "d", []byte("file\n"), 0o644))
		},
		"file moved below itself": func(s *stage.Stage) error {
			return first(s.Rename("a.txt", "t"), s.Mkdir("a.txt", 0o755), s.Rename("t", "a.txt/z"))
		},
		"file moved over a removed directory": func(s *stage.Stage) error {
			return first(s.RemoveAll("d"), s.Rename("a.txt", "d"))
		},
	} {
		for backend, open := range suite.Backends() {
			t.Run(name+"/"+backend, func(t *testing.T) {
				fsys := open(t)
				if err := txtarfs.Write(fsys, in); err != nil {
					t.Fatal(err)
				}
				p := millrace.New("names").Step("s", suite.Action{Do: func(_ context.Context, c *actions.Call) (actions.Outcome, error) {
					return actions.Outcome{}, change((*stage.Stage)(c.FS))
				}}).MustBuild()
				x := millrace.Executor{State: millrace.State{NoSync: true}}
				plan, err := x.Plan(t.Context(), fsys, p)
				if err != nil {
					t.Fatal(err)
				}
				diff := plan.Diff()
				res, err := plan.Commit(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				got, err := txtarfs.Read(fsys, ".millrace")
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(txtarfs.Format(got), txtarfs.Format(suite.GitApply(t, in, diff))); d != "" {
					t.Errorf("git apply differs (-commit +git):\n%s\n%s", d, diff)
				}
				if _, err := x.Restore(t.Context(), fsys, res.BackupID); err != nil {
					t.Fatal(err)
				}
				suite.CheckTree(t, "after the restore", fsys, in)
			})
		}
	}
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// A delete resolves the targets of its names at the beginning of the step, even if the same step deletes a link on the
// way, or its directory.
func TestDeleteThroughALinkThatGoesToo(t *testing.T) {
	for _, files := range [][]string{{"d", "link/sub"}, {"link/sub", "d"}, {"link", "link/a", "d"}, {"d", "link", "link/sub/b"}, {"link/sub", "d/sub", "d"}} {
		dir := t.TempDir()
		fsys, err := rootfs.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"d/a", "d/sub/b", "keep"} {
			if err := errors.Join(fsys.MkdirAll(path.Dir(name), 0o755), afero.WriteFile(fsys, name, []byte(name), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		if err := fsys.SymlinkIfPossible("d", "link"); err != nil {
			t.Skip("symbolic links are not supported here: ", err)
		}
		p := millrace.New("p").Step("gone", actions.Delete{Files: files, Recursive: true}).MustBuild()
		res, err := millrace.Run(t.Context(), fsys, p)
		if err != nil {
			t.Errorf("%v: %v", files, err)
			continue
		}
		want := []string{"d/a", "d/sub/b"}
		if slices.Contains(files, "link") {
			want = append(want, "link")
		}
		if got := res.FilesChanged.Deleted; !slices.Equal(got, want) {
			t.Errorf("%v: deleted %v, want %v", files, got, want)
		}
		if _, err := fsys.Stat("d"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v: d exists: %v", files, err)
		}
		if _, err := (millrace.Executor{}).Restore(t.Context(), fsys, res.BackupID); err != nil {
			t.Errorf("%v: %v", files, err)
		}
		if data, err := afero.ReadFile(fsys, "d/sub/b"); err != nil || string(data) != "d/sub/b" {
			t.Errorf("%v: restored %q, %v", files, data, err)
		}
		_ = fsys.Close() // of a test
	}
}
