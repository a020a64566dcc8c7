package templates_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/suite"
)

// TestValuesInExpressions: a value that a template puts into a regular expression, a replacement or a sed script is
// literal text there. With raw it is syntax.
func TestValuesInExpressions(t *testing.T) {
	t.Parallel()
	const text = "a.b axb $1 \\n a/b\n"
	regex := func(old, fresh string) actions.Edit {
		return actions.Edit{OldText: old, NewText: fresh, Mode: "regex"}
	}
	sed := func(script, syntax string) actions.PatternReplace {
		return actions.PatternReplace{FilePattern: "f", SedPattern: []string{script}, Syntax: syntax}
	}
	for _, test := range []struct {
		name   string
		action actions.Action
		value  string
		want   string // the text after the step, "" if it stays
	}{
		{"expression", regex("{{vars.x}}", "-"), "a.b", "- axb $1 \\n a/b\n"},
		{"within an expression", regex(`^{{vars.x}}\b`, "-"), "a.b", "- axb $1 \\n a/b\n"},
		{"between brackets", regex("[{{vars.x}}]", "-"), "a-x", "-.b --b $1 \\n -/b\n"},
		{"raw between brackets", regex("[{{vars.x|raw}}]", "-"), "a-x", "-.- --- $1 \\- -/-\n"},
		{"a hyphen", regex("a{{vars.x}}b?", "="), "-", ""},
		{"raw", regex("{{vars.x|raw}}", "-"), "a.b", "- - $1 \\n -\n"},
		{"raw with blanks", regex("{{ vars.x | raw }}", "-"), "a.b", "- - $1 \\n -\n"},
		{"no expression at all", regex("{{vars.x}}b", "-"), "(", ""},
		{"mode by template", actions.Edit{OldText: "{{vars.x}}", NewText: "-", Mode: "{{vars.mode}}"}, "a.b",
			"- axb $1 \\n a/b\n"},
		{"literal", actions.Edit{OldText: "{{vars.x}}", NewText: "{{vars.x}}!"}, "$1", "a.b axb $1! \\n a/b\n"},
		{"replacement", regex("(axb)", "<{{vars.x}}$1>"), `$1\n`, "a.b <$1\\naxb> $1 \\n a/b\n"},
		{"raw replacement", regex("(axb)", "<{{vars.x|raw}}>"), `$1`, "a.b <axb> $1 \\n a/b\n"},
		{"transform",
			actions.RegexTransform{Patterns: []actions.PatternEdit{{Pattern: "{{vars.x}}", Replacement: "<{{vars.x}}>"}}},
			"$1", "a.b axb <$1> \\n a/b\n"},
		{"sed", sed("s/{{vars.x}}/<{{vars.x}}>/g", ""), "a.b", "<a.b> axb $1 \\n a/b\n"},
		{"sed, separator", sed("s/{{vars.x}}/<{{vars.x}}>/g", ""), "a/b", "a.b axb $1 \\n <a/b>\n"},
		{"sed, another delimiter", sed("s,{{vars.x}},<&>,", ""), `$1 \n`, "a.b axb <$1 \\n> a/b\n"},
		{"sed, basic", sed("s/{{vars.x}}/+/", "bre"), `$1 \n`, "a.b axb + a/b\n"},
		{"sed, between brackets, a hyphen", sed("s/[{{vars.x}}]/=/g", ""), "a-x", "=.b ==b $1 \\n =/b\n"},
		{"sed, between brackets, a hyphen, basic", sed("s/[{{vars.x}}]/=/g", "bre"), "a-x", "=.b ==b $1 \\n =/b\n"},
		{"sed, between brackets, a range of the author's", sed("s/[+{{vars.x}}n]/=/g", ""), "-", "a.b axb $1 \\= a/b\n"},
		{"sed, between brackets, a range of the author's, basic", sed("s/[+{{vars.x}}n]/=/g", "bre"), "-",
			"a.b axb $1 \\= a/b\n"},
		{"sed, between brackets, a bracket", sed("s/[{{vars.x}}$]/=/g", ""), "]", "a.b axb =1 \\n a/b\n"},
		{"sed, between brackets, a bracket, basic", sed("s/[{{vars.x}}$]/=/g", "bre"), "]", "a.b axb =1 \\n a/b\n"},
		{"sed, between brackets, a bracket, and not", sed("s/[^{{vars.x}}ab x/1.n\\n]/=/g", ""), "]", "a.b axb =1 =n a/b\n"},
		{"sed, between brackets, a bracket, and not, basic", sed("s/[^{{vars.x}}ab x/1.n\\n]/=/g", "bre"), "]",
			"a.b axb =1 =n a/b\n"},
		{"sed, between brackets, a caret", sed("s/[{{vars.x}}.]/=/g", ""), "^", "a=b axb $1 \\n a/b\n"},
		{"sed, between brackets, a caret, basic", sed("s/[{{vars.x}}.]/=/g", "bre"), "^", "a=b axb $1 \\n a/b\n"},
		{"sed, between brackets, a backslash", sed("s/[{{vars.x}}n]/=/g", ""), "\\", "a.b axb $1 == a/b\n"},
		{"sed, between brackets, a backslash, basic", sed("s/[{{vars.x}}n]/=/g", "bre"), "\\", "a.b axb $1 == a/b\n"},
		{"sed, between brackets, a dot and a class", sed("s/[{{vars.x}}]/=/g", ""), "[:alpha:].", "==b =xb $1 \\n =/b\n"},
		{"sed, between brackets, a dot and a class, basic", sed("s/[{{vars.x}}]/=/g", "bre"), "[:alpha:].",
			"==b =xb $1 \\n =/b\n"},
		{"sed, between brackets, the separator", sed("s/[{{vars.x}}]/=/g", ""), "/", "a.b axb $1 \\n a=b\n"},
		{"sed, between brackets, the separator, basic", sed("s/[{{vars.x}}]/=/g", "bre"), "/", "a.b axb $1 \\n a=b\n"},
		{"between brackets, a bracket", regex("[{{vars.x}}]", "="), "]x", "a.b a=b $1 \\n a/b\n"},
		{"between brackets, a caret", regex("[{{vars.x}}]", "="), "^x", "a.b a=b $1 \\n a/b\n"},
		{"between brackets, a backslash", regex("[{{vars.x}}]", "="), "\\x", "a.b a=b $1 =n a/b\n"},
		{"sed, between brackets, re2, a hyphen", sed("s/[{{vars.x}}n]/=/g", "re2"), "a-x", "=.b ==b $1 \\= =/b\n"},
		{"sed, between brackets, re2, a bracket", sed("s/[{{vars.x}}n]/=/g", "re2"), "]x", "a.b a=b $1 \\= a/b\n"},
		{"sed, between brackets, re2, a caret", sed("s/[{{vars.x}}n]/=/g", "re2"), "^x", "a.b a=b $1 \\= a/b\n"},
		{"sed, between brackets, re2, a backslash", sed("s/[{{vars.x}}n]/=/g", "re2"), "\\x", "a.b a=b $1 == a/b\n"},
		{"sed, re2, a hyphen put in", sed("s/x/{{vars.x}}/", "re2"), "-", "a.b a-b $1 \\n a/b\n"},
		{"sed, raw", sed("s/{{vars.x|raw}}/-/g", ""), "a.b", "- - $1 \\n -\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			fsys := suite.Tree("f", text)
			step := millrace.Step{ID: "fix", Action: test.action, InputFrom: "find"}
			if _, ok := test.action.(actions.PatternReplace); ok {
				step.InputFrom = ""
			}
			built, err := quotedIn(test.value).Step("find", actions.Search{Pattern: "a"}).Add(step).Build()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := millrace.Run(t.Context(), fsys, built); err != nil {
				t.Fatal(err)
			}
			want := test.want
			if want == "" {
				want = text
			}
			if got := suite.Read(t, fsys, "f"); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func quotedIn(x string) millrace.Builder {
	return millrace.New("p").Variables(millrace.Variable{Name: "x", Default: x},
		millrace.Variable{Name: "mode", Default: "regex"})
}

// TestValuesInPatternsOfNames: the same holds for names.
func TestValuesInPatternsOfNames(t *testing.T) {
	t.Parallel()
	fsys := suite.Tree("a.b", "1", "axb", "2")
	rename := actions.Rename{Pattern: "^{{vars.x}}$", Replacement: new("{{vars.x}}-$0")}
	built, err := quotedIn("a.b").Step("find", actions.List{}).Step("move", rename).From("find").Build()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := millrace.Run(t.Context(), fsys, built); err != nil {
		t.Fatal(err)
	}
	if got := suite.Read(t, fsys, "a.b-a.b") + suite.Read(t, fsys, "axb"); got != "12" {
		t.Errorf("the files have %q", got)
	}
}

// TestValuesInSearches: in a pattern without a mode, only the author's own characters decide the mode.
func TestValuesInSearches(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		pattern, mode, value string
		want                 int // files with a match
	}{
		{"{{vars.x}}", "", "a.b", 1}, {"{{vars.x}}", "regex", "a.b", 1}, {"{{vars.x}}", "literal", "a.b", 1},
		{"{{vars.x|raw}}", "", "a.b", 2},
		{"^{{vars.x}}$", "", "a.b", 1}, {"f({{vars.x}}", "", "a.b", 1}, {"{{vars.x}}", "", "f(", 1},
		{"{{vars.x|raw}}$", "regex", "a.b", 2},
	} {
		fsys := suite.Tree("one", "a.b\n", "other", "axb\n", "call", "f(a.b\n")
		search := actions.Search{Pattern: test.pattern, Mode: test.mode, FileTypes: nil, Exclude: []string{"call"}}
		if test.pattern[0] == 'f' || test.value == "f(" {
			search.Exclude = nil
		}
		p := quotedIn(test.value).Step("find", search).MustBuild()
		res, err := millrace.Run(t.Context(), fsys, p)
		if err != nil {
			t.Errorf("%+v: %v", test, err)
			continue
		}
		if got := len(res.Results[0].FilesMatched); got != test.want {
			t.Errorf("%s: %d files, want %d", fmt.Sprintf("%+v", test), got, test.want)
		}
	}
}

// TestReferencesToNothing: in the input of an agent or a tool, each name with a field is a reference.
func TestReferencesToNothing(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		step millrace.Step
		ok   bool
	}{
		{millrace.Step{Action: actions.Prompt{Prompt: "Fix {{gone.output}}"}}, false},
		{millrace.Step{Action: actions.Prompt{Prompt: `Fix \{{gone.output}}`}}, true},
		{millrace.Step{Action: actions.Prompt{Prompt: "Fix {{steps[-1].output}}"}}, false},
		{millrace.Step{Action: actions.Prompt{Prompt: "Fix {{steps[x].output}}"}}, true},
		{millrace.Step{Action: actions.Prompt{Prompt: "Fix {{gone.output}}"}, Raw: true}, true},
		{millrace.Step{Action: actions.Prompt{Prompt: "Fix {{ .Values.x }} {{gone}}"}}, true},
		{millrace.Step{Action: actions.Tool{Tool: "t", Args: map[string]any{"a": []any{"{{gone.output}}"}}}}, false},
		{millrace.Step{Action: actions.Tool{Tool: "t", Args: map[string]any{"a": `\{{gone.output}}`}}}, true},
		{millrace.Step{Action: actions.Create{Path: "a", Content: "{{gone.output}}"}}, true},
		{millrace.Step{Action: actions.Create{Path: "a", Content: "{{step7.output}}"}}, false},
		// Jinja and other languages use this form.
		{millrace.Step{Action: actions.Create{Path: "a", Content: "{{steps[-1].output}}"}}, true},
	} {
		test.step.ID = "s"
		_, err := millrace.New("p").Add(test.step).Build()
		if (err == nil) != test.ok || err != nil && !errors.Is(err, millrace.ErrInterpolation) {
			t.Errorf("%+v: %v", test.step, err)
		}
	}
}

// TestNamesInGlobs: a name of a file that a template puts into a glob is not read as a glob.
func TestNamesInGlobs(t *testing.T) {
	t.Parallel()
	fsys := suite.Tree("app/[id]/page.tsx", "x", "app/i/page.tsx", "x y", "{a,b}", "x", "a", "x y", `d/**`, "x", "d/e/f", "x y",
		"root", "x", "d/root", "x y")
	res, err := millrace.Run(t.Context(), fsys, millrace.New("p").
		Step("find", actions.Search{Pattern: "x$", Mode: "regex"}).
		Step("again", actions.Search{Pattern: "x", Include: []string{"{{find.files}}"}}).
		Step("rest", actions.Search{Pattern: "x", Exclude: []string{"{{find.files}}"}}).
		Step("sed", actions.PatternReplace{FilePattern: "{{find.files[0]}}", SedPattern: []string{"s/x/z/"}}).MustBuild())
	if err != nil {
		t.Fatal(err)
	}
	found, again, rest := res.Results[0].FilesMatched, res.Results[1].FilesMatched, res.Results[2].FilesMatched
	if len(found) != 4 || !slices.Equal(again, found) || len(rest) != 4 || suite.Read(t, fsys, "app/[id]/page.tsx") != "z" {
		t.Errorf("found %q, again %q, the rest %q", found, again, rest)
	}
}

// TestValuesInStructures: a value in a structural pattern makes no hole, and no expression of a hole.
func TestValuesInStructures(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ value, pattern, want string }{
		{"[n]", "f(a:{{vars.x}})", "g; f(a:b); h(x); h(.)\n"},
		{".", "h(:[one~{{vars.x}}])", "f(a:[n]); f(a:b); h(x); g\n"},
	} {
		fsys := suite.Tree("f.go", "f(a:[n]); f(a:b); h(x); h(.)\n")
		edit := actions.Edit{Files: []string{"f.go"}, OldText: test.pattern, NewText: "g", Mode: "structural"}
		_, err := millrace.Run(t.Context(), fsys, quotedIn(test.value).Step("edit", edit).MustBuild())
		if got := suite.Read(t, fsys, "f.go"); got != test.want || err != nil {
			t.Errorf("%s with %s: %q, %v", test.pattern, test.value, got, err)
		}
	}
	edit := actions.Edit{Files: []string{"f.go"}, OldText: "h(:[x])", NewText: "{{vars.x}}:[x]", Mode: "structural"}
	fsys := suite.Tree("f.go", "h(x)\n")
	_, err := millrace.Run(t.Context(), fsys, quotedIn("std::").Step("edit", edit).MustBuild())
	if err == nil || !strings.Contains(err.Error(), `the value ends in "std::", and a hole follows`) {
		t.Errorf("error = %v", err)
	}
}

// TestValuesInNewNames: a value in the new name of a file has no parts such as {{name}}.
func TestValuesInNewNames(t *testing.T) {
	t.Parallel()
	const strange = "{{name}} {{{x}}} {{stem"
	for _, test := range []struct{ to, value, want string }{
		{"new/{{vars.x}}/{{name}}", strange, "new/" + strange + "/f.txt"}, {"new/{{vars.x}}", strange, "new/" + strange},
		{"new/{{vars.x|raw}}", "{{stem}}.{{stem}}", "new/f.f"},
	} {
		fsys := suite.Tree("f.txt", "x")
		_, err := millrace.Run(t.Context(), fsys, quotedIn(test.value).
			Step("copy", actions.Copy{Files: []string{"f.txt"}, To: test.to}).
			Step("move", actions.Rename{Files: []string{"f.txt"}, To: test.to + ".moved"}).MustBuild())
		if err != nil {
			t.Errorf("%s with %s: %v", test.to, test.value, err)
			continue
		}
		if got := suite.Read(t, fsys, test.want) + suite.Read(t, fsys, test.want+".moved"); got != "xx" {
			t.Errorf("%s with %s: %q", test.to, test.value, got)
		}
	}
}
