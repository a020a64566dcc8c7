package actions_test

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/fsutil"
)

func TestCreate(t *testing.T) {
	for name, base := range bases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, base(t), files{"old.txt": "old", "same.txt": "a\r\nb"})
			out := b.must("s1", actions.Create{Path: "./gen/x/y.go", Content: "package y\r\n\xc3\x28"}, nil)
			equal(t, "outcome", out, actions.Outcome{Files: []string{"gen/x/y.go"}})
			out = b.must("s2", actions.Create{Paths: []string{"old.txt", "same.txt", "./old.txt", "new.txt"}, Content: "a\r\nb",
				Overwrite: true}, nil)
			equal(t, "outcome", out, actions.Outcome{Files: []string{"old.txt", "same.txt", "new.txt"}})
			b.must("s3", actions.Create{Path: "empty"}, nil)
			b.wantWarning()
			b.must("s4", actions.Create{Paths: []string{}}, nil)
			b.wantWarning("the list of paths is empty")
			b.wantTree(files{"gen/x/y.go": "package y\r\n\xc3\x28", "old.txt": "a\r\nb", "same.txt": "a\r\nb", "new.txt": "a\r\nb", "empty": ""})
			changes, err := b.stage.Changes()
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range changes {
				if c.Path == "same.txt" {
					t.Error("a file that has the content already was touched")
				}
			}
		})
	}
}

// TestCreateMode: an overwritten file keeps its mode, and a link stays a link.
func TestCreateMode(t *testing.T) {
	root := bases["root"](t)
	write(t, root, files{"a.sh": "one\n", "link@": "a.sh"})
	if err := root.Chmod("a.sh", 0o710); err != nil {
		t.Fatal(err)
	}
	b := newBench(t, root, nil)
	b.must("s", actions.Create{Path: "link", Content: "two\n", Overwrite: true}, nil)
	b.wantTree(files{"a.sh": "two\n", "link@": "a.sh"})
	if info, err := b.stage.Stat("a.sh"); err != nil || info.Mode() != fs.FileMode(0o710) {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// TestMode: create and edit_files set the named mode of new and existing files, with any umask, and through a link. A
// tree that is already right is not changed, and a new mode alone is a change.
func TestMode(t *testing.T) {
	for name, of := range map[string]func(path, mode string) actions.Action{
		"create": func(path, mode string) actions.Action {
			return actions.Create{Path: path, Content: "x\n", Overwrite: true, Mode: mode}
		},
		"write files": func(path, mode string) actions.Action {
			return actions.WriteFiles(map[string]string{path: "x\n"}).WithMode(mode)
		},
	} {
		for _, test := range []struct {
			path, mode string
			want       fs.FileMode
			changes    int
		}{
			{"d/new.sh", "0755", 0o755, 1},
			{"new.sh", "777", 0o777, 1},
			{"key", "0600", 0o600, 1},
			{"old.sh", "0755", 0o755, 1},
			{"same.sh", "0755", 0o755, 1},
			{"same.sh", "0640", 0o640, 0},
			{"same.sh", "", 0o640, 0},
			{"link", "0700", 0o700, 1},
		} {
			t.Run(name+" "+test.path+" "+test.mode, func(t *testing.T) {
				root := bases["root"](t)
				write(t, root, files{"old.sh": "one\n", "same.sh": "x\n", "link@": "same.sh"})
				for _, path := range []string{"old.sh", "same.sh"} {
					if err := root.Chmod(path, 0o640); err != nil {
						t.Fatal(err)
					}
				}
				b := newBench(t, root, nil)
				place := strings.Replace(test.path, "link", "same.sh", 1)
				b.must("s", of(test.path, test.mode), []string{test.path})
				if info, err := b.stage.Stat(place); err != nil || info.Mode() != test.want {
					t.Errorf("mode %v, %v, want %v", info.Mode(), err, test.want)
				}
				changed, err := b.stage.Changes()
				changed = slices.DeleteFunc(changed, func(c change.Change) bool { return c.New.Kind.String() == "dir" })
				if err != nil || len(changed) != test.changes {
					t.Errorf("changes %+v, %v, want %d", changed, err, test.changes)
				}
				if text, err := afero.ReadFile(b.stage, place); err != nil || string(text) != "x\n" {
					t.Errorf("text %q, %v", text, err)
				}
			})
		}
	}
}

// TestModeRefused: a mode has only permissions, and the owner may read.
func TestModeRefused(t *testing.T) {
	for _, mode := range []string{
		"7", "75", "07555", "4755", "1777", "0888", "888", "u+x", "-755", "+755", "0x1ff", "0o755", " 755", "0000", "0311", "755 ", "+75",
	} {
		for name, a := range map[string]actions.Action{
			"/mode":                      actions.Create{Path: "new", Content: "x", Mode: mode},
			"/file_edits/0/edits/0/mode": actions.WriteFiles(map[string]string{"new": "x"}).WithMode(mode),
		} {
			var c actions.Check
			a.(actions.Validator).Validate(&c)
			if len(c.Problems) != 1 || c.Problems[0].Param != name || c.Problems[0].Code != "bad_mode" {
				t.Errorf("%q at %s: problems %+v", mode, name, c.Problems)
			}
			b := inMemory(t, nil)
			if _, err := b.run("s", a, nil); err == nil {
				t.Errorf("%q at %s: it ran", mode, name)
			}
			b.wantTree(files{})
		}
	}
	var c actions.Check
	actions.EditFiles{FileEdits: []actions.FileEdits{{Path: "a", Edits: []actions.LineEdit{
		{Command: "append", NewStr: new(string), Mode: "0755"},
	}}}}.Validate(&c)
	if len(c.Problems) != 1 || !strings.Contains(c.Problems[0].Message, "append does not take 'mode'") {
		t.Errorf("mode of append: %+v", c.Problems)
	}
}

func TestCreateErrors(t *testing.T) {
	for name, base := range bases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, base(t), files{"a.txt": "x", "d/b.txt": "x"})
			for _, test := range []struct {
				create actions.Create
				text   string
				is     error
			}{
				{actions.Create{Path: "a.txt"}, "a.txt: file already exists; set overwrite to replace its text", fs.ErrExist},
				{actions.Create{Path: "d"}, "d: file already exists; set overwrite to replace its text", fs.ErrExist},
				{actions.Create{Path: "d", Overwrite: true}, "d: is a directory", fsutil.ErrIsDir},
				{actions.Create{Path: "n/"}, "n: is a directory", fsutil.ErrIsDir},
				{actions.Create{Path: "a.txt/x"}, "a.txt/x: not a directory", fsutil.ErrNotDir},
				{actions.Create{Path: "../x"}, "../x: path escapes from the root of the tree", fsutil.ErrEscape},
				{
					actions.Create{Paths: []string{"n/1", "a.txt", "n/2", ".git/config", "d/b.txt"}},
					"a.txt: file already exists; set overwrite to replace its text; " +
						".git/config: access denied: version control directories are not written to; " +
						"d/b.txt: file already exists; set overwrite to replace its text", fsutil.ErrProtected,
				},
			} {
				// This is the stage of a step, which undoes all its changes if it fails.
				savepoint := b.stage.Savepoint()
				_, err := b.run("s", test.create, nil)
				wantError(t, err, test.text)
				if !errors.Is(err, test.is) {
					t.Errorf("%v is no %v", err, test.is)
				}
				if _, ok := errors.AsType[*actions.FileError](err); !ok {
					t.Errorf("%T is not a *FileError", err)
				}
				b.stage.Rollback(savepoint)
			}
			b.wantTree(files{"a.txt": "x", "d/b.txt": "x"})
		})
	}
	b := newBench(t, bases["root"](t), files{"dangling@": "gone"})
	for _, overwrite := range []bool{false, true} {
		if _, err := b.run("s", actions.Create{Path: "dangling", Overwrite: overwrite}, nil); err == nil {
			t.Error("a link that leads nowhere was written through")
		}
	}
	b.wantTree(files{"dangling@": "gone"})
}
