package cli

import (
	"os"
	"path/filepath"
	"testing"
)

// A name from a user becomes a path of the tree, in any spelling.
func TestTreePath(t *testing.T) {
	t.Parallel()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(base, "tree")
	dir := filepath.Join(root, "sub")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(base, "link")
	if err := os.Symlink(root, link); err != nil {
		t.Skipf("no links here: %v", err)
	}
	for arg, want := range map[string]string{
		"a.txt":                           "sub/a.txt",
		"./a.txt":                         "sub/a.txt",
		"../a.txt":                        "a.txt",
		"..":                              ".",
		".":                               "sub",
		"new/":                            "sub/new/",
		"**/*.go":                         "sub/**/*.go",
		filepath.Join(root, "a.txt"):      "a.txt",
		filepath.Join(link, "new", "a"):   "new/a",
		filepath.Join(link, "*", "a.txt"): "*/a.txt",
		"../..":                           "",
		"../../other/a":                   "",
		link:                              "",
		"":                                "",
	} {
		got, err := treePath(root, dir, arg)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%q: %q %v, want %q", arg, got, err, want)
		}
		if err != nil && statusOf(err) != exitUsage {
			t.Errorf("%q: %v is not a usage error", arg, err)
		}
	}
}
