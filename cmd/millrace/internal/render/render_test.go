package render_test

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/cmd/millrace/internal/render"
	"github.com/millrace-go/millrace/millracetest"
)

// plan plans the steps in a tree.
func plan(t testing.TB, tree string, p millrace.Pipeline) *millrace.Plan {
	t.Helper()
	plan, err := millrace.Executor{}.Plan(t.Context(), millracetest.Tree(t, tree), p)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// everything returns a plan with a change of each kind.
func everything(t *testing.T) *millrace.Plan {
	return plan(t, "-- a.txt\\n --\nI x\n-- x\n++ x\nlast x\n-- b c.txt --\nx\n-- ü.txt\\r --\nx\ny\n-- bin --\nx\x00\n"+
		"-- gone.txt --\n-- x\n-- old.txt --\n"+strings.Repeat("l\n", 9)+"x\n-- s1 --\nx1\n-- s2 --\nx2\n-- empty --\n", millrace.New("all").
		Step("swap", actions.Rename{Files: []string{"s1", "s2"}, To: "{{stem}}{{ext}}_"}).
		Step("move", actions.Rename{Files: []string{"old.txt"}, To: "d/new.txt"}).
		Step("edit", actions.PatternReplace{FilePattern: "**/*", SedPattern: []string{"s/x/y/"}, Binary: true}).
		Step("make", actions.Create{Paths: []string{"n/1", "n/2"}, Content: "@@ -1 +1 @@\n+\nGIT binary patch\nno end"}).
		Step("none", actions.Create{Path: "n/0", Content: ""}).
		Step("delete", actions.Delete{Files: []string{"gone.txt", "empty"}}).
		MustBuild())
}

var codes = regexp.MustCompile("\x1b\\[[0-9;]*m")

// A coloured diff is the diff with colour codes added.
func TestDiffIsThePatchWithColours(t *testing.T) {
	p := everything(t)
	for _, paths := range [][]string{nil, {"a.txt"}, {"n"}, {"d/new.txt", "ü.txt"}} {
		var want, got, colored bytes.Buffer
		if err := p.WriteDiff(&want, paths...); err != nil {
			t.Fatal(err)
		}
		if err := render.Diff(&got, p, render.Style{}, paths...); err != nil {
			t.Fatal(err)
		}
		if err := render.Diff(&colored, p, render.Style{Color: true}, paths...); err != nil {
			t.Fatal(err)
		}
		if got.String() != want.String() {
			t.Errorf("%q without colours:\n%s\nwant\n%s", paths, got.String(), want.String())
		}
		if bare := codes.ReplaceAllString(colored.String(), ""); bare != want.String() {
			t.Errorf("%q with colours:\n%s\nwant\n%s", paths, bare, want.String())
		}
	}
	for _, style := range []render.Style{{}, {Color: true}} {
		if err := render.Diff(&bytes.Buffer{}, p, style, "a.txt", "other"); err == nil || err.Error() != "diff of other: the plan changes nothing there" {
			t.Errorf("%+v: %v", style, err)
		}
	}
}

// TestDiffBetweenFilesAndDirectories: a file that becomes a directory, and a file that is renamed to make room for a
// directory, are shown once, as are the entries below the directory.
func TestDiffBetweenFilesAndDirectories(t *testing.T) {
	const tree = "-- a --\na\n-- f --\nf\n-- f-1 --\nx\n-- z --\nx\n"
	for name, first := range map[string]actions.Action{
		"becomes a directory": actions.Delete{Files: []string{"f"}},
		"makes room":          actions.Rename{Files: []string{"f"}, To: "g"},
	} {
		t.Run(name, func(t *testing.T) {
			p := plan(t, tree, millrace.New("kinds").Step("first", first).
				Step("edit", actions.PatternReplace{FilePattern: "*", SedPattern: []string{"s/x/y/"}}).
				Step("make", actions.Create{Paths: []string{"f/1", "f/2"}, Content: "new\n"}).MustBuild())
			var want, got, stat bytes.Buffer
			if err := errors.Join(p.WriteDiff(&want), render.Diff(&got, p, render.Style{Color: true}), render.Stat(&stat, p, render.Style{})); err != nil {
				t.Fatal(err)
			}
			if bare := codes.ReplaceAllString(got.String(), ""); bare != want.String() {
				t.Errorf("with colours:\n%s\nwant\n%s", bare, want.String())
			}
			if n := p.Result().FilesChanged.Count(); !strings.Contains(stat.String(), fmt.Sprintf(" %d files changed, ", n)) {
				t.Errorf("of %d files:\n%s", n, stat.String())
			}
		})
	}
}

// Only characters that differ are inverted, each as a whole.
func TestMarks(t *testing.T) {
	p := plan(t, "-- a.txt --\nto recieve is\nwhole\n-- d/u.txt\\r --\ngrün\nkeep\n", millrace.New("m").
		Step("a", actions.Edit{Files: []string{"a.txt"}, OldText: "recieve", NewText: "receive"}).
		Step("b", actions.Edit{Files: []string{"a.txt"}, OldText: "whole", NewText: "other"}).
		Step("u", actions.Edit{Files: []string{"d/u.txt"}, OldText: "ü", NewText: "ö"}).
		MustBuild())
	var out strings.Builder
	if err := render.Diff(&out, p, render.Style{Color: true, Terminal: true}); err != nil {
		t.Fatal(err)
	}
	want := "\x1b[1mdiff --git a/a.txt b/a.txt\x1b[m\n\x1b[1m--- a/a.txt\x1b[m\n\x1b[1m+++ b/a.txt\x1b[m\n\x1b[36m@@ -1,2 +1,2 @@\x1b[m\n" +
		"\x1b[31m-to rec\x1b[7mie\x1b[27mve is\x1b[m\n\x1b[31m-whole\x1b[m\n\x1b[32m+to rec\x1b[7mei\x1b[27mve is\x1b[m\n\x1b[32m+other\x1b[m\n" +
		"\x1b[1mdiff --git a/d/u.txt b/d/u.txt\x1b[m\n\x1b[1m--- a/d/u.txt\x1b[m\n\x1b[1m+++ b/d/u.txt\x1b[m\n\x1b[36m@@ -1,2 +1,2 @@\x1b[m\n" +
		"\x1b[31m-gr\x1b[7mü\x1b[27mn\x1b[m\n\x1b[32m+gr\x1b[7mö\x1b[27mn\x1b[m\n keep\n"
	if out.String() != want {
		t.Errorf("got\n%q\nwant\n%q", out.String(), want)
	}
}

// Marks appear below any header: a name in quotes, a new mode, a new name.
func TestMarksBelowAnyHeader(t *testing.T) {
	p := plan(t, "-- a\tb.txt --\nto x it\n-- run.sh --\nto x it\n-- move.txt --\nto x it\n-- z\x1b.txt --\nto x it\n", millrace.New("m").
		Step("new", actions.Create{Paths: []string{"moved/0", "moved/a"}, Content: "new\n"}).
		Step("edit", actions.Edit{Files: []string{"a\tb.txt", "run.sh", "move.txt", "z\x1b.txt"}, OldText: "x", NewText: "y"}).
		Step("move", actions.Rename{Files: []string{"move.txt"}, To: "moved/b"}).
		Step("mode", actions.Patch{Text: "diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n"}).
		MustBuild())
	var out strings.Builder
	if err := render.Diff(&out, p, render.Style{Color: true}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "+to \x1b[7my\x1b[27m it"); n != 4 {
		t.Errorf("%d of 4 files have marks:\n%q", n, out.String())
	}
}

// Text of a file has no effect on a terminal, and binary content is left out.
func TestTerminal(t *testing.T) {
	p := plan(t, "-- \x1b[2Jname --\n\x1b]0;t\x07x\u202e\tend\n-- bin --\nx\x00\x1b\n-- crlf\\r --\nx\nz\n", millrace.New("m").
		Step("edit", actions.PatternReplace{FilePattern: "*", SedPattern: []string{"s/x/y/"}, Binary: true}).
		Step("unix", actions.Edit{Files: []string{"crlf"}, OldText: "y\r", NewText: "y", Mode: "literal"}).
		MustBuild())
	var out strings.Builder
	if err := render.Diff(&out, p, render.Style{Terminal: true}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`-\x1b]0;t\ax\u202e` + "\tend\n", "Binary file, not shown\n", `-x\r` + "\n+y\n", ` z\r` + "\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in %q", want, out.String())
		}
	}
	if strings.ContainsAny(out.String(), "\x1b\x07\u202e\r\x00") {
		t.Errorf("%q", out.String())
	}
}

func TestStat(t *testing.T) {
	long := strings.Repeat("directory/", 8) + "file.txt"
	p := plan(t, "-- a.txt --\n"+strings.Repeat("x\n", 201)+"-- b.txt --\nx\n-- "+long+" --\nx\n-- 界界.txt --\nx\n"+
		"-- bin\\n --\nx\x00\n-- old --\no\n", millrace.New("m").
		Step("edit", actions.PatternReplace{FilePattern: "**/*", SedPattern: []string{"s/x/y/"}, Binary: true}).
		Step("move", actions.Rename{Files: []string{"old"}, To: "new"}).
		MustBuild())
	var out strings.Builder
	if err := render.Stat(&out, p, render.Style{}); err != nil {
		t.Fatal(err)
	}
	want := ` a.txt                                                     | 402 +++++++-------
 b.txt                                                     |   2 +-
 bin                                                       | Bin
 …rectory/directory/directory/directory/directory/file.txt |   2 +-
 old => new                                                |   0
 界界.txt                                                  |   2 +-
 6 files changed, 204 insertions(+), 204 deletions(-)
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

func TestWidth(t *testing.T) {
	for text, want := range map[string]int{"": 0, "abc": 3, "界": 2, "e\u0301": 1, "한글": 4, "😀x": 3, "ü": 1} {
		if got := render.Width(text); got != want {
			t.Errorf("%q takes %d columns, want %d", text, got, want)
		}
	}
}
