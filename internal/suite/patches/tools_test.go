package patches_test

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
)

// needTools skips a test if the programs to compare with are missing.
func needTools(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not installed, nothing to compare with: %v", name, err)
		}
	}
}

// run runs a program in a directory, without the configuration of the user who runs the test. It returns whether the
// program succeeded, and its output.
func run(t *testing.T, dir, input, name string, args ...string) (ok bool, out string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(input)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(s string) bool { return strings.HasPrefix(s, "GIT_") || strings.HasPrefix(s, "POSIXLY_") })
	cmd.Env = append(cmd.Env, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir),
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a", "LC_ALL=C", "TZ=UTC")
	var b bytes.Buffer
	cmd.Stdout, cmd.Stderr = &b, &b
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return err == nil, b.String()
}

// entry is a file, or a link with its target as text.
type entry struct {
	Text string
	Exec bool
	Link bool
}

// tree is files by their names.
type tree map[string]entry

// plant writes a tree into a directory.
func (files tree) plant(t *testing.T, dir string) {
	t.Helper()
	for name, e := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		switch mode := fs.FileMode(0o644); {
		case err != nil:
		case e.Link:
			err = os.Symlink(e.Text, path)
		default:
			if e.Exec {
				mode = 0o755
			}
			err = os.WriteFile(path, []byte(e.Text), mode)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// readTree reads a directory, without the directories that are not part of the tree.
func readTree(t *testing.T, dir string) tree {
	t.Helper()
	files := tree{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && (d.Name() == ".git" || d.Name() == ".millrace") {
				return fs.SkipDir
			}
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		name := filepath.ToSlash(rel)
		if d.Type()&fs.ModeSymlink != 0 {
			target, err := os.Readlink(path)
			files[name] = entry{Text: target, Link: true}
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		files[name] = entry{Text: string(data), Exec: info.Mode()&0o100 != 0}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// names returns the names of the files, in order.
func (files tree) names() []string { return slices.Sorted(maps.Keys(files)) }

// pipeline returns a pipeline of one step without any limit on risk.
func pipeline(a actions.Action) millrace.Pipeline {
	return millrace.New("p").Options(millrace.Options{Force: true, NoBackup: true}).Step("p", a).MustBuild()
}

// applied runs a patch in a directory.
func applied(t *testing.T, fsys afero.Fs, p actions.Patch) (*millrace.Result, error) {
	t.Helper()
	built, err := millrace.New("p").Options(millrace.Options{Force: true, NoBackup: true}).Step("p", p).Build()
	if err != nil {
		return nil, err
	}
	return (millrace.Executor{}).Run(t.Context(), fsys, built)
}

// inText applies a patch to one file in memory, and returns its text.
func inText(t *testing.T, old string, p actions.Patch) (string, *millrace.Result, error) {
	t.Helper()
	fsys := afero.NewMemMapFs()
	if err := afero.WriteFile(fsys, "f", []byte(old), 0o644); err != nil {
		t.Fatal(err)
	}
	result, err := applied(t, fsys, p)
	got, wrong := afero.ReadFile(fsys, "f")
	if wrong != nil {
		t.Fatal(wrong)
	}
	return string(got), result, err
}

// chance returns true once in n times.
func chance(r *rand.Rand, n int) bool { return r.IntN(n) == 0 }

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// randomLine returns a line of a small set, so that texts repeat themselves.
func randomLine(r *rand.Rand, kinds int) string {
	lines := [...]string{"a", "", "}", "b", "\tc", "- x", "+ y", "-- z", "@@ q", "d e", "\\ f", "diff", " g"}
	n := r.IntN(kinds)
	return lines[n%len(lines)] + strings.Repeat("!", n/len(lines))
}

func randomLines(r *rand.Rand, most int) []string {
	lines := make([]string, r.IntN(most+1))
	kinds := pick(r, 2, 3, 5, 13, 40, 100)
	for i := range lines {
		lines[i] = randomLine(r, kinds) + "\n"
	}
	if len(lines) > 0 && chance(r, 4) {
		lines[len(lines)-1] = strings.TrimSuffix(lines[len(lines)-1], "\n") + "z"
	}
	if chance(r, 10) {
		for i, l := range lines {
			if strings.HasSuffix(l, "\n") && !chance(r, 10) {
				lines[i] = strings.TrimSuffix(l, "\n") + "\r\n"
			}
		}
	}
	return lines
}

// changed returns the lines with that many changes.
func changed(r *rand.Rand, lines []string, changes int) []string {
	lines = slices.Clone(lines)
	for range changes {
		at := r.IntN(len(lines) + 1)
		line := randomLine(r, pick(r, 3, 13, 100)) + "\n"
		switch n := r.IntN(6); {
		case n < 2 || at == len(lines):
			lines = slices.Insert(lines, at, line)
		case n < 4:
			lines = slices.Delete(lines, at, min(len(lines), at+1+r.IntN(3)))
		case n == 4:
			lines[at] = line
		default:
			some := slices.Clone(lines[at:min(len(lines), at+1+r.IntN(6))])
			lines = slices.Insert(lines, r.IntN(len(lines)+1), some...)
		}
	}
	for i, l := range lines { // only the last line may lack its end
		if i < len(lines)-1 && !strings.HasSuffix(l, "\n") {
			lines[i] += "\n"
		}
	}
	return lines
}
