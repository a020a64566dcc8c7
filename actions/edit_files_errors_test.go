package actions_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/fsutil"
)

func sum(s string) string { return change.HashOf([]byte(s)).String() }

// withContent sets the hash of the whole file in an edit.
func withContent(e actions.LineEdit, content string) actions.LineEdit {
	e.ContentHash = sum(content)
	return e
}

// withRange sets the hash of the lines in an edit.
func withRange(e actions.LineEdit, lines string) actions.LineEdit {
	e.RangeHash = sum(lines)
	return e
}

// TestEditFilesOverlaps: a text that occurs twice is not unique, also if the second occurrence overlaps with the first.
func TestEditFilesOverlaps(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ old, text, want string }{
		{"}\n}\n", "}\n}\n}\n", "2 times in file: in lines 1, 2"},
		{"}\n}\n", "x\r\n}\r\n}\n}\r\n", "2 times in file: in lines 2, 3"},
		{"aa", "aaa", "2 times in file: in line 1"},
		{"\n\n", "a\n\n\nb", "2 times in file: in lines 1, 2"},
		{"\r\n\r\n", "\r\n\r\n\r\n", "2 times in file: in lines 1, 2"},
		{"-\n-\n", "-\n-\n-\n-\n-\n", "2 times in file: in lines 1, 3"},
		{"\nx\n", "a\r\nx\r\nb", ""},
		{"\nx\n", "a\nx\nb", ""},
		{"\n", "a\r\nb", ""},
		{"abcab", "abcab abca", ""},
	} {
		b := inMemory(t, files{"f": test.text})
		_, err := b.run("s", one("f", actions.ReplaceText(test.old, "new")), nil)
		if test.want != "" {
			if err == nil {
				t.Errorf("%q in %q: no error", test.old, test.text)
				continue
			}
			wantError(t, err, "f: edit 0 (str_replace): String found "+test.want+"; set replace_all, or make old_str longer")
			b.wantTree(files{"f": test.text})
		} else if err != nil {
			t.Errorf("%q in %q: %v", test.old, test.text, err)
		}
		b = inMemory(t, files{"f": test.text})
		b.must("s", one("f", everywhere(actions.ReplaceText(test.old, "new"))), nil)
	}
}

// TestEditFilesErrors checks the text of every error, and that a file with an error stays unchanged.
func TestEditFilesErrors(t *testing.T) {
	type edits = []actions.LineEdit
	const text = "one\ntwo two\nthree\n"
	for _, test := range []struct {
		name  string
		edits edits
		want  string
	}{
		{"line", edits{actions.InsertAfter(4, "x")}, "edit 0 (insert): Line number out of range: line 4 of 3"},
		{"line from the end", edits{actions.InsertAfter(-4, "x")}, "edit 0 (insert): Line number out of range: line -4 of 3"},
		{"lines", edits{actions.ReplaceLines(2, 4, "x")}, "edit 0 (replace_lines): Line number out of range: lines 2 to 4 of 3"},
		{"lines turned round", edits{actions.ReplaceLines(3, -2, "x")}, "edit 0 (replace_lines): Line number out of range: lines 3 to -2 of 3"},
		{"overlap", edits{actions.ReplaceLines(2, 3, "x"), actions.AppendText("y"), actions.ReplaceLines(1, 2, "x")},
			"edit 2 (replace_lines): Lines overlap: edits 0 and 2 want the same ones; line numbers are those of the file before the step"},
		{"insert within", edits{actions.InsertAfter(2, "y"), actions.ReplaceLines(2, 3, "x")},
			"edit 1 (replace_lines): Lines overlap: edits 0 and 1 want the same ones; line numbers are those of the file before the step"},
		{"not found", edits{actions.ReplaceText("nowhere", "x")}, "edit 0 (str_replace): String not found in file"},
		{"nearly found", edits{actions.ReplaceText("Three", "x")}, "edit 0 (str_replace): String not found in file: nearest is line 3, which differs in upper and lower case: three"},
		{"not unique", edits{actions.ReplaceText("two", "x")}, "edit 0 (str_replace): String found 2 times in file: in line 2; set replace_all, or make old_str longer"},
		{"not unique, in lines", edits{actions.ReplaceText("o", "x")}, "edit 0 (str_replace): String found 3 times in file: in lines 1, 2; set replace_all, or make old_str longer"},
		{"content", edits{withContent(actions.AppendText("x"), "else")}, "edit 0 (append): File has changed: its content_hash is " + sum(text) + ", not " + sum("else") + "; read it again"},
		{"range", edits{withRange(actions.ReplaceLines(1, 2, "x"), "else")}, "edit 0 (replace_lines): Lines 1 to 2 have changed: their range_hash is " + sum("one\ntwo two\n") + ", not " + sum("else") + "; read them again"},
		{"range of an insert", edits{withRange(actions.InsertAfter(-1, "x"), "three")}, "edit 0 (insert): Line 3 has changed: its range_hash is " + sum("three\n") + ", not " + sum("three") + "; read it again"},
		{"create", edits{actions.CreateText("x")}, "edit 0 (create): file already exists; set overwrite to replace its text"},
		{"create, changed", edits{over(withContent(actions.CreateText("x"), "else"))}, "edit 0 (create): File has changed: its content_hash is " + sum(text) + ", not " + sum("else") + "; read it again"},
		{"all of them", edits{
			actions.ReplaceText("no", "x"), actions.InsertAfter(9, "x"), actions.AppendText("fine"), withContent(actions.InsertAfter(9, "x"), "else"), actions.ReplaceText("e", "x"),
		}, "edit 0 (str_replace): String not found in file; a.txt: edit 1 (insert): Line number out of range: line 9 of 3; " +
			"a.txt: edit 3 (insert): File has changed: its content_hash is " + sum(text) + ", not " + sum("else") + "; read it again; " +
			"a.txt: edit 4 (str_replace): String found 3 times in file: in lines 1, 3; set replace_all, or make old_str longer"},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := inMemory(t, files{"a.txt": text, "b.txt": "b\n"})
			edit := one("a.txt", test.edits...)
			edit.FileEdits = append(edit.FileEdits, actions.FileEdits{Path: "b.txt", Edits: edits{actions.AppendText("c\n")}})
			out, err := b.run("s", edit, nil)
			wantError(t, err, "a.txt: "+test.want)
			if len(out.Reports) != 1 || out.Reports[0].Path != "a.txt" || out.Reports[0].Success {
				t.Errorf("reports %+v", out.Reports)
			}
			b.wantTree(files{"a.txt": text, "b.txt": "b\n"})

			edit.OnError = "continue"
			out = b.must("s", edit, nil)
			b.wantTree(files{"a.txt": text, "b.txt": "b\nc\n"})
			b.wantWarning("not edited: a.txt: " + test.want)
			equal(t, "files", out.Files, []string{"b.txt"})
			equal(t, "report", out.Reports[1], edited("b.txt", 1, "b\nc\n"))
			report := out.Reports[0]
			if n := strings.Count(test.want, "("); *report.EditsApplied != 0 || *report.EditsFailed != n ||
				len(report.FailedEdits) != n {
				t.Errorf("report %+v", report)
			}
			for _, f := range report.FailedEdits {
				if !strings.Contains(test.want, fmt.Sprintf("edit %d (%s): %s", f.Index, f.Command, f.Error)) {
					t.Errorf("failed edit %+v", f)
				}
			}
			if report.Error != report.FailedEdits[0].Error || report.Success {
				t.Errorf("report %+v", report)
			}
		})
	}
}

// TestEditFilesUnusable checks the errors of whole files, on both kinds of file system.
func TestEditFilesUnusable(t *testing.T) {
	for name, base := range bases {
		t.Run(name, func(t *testing.T) {
			tree := files{"a.txt": "a\n", "d/b.txt": "b\n", "bin": "b\x00", "good.txt": "g\n"}
			b := newBench(t, base(t), tree)
			insert := []actions.LineEdit{actions.InsertAfter(0, "x\n"), actions.AppendText("y\n")}
			for _, test := range []struct {
				path, text string
				is         error
				cause      string
			}{
				{"gone.txt", "File not found", fs.ErrNotExist, "not_found"},
				{"no/where.txt", "File not found", fs.ErrNotExist, "not_found"},
				{"d", "is a directory", fsutil.ErrIsDir, "is_directory"},
				{"a.txt/", "not a directory", fsutil.ErrNotDir, ""},
				{"bin", actions.ErrBinary.Error(), actions.ErrBinary, ""},
				{"../x", "path escapes from the root of the tree", fsutil.ErrEscape, "outside_root"},
				{".git/config", "access denied: version control directories are not written to", fsutil.ErrProtected, "permission_denied"},
			} {
				if test.path == ".git/config" {
					write(t, b.stage.Base(), files{test.path: "c\n"})
					tree[test.path] = "c\n"
				}
				edit := actions.EditFiles{FileEdits: []actions.FileEdits{
					{Path: test.path, Edits: insert}, {Path: "good.txt", Edits: []actions.LineEdit{actions.AppendText("h\n")}},
				}}
				name := strings.TrimSuffix(test.path, "/")
				savepoint := b.stage.Savepoint()
				_, err := b.run("s", edit, nil)
				wantError(t, err, name+": "+test.text)
				if !errors.Is(err, test.is) {
					t.Errorf("%v is no %v", err, test.is)
				}
				b.stage.Rollback(savepoint)
				edit.OnError = "continue"
				out := b.must("s", edit, nil)
				b.wantWarning("not edited: " + name + ": " + test.text)
				none, two := 0, 2
				equal(t, "report", out.Reports[0], actions.FileReport{
					Path: name, Error: test.text, Cause: test.cause, EditsApplied: &none, EditsFailed: &two, FailedEdits: []actions.FailedEdit{
						{Index: 0, Command: "insert", Error: test.text}, {Index: 1, Command: "append", Error: test.text},
					},
				})
				if data, _ := b.stage.ReadFile("good.txt"); string(data) != "g\nh\n" {
					t.Errorf("the good file is %q", data)
				}
				b.stage.Rollback(savepoint)
			}
			b.wantTree(tree)
			edit := one("bin", actions.AppendText("x"))
			edit.Binary = true
			b.must("s", edit, nil)
			if data, _ := b.stage.ReadFile("bin"); string(data) != "b\x00\nx" {
				t.Errorf("binary file became %q", data)
			}
		})
	}
}

// TestEditFilesPermission checks the report for a file that the operating system refuses.
func TestEditFilesPermission(t *testing.T) {
	b := newBench(t, locked(inMemory(t, files{"a.txt": "a\n"}).stage.Base(), "a.txt"), nil)
	_, err := b.run("s", one("a.txt", actions.AppendText("x")), nil)
	wantError(t, err, "a.txt: Permission denied")
	if !errors.Is(err, fs.ErrPermission) {
		t.Error(err)
	}
}

// TestEditFilesHalfMade: a file that cannot be created leaves no directories. The files before and after it are kept.
func TestEditFilesHalfMade(t *testing.T) {
	b := inMemory(t, files{"a.txt": "a\n"})
	edit := actions.EditFiles{OnError: "continue", FileEdits: []actions.FileEdits{
		{Path: "n/1.txt", Edits: []actions.LineEdit{actions.CreateText("1")}},
		{Path: "new/dir/", Edits: []actions.LineEdit{actions.CreateText("x")}},
		{Path: "a.txt/x", Edits: []actions.LineEdit{actions.CreateText("x")}},
		{Path: "n/2.txt", Edits: []actions.LineEdit{actions.CreateText("2")}},
	}}
	b.must("s", edit, nil)
	b.wantTree(files{"a.txt": "a\n", "n/1.txt": "1", "n/2.txt": "2"})
	if _, err := b.stage.Stat("new"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a directory for nothing: %v", err)
	}
	equal(t, "warnings", b.warnings, []string{"not edited: new/dir: is a directory", "not edited: a.txt/x: edit 0 (create): not a directory"})
}

// TestEditFilesTwins: one file under two names is a mistake, and no edits of it are made.
func TestEditFilesTwins(t *testing.T) {
	b := newBench(t, bases["root"](t), files{"d/a.txt": "a\n", "link@": "d/a.txt", "e@": "d", "b.txt": "b\n"})
	add := func(path string) actions.FileEdits {
		return actions.FileEdits{Path: path, Edits: []actions.LineEdit{actions.AppendText("x\n")}}
	}
	_, err := b.run("s", actions.EditFiles{FileEdits: []actions.FileEdits{add("link"), add("d/a.txt")}}, nil)
	wantError(t, err, "link: is the same file as d/a.txt; put all edits of a file into one list; "+
		"d/a.txt: is the same file as link; put all edits of a file into one list")
	create := func(path string) actions.FileEdits {
		return actions.FileEdits{Path: path, Edits: []actions.LineEdit{actions.CreateText("x\n")}}
	}
	b.must("s", actions.EditFiles{OnError: "continue", FileEdits: []actions.FileEdits{create("d/new"), add("b.txt"), create("e/new")}}, nil)
	b.wantTree(files{"d/a.txt": "a\n", "link@": "d/a.txt", "e@": "d", "b.txt": "b\nx\n"})
	_, err = b.run("s", actions.EditFiles{FileEdits: []actions.FileEdits{add("b.txt"), add("./d/../b.txt")}}, nil)
	wantError(t, err, "/file_edits/1/path: './d/../b.txt' is edited twice")
}

// TestEditFilesHashes checks hashes that match.
func TestEditFilesHashes(t *testing.T) {
	const text = "\xef\xbb\xbfone\r\ntwo\r\nthree"
	b := inMemory(t, files{"a.txt": text, "empty": ""})
	shorter := withContent(actions.ReplaceText("one", "1"), text)
	shorter.ContentHash = strings.ToUpper(shorter.ContentHash[:12])
	edit := one("a.txt",
		withRange(actions.ReplaceLines(2, 3, "2"), "two\r\nthree"), withRange(actions.InsertAfter(1, "x"), "\xef\xbb\xbfone\r\n"),
		withContent(actions.AppendText("end"), text), shorter, withContent(withRange(actions.InsertAfter(3, "y"), "three"), text),
	)
	edit.RequireHash = true
	b.must("s1", edit, nil)
	edit = one("empty", withRange(actions.InsertAfter(-1, "x"), ""))
	edit.RequireHash = true
	b.must("s2", edit, nil)
	edit = one("empty", over(withContent(actions.CreateText("new\n"), "x")), actions.AppendText("y"))
	edit.RequireHash = true
	b.must("s3", edit, nil)
	b.wantTree(files{"a.txt": "\xef\xbb\xbf1\r\nx\r\n2\r\ny\r\nend", "empty": "new\ny"})

	for _, path := range []string{"empty", "new.txt"} {
		edit := one(path, over(actions.CreateText("x")))
		edit.RequireHash = true
		_, err := b.run("s4", edit, nil)
		if path == "empty" {
			wantError(t, err, "empty: edit 0 (create): require_hash is set and the file exists, but create has no content_hash")
		} else if err != nil {
			t.Error(err)
		}
	}
	_, err := b.run("s5", one("gone", over(withContent(actions.CreateText("x"), "x"))), nil)
	wantError(t, err, "gone: edit 0 (create): File not found")
}

// TestEditFilesLimits: the limits of a host apply here too.
func TestEditFilesLimits(t *testing.T) {
	for _, test := range []struct {
		limits actions.Limits
		edits  []actions.LineEdit
		want   string
	}{
		{actions.Limits{MaxFileBytes: 3}, []actions.LineEdit{actions.AppendText("x")}, "a: file is too large (max 3 bytes, got 4)"},
		{actions.Limits{MaxOutputBytes: 5}, []actions.LineEdit{actions.AppendText("12345"), actions.InsertAfter(0, "x")}, "a: edit 0 (append): too much new text in one file (max 5 bytes)"},
		{actions.Limits{MaxOutputBytes: 5}, []actions.LineEdit{over(actions.CreateText("123456"))}, "a: edit 0 (create): too much new text in one file (max 5 bytes)"},
		{actions.Limits{MaxOutputBytes: 5}, []actions.LineEdit{everywhere(actions.ReplaceText("a", "xxx"))}, "a: edit 0 (str_replace): too much new text in one file (max 5 bytes)"},
		{actions.Limits{MaxMatches: 1}, []actions.LineEdit{everywhere(actions.ReplaceText("a", "x"))}, "a: edit 0 (str_replace): too many matches in one file (max 1)"},
		{actions.Limits{MaxPatternBytes: 2}, []actions.LineEdit{actions.ReplaceText("aaa", "x")}, "a: edit 0 (str_replace): old_str: pattern is too long (max 2 bytes, got 3)"},
	} {
		b := inMemory(t, files{"a": "a\na\n"})
		c := &actions.Call{FS: (*fsutil.Stage)(b.stage.For("s", false)), Step: "s", Limits: test.limits}
		_, err := one("a", test.edits...).Run(t.Context(), c)
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("error %v, want %s", err, test.want)
		}
		if _, ok := errors.AsType[*actions.LimitError](err); !ok {
			t.Errorf("%v is no *LimitError", err)
		}
		b.wantTree(files{"a": "a\na\n"})
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	b := inMemory(t, files{"a": "a\na\n"})
	if _, err := b.runWith(ctx, "s", one("a", actions.AppendText("x")), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestEditFilesErrorIsShort: the text of thousands of failures stays short, but the error has all of them.
func TestEditFilesErrorIsShort(t *testing.T) {
	b := inMemory(t, files{"a": strings.Repeat("a\n", 200)})
	edits := make([]actions.LineEdit, 1000)
	for i := range edits {
		edits[i] = actions.InsertAfter(201+i, "x")
	}
	_, err := b.run("s", one("a", edits...), nil)
	if err == nil || !strings.HasSuffix(err.Error(), "; and 990 more") || len(err.Error()) > 3000 {
		t.Error(err)
	}
	var all int
	for e := err; e != nil && all == 0; e = errors.Unwrap(e) {
		if list, ok := e.(interface{ Unwrap() []error }); ok {
			all = len(list.Unwrap())
		}
	}
	if all != 1000 {
		t.Errorf("%d failures", all)
	}
	_, err = b.run("s", one("a", actions.ReplaceText("a", "b")), nil)
	if err == nil || !strings.Contains(err.Error(), "String found 200 times in file: first in lines 1, 2, ") ||
		!strings.Contains(err.Error(), " 8, 9, 10; set") {
		t.Error(err)
	}
}
