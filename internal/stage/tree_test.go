//go:build linux

package stage_test

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/afero"
	"pgregory.net/rapid"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/modes"
)

// treeOf describes a whole file system.
func treeOf(t *rapid.T, fsys afero.Fs) tree {
	t.Helper()
	out := make(tree)
	var walk func(dir string)
	walk = func(dir string) {
		infos, err := afero.ReadDir(fsys, dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, listed := range infos {
			name := path.Join(dir, listed.Name())
			info, _, err := fsys.(afero.Lstater).LstatIfPossible(name)
			if err != nil {
				t.Fatal(err)
			}
			if listed.Mode() != info.Mode() || listed.Size() != info.Size() {
				t.Fatalf("%s: listed with %v, %d, but has %v, %d", name, listed.Mode(), listed.Size(), info.Mode(), info.Size())
			}
			switch modes.KindOf(info.Mode()) {
			case change.File:
				data, err := afero.ReadFile(fsys, name)
				if err != nil || int64(len(data)) != info.Size() {
					t.Fatal(err, len(data), info.Size())
				}
				out[name] = fmt.Sprintf("file %v %q", info.Mode().Perm(), data)
			case change.Dir:
				out[name] = fmt.Sprintf("dir %v", info.Mode().Perm())
				walk(name)
			case change.Symlink:
				target, err := fsys.(afero.LinkReader).ReadlinkIfPossible(name)
				if err != nil {
					t.Fatal(err)
				}
				out[name] = fmt.Sprintf("link %s", target)
			}
		}
	}
	walk(".")
	return out
}

func isDirLine(line string) bool { return strings.HasPrefix(line, "dir ") }

func unquote(t *rapid.T, text string) string {
	out, err := strconv.Unquote(text)
	if err != nil {
		t.Fatal(err, text)
	}
	return out
}

// plantLine creates the entry that a line of a tree describes.
func plantLine(t *rapid.T, root, name, line string) {
	full := filepath.Join(root, name)
	kind, rest, _ := strings.Cut(line, " ")
	var err error
	switch kind {
	case "link":
		err = os.Symlink(rest, full)
	case "dir":
		err = os.Mkdir(full, 0o755)
	default:
		_, data, _ := strings.Cut(rest, " ")
		err = os.WriteFile(full, []byte(unquote(t, data)), 0o644)
	}
	if err == nil && kind != "link" {
		var mode fs.FileMode
		for i, c := range strings.Split(rest, " ")[0][1:] {
			if c != '-' {
				mode |= 1 << (8 - i)
			}
		}
		err = os.Chmod(full, mode)
	}
	if err != nil {
		t.Fatal(err)
	}
}
