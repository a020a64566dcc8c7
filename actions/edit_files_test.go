package actions_test

import (
	"io/fs"
	"testing"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/change"
)

// one returns an edit_files of one file.
func one(path string, edits ...actions.LineEdit) actions.EditFiles {
	return actions.EditFiles{FileEdits: []actions.FileEdits{{Path: path, Edits: edits}}}
}

// everywhere makes an edit replace all occurrences.
func everywhere(e actions.LineEdit) actions.LineEdit {
	e.ReplaceAll = true
	return e
}

// over makes a create overwrite an existing file.
func over(e actions.LineEdit) actions.LineEdit {
	e.Overwrite = true
	return e
}

// TestEditFilesContent checks the results of edits of one file: order, line ends, unchanged parts.
func TestEditFilesContent(t *testing.T) {
	type edits = []actions.LineEdit
	const mark = "\xef\xbb\xbf"
	for _, test := range []struct {
		name     string
		edits    edits
		in, want string
		changed  int
	}{
		{"insert at the top", edits{actions.InsertAfter(0, "x\n")}, "a\nb\n", "x\na\nb\n", 1},
		{"insert after a line", edits{actions.InsertAfter(1, "x\n")}, "a\nb\n", "a\nx\nb\n", 1},
		{"insert after the last line", edits{actions.InsertAfter(-1, "x\n")}, "a\nb\n", "a\nb\nx\n", 1},
		{"insert after the last but one", edits{actions.InsertAfter(-2, "x\n")}, "a\nb\n", "a\nx\nb\n", 1},
		{"insert into an empty file", edits{actions.InsertAfter(0, "x"), actions.InsertAfter(-1, "y")}, "", "x\ny", 2},
		{"replace lines", edits{actions.ReplaceLines(2, 3, "x\n")}, "a\nb\nc\nd\n", "a\nx\nd\n", 1},
		{"replace from the end", edits{actions.ReplaceLines(-2, -1, "x\n")}, "a\nb\nc\n", "a\nx\n", 1},
		{"replace all", edits{actions.ReplaceLines(1, -1, "x")}, "a\nb\nc\n", "x", 1},
		{"delete lines", edits{actions.ReplaceLines(2, 2, "")}, "a\nb\nc", "a\nc", 1},
		{"line edits refer to the file as it was", edits{
			actions.InsertAfter(1, "x\ny\n"), actions.ReplaceLines(3, 3, "C\n"), actions.ReplaceLines(1, 1, ""), actions.InsertAfter(3, "z\n"),
		}, "a\nb\nc\n", "x\ny\nb\nC\nz\n", 4},
		{"two inserts keep their order", edits{actions.InsertAfter(1, "x"), actions.InsertAfter(1, "y")}, "a\nb\n", "a\nx\ny\nb\n", 2},
		{"replacements after line edits, in order", edits{
			actions.ReplaceText("x", "y"), actions.ReplaceText("y\n", "z\n"), actions.InsertAfter(0, "x\n"),
		}, "a\n", "z\na\n", 3},
		{"appends last, in order", edits{
			actions.AppendText("1"), actions.ReplaceText("b", "c"), actions.AppendText("2"), actions.InsertAfter(-1, "b"),
		}, "a", "a\nc\n1\n2", 4},
		{"append is not replaced in", edits{actions.AppendText("a"), actions.ReplaceText("a", "b")}, "a\n", "b\na", 2},
		{"append nothing", edits{actions.AppendText(""), actions.InsertAfter(0, "x\n")}, "a", "x\na", 1},
		{"replace all of a text", edits{everywhere(actions.ReplaceText("a", "bb"))}, "a-a\na", "bb-bb\nbb", 3},
		{"delete a text", edits{actions.ReplaceText("a\n", "")}, "a\nb\n", "b\n", 1},
		{"dollar is text", edits{actions.ReplaceText("a.", "$1")}, "a.\nab", "$1\nab", 1},
		{"line ends of the file", edits{actions.InsertAfter(1, "x\ny"), actions.AppendText("z\n")}, "a\r\nb\r\n", "a\r\nx\r\ny\r\nb\r\nz\r\n", 2},
		{"line ends of the file, the other way", edits{actions.ReplaceLines(1, 1, "x\r\ny\r\n")}, "a\nb\n", "x\ny\nb\n", 1},
		{"line ends within a replacement", edits{actions.ReplaceText("a", "x\ny"), actions.ReplaceText("b\nc", "d\ne\n")}, "a\r\nb\r\nc", "x\r\ny\r\nd\r\ne\r\n", 2},
		{"a replacement loses those it does not know", edits{actions.ReplaceText("a", "x\r\ny")}, "a\nb\n", "x\ny\nb\n", 1},
		{"unless the text names them", edits{actions.ReplaceText("a\r\n", "x\n")}, "a\r\nb\r\n", "x\nb\r\n", 1},
		{"mixed line ends stay", edits{actions.InsertAfter(1, "x\ny\r\n")}, "a\r\nb\n", "a\r\nx\ny\r\nb\n", 1},
		{"mixed, replaced as they were", edits{actions.ReplaceText("a\nb\n", "x\ny\n")}, "a\r\nb\n", "x\r\ny\n", 1},
		{"no final newline", edits{actions.ReplaceLines(1, 1, "x")}, "a\nb", "x\nb", 1},
		{"no final newline, line after", edits{actions.InsertAfter(2, "x")}, "a\nb", "a\nb\nx", 1},
		{"byte order mark", edits{actions.InsertAfter(0, "x\n"), actions.ReplaceLines(1, 1, "y\n"), actions.AppendText("z")}, mark + "a\n", mark + "x\ny\nz", 3},
		{"invalid UTF-8", edits{actions.InsertAfter(1, "x\n"), actions.ReplaceText("b", "c")}, "\xff\xfe\nb\xc3\n", "\xff\xfe\nx\nc\xc3\n", 2},
		{"the same again", edits{actions.ReplaceLines(1, 1, "a\n"), actions.ReplaceText("b", "b")}, "a\nb\n", "a\nb\n", 0},
		{"there and back", edits{actions.ReplaceText("a", "b"), actions.ReplaceText("b", "a")}, "a\n", "a\n", 0},
		{"overwrite", edits{over(actions.CreateText("x\n"))}, "a\r\nb\r\n", "x\n", 1},
		{"overwrite, then edit", edits{actions.InsertAfter(1, "y\n"), actions.ReplaceText("x", "z"), over(actions.CreateText("x\n"))}, "a\n", "z\ny\n", 3},
		{"overwrite with the same", edits{over(actions.CreateText("a\n"))}, "a\n", "a\n", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			for name, base := range bases {
				t.Run(name, func(t *testing.T) {
					b := newBench(t, base(t), files{"d/a.txt": test.in, "other.txt": test.in})
					out := b.must("s", one("d/a.txt", test.edits...), nil)
					b.wantTree(files{"d/a.txt": test.want, "other.txt": test.in})
					want := actions.Outcome{Edits: test.changed,
						Reports: []actions.FileReport{edited("d/a.txt", len(test.edits), test.want)}}
					want.Files = []string{"d/a.txt"} // also if it was already right
					if test.changed > 0 {
						want.Counts = map[string]int{"d/a.txt": test.changed}
						b.wantWarning()
					} else {
						b.wantWarning("d/a.txt: the edits change nothing")
					}
					equal(t, "outcome", out, want)
					changes, err := b.stage.Changes()
					if err != nil || len(changes) != min(1, test.changed) {
						t.Errorf("changes %v, %v", changes, err)
					}
				})
			}
		})
	}
}

// edited returns the report of a file with successful edits only.
func edited(path string, edits int, text string) actions.FileReport {
	none := 0
	return actions.FileReport{Path: path, Success: true, ContentHash: hexHash(text), EditsApplied: &edits,
		EditsFailed: &none}
}

func TestEditFilesAsGiven(t *testing.T) {
	for _, test := range []struct {
		edit     actions.LineEdit
		in, want string
	}{
		{actions.InsertAfter(1, "x\ny"), "a\r\nb\r\n", "a\r\nx\ny\r\nb\r\n"},
		{actions.AppendText("x\n"), "a\r\nb", "a\r\nb\r\nx\n"},
		{actions.ReplaceText("a", "x\ny"), "a\r\nb\r\n", "x\ny\r\nb\r\n"},
		{actions.ReplaceText("a\nb", "x\ny"), "a\r\nb\r\n", "x\ny\r\n"},
		{actions.ReplaceLines(1, 1, "x\r\n"), "a\nb\n", "x\r\nb\n"},
	} {
		b := inMemory(t, files{"a": test.in})
		edit := one("a", test.edit)
		edit.EOL = "as_given"
		b.must("s", edit, nil)
		b.wantTree(files{"a": test.want})
	}
}

// TestEditFilesIsMinimal checks that the stage receives only the bytes of the edits, with their origin.
func TestEditFilesIsMinimal(t *testing.T) {
	b := inMemory(t, files{"a.txt": "one\ntwo\nthree\nfour\n"})
	b.must("s", one("a.txt",
		actions.AppendText("five\n"), actions.ReplaceText("four", "4"), actions.ReplaceLines(2, 2, "2\n"), actions.InsertAfter(0, "0"),
	), nil)
	changes, err := b.stage.Changes()
	if err != nil || len(changes) != 1 {
		t.Fatal(changes, err)
	}
	by := func(i int) []change.Origin { return []change.Origin{{Step: "s", Edit: i}} }
	equal(t, "splices", changes[0].Splices, []change.Splice{
		{Off: 0, Len: 0, Text: []byte("0\n"), By: by(3)},
		{Off: 4, Len: 4, Text: []byte("2\n"), By: by(2)},
		{Off: 14, Len: 4, Text: []byte("4"), By: by(1)},
		{Off: 19, Len: 0, Text: []byte("five\n"), By: by(0)},
	})
}

// TestEditFilesCreates checks new files with further edits in the same step.
func TestEditFilesCreates(t *testing.T) {
	for name, base := range bases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, base(t), files{"old.txt": "x\n"})
			out := b.must("s", actions.EditFiles{FileEdits: []actions.FileEdits{
				{Path: "new/deep/./a.txt", Edits: []actions.LineEdit{
					actions.InsertAfter(1, "two"), actions.CreateText("one\nthree"), actions.AppendText("four"), actions.ReplaceText("one", "1"),
				}},
				{Path: "empty.txt", Edits: []actions.LineEdit{actions.CreateText("")}},
				{Path: "crlf.txt", Edits: []actions.LineEdit{actions.CreateText("a\r\nb\n"), actions.AppendText("c\n")}},
				{Path: "old.txt", Edits: []actions.LineEdit{actions.AppendText("y\n")}},
			}}, nil)
			b.wantTree(files{"new/deep/a.txt": "1\ntwo\nthree\nfour", "empty.txt": "", "crlf.txt": "a\r\nb\nc\n", "old.txt": "x\ny\n"})
			equal(t, "outcome", out, actions.Outcome{
				Files: []string{"new/deep/a.txt", "empty.txt", "crlf.txt", "old.txt"}, Edits: 8,
				Counts: map[string]int{"new/deep/a.txt": 4, "empty.txt": 1, "crlf.txt": 2, "old.txt": 1},
				Reports: []actions.FileReport{
					edited("new/deep/a.txt", 4, "1\ntwo\nthree\nfour"), edited("empty.txt", 1, ""), edited("crlf.txt", 2, "a\r\nb\nc\n"),
					edited("old.txt", 1, "x\ny\n"),
				},
			})
		})
	}
}

// TestEditFilesKeeps checks that a link stays a link, and that a mode stays.
func TestEditFilesKeeps(t *testing.T) {
	root := bases["root"](t)
	write(t, root, files{"d/a.sh": "one\n", "link@": "d/a.sh"})
	if err := root.Chmod("d/a.sh", 0o750); err != nil {
		t.Fatal(err)
	}
	b := newBench(t, root, nil)
	b.must("s1", one("link", actions.InsertAfter(-1, "two\n")), nil)
	b.wantTree(files{"d/a.sh": "one\ntwo\n", "link@": "d/a.sh"})
	b.must("s2", one("link", over(actions.CreateText("new\n"))), nil)
	b.wantTree(files{"d/a.sh": "new\n", "link@": "d/a.sh"})
	info, err := b.stage.Stat("d/a.sh")
	if err != nil || info.Mode() != fs.FileMode(0o750) {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}
