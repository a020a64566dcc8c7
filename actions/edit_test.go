package actions_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/replace"
)

// TestEditContent checks that only the bytes of matches change, for all kinds of content.
func TestEditContent(t *testing.T) {
	for _, test := range []struct {
		name     string
		edit     actions.Edit
		in, want string
		edits    int
	}{
		{"every occurrence", actions.Edit{OldText: "recieve", NewText: "receive"}, "recieve, recieve", "receive, receive", 2},
		{"left to right, no overlaps", actions.Edit{OldText: "aa", NewText: "b"}, "aaaaa", "bba", 2},
		{"deletion", actions.Edit{OldText: "x"}, "axbx", "ab", 2},
		{"mixed line ends stay", actions.Edit{OldText: "two", NewText: "2"}, "one\r\ntwo\nthree\r\n", "one\r\n2\nthree\r\n", 1},
		{"a line is deleted without a trace", actions.Edit{OldText: "two\n"}, "one\r\ntwo\r\nthree", "one\r\nthree", 1},
		{"byte order mark", actions.Edit{OldText: "a", NewText: "b"}, "\xef\xbb\xbfa", "\xef\xbb\xbfb", 1},
		{"invalid UTF-8", actions.Edit{OldText: "a", NewText: "b"}, "\xff\xfea\xc3", "\xff\xfeb\xc3", 1},
		{"no final newline", actions.Edit{OldText: "a", NewText: "b"}, "x\na", "x\nb", 1},
		{"dollar is text", actions.Edit{OldText: "a", NewText: "$1"}, "a", "$1", 1},
		{"metacharacters are text", actions.Edit{OldText: "f(.*)", NewText: "g"}, "f(.*) f(x)", "g f(x)", 1},
		{"regex", actions.Edit{OldText: `(\w+)@(\w+)`, NewText: "$2 at ${1}_", Mode: "regex"}, "a@b c@d", "b at a_ d at c_", 2},
		{"regex over lines", actions.Edit{OldText: `a\s+b`, NewText: "ab", Mode: "regex"}, "a\n\n b", "ab", 1},
		{"nothing", actions.Edit{OldText: "zz", NewText: "y"}, "abc", "abc", 0},
		{"empty file", actions.Edit{OldText: "a", NewText: "y"}, "", "", 0},
		{"old is new", actions.Edit{OldText: "a", NewText: "a"}, "aa", "aa", 0},
		{"regex that puts back what it took", actions.Edit{OldText: "(a)|(b)", NewText: "${1}c$2", Mode: "regex"}, "ab", "accb", 2},
		{"regex, some of it the same", actions.Edit{OldText: "[ab]", NewText: "a", Mode: "regex"}, "ab", "aa", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			for name, base := range bases {
				t.Run(name, func(t *testing.T) {
					b := newBench(t, base(t), files{"d/a.txt": test.in, "other.txt": test.in})
					out := b.must("s", test.edit, []string{"d/a.txt"})
					b.wantTree(files{"d/a.txt": test.want, "other.txt": test.in})
					want := actions.Outcome{Edits: test.edits}
					if test.edits > 0 {
						want.Files, want.Counts = []string{"d/a.txt"}, map[string]int{"d/a.txt": test.edits}
					}
					equal(t, "outcome", out, want)
					changes, err := b.stage.Changes()
					if err != nil || len(changes) != min(1, test.edits) {
						t.Errorf("changes %v, %v", changes, err)
					}
				})
			}
		})
	}
}

// TestEditIsMinimal checks that the stage receives only the bytes of the matches, with their origin.
func TestEditIsMinimal(t *testing.T) {
	b := inMemory(t, files{"a.txt": "one two three"})
	b.must("s", actions.MultiEdit{Edits: edits("two", "2", "three", "3")}, []string{"a.txt"})
	changes, err := b.stage.Changes()
	if err != nil || len(changes) != 1 {
		t.Fatal(changes, err)
	}
	equal(t, "splices", changes[0].Splices, []change.Splice{
		{Off: 4, Len: 3, Text: []byte("2"), By: []change.Origin{{Step: "s", Edit: 0}}},
		{Off: 8, Len: 5, Text: []byte("3"), By: []change.Origin{{Step: "s", Edit: 1}}},
	})
}

func TestEditErrors(t *testing.T) {
	for name, base := range bases {
		t.Run(name, func(t *testing.T) {
			tree := files{"a.txt": "x", "d/b.txt": "x", "bin": "x\x00x"}
			b := newBench(t, base(t), tree)
			for _, test := range []struct {
				files []string
				text  string
				is    error
			}{
				{[]string{"a.txt", "gone.txt"}, "gone.txt: file does not exist", fs.ErrNotExist},
				{[]string{"no/where/gone.txt"}, "no/where/gone.txt: file does not exist", fs.ErrNotExist},
				{[]string{"d"}, "d: is a directory", fsutil.ErrIsDir},
				{[]string{"a.txt/x"}, "a.txt/x: not a directory", fsutil.ErrNotDir},
				{[]string{"bin", "gone.txt"}, "bin: is a binary file; set binary: true to edit it all the same", actions.ErrBinary},
				{[]string{"../x"}, "../x: path escapes from the root of the tree", fsutil.ErrEscape},
			} {
				_, err := b.run("s", actions.Edit{OldText: "x", NewText: "y"}, test.files)
				wantError(t, err, test.text)
				if !errors.Is(err, test.is) {
					t.Errorf("%v is no %v", err, test.is)
				}
				if e, ok := errors.AsType[*actions.FileError](err); !ok || !strings.HasPrefix(test.text, e.Path+":") {
					t.Errorf("%v is no *FileError", err)
				}
			}
			b.must("bin", actions.Edit{OldText: "x", NewText: "y", Binary: true}, []string{"bin"})
			if data, _ := b.stage.ReadFile("bin"); string(data) != "y\x00y" {
				t.Errorf("binary file became %q", data)
			}
		})
	}
	b := inMemory(t, files{"a.txt": "x"})
	_, err := b.run("s", actions.Edit{}, []string{"a.txt"})
	wantError(t, err, "old_text cannot be empty")
	_, err = b.run("s", actions.Edit{OldText: "x", Mode: "glob"}, []string{"a.txt"})
	wantError(t, err, "unknown mode 'glob'")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err = b.runWith(ctx, "s", actions.Edit{OldText: "x"}, []string{"a.txt"}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestEditLinks checks that a file is edited once through its links, and that the links stay.
func TestEditLinks(t *testing.T) {
	tree := files{"d/a.txt": "a", "link.txt@": "d/a.txt", "dir@": "d", "z.txt@": "link.txt"}
	for _, test := range []struct{ given, modified []string }{
		{[]string{"link.txt"}, []string{"link.txt"}},
		{[]string{"link.txt", "z.txt"}, []string{"link.txt"}},
		{[]string{"link.txt", "d/a.txt", "dir/a.txt"}, []string{"d/a.txt"}},
	} {
		b := newBench(t, bases["root"](t), tree)
		out := b.must("s", actions.Edit{OldText: "a", NewText: "aa"}, test.given)
		equal(t, "files", out.Files, test.modified)
		b.wantTree(files{"d/a.txt": "aa", "link.txt@": "d/a.txt", "dir@": "d", "z.txt@": "link.txt"})
	}
}

func TestEditWarnings(t *testing.T) {
	tree := files{"a.txt": "One\ntwo  \nthree\n", "b.txt": "f(x)\n"}
	both := []string{"a.txt", "b.txt"}
	for _, test := range []struct {
		name   string
		action actions.Action
		files  []string
		want   []string
	}{
		{"found", actions.Edit{OldText: "One", NewText: "1"}, both, nil},
		{"no files at all", actions.Edit{OldText: "zzz", NewText: "1"}, nil, nil},
		{"case", actions.Edit{OldText: "one", NewText: "1"}, both, []string{`old_text "one" matches nothing in 2 files`, "nearest is a.txt:1, which differs in upper and lower case: One"}},
		{"one file", actions.Edit{OldText: "zzzz", NewText: "1"}, []string{"b.txt"}, []string{`old_text "zzzz" matches nothing in b.txt`}},
		{"trailing space", actions.Edit{OldText: "two\nthree", NewText: "1"}, both, []string{"a.txt:2, which differs in spaces at the end of a line: two"}},
		{"the same", actions.Edit{OldText: "two", NewText: "two"}, both, []string{`old_text "two" is found, but its replacement is the same`}},
		{"meant as text", actions.Edit{OldText: "f(x)", NewText: "1", Mode: "regex"}, []string{"b.txt"}, []string{"matches nothing", "it occurs as plain text in b.txt"}},
		{"one of several", actions.MultiEdit{Edits: edits("One", "1", "TWO", "2")}, both, []string{`old_text of edit 1 "TWO" matches nothing`, "a.txt:2"}},
		{"simultaneous", actions.MultiEdit{Mode: "simultaneous", Edits: edits("One", "1", "TWO", "2", "three", "three")}, both,
			[]string{`old_text of edit 1 "TWO" matches nothing`, `old_text of edit 2 "three" is found, but`}},
		{"pattern", actions.RegexTransform{Patterns: []actions.PatternEdit{{Pattern: "q+", Replacement: "r"}}}, both, []string{`pattern 0 "q+" matches nothing in 2 files`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := inMemory(t, tree)
			b.must("s", test.action, test.files)
			b.wantWarning(test.want...)
		})
	}
}

func TestMultiEdit(t *testing.T) {
	swap := edits("x", "y", "y", "x")
	for _, test := range []struct {
		name     string
		edit     actions.MultiEdit
		in, want string
		edits    int
	}{
		{"later edits see what earlier ones left", actions.MultiEdit{Edits: swap}, "x y x", "x x x", 5},
		{"swap", actions.MultiEdit{Edits: swap, Mode: "simultaneous"}, "x y x", "y x y", 3},
		{"side by side", actions.MultiEdit{Edits: edits("a", "b", "b", "c"), Mode: "simultaneous"}, "abab", "bcbc", 4},
		{"in any order", actions.MultiEdit{Edits: edits("two", "2", "one", "1"), Mode: "simultaneous"}, "one two", "1 2", 2},
		{"there and back", actions.MultiEdit{Edits: edits("a", "b", "b", "a")}, "a", "a", 0},
		{"line ends", actions.MultiEdit{Edits: edits("a\nb", "c\nd", "d\n", "")}, "a\r\nb\r\n", "c\r\n", 2},
		{"nothing", actions.MultiEdit{Edits: edits("q", "b"), Mode: "simultaneous"}, "a", "a", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := inMemory(t, files{"a.txt": test.in})
			out := b.must("s", test.edit, []string{"a.txt"})
			b.wantTree(files{"a.txt": test.want})
			if out.Edits != test.edits || out.Counts["a.txt"] != test.edits || (len(out.Files) > 0) != (test.edits > 0) {
				t.Errorf("outcome %+v, want %d edits", out, test.edits)
			}
		})
	}
	b := inMemory(t, files{"a.txt": "x\nabc"})
	_, err := b.run("s", actions.MultiEdit{Edits: edits("bc", "1", "ab", "2"), Mode: "simultaneous"}, []string{"a.txt"})
	wantError(t, err, "a.txt: edits 1 and 0 overlap in line 2; in mode 'sequential' each sees what the one before has left")
	if e, ok := errors.AsType[*replace.OverlapError](err); !ok || e.Line != 2 {
		t.Errorf("%v is no *OverlapError", err)
	}
	_, err = b.run("s", actions.MultiEdit{Edits: edits("a", "1"), Mode: "both"}, []string{"a.txt"})
	wantError(t, err, "unsupported multi_edit mode 'both'")
}

func TestRegexTransform(t *testing.T) {
	for _, test := range []struct {
		name     string
		patterns []actions.PatternEdit
		in, want string
		edits    int
	}{
		{"groups", []actions.PatternEdit{{Pattern: `(\w+) (\w+)`, Replacement: "$2 ${1}"}}, "a b", "b a", 1},
		{"named", []actions.PatternEdit{{Pattern: `(?P<first>\w+)-`, Replacement: "<${first}>$$"}}, "a-b-", "<a>$<b>$", 2},
		{"in order", []actions.PatternEdit{{Pattern: "a", Replacement: "b"}, {Pattern: "b", Replacement: "c"}}, "ab", "cc", 3},
		{"context is seen", []actions.PatternEdit{{Pattern: `\bfoo\b`, Replacement: "bar"}}, "foo foofoo foo", "bar foofoo bar", 2},
		{"case matters", []actions.PatternEdit{{Pattern: "a", Replacement: "b"}}, "aA", "bA", 1},
		{"flags", []actions.PatternEdit{{Pattern: "^a.b$", Replacement: "x", Flags: "ims"}}, "c\nA\nB\nd", "c\nx\nd", 1},
		{"CR LF", []actions.PatternEdit{{Pattern: `[ \t]+$`, Replacement: "", Flags: "m"}}, "a \r\nb\t\n", "a\r\nb\n", 2},
		{"empty matches", []actions.PatternEdit{{Pattern: "x*", Replacement: "-"}}, "abxc", "-a-b-c-", 4},
		{"a call and its line", []actions.PatternEdit{{Pattern: `\s*console\.log\([^)]*\);?\n?`, Replacement: ""}}, "f() {\n  console.log(\"a\",\n    1);\n  g()\n}", "f() {  g()\n}", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := inMemory(t, files{"a.txt": test.in})
			out := b.must("s", actions.RegexTransform{Patterns: test.patterns}, []string{"a.txt"})
			b.wantTree(files{"a.txt": test.want})
			if out.Edits != test.edits || out.Counts["a.txt"] != test.edits {
				t.Errorf("outcome %+v, want %d edits", out, test.edits)
			}
		})
	}
	b := inMemory(t, files{"a.txt": "x"})
	for text, p := range map[string]actions.PatternEdit{
		`replacement "$1x": $1x would be a group named "1x" (write ${1}x)`:                                                                       {Pattern: "(x)", Replacement: "$1x"},
		`replacement "$2": the pattern has no group $2 (write $$ for a dollar sign; the groups are $0, $1)`:                                      {Pattern: "(x)", Replacement: "$2"},
		"invalid regular expression: missing closing ): \"(\" (write \\ before a character that is meant as itself, or set mode to \"literal\")": {Pattern: "("},
		"unknown flag 'g' (only i, m and s are known)":                                                                                           {Pattern: "x", Flags: "g"},
		"pattern 0 cannot be empty": {},
	} {
		_, err := b.run("s", actions.RegexTransform{Patterns: []actions.PatternEdit{p}}, []string{"a.txt"})
		wantError(t, err, text)
	}
}

// TestEditIsReplaceAll compares with the standard library on random content.
func TestEditIsReplaceAll(t *testing.T) {
	words := []string{"a", "b", "ab", "aa", "\n", "é", "\xff", " ", "$1", "A"}
	rapid.Check(t, func(rt *rapid.T) {
		text := func(label string, least int) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), least, 12).Draw(rt, label), "")
		}
		data, old, new := []byte(text("data", 0)), text("old", 1), text("new", 0)
		if len(old) > 4 {
			old = old[:4]
		}
		b := inMemory(t, files{"a": string(data)})
		out := b.must("edit", actions.Edit{OldText: old, NewText: new}, []string{"a"})
		got, _ := b.stage.ReadFile("a")
		if want := bytes.ReplaceAll(data, []byte(old), []byte(new)); !bytes.Equal(got, want) {
			rt.Fatalf("edit %q -> %q in %q: got %q, want %q", old, new, data, got, want)
		}
		if n := bytes.Count(data, []byte(old)); old != new && out.Edits != n {
			rt.Fatalf("%d edits, want %d", out.Edits, n)
		}
		b = inMemory(t, files{"a": string(data)})
		counted := b.must("count", actions.CountOccurrences{Pattern: old}, []string{"a"})
		if n := bytes.Count(data, []byte(old)); counted.Counts["a"] != n {
			rt.Fatalf("counted %d, want %d", counted.Counts["a"], n)
		}

		source := rapid.SampledFrom([]string{`a`, `a+`, `\b`, `(a)(b)?`, `^`, `$`, `b*`, `\s+`, `(?i)A`, `^a|b`, `.`,
			`[^a]`}).Draw(rt, "regex")
		b.must("regex", actions.RegexTransform{Patterns: []actions.PatternEdit{{Pattern: source, Replacement: "<$0>"}}}, []string{"a"})
		got, _ = b.stage.ReadFile("a")
		if want := angled(regexp.MustCompile("(?m)"+source), data); !bytes.Equal(got, want) {
			rt.Fatalf("%q in %q: got %q, want %q", source, data, got, want)
		}
	})
}

// angled returns data with each match in angle brackets. After the last line end there is no line, and no empty match.
func angled(re *regexp.Regexp, data []byte) (out []byte) {
	end := 0
	for _, loc := range re.FindAllIndex(data, -1) {
		if loc[0] == loc[1] && loc[0] == len(data) && bytes.HasSuffix(data, []byte("\n")) {
			continue
		}
		out = append(append(append(append(out, data[end:loc[0]]...), '<'), data[loc[0]:loc[1]]...), '>')
		end = loc[1]
	}
	return append(out, data[end:]...)
}

// TestEditLimits checks that too many matches and too much output are typed errors, and that nothing is staged.
func TestEditLimits(t *testing.T) {
	b := inMemory(t, files{"a": strings.Repeat("a", 1_000_000+1)})
	for what, action := range map[string]actions.Action{
		"matches":      actions.Edit{OldText: "a", NewText: "b"},
		"bytes staged": actions.Edit{OldText: "a", NewText: strings.Repeat("b", 1000)},
	} {
		_, err := b.run("s", action, []string{"a"})
		if e, ok := errors.AsType[*actions.LimitError](err); !ok || e.What != what {
			t.Errorf("%s: %v", what, err)
		}
	}
	simultaneous := actions.MultiEdit{Mode: "simultaneous", Edits: edits("a", "b")}
	if _, err := b.run("s", simultaneous, []string{"a"}); err == nil {
		t.Error("simultaneous: no error")
	}
	if changes, err := b.stage.Changes(); err != nil || len(changes) > 0 {
		t.Errorf("staged %v, %v", changes, err)
	}
}

func TestCountOccurrences(t *testing.T) {
	tree := files{"a.txt": "Foo foo foofoo\r\n", "b.txt": "", "bin": "foo\x00"}
	all := []string{"a.txt", "b.txt", "bin"}
	for _, test := range []struct {
		action actions.CountOccurrences
		want   map[string]int
	}{
		{actions.CountOccurrences{Pattern: "foo"}, map[string]int{"a.txt": 3, "b.txt": 0, "bin": 1}},
		{actions.CountOccurrences{Pattern: "foo", IgnoreCase: true}, map[string]int{"a.txt": 4, "b.txt": 0, "bin": 1}},
		{actions.CountOccurrences{Pattern: "f.o"}, map[string]int{"a.txt": 0, "b.txt": 0, "bin": 0}},
		{actions.CountOccurrences{Pattern: `\bfoo\b`, Mode: "regex"}, map[string]int{"a.txt": 1, "b.txt": 0, "bin": 1}},
		{actions.CountOccurrences{Pattern: `$`, Mode: "regex", IgnoreCase: true}, map[string]int{"a.txt": 1, "b.txt": 1, "bin": 1}},
	} {
		b := inMemory(t, tree)
		out := b.must("s", test.action, all)
		equal(t, "counts", out.Counts, test.want)
		equal(t, "files", out.Files, all)
	}
	b := inMemory(t, tree)
	_, err := b.run("s", actions.CountOccurrences{Pattern: "a"}, []string{"gone"})
	wantError(t, err, "gone: file does not exist")
}

// edits returns the edits of pairs of texts.
func edits(pairs ...string) []actions.TextEdit {
	var list []actions.TextEdit
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, actions.TextEdit{OldText: pairs[i], NewText: pairs[i+1]})
	}
	return list
}
