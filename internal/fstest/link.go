package fstest

import (
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/afero"
)

func linkChecks() []check {
	checks := []check{
		{"make and read", 0, func(t tree) {
			t.symlink("some/target", "l")
			t.isLink("l", "some/target")
			t.lists(".", "l")
		}},
		{"the target is kept as it is written", 0, func(t tree) {
			for i, target := range []string{"./a//b/", "../../outside", "/absolute/é", "a b", "l"} {
				name := fmt.Sprint("l", i)
				t.symlink(target, name)
				t.isLink(name, target)
			}
		}},
		{"over something", 0, func(t tree) {
			t.write("f", "x")
			t.mkdir("d")
			t.symlink("f", "l")
			for _, name := range []string{"f", "d", "l"} {
				t.want(t.symlinker().SymlinkIfPossible("new", name), "exist", IsExist)
			}
			t.has("f", "x")
			t.isLink("l", "f")
		}},
		{"in a missing directory", 0, func(t tree) {
			t.want(t.symlinker().SymlinkIfPossible("f", "d/l"), "not exist", IsNotExist)
		}},
		{"below a file", 0, func(t tree) {
			t.write("f", "x")
			t.want(t.symlinker().SymlinkIfPossible("x", "f/l"), "not a directory", IsNotDir)
		}},
		{"readlink of what is not a link", 0, func(t tree) {
			t.write("f", "x")
			t.mkdir("d")
			for _, name := range []string{"f", "d"} {
				if target, err := t.symlinker().ReadlinkIfPossible(name); err == nil {
					t.Errorf("Readlink(%q) = %q", name, target)
				}
			}
			_, err := t.symlinker().ReadlinkIfPossible("none")
			t.want(err, "not exist", IsNotExist)
		}},
		{"stat follows, lstat does not", 0, func(t tree) {
			t.write("f", "abc")
			t.symlink("f", "l")
			t.has("l", "abc")
			info, did, err := t.symlinker().LstatIfPossible("l")
			if err != nil || !did || info.Mode()&fs.ModeSymlink == 0 {
				t.Errorf("Lstat = %v, %v, %v", info, did, err)
			}
		}},
		{"read and write through", 0, func(t tree) {
			t.mkdir("d")
			t.write("d/f", "abc")
			t.symlink("d/f", "l")
			t.has("l", "abc")
			t.write("l", "new")
			t.has("d/f", "new")
			t.isLink("l", "d/f")
		}},
		{"relative to its own directory", 0, func(t tree) {
			t.mkdir("d", "e")
			t.write("e/f", "abc")
			t.write("f", "wrong")
			t.symlink("../e/f", "d/l")
			t.has("d/l", "abc")
		}},
		{"to a directory, in the middle of a path", 0, func(t tree) {
			t.mkdir("d", "d/e")
			t.symlink("d", "l")
			t.write("l/e/f", "abc")
			t.has("d/e/f", "abc")
			t.has("l/e/f", "abc")
			t.mkdir("l/new")
			t.isDir("d/new")
			t.lists("l", "e", "new")
			t.must(t.fs.Rename("l/e/f", "l/g"))
			t.has("d/g", "abc")
			t.must(t.fs.Remove("l/g"))
			t.gone("d/g")
		}},
		{"to a file, in the middle of a path", 0, func(t tree) {
			t.write("f", "x")
			t.symlink("f", "l")
			_, err := t.fs.Stat("l/g")
			t.want(err, "not a directory", IsNotDir)
		}},
		{"a chain", 0, func(t tree) {
			t.write("f", "abc")
			t.symlink("f", "l1")
			for i := 2; i <= 7; i++ {
				t.symlink(fmt.Sprint("l", i-1), fmt.Sprint("l", i))
			}
			t.has("l7", "abc")
		}},
		{"to itself", 0, func(t tree) {
			t.symlink("l", "l")
			_, err := t.fs.Stat("l")
			t.want(err, "too many links", IsLoop)
			t.want(t.openErr("l", os.O_RDONLY), "too many links", IsLoop)
			t.want(t.openErr("l", os.O_WRONLY|os.O_CREATE), "too many links", IsLoop)
			_, err = t.fs.Stat("l/x")
			t.want(err, "too many links", IsLoop)
			t.isLink("l", "l")
		}},
		{"to each other", 0, func(t tree) {
			t.symlink("b", "a")
			t.symlink("a", "b")
			_, err := t.fs.Stat("a")
			t.want(err, "too many links", IsLoop)
			t.want(t.fs.Mkdir("a/d", 0o755), "too many links", IsLoop)
		}},
		{"to nothing", 0, func(t tree) {
			t.symlink("none", "l")
			_, err := t.fs.Stat("l")
			t.want(err, "not exist", IsNotExist)
			t.want(t.openErr("l", os.O_RDONLY), "not exist", IsNotExist)
			t.want(t.fs.Chmod("l", 0o600), "not exist", IsNotExist)
			t.want(t.fs.Chtimes("l", when(), when()), "not exist", IsNotExist)
		}},
		{"to nothing, with create", 0, func(t tree) {
			t.mkdir("d")
			t.symlink("d/f", "l")
			f := t.open("l", os.O_WRONLY|os.O_CREATE)
			t.put(f, "abc")
			t.close(f)
			t.has("d/f", "abc")
			t.isLink("l", "d/f")
		}},
		{"to nothing, with excl", 0, func(t tree) {
			t.symlink("f", "l")
			t.want(t.openErr("l", os.O_WRONLY|os.O_CREATE|os.O_EXCL), "exist", IsExist)
			t.gone("f")
		}},
		{"to nothing, with mkdir", 0, func(t tree) {
			t.symlink("d", "l")
			t.want(t.fs.Mkdir("l", 0o755), "exist", IsExist)
			t.gone("d")
		}},
		{"to a directory, with mkdirall", 0, func(t tree) {
			t.mkdir("d")
			t.symlink("d", "l")
			t.must(t.fs.MkdirAll("l/e", 0o755))
			t.must(t.fs.MkdirAll("l", 0o755))
			t.isDir("d/e")
			t.isLink("l", "d")
		}},
		{"open a directory through a link", 0, func(t tree) {
			t.mkdir("d")
			t.write("d/f", "x")
			t.symlink("d", "l")
			t.lists("l", "f")
			t.want(t.openErr("l", rw), "is a directory", IsDir)
		}},
		{"remove takes the link", 0, func(t tree) {
			t.mkdir("d")
			t.write("d/f", "x")
			t.symlink("d/f", "l1")
			t.symlink("d", "l2")
			t.symlink("none", "l3")
			for _, name := range []string{"l1", "l2", "l3"} {
				t.must(t.fs.Remove(name))
				t.gone(name)
			}
			t.has("d/f", "x")
		}},
		{"removeall takes the link", 0, func(t tree) {
			t.mkdir("d", "e")
			t.write("d/f", "x")
			t.symlink("../d", "e/l")
			t.symlink("d", "l")
			t.must(t.fs.RemoveAll("l"))
			t.must(t.fs.RemoveAll("e"))
			t.gone("l")
			t.gone("e")
			t.has("d/f", "x")
		}},
		{"rename takes the link", 0, func(t tree) {
			t.write("f", "x")
			t.symlink("f", "a")
			t.must(t.fs.Rename("a", "b"))
			t.isLink("b", "f")
			t.gone("a")
			t.has("f", "x")
		}},
		{"rename replaces the link, not its target", 0, func(t tree) {
			t.write("f", "old")
			t.symlink("f", "l")
			t.write("g", "new")
			t.must(t.fs.Rename("g", "l"))
			t.has("l", "new")
			t.has("f", "old")
		}},
		{"moved with its directory", 0, func(t tree) {
			t.mkdir("d")
			t.write("d/f", "abc")
			t.symlink("f", "d/near")
			t.symlink("../g", "d/far")
			t.write("g", "far")
			t.must(t.fs.Rename("d", "e"))
			t.has("e/near", "abc")
			t.has("e/far", "far")
		}},
		{"chmod goes through", modes, func(t tree) {
			t.write("f", "x")
			t.symlink("f", "l")
			t.must(t.fs.Chmod("l", 0o640))
			t.hasMode("f", 0o640)
			t.isLink("l", "f")
		}},
		{"chtimes goes through", times, func(t tree) {
			t.write("f", "x")
			t.symlink("f", "l")
			t.must(t.fs.Chtimes("l", when(), when()))
			t.hasTime("f", when())
		}},
		{"listed as links", 0, func(t tree) {
			t.mkdir("d", "t")
			t.symlink("../t", "d/l")
			infos, err := t.open("d", os.O_RDONLY).Readdir(-1)
			t.must(err)
			if len(infos) != 1 || infos[0].Mode().Type() != fs.ModeSymlink {
				t.Errorf("Readdir = %v", infos)
			}
		}},
		{"a walk ends", 0, func(t tree) {
			t.mkdir("d")
			t.symlink("..", "d/up")
			n := 0
			t.must(afero.Walk(t.fs, ".", func(_ string, _ fs.FileInfo, err error) error {
				n++
				return err
			}))
			if n != 3 {
				t.Errorf("walk saw %d names, want 3", n)
			}
		}},
		{"up and down again inside", 0, func(t tree) {
			t.mkdir("d", "e")
			t.write("e/f", "abc")
			t.symlink("../d/../e", "d/l")
			t.has("d/l/f", "abc")
		}},
		{"out of the tree", confinement, func(t tree) {
			t.mkdir("d")
			t.symlink("../../etc", "d/up")
			t.symlink("/etc", "abs")
			for _, name := range []string{"d/up", "abs", "d/up/passwd", "abs/passwd"} {
				_, err := t.fs.Stat(name)
				t.want(err, "escapes", IsEscape)
				_, err = t.fs.Open(name)
				t.want(err, "escapes", IsEscape)
				t.want(t.openErr(name, os.O_WRONLY|os.O_CREATE), "escapes", IsEscape)
			}
			t.want(t.fs.Mkdir("abs/d", 0o755), "escapes", IsEscape)
			t.want(t.fs.Remove("abs/passwd"), "escapes", IsEscape)
			t.want(t.fs.Rename("d", "abs/d"), "escapes", IsEscape)
			t.want(t.fs.Rename("abs/passwd", "p"), "escapes", IsEscape)
			t.want(t.fs.Chmod("abs", 0o600), "escapes", IsEscape)
			t.must(t.fs.Remove("d/up"))
			t.must(t.fs.Rename("abs", "moved"))
			t.isLink("moved", "/etc")
		}},
	}
	for i := range checks {
		checks[i].needs |= links
	}
	return checks
}
