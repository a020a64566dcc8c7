//go:build unix

package scratch_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace/internal/scratch"
)

// The rules of all directories stay in memory during a scan, so their sum is limited. A command that leaves more does
// not block the next command.
func TestTree_Collect_tooManyRules(t *testing.T) {
	t.Parallel()
	r := newRig(t, dirOf(t, map[string]string{"a": "a"}), nil)
	for _, noIgnore := range []bool{false, true} {
		_, err := r.run("head -c 900000 /dev/zero | tr '\\0' x > f; for i in $(seq 20); do mkdir d$i; cp f d$i/.gitignore; done",
			scratch.Options{NoIgnore: noIgnore})
		if noIgnore && err != nil || !noIgnore && (err == nil || !strings.Contains(err.Error(), "larger than 16 MiB together")) {
			t.Errorf("no_ignore %v: %v", noIgnore, err)
		}
		r.tree.Discard()
	}
}

// The rules in info/exclude of repositories within the tree count too.
func TestTree_Collect_tooManyExcludes(t *testing.T) {
	t.Parallel()
	files := map[string]string{"x/info/exclude": strings.Repeat("x", 900_000)}
	for i := range 20 {
		files[fmt.Sprintf("d%d/.git", i)] = "gitdir: ../x\n"
	}
	r := newRig(t, dirOf(t, files), nil)
	for _, noIgnore := range []bool{false, true} {
		_, err := r.run("echo y > y", scratch.Options{NoIgnore: noIgnore})
		if noIgnore && err != nil || !noIgnore && (err == nil || !strings.Contains(err.Error(), "larger than 16 MiB together")) {
			t.Errorf("no_ignore %v: %v", noIgnore, err)
		}
		r.tree.Discard()
	}
}

// A repository within another starts with its own rules.
func TestTree_Collect_nestedRepository(t *testing.T) {
	t.Parallel()
	r := newRig(t, dirOf(t, map[string]string{
		".gitignore": "*.log\ngen/\n", ".git/info/exclude": "outer\n", "lib/.git/info/exclude": "inner\n",
		"lib/.gitignore": "*.tmp\n", "lib/sub/x": "x", "plain/x": "x",
	}), nil)
	out, err := r.run("for d in lib/gen lib/sub/gen plain/gen; do mkdir $d; echo x > $d/x; done; "+
		"for d in . lib lib/sub plain; do for f in a.log a.tmp outer inner; do echo $f > $d/$f; done; done", scratch.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"a.tmp", "inner", "lib/a.log", "lib/gen/x", "lib/outer", "lib/sub/a.log", "lib/sub/gen/x", "lib/sub/outer",
		"plain/a.tmp", "plain/inner"}
	if d := cmp.Diff(want, out.Files); d != "" {
		t.Errorf("-want +staged\n%s", d)
	}
}
