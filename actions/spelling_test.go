package actions_test

import (
	"strings"
	"testing"

	"github.com/millrace-go/millrace/actions"
)

// TestForeignSpellings: a group in the syntax of another program is a problem. An & that may mean the match is a
// warning.
func TestForeignSpellings(t *testing.T) {
	t.Parallel()
	edit := func(old, text string) actions.Edit { return actions.Edit{OldText: old, NewText: text, Mode: "regex"} }
	for _, a := range []actions.Validator{
		edit(`(a)b`, `\1`), edit(`(?P<x>a)b`, `\g<x>`), edit(`a`, `\1`), edit(`a`, `\0`),
		actions.RegexTransform{Patterns: []actions.PatternEdit{{Pattern: `(a)`, Replacement: `\1`}}},
	} {
		var c actions.Check
		a.Validate(&c)
		if len(c.Problems) != 1 || c.Problems[0].Code != "bad_replacement" ||
			!strings.Contains(c.Problems[0].Hint, "write ${") {
			t.Errorf("%+v: %+v", a, c.Problems)
		}
	}
	for text, want := range map[string]string{`<&>`: "the match is written $0"} {
		b := inMemory(t, files{"a.txt": "ab\n"})
		b.must("edit", edit(`a`, text), []string{"a.txt"})
		b.wantWarning("is text", want)
		b.wantTree(files{"a.txt": text + "b\n"})
	}
	b := inMemory(t, files{"a.txt": "ab\n"})
	b.must("edit", actions.Edit{OldText: "a", NewText: `\1 <&>`}, []string{"a.txt"}) // as plain text it has no meaning
	b.wantWarning()
}

// TestEscapesWarn: Validate warns of an escape in a replacement, and shows how to write the plain text.
func TestEscapesWarn(t *testing.T) {
	t.Parallel()
	for _, a := range []actions.Validator{
		actions.Edit{OldText: `a`, NewText: `x\ny`, Mode: "regex"},
		actions.RegexTransform{Patterns: []actions.PatternEdit{{Pattern: `(a)`, Replacement: `x\ny`}}},
	} {
		var c actions.Check
		a.Validate(&c)
		if len(c.Problems) != 0 || len(c.Warnings) != 1 || c.Warnings[0].Hint != `write \\n for the text` {
			t.Errorf("%+v: %+v, %+v", a, c.Problems, c.Warnings)
		}
	}
	var c actions.Check
	actions.Edit{OldText: `a`, NewText: `x\ny`}.Validate(&c)
	if len(c.Problems)+len(c.Warnings) > 0 {
		t.Errorf("a literal text: %+v, %+v", c.Problems, c.Warnings)
	}
}

// TestSearchTellsOfATextThatLooksLikeAnExpression: the search warns, but not if it finds a text with a bracket as plain
// text.
func TestSearchTellsOfATextThatLooksLikeAnExpression(t *testing.T) {
	t.Parallel()
	tree := files{"a.txt": "f(x)\nfoobar foo(?=bar)\n"}
	for _, test := range []struct {
		search actions.Search
		want   []string
	}{
		{actions.Search{Pattern: `foo(?=bar)`}, []string{"read as a text", "no lookahead", "set mode"}},
		{actions.Search{Pattern: `(f)\1`}, []string{"read as a text", "no back-references"}},
		{actions.Search{Pattern: `g(`}, []string{"read as a text", "missing closing )"}},
		{actions.Search{Pattern: `f(`}, nil},
		{actions.Search{Pattern: `foo(?=bar)`, Mode: "literal"}, nil},
		{actions.Search{Pattern: `plain`}, nil},
	} {
		b := inMemory(t, tree)
		out := b.must("search", test.search, nil)
		if out.Mode != "literal" {
			t.Errorf("%s: mode %s", test.search.Pattern, out.Mode)
		}
		b.wantWarning(test.want...)
	}
}

// TestExpressionsKeepLineEnds: the replacement of an expression gets the line ends of a file with CRLF.
func TestExpressionsKeepLineEnds(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ pattern, replacement, want string }{
		{`; `, ";\n", "a;\r\nb\r\nc\r\n"},
		{`b`, "$0\n$0", "a; b\r\nb\r\nc\r\n"},
		{`.+`, "<$0>\n", "<a; b>\r\n\r\n<c>\r\n\r\n"},
		{`b\nc`, "x\ny", "a; x\r\ny\r\n"},
		{`\s+`, "\n", "a;\r\nb\r\nc\r\n"},
		{`\r\n`, "\n", "a; b\nc\n"}, // the pattern names \r
	} {
		b := inMemory(t, files{"a.txt": "a; b\r\nc\r\n"})
		b.must("re", actions.RegexTransform{Patterns: []actions.PatternEdit{{Pattern: test.pattern, Replacement: test.replacement}}}, []string{"a.txt"})
		b.wantTree(files{"a.txt": test.want})
	}
}
