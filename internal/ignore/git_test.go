package ignore_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/ignore"
)

// repo is a tree for both git and this package: .gitignore files by directory, and paths. A path that ends in a slash
// is a directory.
type repo struct {
	rules map[string]string
	paths []string
}

func (r *repo) add(dir, rules string, paths ...string) {
	if r.rules == nil {
		r.rules = map[string]string{}
	}
	r.rules[dir] = rules
	for _, p := range paths {
		r.paths = append(r.paths, path.Join(dir, p)+slashOf(p))
	}
}

func slashOf(p string) string {
	if strings.HasSuffix(p, "/") {
		return "/"
	}
	return ""
}

// write makes the tree on disk, inside a git repository. Files need not exist for git to judge them, but directories
// must.
func (r *repo) write(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	git(t, root, nil, "init", "-q")
	for dir, rules := range r.rules {
		mkdir(t, filepath.Join(root, dir))
		if err := os.WriteFile(filepath.Join(root, dir, ".gitignore"), []byte(rules), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range r.paths {
		if strings.HasSuffix(p, "/") {
			mkdir(t, filepath.Join(root, p))
		}
	}
	return root
}

func mkdir(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
}

// git runs git without the configuration of the user who runs the test. Exit status 1 of check-ignore means "no match".
func git(t *testing.T, dir string, stdin []byte, args ...string) []byte {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(stdin)
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_DIR=.git",
		"GIT_WORK_TREE=.", "GIT_TEMPLATE_DIR=", "LC_ALL=C")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if exit, ok := err.(*exec.ExitError); err != nil && (!ok || exit.ExitCode() != 1) {
		t.Fatalf("git %v: %v\n%s", args, err, stderr.Bytes())
	}
	return out
}

func needGit(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
}

// verdict is "file:line:pattern" of the deciding rule, "" if no rule decides.
type verdict string

// askGit asks git about all the paths at once.
func (r *repo) askGit(t *testing.T) []verdict {
	t.Helper()
	root := r.write(t)
	var in bytes.Buffer
	for _, p := range r.paths {
		in.WriteString(strings.TrimSuffix(p, "/") + "\x00")
	}
	out := git(t, root, in.Bytes(), "check-ignore", "-v", "-n", "-z", "--stdin", "--no-index")
	fields := strings.Split(string(out), "\x00")
	if len(fields) != 4*len(r.paths)+1 {
		t.Fatalf("git answered %d fields for %d paths", len(fields), len(r.paths))
	}
	verdicts := make([]verdict, len(r.paths))
	for i := range verdicts {
		if f := fields[4*i:]; f[1] != "" {
			verdicts[i] = verdict(f[0] + ":" + f[1] + ":" + f[2])
		}
	}
	return verdicts
}

// askUs walks down to the path like a walker: each directory is judged before its rules are read, and nothing below an
// ignored one is visited.
func (r *repo) askUs(p string) verdict {
	isDir := strings.HasSuffix(p, "/")
	p = strings.TrimSuffix(p, "/")
	var m *ignore.Matcher
	m = m.Enter(".", []byte(r.rules["."]))
	for i := 0; i < len(p); i++ {
		if p[i] != '/' {
			continue
		}
		dir := p[:i]
		if rule := m.Match(dir, true); rule != nil && !rule.Negated {
			return verdictOf(rule)
		}
		m = m.Enter(dir, []byte(r.rules[dir]))
	}
	return verdictOf(m.Match(p, isDir))
}

func verdictOf(r *ignore.Rule) verdict {
	if r == nil {
		return ""
	}
	return verdict(path.Join(r.Dir, ".gitignore") + ":" + strconv.Itoa(r.Line) + ":" + r.Text)
}

// compare fails the test for each path with different results, up to a few.
func (r *repo) compare(t *testing.T) (matched int) {
	t.Helper()
	want := r.askGit(t)
	wrong := 0
	for i, p := range r.paths {
		if want[i] != "" {
			matched++
		}
		if got := r.askUs(p); got != want[i] {
			if wrong++; wrong <= 10 {
				t.Errorf("%q: got %q, git has %q\n%s", p, got, want[i], r.explain(p))
			}
		}
	}
	if wrong > 0 {
		t.Errorf("%d of %d paths are judged differently by git", wrong, len(r.paths))
	}
	return matched
}

func (r *repo) explain(p string) string {
	var dirs []string
	for dir := range r.rules {
		if dir == "." || strings.HasPrefix(p, dir+"/") {
			dirs = append(dirs, dir)
		}
	}
	sort.Strings(dirs)
	var b strings.Builder
	for _, dir := range dirs {
		fmt.Fprintf(&b, "\t%s: %q\n", dir, r.rules[dir])
	}
	return b.String()
}
