package cli_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// recipeTree is the tree for the commands of docs/cli-recipes.md.
var recipeTree = map[string]string{
	".gitignore":       "ignored.go\n",
	"ignored.go":       "old recieve\n",
	"notes.txt":        "recieve: ab \t\none\ntwo\na.b*c axb*c\nlast: one\n",
	"VERSION":          "1.2",
	"README.md":        "Colour, colour and COLOURS\r\nrecieve\r\n",
	"src/a.go":         "package a // ioutil.ReadFile, ioutil.WriteFile\n\nvar Foo, Foot, _Foo = old(), 1, 2 // recieve recieve\n",
	"src/b.go":         "// TODO: Foo.Foo\n",
	"src/x.js":         "// Copyright\nconst a = 1; const b\n",
	"src/y.js":         "constant const c",
	"src/deep/z.js":    "const z\n",
	"src/deep/old.txt": "key: value \n",
	"tidy/go.mod":      "module tidy\n\ngo 1.21\n",
	"tidy/t.go":        "package tidy\nfunc F(err error)bool{ return err!=nil }\n",
	"src/sub.txt":      "one\ntwo\n",
	"vendor/v.go":      "old\n",
	"conf/app.ini":     "DEBUG=1\nlevel=2\nDEBUG=3",
	"conf/web.ini":     "port=80\n",
	"a.orig":           "",
	"src/deep/b.orig":  "x\n",
	"bin.dat":          "\x00\x01recieve\n",
	"fix.diff":         "diff --git a/notes.txt b/notes.txt\n--- a/notes.txt\n+++ b/notes.txt\n@@ -1,5 +1,5 @@\n recieve: ab \t\n one\n-two\n+zwei\n a.b*c axb*c\n last: one\ndiff --git a/new b/new\nnew file mode 100644\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+new\n",
	"fixed.diff":       "diff --git a/notes.txt b/notes.txt\n--- a/notes.txt\n+++ b/notes.txt\n@@ -1,5 +1,5 @@\n recieve: ab \t\n one\n-zwei\n+two\n a.b*c axb*c\n last: one\n",
	"pipelines/swap.yaml": "variables: {from: {type: string}, to: {type: string}}\nsteps:\n" +
		"- {id: s, action: edit, params: {files: [notes.txt], old_text: \"{{vars.from}}\", new_text: \"{{vars.to}}\"}}\n",
	"sub.diff": "--- a/sub.txt\n+++ b/sub.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+zwei\n",
}

// TestRecipes runs both commands of each row of docs/cli-recipes.md, and compares the resulting trees.
func TestRecipes(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"git", "patch", "perl", "xargs", "sed", "gofmt"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not installed", name)
		}
	}
	if out, err := exec.Command("sed", "--version").Output(); err != nil || !strings.Contains(string(out), "GNU sed") {
		t.Skip("sed is not GNU sed")
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "cli-recipes.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| `(.+)` \\| `(.+)` \\|$").FindAllStringSubmatch(string(page), -1)
	if written := strings.Count(string(page), "\n| `"); len(rows) < 30 || len(rows) != written {
		t.Fatalf("%d of %d rows can be read", len(rows), written)
	}
	before := recipeDir(t)
	for _, row := range rows {
		theirs, ours := strings.ReplaceAll(row[1], `\|`, "|"), strings.ReplaceAll(row[2], `\|`, "|")
		t.Run(ours, func(t *testing.T) {
			t.Parallel()
			one, two := duplicate(t, before), duplicate(t, before)
			shell(t, one, theirs)
			said := shell(t, two, regexp.MustCompile(`millrace ((?:fleet )?\w+)`).ReplaceAllString(ours, "millrace $1 -y"))
			want := files(t, one)
			if cmp.Equal(files(t, before), want) {
				t.Errorf("%s changes nothing", theirs)
			}
			if diff := cmp.Diff(want, files(t, two)); diff != "" {
				t.Errorf("-%s +%s\n%s\n%s", theirs, ours, said, diff)
			}
		})
	}
}

// recipeDir makes a repository with two commits.
func recipeDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, recipeTree)
	write(t, dir, map[string]string{"VERSION": "1.1"})
	shell(t, dir, "git init -q && git add . && git commit -qm one && printf 1.2 > VERSION && printf '#!/bin/sh\n' > run && chmod +x run && git add . && git commit -qm two")
	return dir
}

func write(t *testing.T, dir string, texts map[string]string) {
	t.Helper()
	for name, text := range texts {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func duplicate(t *testing.T, dir string) string {
	t.Helper()
	copied := t.TempDir()
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return copied
}

// shell runs a script in a directory, with a new home, and returns its output.
func shell(t *testing.T, dir, script string) string {
	t.Helper()
	return shellAs(t, t.TempDir(), dir, script)
}

func shellAs(t *testing.T, home, dir, script string) string {
	t.Helper()
	out, err := tryShell(t, home, dir, script)
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return out
}

// tryShell is shellAs for a script that may fail.
func tryShell(t *testing.T, home, dir, script string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "LC_ALL=C.UTF-8", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// files returns the texts and modes of all files below a directory except those of git and millrace.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == ".millrace"):
			return filepath.SkipDir
		case d.IsDir():
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(name)
		rel, _ := filepath.Rel(dir, name)
		all[filepath.ToSlash(rel)] = info.Mode().String() + " " + string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
