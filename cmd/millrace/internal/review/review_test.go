package review_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/cmd/millrace/internal/render"
	"github.com/millrace-go/millrace/cmd/millrace/internal/review"
	"github.com/millrace-go/millrace/millracetest"
)

// plan plans the steps in a tree.
func plan(t *testing.T, tree string, p millrace.Pipeline) *millrace.Plan {
	t.Helper()
	plan, err := millrace.Executor{}.Plan(t.Context(), millracetest.Tree(t, tree), p)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// typed returns keys, one per line.
func typed(lines string) review.Keys { return &keys{lines} }

type keys struct{ left string }

func (k *keys) Key(context.Context) (rune, error) {
	if k.left == "" {
		return 0, io.ErrUnexpectedEOF
	}
	line, rest, _ := strings.Cut(k.left, "\n")
	k.left = rest
	for _, key := range line {
		return key, nil
	}
	return ' ', nil
}

const far = "x\n1\n2\n3\n4\n5\n6\n7\nx\n"

func edits() millrace.Pipeline {
	return millrace.New("edits").
		Step("fix", actions.Edit{Files: []string{"a.txt", "b.txt"}, OldText: "x", NewText: "y"}).
		Step("other", actions.Edit{Files: []string{"a.txt", "c.txt"}, OldText: "4", NewText: "four"}).
		MustBuild()
}

var trees = "-- a.txt --\nx\n" + strings.Repeat("p\n", 8) + "4\n" + strings.Repeat("q\n", 8) + "x\n-- b.txt --\n" + far +
	"-- c.txt --\n4\n"

// Each sequence of keys accepts these hunks, named by their new lines.
func TestKeys(t *testing.T) {
	for keys, want := range map[string]string{
		"y y y y y y":   "a:y a:four a:y b:y b:y c:four",
		"n n n n n n":   "",
		"y n y n y n":   "a:y a:y b:y",
		"A":             "a:y a:four a:y b:y b:y c:four",
		"D":             "",
		"y D":           "a:y",
		"n A":           "a:four a:y b:y b:y c:four",
		"a d a":         "a:y a:four a:y c:four",
		"n a D":         "a:four a:y",
		"t n n":         "a:y a:y b:y b:y",
		"n t n n n":     "a:four c:four",
		"y q":           "a:y",
		"q":             "",
		"j y q":         "a:four",
		"j j j j j j n": "", // back to the first hunk; the others stay undecided
		"y y b n q":     "a:y",
		"a b q":         "",
		"t b b n A":     "a:four a:y b:y b:y c:four",
		"i p ? x y q":   "a:y",
		"n b y b b y q": "a:y",
	} {
		p := plan(t, trees, edits())
		lines := strings.ReplaceAll(keys, " ", "\n") + "\nq\n"
		var out strings.Builder
		trimmed, err := review.New(p).Run(t.Context(), typed(lines), &out)
		if err != nil {
			t.Errorf("%s: %v", keys, err)
			continue
		}
		var got []string
		files, err := trimmed.Files()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			for _, h := range f.Hunks {
				for _, l := range h.Lines() {
					if l.Op == '+' {
						got = append(got, f.Path[:1]+":"+l.Text)
					}
				}
			}
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%s: %s, want %s\n%s", keys, got, want, out.String())
		}
	}
}

// A session without colours.
func TestSession(t *testing.T) {
	p := plan(t, "-- a.txt --\nI recieve\nyou know\nthey recieve\n-- new/b.txt --\nb\n", millrace.New("s").
		Step("fix", actions.Edit{Files: []string{"a.txt"}, OldText: "recieve", NewText: "receive"}).
		Step("make", actions.Create{Path: "new/c.txt", Content: "c\n"}).
		Step("move", actions.Rename{Files: []string{"new/b.txt"}, To: "b.txt"}).
		MustBuild())
	var out strings.Builder
	if _, err := review.New(p).Run(t.Context(), typed("s\ni\ny\nn\ny\ns\nn\n"), &out); err != nil {
		t.Fatal(err)
	}
	want := `
a.txt  1 of 3 files
@@ -1,3 +1,3 @@
-I recieve
+I receive
 you know
-they recieve
+they receive
(1/1 a.txt, by fix) take this hunk [y,n,a,d,t,s,e,b,p,q,?] @@ -1,2 +1,2 @@
-I recieve
+I receive
 you know
(1/2 a.txt, by fix) take this hunk [y,n,a,d,t,s,e,b,p,q,?] by step fix (edit), edit 1
(1/2 a.txt, by fix) take this hunk [y,n,a,d,t,s,e,b,p,q,?] @@ -2,2 +2,2 @@
 you know
-they recieve
+they receive
(2/2 a.txt, by fix) take this hunk [y,n,a,d,t,s,e,b,p,q,?] 
b.txt  renamed from new/b.txt, 2 of 3 files
(1/1 b.txt, by move) take this renaming [y,n,a,d,t,b,p,q,?] 
new/c.txt  created, 3 of 3 files
@@ -0,0 +1 @@
+c
(1/1 new/c.txt, by make) take this new file [y,n,a,d,t,b,p,q,?] this is one decision; it has no parts
(1/1 new/c.txt, by make) take this new file [y,n,a,d,t,b,p,q,?] `
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A hunk that the rest needs cannot be rejected: the reason is shown at the file, and the user decides again.
func TestRefusalIsShownAtTheFile(t *testing.T) {
	p := plan(t, "-- a.txt --\na\n-- b.txt --\nb\n-- z.txt --\n4\n", millrace.New("swap").
		Step("away", actions.Rename{Files: []string{"a.txt"}, To: "c.txt"}).
		Step("there", actions.Rename{Files: []string{"b.txt"}, To: "a.txt"}).
		Step("edit", actions.Edit{Files: []string{"z.txt"}, OldText: "4", NewText: "5"}).
		MustBuild())
	var out strings.Builder
	trimmed, err := review.New(p).Run(t.Context(), typed("y\nn\nn\ny\n"), &out)
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	refusal := "this cannot be left alone: reject: a.txt would stay, but the plan puts something else in its place; reject that too\n\nc.txt  renamed from a.txt"
	if !strings.Contains(out.String(), refusal) {
		t.Errorf("the refusal is not at the file:\n%s", out.String())
	}
	if n := len(trimmed.Outline()); n != 2 {
		t.Errorf("%d changes are left\n%s", n, trimmed.Diff())
	}
}

// Only a key completes a review: if the input ends, nothing is accepted.
func TestAborted(t *testing.T) {
	for input, want := range map[string]error{
		"y\nQ\n": review.ErrAborted, "y\n": io.ErrUnexpectedEOF, "": io.ErrUnexpectedEOF, "\x03\n": review.ErrAborted,
	} {
		_, err := review.New(plan(t, trees, edits())).Run(t.Context(), typed(input), io.Discard)
		if !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", input, err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := review.New(plan(t, trees, edits())).Run(ctx, typed("A\n"), io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

func TestRunAgainGoesBack(t *testing.T) {
	r := review.New(plan(t, trees, edits()))
	var out strings.Builder
	for i, want := range []int{3, 2, 1} {
		trimmed, err := r.Run(t.Context(), typed([]string{"A\n", "y\nn\ny\ny\ny\nn\n", "b\nb\nn\nq\n"}[i]), &out)
		if err != nil {
			t.Fatalf("%v\n%s", err, out.String())
		}
		if n := len(trimmed.Outline()); n != want {
			t.Errorf("run %d: %d files are left, want %d\n%s", i, n, want, trimmed.Diff())
		}
	}
}

func TestEdit(t *testing.T) {
	for _, test := range []struct {
		name   string
		edit   func(text string) (string, error)
		keys   string
		says   string
		result string
	}{
		{"other lines", replace("+y\n", "+mine\n+two\n"), "e d", "", "mine\ntwo\n1\n2\n3\n4\n5\n6\n7\nx\n"},
		{"nothing", func(string) (string, error) { return "# nothing\n", nil }, "e y d", "nothing is left", "y\n1\n2\n3\n4\n5\n6\n7\nx\n"},
		{"a line kept", replace("-x\n", " x\n"), "e d", "", "x\ny\n1\n2\n3\n4\n5\n6\n7\nx\n"},
		{"an unchanged line taken away", replace(" 2\n", "-2\n"), "e d", "", "y\n1\n3\n4\n5\n6\n7\nx\n"},
		{"an old line changed", replace("-x\n", "-X\n"), "e y d", `line 3 is "X" where the file has "x"`, "y\n1\n2\n3\n4\n5\n6\n7\nx\n"},
		{"an old line missing", replace(" 3\n", ""), "e y d", `the line "3" of the file is missing`, "y\n1\n2\n3\n4\n5\n6\n7\nx\n"},
		{"a line too many", replace(" 3\n", " 3\n 4\n"), "e y d", `line 8, " 4", is not in the file there`, "y\n1\n2\n3\n4\n5\n6\n7\nx\n"},
		{"no sign", replace("+y\n", "y\n"), "e y d", `line 4 begins with 'y'`, "y\n1\n2\n3\n4\n5\n6\n7\nx\n"},
		{"a failure", func(string) (string, error) { return "", errors.New("vi is not there") }, "e y d", "the editor failed: vi is not there", "y\n1\n2\n3\n4\n5\n6\n7\nx\n"},
		{"back", replace("+y\n", "+mine\n"), "e b n d", "", ""},
	} {
		r := review.New(plan(t, "-- b.txt --\n"+far, millrace.New("e").Step("fix", actions.Edit{Files: []string{"b.txt"}, OldText: "x", NewText: "y"}).MustBuild()))
		r.Edit = test.edit
		var out strings.Builder
		trimmed, err := r.Run(t.Context(), typed(strings.ReplaceAll(test.keys, " ", "\n")+"\n"), &out)
		if err != nil {
			t.Errorf("%s: %v\n%s", test.name, err, out.String())
			continue
		}
		if !strings.Contains(out.String(), test.says) {
			t.Errorf("%s does not print %q:\n%s", test.name, test.says, out.String())
		}
		got := ""
		for _, c := range trimmed.Outline() {
			f, err := c.OpenNew()
			if err != nil {
				t.Fatal(err)
			}
			data, err := io.ReadAll(f)
			if err != nil {
				t.Fatal(err)
			}
			got = string(data)
		}
		if got != test.result {
			t.Errorf("%s: %q, want %q\n%s", test.name, got, test.result, out.String())
		}
	}
}

func replace(old, new string) func(string) (string, error) {
	return func(text string) (string, error) {
		if !strings.Contains(text, old) {
			return "", errors.New("there is no such line")
		}
		return strings.Replace(text, old, new, 1), nil
	}
}

// A refused text is kept in the editor.
func TestRefusedTextIsKept(t *testing.T) {
	r := review.New(plan(t, trees, edits()))
	var seen []string
	r.Edit = func(text string) (string, error) {
		seen = append(seen, text)
		return "mine " + text, nil
	}
	if _, err := r.Run(t.Context(), typed("e\ne\nq\n"), io.Discard); err != nil {
		t.Fatal(err)
	}
	if len(seen) != 2 || seen[1] != "mine "+seen[0] {
		t.Errorf("texts in the editor: %q", seen)
	}
}

// No escape sequence of a name or a text reaches the terminal.
func TestNothingOfAFileReachesTheTerminal(t *testing.T) {
	p := plan(t, "-- \x1b[31mred.txt --\n\x1b]0;title\x07 x\n", millrace.New("bad").
		Step("fix", actions.Edit{Files: []string{"\x1b[31mred.txt"}, OldText: "x", NewText: "\x1b[2J\u202e"}).MustBuild())
	r := review.New(p)
	r.Style = render.Style{Terminal: true}
	var out strings.Builder
	if _, err := r.Run(t.Context(), typed("p\ni\ns\ny\n"), &out); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(out.String(), "\x1b\x07\u202e") {
		t.Errorf("%q", out.String())
	}
}
