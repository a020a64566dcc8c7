package actions_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/fsutil"
)

func TestCopyAndRename(t *testing.T) {
	tree := files{"src/a.txt": "A", "src/sub/b.tar.gz": "B", ".rc": "R", "o/old.txt": "O"}
	both := []string{"src/a.txt", "src/sub/b.tar.gz"}
	for _, test := range []struct {
		name  string
		copy  actions.Copy
		files []string
		want  []string
	}{
		{"directory", actions.Copy{Destination: "new/dir"}, both, []string{"new/dir/a.txt", "new/dir/b.tar.gz"}},
		{"root", actions.Copy{Destination: "."}, both, []string{"a.txt", "b.tar.gz"}},
		{"paths", actions.Copy{Destination: "o", PreservePaths: true}, both, []string{"o/src/a.txt", "o/src/sub/b.tar.gz"}},
		{"paths from a base", actions.Copy{Destination: "./o/", PreservePaths: true, Base: "./src/"}, both, []string{"o/a.txt", "o/sub/b.tar.gz"}},
		{"single name", actions.Copy{To: "x/y.txt"}, both[:1], []string{"x/y.txt"}},
		{"parts", actions.Copy{To: "{{dir}}/{{stem}}_2{{ext}}"}, both, []string{"src/a_2.txt", "src/sub/b.tar_2.gz"}},
		{"name", actions.Copy{To: "o/x-{{ name }}"}, both, []string{"o/x-a.txt", "o/x-b.tar.gz"}},
		{"hidden file in the root", actions.Copy{To: "{{dir}}/{{stem}}.bak{{ext}}"}, []string{".rc"}, []string{".rc.bak"}},
		{"parts below a destination", actions.Copy{Destination: "o", To: "{{dir}}/{{stem}}", Base: "src"}, both, []string{"o/a", "o/sub/b.tar"}},
		{"nothing", actions.Copy{Destination: "o"}, nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			for name, base := range bases {
				t.Run(name, func(t *testing.T) {
					b := newBench(t, base(t), tree)
					out := b.must("s", test.copy, test.files)
					equal(t, "files", out.Files, test.want)
					want := maps.Clone(tree)
					for i, target := range test.want {
						want[target] = tree[test.files[i]]
					}
					b.wantTree(want)

					b = newBench(t, base(t), tree)
					out = b.must("s", renameLike(test.copy), test.files)
					equal(t, "files", out.Files, test.want)
					renames := map[string]string{}
					for i, target := range test.want {
						renames[test.files[i]] = target
						delete(want, test.files[i])
					}
					equal(t, "renames", out.Renames, renames)
					b.wantTree(want)
				})
			}
		})
	}
}

// TestCollisions checks that all collisions are found, and that nothing is staged.
func TestCollisions(t *testing.T) {
	tree := files{"a/x.txt": "1", "b/x.txt": "2", "b/y.txt": "3", "o/y.txt": "4", "o/dir/z": "5", "dir": "6", "file": "7"}
	for _, test := range []struct {
		name         string
		copy         actions.Copy
		files        []string
		copied, move string // errors; "" for none
	}{
		{"two with one target", actions.Copy{Destination: "o"}, []string{"b/x.txt", "a/x.txt"},
			"o/x.txt would be made from more than one file (from a/x.txt, b/x.txt)", "="},
		{"all are listed", actions.Copy{Destination: "o", Overwrite: true}, []string{"a/x.txt", "dir", "b/x.txt"},
			"o/dir is a directory (from dir); o/x.txt would be made from more than one file (from a/x.txt, b/x.txt)", "="},
		{"exists", actions.Copy{Destination: "o"}, []string{"b/y.txt", "a/x.txt"}, "o/y.txt exists already (from b/y.txt)", "="},
		{"may be overwritten", actions.Copy{Destination: "o", Overwrite: true}, []string{"b/y.txt"}, "", ""},
		{"itself", actions.Copy{Destination: "a"}, []string{"a/x.txt"}, "a/x.txt is the file itself (from a/x.txt)", "="},
		{"itself, although it may be overwritten", actions.Copy{Destination: "a", Overwrite: true}, []string{"a/x.txt"}, "a/x.txt is the file itself (from a/x.txt)", "="},
		{"destination is a file", actions.Copy{Destination: "file"}, []string{"a/x.txt"}, "file/x.txt would lie inside file, which is not a directory (from a/x.txt)", "="},
		{"inside of itself", actions.Copy{To: "file/x"}, []string{"file"}, "file/x would lie inside file, which cannot be put into itself (from file)", "="},
		{"inside of another target", actions.Copy{To: "p/{{stem}}"}, []string{"dir"}, "", ""},
		{"one target inside of another", actions.Copy{To: "{{stem}}/{{dir}}"}, []string{"a/x.txt", "b/x.txt"}, "", ""},
		{"one target inside of another, in fact", actions.Copy{To: "new/{{dir}}"}, []string{"a/x.txt", "file"},
			"new/a would lie inside new, which is a target too (from a/x.txt)", "="},
		{"a link in place of the file", actions.Copy{Destination: "o", To: "l"}, []string{"file"}, "o/l is a symbolic link, which is never replaced (from file)", "="},
		{"a chain", actions.Copy{To: "{{dir}}/y.txt", Overwrite: true}, []string{"b/x.txt"}, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.move == "=" {
				test.move = test.copied
			}
			for _, a := range []struct {
				action actions.Action
				want   string
			}{{test.copy, test.copied}, {renameLike(test.copy), test.move}} {
				base := bases["root"](t)
				write(t, base, files{"o/l@": "../file"})
				b := newBench(t, base, tree)
				before := b.tree()
				_, err := b.run("s", a.action, test.files)
				if a.want == "" {
					if err != nil {
						t.Errorf("%s: %v", a.action.Spec().Name, err)
					}
					continue
				}
				wantError(t, err, a.want)
				if !errors.Is(err, fs.ErrExist) {
					t.Errorf("%v is not about collisions", err)
				}
				b.wantTree(before)
			}
		})
	}
}

// TestCopyOntoSource: the copied content would depend on the order, so the copy is refused; a rename makes room.
func TestCopyOntoSource(t *testing.T) {
	tree := files{"x/a": "1", "x/aa": "2"}
	b := inMemory(t, tree)
	_, err := b.run("s", actions.Copy{To: "{{dir}}/{{name}}a", Overwrite: true}, []string{"x/a", "x/aa"})
	wantError(t, err, "x/aa is to be copied itself (from x/a)")
	b.wantTree(tree)
}

func TestTransferErrors(t *testing.T) {
	b := newBench(t, bases["root"](t), files{"a.txt": "1", "d/b.txt": "2", "dir@": "d", "gone@": "nowhere"})
	before := b.tree()
	for _, test := range []struct {
		copy  actions.Copy
		files []string
		want  string
		is    error
	}{
		{actions.Copy{Destination: "o"}, []string{"a.txt", "no.txt"}, "no.txt: file does not exist", fs.ErrNotExist},
		{actions.Copy{Destination: "o"}, []string{"d"}, "d: is a directory", fsutil.ErrIsDir},
		{actions.Copy{Destination: "../o"}, []string{"a.txt"}, "../o: path escapes from the root of the tree", fsutil.ErrEscape},
		{actions.Copy{Destination: "/o"}, []string{"a.txt"}, "/o: path is absolute, but must be relative to the root of the tree", fsutil.ErrAbsolute},
		{actions.Copy{Destination: "o", To: "../x"}, []string{"a.txt"}, "o/../x: leads out of the destination", nil},
		{actions.Copy{To: "x"}, []string{"a.txt", "d/b.txt"}, "'to' names one file, but there are 2 files; use parts of their names, {{dir}}, {{stem}}, {{ext}} and {{name}}, or destination", nil},
		{actions.Copy{To: "{{base}}"}, []string{"a.txt"}, "'to' has the unknown part {{base}}; there are {{dir}}, {{stem}}, {{ext}} and {{name}}", nil},
		{actions.Copy{Destination: "o", Base: "d", PreservePaths: true}, []string{"a.txt"}, "a.txt: is not below the base 'd'", nil},
	} {
		for _, a := range []actions.Action{test.copy, renameLike(test.copy)} {
			if _, ok := a.(actions.Rename); ok && test.files[0] == "d" {
				continue // a directory is moved with its contents
			}
			_, err := b.run("s", a, test.files)
			wantError(t, err, test.want)
			if test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("%v is no %v", err, test.is)
			}
		}
	}
	_, err := b.run("s", actions.Copy{Destination: "o"}, []string{"dir"})
	wantError(t, err, "dir: is a directory")
	_, err = b.run("s", actions.Copy{Destination: "o"}, []string{"gone"})
	wantError(t, err, "gone: file does not exist")
	_, err = b.run("s", actions.Rename{}, []string{"a.txt"})
	wantError(t, err, "rename action requires 'destination' parameter")
	_, err = b.run("s", actions.Rename{To: "{{dir}}/{{stem}}.new"}, []string{"d/b.txt", "dir/b.txt"})
	if err == nil || !strings.Contains(err.Error(), "under two names") {
		t.Errorf("one file under two names: %v", err)
	}
	b.wantTree(before)
}

// TestLinksAreMovedAndFollowed: copy copies the file, rename moves the link.
func TestLinksAreMovedAndFollowed(t *testing.T) {
	tree := files{"d/a.txt": "A", "l@": "d/a.txt"}
	b := newBench(t, bases["root"](t), tree)
	b.must("s", actions.Copy{To: "copy"}, []string{"l"})
	b.wantTree(files{"d/a.txt": "A", "l@": "d/a.txt", "copy": "A"})
	b = newBench(t, bases["root"](t), tree)
	b.must("s", actions.Rename{To: "moved"}, []string{"l"})
	b.wantTree(files{"d/a.txt": "A", "moved@": "d/a.txt"})
	b = newBench(t, bases["root"](t), tree)
	b.must("s", actions.Delete{}, []string{"l"})
	b.wantTree(files{"d/a.txt": "A"})
}

// TestRenamePermutes renames files to each other's names, in any order.
func TestRenamePermutes(t *testing.T) {
	// {{name}} without its first letter rotates the names "a", "aa", "aaa": each except the first is the target of
	// another.
	names := []string{"x/aaa", "x/aa", "x/a"}
	for _, order := range [][]string{names, {names[2], names[0], names[1]}, {names[1], names[2], names[0]}} {
		b := inMemory(t, files{"x/a": "1", "x/aa": "2", "x/aaa": "3"})
		out := b.must("s", actions.Rename{To: "{{dir}}/{{name}}a"}, order)
		b.wantTree(files{"x/aa": "1", "x/aaa": "2", "x/aaaa": "3"})
		changes, err := b.stage.Changes()
		if err != nil || len(changes) != 3 || len(out.Renames) != 3 {
			t.Fatalf("changes %v, %v, outcome %+v", changes, err, out)
		}
		for _, c := range changes {
			if c.Kind != change.Renamed || c.From+"a" != c.Path {
				t.Errorf("%s %s from %s", c.Kind, c.Path, c.From)
			}
		}
	}
	// {{stem}} and {{dir}} exchanged make a swap: d/e and e/d.
	b := inMemory(t, files{"d/e": "1", "e/d": "2"})
	b.must("s", actions.Rename{To: "{{stem}}/{{dir}}"}, []string{"d/e", "e/d"})
	b.wantTree(files{"d/e": "2", "e/d": "1"})
	// A file with the temporary name is not overwritten.
	b = inMemory(t, files{"d/e": "1", "e/d": "2", "d/.millrace-aside-0": "3"})
	b.must("s", actions.Rename{To: "{{stem}}/{{dir}}"}, []string{"d/e", "e/d"})
	b.wantTree(files{"d/e": "2", "e/d": "1", "d/.millrace-aside-0": "3"})
}

// TestRenameByModel compares with a map, or checks that nothing has changed.
func TestRenameByModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tree := files{}
		for _, name := range rapid.SliceOfNDistinct(rapid.StringMatching(`([ab]/)?[c-e]{1,2}`), 1, 6, rapid.ID).Draw(rt,
			"names") {
			tree[name] = name
		}
		all := slices.Sorted(maps.Keys(tree))
		moved := all[:rapid.IntRange(1, len(all)).Draw(rt, "moved")]
		a := actions.Rename{
			To:        rapid.SampledFrom([]string{"{{dir}}/{{stem}}c", "{{dir}}/c{{stem}}", "a/{{name}}", "{{name}}/{{name}}", "b/{{dir}}", "c"}).Draw(rt, "to"),
			Overwrite: rapid.Bool().Draw(rt, "overwrite"),
		}
		b := inMemory(t, tree)
		out, err := b.run("s", a, moved)
		if err != nil {
			if fmt.Sprint(b.tree()) != fmt.Sprint(tree) {
				rt.Fatalf("%v, but the tree became %v", err, b.tree())
			}
			return
		}
		want := maps.Clone(tree)
		for _, name := range moved {
			delete(want, name)
		}
		for _, name := range moved {
			target := path.Clean(strings.NewReplacer("{{dir}}", path.Dir(name), "{{stem}}", path.Base(name), "{{name}}",
				path.Base(name)).Replace(a.To))
			if out.Renames[name] != target {
				rt.Fatalf("%s went to %s, want %s", name, out.Renames[name], target)
			}
			want[target] = tree[name]
		}
		if fmt.Sprint(b.tree()) != fmt.Sprint(want) {
			rt.Fatalf("got %v, want %v", b.tree(), want)
		}
	})
}

func TestDelete(t *testing.T) {
	for _, permanent := range []bool{false, true} {
		b := inMemory(t, files{"a.txt": "1", "d/b.txt": "2", "keep": "3"})
		before := b.tree()
		_, err := b.run("s", actions.Delete{Permanent: permanent}, []string{"a.txt", "no.txt"})
		wantError(t, err, "no.txt: file does not exist")
		_, err = b.run("s", actions.Delete{Permanent: permanent}, []string{"a.txt", "d"})
		wantError(t, err, "d: is a directory; set recursive to delete it with all that is in it")
		b.wantTree(before)
		out := b.must("s", actions.Delete{Permanent: permanent}, []string{"a.txt", "d/b.txt"})
		equal(t, "outcome", out, actions.Outcome{Files: []string{"a.txt", "d/b.txt"}})
		b.wantTree(files{"keep": "3"})
		changes, err := b.stage.Changes()
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range changes {
			if c.Kind != change.Deleted || c.Permanent != permanent {
				t.Errorf("%+v, want permanent %v", c, permanent)
			}
		}
	}
}

// renameLike returns the rename with the parameters of a copy.
func renameLike(c actions.Copy) actions.Rename {
	return actions.Rename{
		Files: c.Files, Destination: c.Destination, To: c.To, Base: c.Base, PreservePaths: c.PreservePaths, Overwrite: c.Overwrite,
	}
}
