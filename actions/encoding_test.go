package actions_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/millrace-go/millrace/actions"
)

const (
	utf16le = "\xff\xfea\x00b\x00\r\x00\n\x00"
	utf16be = "\xfe\xff\x00a\x00b\x00\n"
	latin   = "ab\xe9\n"
)

// TestEncodings: files in other encodings are searched, counted and edited as text, and their bytes outside of the
// matches stay.
func TestEncodings(t *testing.T) {
	t.Parallel()
	tree := files{"le": utf16le, "be": utf16be, "latin": latin, "utf8": "abé\n", "bin": "ab\x00", "odd": "\xff\xfea\x00b"}
	for _, test := range []struct {
		encoding string
		found    []string
		left     string // out
		edited   files
	}{
		{"", []string{"latin", "utf8"}, "[1 binary file (bin) 3 UTF-16 files (be, le, odd)]", files{"latin": "X\xe9\n", "utf8": "Xé\n"}},
		{"utf-8", []string{"latin", "utf8"}, "[1 binary file (bin) 3 UTF-16 files (be, le, odd)]", files{"latin": "X\xe9\n", "utf8": "Xé\n"}},
		{"auto", []string{"be", "latin", "le", "utf8"}, "[1 binary file (bin) 1 differently encoded file (odd)]", files{
			"be": "\xfe\xff\x00X\x00\n", "le": "\xff\xfeX\x00\r\x00\n\x00", "latin": "X\xe9\n", "utf8": "Xé\n",
		}},
		{"utf-16be", []string{"be"}, "[3 differently encoded files (bin, odd, utf8)]", files{"be": "\xfe\xff\x00X\x00\n"}},
		{"latin1", []string{"latin", "utf8"}, "[1 binary file (bin) 3 UTF-16 files (be, le, odd)]", files{"latin": "X\xe9\n", "utf8": "Xé\n"}},
	} {
		b := inMemory(t, tree)
		out := b.must("search", actions.Search{Pattern: "ab", Encoding: test.encoding}, nil)
		equal(t, test.encoding+": files", out.Files, test.found)
		equal(t, test.encoding+": left out", fmt.Sprint(out.LeftOut), test.left)
		counted := b.must("count", actions.CountOccurrences{Pattern: "ab", Encoding: test.encoding}, test.found)
		b.must("edit", actions.Edit{OldText: "ab", NewText: "X", Encoding: test.encoding}, test.found)
		want := files{}
		for name, text := range tree {
			want[name] = text
		}
		for name, text := range test.edited {
			want[name] = text
			equal(t, test.encoding+": count of "+name, counted.Counts[name], 1)
		}
		b.warnings = nil
		b.wantTree(want)
	}
}

// TestEncodedEdits: every action that replaces text works in an encoding, and refuses text that the encoding lacks.
func TestEncodedEdits(t *testing.T) {
	t.Parallel()
	for _, action := range []actions.Action{
		actions.Edit{OldText: "b\n", NewText: "é\nc\n", Encoding: "auto"},
		actions.MultiEdit{Edits: edits("a", "y", "ya", "a", "yb\n", "aé\nc\n"), Encoding: "auto"},
		actions.MultiEdit{Edits: edits("b\n", "é\nc\n"), Mode: "simultaneous", Encoding: "utf-16le"},
		actions.RegexTransform{Patterns: []actions.PatternEdit{{Pattern: "b$", Replacement: `é\nc`}}, Encoding: "auto"},
	} {
		b := inMemory(t, files{"f": utf16le})
		b.must("s", action, []string{"f"})
		b.wantTree(files{"f": "\xff\xfea\x00\xe9\x00\r\x00\n\x00c\x00\r\x00\n\x00"})
		b.warnings = nil
	}
	for name, test := range map[string]struct {
		text   string
		action actions.Action
		want   string
	}{
		"binary": {"a\x00", actions.Edit{OldText: "a", NewText: "b"}, "f: is a binary file; set binary: true to edit it all the same"},
		"UTF-16": {utf16le, actions.Edit{OldText: "a", NewText: "b"}, "f: is UTF-16 text: use encoding auto"},
		"odd":    {"abc", actions.Edit{OldText: "a", NewText: "b", Encoding: "utf-16le"}, "f: is not a text in that encoding: utf-16le has an odd number of bytes"},
		"latin1": {latin, actions.Edit{OldText: "a", NewText: "世", Encoding: "latin1"}, "f: the character '世' (U+4E16) cannot be written in latin1"},
		"bytes":  {utf16le, actions.Edit{OldText: "a", NewText: "\xff", Encoding: "auto"}, "f: the new text is not UTF-8, so it cannot be written in utf-16le"},
		"name":   {"a", actions.Edit{OldText: "a", NewText: "b", Encoding: "ebcdic"}, "unknown encoding 'ebcdic' (utf-8, auto, utf-16le, utf-16be or latin1)"},
	} {
		b := inMemory(t, files{"f": test.text})
		_, err := b.run("s", test.action, []string{"f"})
		if err == nil || err.Error() != test.want {
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
		b.wantTree(files{"f": test.text})
	}
}

// TestSearchTooLarge: a search counts and names the files that are too large for it.
func TestSearchTooLarge(t *testing.T) {
	t.Parallel()
	b := inMemory(t, files{"a": "ab\n", "b": "abcdefgh\n"})
	out := b.must("search", actions.Search{Pattern: "ab", MaxFileBytes: 4}, nil)
	equal(t, "files", out.Files, []string{"a"})
	equal(t, "left out", fmt.Sprint(out.LeftOut), "[1 too large file (b)]")
	b.wantWarning("b: left out, larger than 4 bytes")
}

// TestEncodedEmptyFile: an empty file has no match in any encoding.
func TestEncodedEmptyFile(t *testing.T) {
	t.Parallel()
	b := inMemory(t, files{"empty": "", "line": "\n", "mark": "\xff\xfe"})
	for encoding, want := range map[string][]string{
		"": {"line"}, "utf-8": {"line"}, "auto": {"line"}, "latin1": {"line"}, "utf-16le": nil, "utf-16be": nil,
	} {
		out := b.must("search", actions.Search{Pattern: "^$", Mode: "regex", Lines: true, Encoding: encoding}, nil)
		equal(t, encoding, out.Files, want)
		out = b.must("search", actions.Search{Pattern: "x", Encoding: encoding, WithoutMatch: true}, nil)
		if !slices.Contains(out.Files, "empty") {
			t.Errorf("%s: the files without a match are %q", encoding, out.Files)
		}
	}
	b.warnings = nil
}
