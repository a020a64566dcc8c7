package web_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
)

var treeTags = regexp.MustCompile(`<[^>]*>`)

// treeOf returns the lines of the tree of a page, without tags.
func treeOf(page string) string {
	_, rest, _ := strings.Cut(page, `<nav class="tree"`)
	rest, _, _ = strings.Cut(rest, "</nav>")
	_, rest, _ = strings.Cut(rest, ">")
	var lines []string
	for line := range strings.Lines(treeTags.ReplaceAllString(rest, "")) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// The tree has each file of the page below its directories, and a line for the files of other pages. Its buttons keep
// the choices of the page.
func TestTree(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"a/b/c/one.go": words, "a/b/c/two.go": words, "a/b/d.go": words, "a-b/x": words, "a.txt": words,
		"long/way/to/it": words,
	}
	s := serve(t, millrace.Executor{}, files)
	want := strings.Join([]string{
		"6 files", "a-b/ 1 file", "x modified", "a.txt modified", "a/b/ 3 files", "c/ 2 files", "one.go modified",
		"two.go modified", "d.go modified", "long/way/to/ 1 file", "it modified",
	}, "\n")
	if tree := treeOf(s.Page); tree != want {
		t.Errorf("the tree is:\n%s\nwant:\n%s", tree, want)
	}
	for n := range 6 {
		if !strings.Contains(s.Page, fmt.Sprintf(`href="#f%d"`, n)) || !strings.Contains(s.Page, fmt.Sprintf(`id="f%d"`, n)) {
			t.Errorf("file %d is not linked", n)
		}
	}
	for n := range 150 {
		files[fmt.Sprintf("many/%03d", n)] = words
		files[fmt.Sprintf("z%03d/x", n)] = words
	}
	s = serve(t, millrace.Executor{}, files)
	tree := treeOf(s.Page)
	for _, part := range []string{
		"306 files\n", "\nmany/ 150 files\n", "\n093 modified\n… 56 files\nz000/ 1 file\n", "\nz049/ 1 file\n… 100 files",
	} {
		if !strings.Contains(tree, part) {
			t.Errorf("the tree has no %q:\n%s", part, tree)
		}
	}
	s.press(200, "words", "show:206", "3") // z050 is on the third page
	if s.At.Fragment != "f206" || !strings.Contains(s.At.RawQuery, "page=3") || !strings.Contains(s.Page, `id="f206"`) {
		t.Errorf("the button leads to %s", s.At)
	}
	s.press(200, "words", "page:1")
	if _, form, err := s.Form(); err != nil || strings.Contains(strings.Join(form["take"], " ")+" ", " 3 ") {
		t.Errorf("the choice was lost: %v", err)
	}
}

// The tree marks the files with hunks that are left out, also folded files.
func TestTreeOfChoices(t *testing.T) {
	t.Parallel()
	s := serve(t, millrace.Executor{}, map[string]string{"a": words, "b": words, "c": words, "d": words})
	s.press(200, "words", "page:1", "0.0", "1", "2.0", "2.1")
	want := "4 files\na modified partly left\nb modified left\nc modified left\nd modified"
	if tree := treeOf(s.Page); tree != want {
		t.Errorf("the tree is:\n%s\nwant:\n%s", tree, want)
	}
}

// A renamed file whose hunks are all left out is not left: it gets its new name.
func TestTreeOfRenamed(t *testing.T) {
	t.Parallel()
	s := serveRenamed(t)
	s.press(200, "words", "page:1", "0.0", "0.1", "1.0", "1.1")
	want := "3 files\na modified left\nc renamed partly left\nd modified"
	if tree := treeOf(s.Page); tree != want {
		t.Errorf("the tree is:\n%s\nwant:\n%s", tree, want)
	}
	s.press(200, "The change was made", "apply")
	s.end(nil)
	s.holds(map[string]string{
		"a": words, "c": words, "d": strings.NewReplacer("one 1", "three 1", "one 2", "two 2").Replace(words),
	})
}

// serveRenamed opens the page of a plan that edits a, b and d, and renames b to c. Two steps edit the first hunk of
// each.
func serveRenamed(t *testing.T) *served {
	t.Helper()
	var x millrace.Executor
	s := serve(t, x, map[string]string{"a": words, "b": words, "d": words})
	plan, err := x.Plan(t.Context(), s.root, millrace.New("words").
		Step("fix", actions.PatternReplace{FilePattern: "**", SedPattern: []string{"s/one/two/g"}}).
		Step("move", actions.Rename{Files: []string{"b"}, To: "c"}).
		Step("more", actions.PatternReplace{FilePattern: "**", SedPattern: []string{"s/two 1/three 1/g"}}).MustBuild())
	if err != nil {
		t.Fatal(err)
	}
	defer plan.Close()
	if s.stored, err = plan.MarshalJSON(); err != nil {
		t.Fatal(err)
	}
	s.press(409, "This is another plan now", "apply")
	if err := s.Get("./"); err != nil {
		t.Fatal(err)
	}
	return s
}

// Each page shows the old lines next to the new lines or above them, as the person has chosen.
func TestSideBySide(t *testing.T) {
	t.Parallel()
	s := serve(t, millrace.Executor{}, map[string]string{"a": words, "b": words})
	tables := func(where, side, diff string) {
		t.Helper()
		if strings.Contains(s.Page, side) || !strings.Contains(s.Page, diff) {
			t.Errorf("%s is shown in the other form:\n%s", where, s.Page)
		}
	}
	const side, diff = `<table class="side">`, `<table class="diff">`
	tables("the plan", side, diff)
	home := s.At
	s.press(200, "words", "lines:beside", "0.1", "1")
	tables("the plan", diff, side)
	if err := s.Get("lines/1"); err != nil {
		t.Fatal(err)
	}
	tables("the lines of a file", diff, side)
	s.At = home
	if err := s.Get("file/1"); err != nil {
		t.Fatal(err)
	}
	tables("a file", diff, side)
	s.press(200, "b", "lines:below")
	tables("a file", side, diff)
	s.press(200, "words", "show:1")
	s.press(200, "The change was made", "apply")
	s.end(nil)
	s.holds(map[string]string{"a": strings.Replace(words, "one 1", "two 1", 1), "b": words})
}
