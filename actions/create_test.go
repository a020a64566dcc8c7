package actions_test

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fsutil"
)

func TestCreate(t *testing.T) {
	for name, base := range bases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, base(t), files{"old.txt": "old", "same.txt": "a\r\nb"})
			out := b.must("s1", actions.Create{Path: "./gen/x/y.go", Content: "package y\r\n\xc3\x28"}, nil)
			equal(t, "outcome", out, actions.Outcome{Files: []string{"gen/x/y.go"}})
			out = b.must("s2", actions.Create{Paths: []string{"old.txt", "same.txt", "./old.txt", "new.txt"}, Content: "a\r\nb", Overwrite: true}, nil)
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

// TestCreateMode: a file that is overwritten keeps its mode, and a link stays a link.
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
				// The stage is that of a step, which takes everything back if it fails.
				savepoint := b.stage.Savepoint()
				_, err := b.run("s", test.create, nil)
				wantError(t, err, test.text)
				if !errors.Is(err, test.is) {
					t.Errorf("%v is no %v", err, test.is)
				}
				if _, ok := errors.AsType[*actions.EditFilesError](err); !ok {
					t.Errorf("%T is no *EditFilesError", err)
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
