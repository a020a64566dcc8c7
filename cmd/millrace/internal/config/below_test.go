package config_test

import (
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"
	"pgregory.net/rapid"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
)

// readable reports whether an executor lets a step read a file.
func readable(t *rapid.T, x millrace.Executor, name string) bool {
	tree := afero.NewMemMapFs()
	if err := afero.WriteFile(tree, name, []byte("text\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	read, err := millrace.New("read").Add(millrace.Step{ID: "r", Action: actions.ReadRanges{Path: name}}).Build()
	if err != nil {
		t.Fatal(err)
	}
	plan, err := x.Plan(t.Context(), tree, read)
	return err == nil && plan.Result().Success
}

// The limits that Below returns for a directory forbid the same files there as the limits of the project.
func TestBelow(t *testing.T) {
	t.Parallel()
	names := []string{"a", "b", "C", "a.go", "a\u200b", "b. ", "e\u0301"}
	parts := []string{"a", "b", "c", "A", "**", "*", "*.go", "{a,b}", "[a-b]", "a**", "?", "\u00e9", "{**,a}"}
	hidden, divided := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		pathOf := func(of []string, most int, label string) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(of), 1, most).Draw(t, label), "/")
		}
		glob, dir, name := pathOf(parts, 4, "glob"), pathOf(names, 3, "dir"), pathOf(names, 3, "name")
		glob = rapid.SampledFrom([]string{"", "./"}).Draw(t, "begin") + glob +
			rapid.SampledFrom([]string{"", "/"}).Draw(t, "end")
		allow := pathOf(names, 4, "allow")
		c, err := load(t, "", "deny: ['"+glob+"']\nallow: ['"+allow+"']\n")
		if err != nil {
			t.Fatal(err)
		}
		below, err := c.Below(dir)
		if err != nil && strings.Contains(glob, "{**") {
			divided++
			return
		} else if err != nil {
			t.Fatal(err)
		}
		full := path.Join(dir, name)
		want := readable(t, millrace.Executor{DeniedPaths: c.Project.Deny}, full)
		if !want {
			hidden++
		}
		if readable(t, millrace.Executor{DeniedPaths: below.Project.Deny}, name) != want {
			t.Errorf("%q reaches %q in %q: want %v; the globs are %q", glob, name, dir, want, below.Project.Deny)
		}
		want = readable(t, millrace.Executor{AllowedPaths: c.Project.Allow}, full)
		if readable(t, millrace.Executor{AllowedPaths: below.Project.Allow}, name) != want {
			t.Errorf("%q allows %q in %q: want %v; the paths are %q", allow, name, dir, want, below.Project.Allow)
		}
	})
	if hidden == 0 || divided > hidden {
		t.Errorf("%d globs matched, %d were refused", hidden, divided)
	}
}

func TestBelowDivided(t *testing.T) {
	t.Parallel()
	c, err := load(t, "", "max_files: 3\nread_only: ['{a/b,c}.go']\n")
	if err != nil {
		t.Fatal(err)
	}
	want := `the glob "{a/b,c}.go" cannot be divided at the directory "a": write each path as a glob of its own`
	if _, err := c.Below("a"); err == nil || err.Error() != want {
		t.Errorf("error = %v, want %s", err, want)
	}
	c, err = load(t, "", "max_files: 3\nread_only: [a/b, go.sum]\n")
	if err != nil {
		t.Fatal(err)
	}
	below, err := c.Below("a")
	if diff := cmp.Diff([]string{"b/**", "go.sum"}, below.Project.ReadOnly); diff != "" || err != nil ||
		below.Project.MaxFiles != 3 {
		t.Error(diff, err, below.Project.MaxFiles)
	}
}
