package actions_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/actions"
)

// TestStructuralContent checks results of structural patterns, in the language of each file name.
func TestStructuralContent(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		action actions.Action
		file   string
		in     string
		want   string
		edits  int
	}{
		"arguments": {
			actions.Edit{OldText: "f(:[a], :[b])", NewText: "g(:[b], :[a])", Mode: "structural"},
			"a.go", "x := f(h(1, 2), \"3)\") // f(1, 2)\n", "x := g(\"3)\", h(1, 2)) // f(1, 2)\n", 1,
		},
		"the language of the file": {
			actions.Edit{OldText: "f(:[a])", NewText: "g(:[a])", Mode: "structural"}, "a.py", "# f(1)\nf(1)\n", "# f(1)\ng(1)\n", 1,
		},
		"a given language": {
			actions.Edit{OldText: "f(:[a])", NewText: "g(:[a])", Mode: "structural", Language: "python"}, "a.x", "# f(1)\nf(1)\n", "# f(1)\ng(1)\n", 1,
		},
		"any case": {
			actions.Edit{OldText: "select :[a] from", NewText: "SELECT :[a] FROM", Mode: "structural", IgnoreCase: true},
			"a.sql", "Select x From t;\n", "SELECT x FROM t;\n", 1,
		},
		"the first match": {
			actions.Edit{OldText: "f(:[a])", NewText: ":[a]", Mode: "structural", MaxPerFile: 1}, "a.go", "f(1); f(2)\n", "1; f(2)\n", 1,
		},
		"line ends of the file": {
			actions.Edit{OldText: "f(:[a])", NewText: "f(\n\t:[a],\n)", Mode: "structural"},
			"a.go", "{\r\n\tf(1)\r\n}\r\n", "{\r\n\tf(\r\n\t\t1,\r\n\t)\r\n}\r\n", 1,
		},
		"one edit after the other": {
			actions.MultiEdit{Structural: true, Edits: []actions.TextEdit{
				{OldText: "f(:[a])", NewText: "g(:[a])"}, {OldText: "g(:[a])", NewText: "h(:[a.upper])"},
			}}, "a.go", "f(x); g(y)\n", "h(X); h(Y)\n", 3,
		},
		"edits at the same time": {
			actions.MultiEdit{Structural: true, Mode: "simultaneous", Edits: []actions.TextEdit{
				{OldText: "f(:[a])", NewText: "g(:[a])"}, {OldText: "g(:[a])", NewText: "f(:[a])"},
			}}, "a.go", "f(x); g(y)\n", "g(x); f(y)\n", 2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := inMemory(t, files{test.file: test.in})
			out := b.must("s", test.action, []string{test.file})
			b.wantTree(files{test.file: test.want})
			if out.Edits != test.edits {
				t.Errorf("%d edits, want %d", out.Edits, test.edits)
			}
		})
	}
}

func TestStructuralProblems(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		action actions.Validator
		want   string
	}{
		{actions.Edit{OldText: "f(", Mode: "structural"}, "/old_text bad_pattern: the pattern opens ( and does not close it"},
		{actions.Edit{OldText: "f(:[a])", NewText: ":[b]", Mode: "structural"}, `/new_text bad_replacement: the replacement has ":[b]"`},
		{actions.Edit{OldText: "f(:[a])", NewText: ":[a.b]", Mode: "structural"}, `/new_text bad_replacement: the replacement changes a by "b"`},
		{actions.Edit{OldText: "f", Mode: "structural", Language: "cobol"}, "/language bad_language: unknown language 'cobol' (known are c,"},
		{actions.Edit{OldText: "f", Language: "go"}, "/language unused_param: language is for structural patterns"},
		{actions.Edit{OldText: "f", Mode: "structural", PreserveCase: true}, "/preserve_case unused_param"},
		{actions.Edit{OldText: "f($X)", Mode: "structural"}, "/old_text foreign_hole: $X in the pattern is text, not a hole: write :[x]"},
		{actions.Edit{OldText: "f($$$ARGS)", Mode: "structural"}, "/old_text foreign_hole: $$$ARGS in the pattern is text, not a hole: write :[args...]"},
		{actions.Search{Pattern: ":[a]:[b]", Mode: "structural"}, "/pattern bad_pattern: two holes stand next to each other"},
		{actions.Search{Pattern: "f", Matches: true, WithoutMatch: true}, "/without_match bad_range"},
		{actions.CountOccurrences{Pattern: ":[a]", Mode: "structural"}, "/pattern bad_pattern: the pattern is nothing but holes"},
		{actions.MultiEdit{Structural: true, Edits: []actions.TextEdit{{OldText: ")"}}}, "/edits/0/old_text bad_pattern: the pattern closes )"},
		{actions.MultiEdit{Structural: true, Mode: "longest"}, "/structural unused_param"},
		{actions.MultiEdit{Language: "go"}, "/language unused_param"},
	} {
		var c actions.Check
		test.action.Validate(&c)
		var all []string
		for _, p := range append(c.Problems, c.Warnings...) {
			all = append(all, p.Param+" "+p.Code+": "+p.Message)
		}
		if len(all) != 1 || !strings.HasPrefix(all[0], test.want) {
			t.Errorf("%+v: %q, want %q", test.action, all, test.want)
		}
	}
}

func TestSearchMatches(t *testing.T) {
	t.Parallel()
	tree := files{"a.go": "x\n\tf(g(1),\n\t\t2)\n", "b.py": "f(3, é)\n"}
	for name, test := range map[string]struct {
		search actions.Search
		want   any
	}{
		"structural": {actions.Search{Pattern: "f(:[a], :[b])", Mode: "structural"}, []any{
			map[string]any{
				"file": "a.go", "line": 2, "column": 2, "end_line": 3, "end_column": 5, "text": "f(g(1),\n\t\t2)",
				"holes": map[string]any{"a": "g(1)", "b": "2"},
			},
			map[string]any{
				"file": "b.py", "line": 1, "column": 1, "end_line": 1, "end_column": 9, "text": "f(3, é)",
				"holes": map[string]any{"a": "3", "b": "é"},
			},
		}},
		"groups": {actions.Search{Pattern: `(?P<name>\w)\((\w)`, Mode: "regex", Include: []string{"a.go"}}, []any{
			map[string]any{
				"file": "a.go", "line": 2, "column": 2, "end_line": 2, "end_column": 5, "text": "f(g",
				"holes": map[string]any{"name": "f", "2": "g"},
			},
		}},
		"text": {actions.Search{Pattern: "3", Mode: "literal"}, []any{
			map[string]any{"file": "b.py", "line": 1, "column": 3, "end_line": 1, "end_column": 4, "text": "3", "holes": map[string]any{}},
		}},
		"nothing": {actions.Search{Pattern: "zz"}, []any{}},
	} {
		test.search.Matches = true
		for _, lines := range []bool{false, true} {
			test.search.Lines = lines
			out := inMemory(t, tree).must("s", test.search, nil)
			equal(t, name, out.Data, any(map[string]any{"matches": test.want}))
			if (out.Content != nil) != lines {
				t.Errorf("%s: content %v", name, out.Content)
			}
		}
	}
}

func TestStructuralCount(t *testing.T) {
	t.Parallel()
	b := inMemory(t, files{"a.go": "f(1); f(2) // f(3)\n", "b.go": "g()\n"})
	out := b.must("s", actions.CountOccurrences{Pattern: "f(:[x])", Mode: "structural"}, []string{"a.go", "b.go"})
	equal(t, "counts", out.Counts, map[string]int{"a.go": 2, "b.go": 0})
}

// A pattern that uses a name twice may cost too much in a text. The limit applies in all actions.
func TestStructuralSteps(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("f(", 4000) + strings.Repeat("a ", 40000) + strings.Repeat(")", 4000)
	const pattern = "f(:[a...] :[[x]] :[b...] :[[x]] :[c...] zz)"
	b := inMemory(t, files{"a.go": text + " zz)"})
	for name, action := range map[string]actions.Action{
		"search": actions.Search{Pattern: pattern, Mode: "structural"},
		"edit":   actions.Edit{OldText: pattern, NewText: "x", Mode: "structural"},
		"count":  actions.CountOccurrences{Pattern: pattern, Mode: "structural"},
	} {
		_, err := b.run("s", action, []string{"a.go"})
		if limit, ok := errors.AsType[*actions.LimitError](err); !ok || limit.What != "steps of a structural pattern" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
