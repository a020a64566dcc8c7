package guard_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/guard"
)

// TestCommonDir: the directory of git is found through files and links in the tree, and nowhere else.
func TestCommonDir(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		files map[string]string // "->" begins the target of a link, a name that ends in "/" is a directory
		want  string
	}{
		"none":                  {map[string]string{"d/a": ""}, ""},
		"a directory":           {map[string]string{"d/.git/HEAD": ""}, "d/.git"},
		"a submodule":           {map[string]string{"d/.git": "gitdir: ../.git/modules/d\n", ".git/modules/d/HEAD": ""}, ".git/modules/d"},
		"a worktree":            {map[string]string{"d/.git": "gitdir: ../m/.git/worktrees/d\n", "m/.git/worktrees/d/commondir": "../..\n"}, "m/.git"},
		"a link":                {map[string]string{"d/.git": "->../m/.git", "m/.git/HEAD": ""}, "m/.git"},
		"a link to a file":      {map[string]string{"d/.git": "->../f", "f": "gitdir: m\n", "m/HEAD": ""}, "m"},
		"a link to nothing":     {map[string]string{"d/.git": "->none"}, ""},
		"a circle of links":     {map[string]string{"d/.git": "->x", "d/x": "->.git"}, ""},
		"not of git":            {map[string]string{"d/.git": "something else\n"}, ""},
		"an empty file":         {map[string]string{"d/.git": ""}, ""},
		"no name":               {map[string]string{"d/.git": "gitdir: \n"}, ""},
		"out of the tree":       {map[string]string{"d/.git": "gitdir: ../../out\n"}, ""},
		"an absolute name":      {map[string]string{"d/.git": "gitdir: /etc\n"}, ""},
		"a long name":           {map[string]string{"d/.git": "gitdir: " + strings.Repeat("x", 5000) + "\n"}, ""},
		"a name with a NUL":     {map[string]string{"d/.git": "gitdir: a\x00b\n"}, ""},
		"common is out":         {map[string]string{"d/.git": "gitdir: ../w\n", "w/commondir": "../../out\n"}, ""},
		"common is empty":       {map[string]string{"d/.git": "gitdir: ../w\n", "w/commondir": "\n"}, ""},
		"common is a directory": {map[string]string{"d/.git": "gitdir: ../w\n", "w/commondir/": ""}, "w"},
		"of the top directory":  {map[string]string{".git/HEAD": ""}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			fstest.Must(t, os.Mkdir(filepath.Join(dir, "d"), 0o755))
			for name, text := range test.files {
				at := filepath.Join(dir, name)
				if name[len(name)-1] == '/' {
					fstest.Must(t, os.MkdirAll(at, 0o755))
					continue
				}
				fstest.Must(t, os.MkdirAll(filepath.Dir(at), 0o755))
				if len(text) > 2 && text[:2] == "->" {
					fstest.Must(t, os.Symlink(text[2:], at))
				} else {
					fstest.Must(t, os.WriteFile(at, []byte(text), 0o644))
				}
			}
			got, err := guard.CommonDir(guard.TreeOf(fstest.OpenRoot(t, dir)), "d")
			if err != nil || got != test.want {
				t.Errorf("%q, %v, want %q", got, err, test.want)
			}
		})
	}
}
