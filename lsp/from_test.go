package lsp_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"maps"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/crashfs"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/lsp"
	"github.com/millrace-go/millrace/risk"
)

var update = flag.Bool("update", false, "write the golden files")

// planned plans the changes that a function makes in a stage.
func planned(t *testing.T, fsys afero.Fs, do func(s *fsutil.Stage) error) *millrace.Plan {
	t.Helper()
	act := suite.Action{Do: func(_ context.Context, c *actions.Call) (actions.Outcome, error) {
		return actions.Outcome{}, do(c.FS)
	}}
	plan, err := millrace.Executor{}.Plan(t.Context(), fsys, suite.One(act))
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// urisOf returns a list of changes in short form.
func urisOf(edit lsp.WorkspaceEdit) string {
	var b strings.Builder
	for _, c := range edit.DocumentChanges {
		switch c := c.(type) {
		case *lsp.CreateFile:
			b.WriteString("create " + c.URI)
		case *lsp.RenameFile:
			b.WriteString("rename " + c.OldURI + " " + c.NewURI)
		case *lsp.DeleteFile:
			b.WriteString("delete " + c.URI)
		case *lsp.TextDocumentEdit:
			b.WriteString("edit " + c.TextDocument.URI)
		}
		b.WriteString("\n")
	}
	return strings.ReplaceAll(b.String(), "file:///r/", "")
}

// Golden: editors read this form.
func TestGolden(t *testing.T) {
	fsys := suite.Tree("a.go", "package a\n\n// to recieve 😀 recieve\r\nfunc a() {}\n", "b.txt", "b\n", "c.txt", "c\n",
		"old.txt", "gone\n")
	p := millrace.New("golden").
		Step("move", actions.Rename{Files: []string{"a.go"}, To: "pkg/a b.go"}).
		Step("fix", actions.Edit{Files: []string{"pkg/a b.go"}, OldText: "recieve", NewText: "receive"}).
		Step("new", actions.Create{Path: "n.md", Content: "# N\n"}).
		Step("drop", actions.Delete{Files: []string{"old.txt"}}).
		MustBuild()
	plan, err := millrace.Executor{}.Plan(t.Context(), fsys, p)
	if err != nil {
		t.Fatal(err)
	}
	edit, err := lsp.From(plan, lsp.Options{Root: "/home/ann/src"})
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.MarshalIndent(edit, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	suite.Golden(t, *update, "testdata/edit.json", append(data, '\n'))
}

// Names are renamed in circles, files become directories, and directories become files.
func TestOrder(t *testing.T) {
	for name, test := range map[string]struct {
		files []string
		do    func(s *fsutil.Stage) error
		want  string
	}{
		"a circle": {[]string{"a", "a", "b", "b", "c", "c"}, func(s *fsutil.Stage) error {
			return errors.Join(s.Rename("a", "t"), s.Rename("c", "a"), s.Rename("b", "c"), s.Rename("t", "b"))
		}, "rename c .aside\nrename b c\nrename a b\nrename .aside a\n"},
		"something new where it was": {[]string{"a", "a"}, func(s *fsutil.Stage) error {
			return errors.Join(s.Rename("a", "b"), afero.WriteFile(s, "a", []byte("new"), 0o644))
		}, "rename a b\ncreate a\nedit a\n"},
		"a file over another one": {[]string{"a", "a", "b", "b"}, func(s *fsutil.Stage) error { return s.Rename("a", "b") },
			"delete b\nrename a b\n"},
		"a file in its own place": {[]string{"a", "a"}, func(s *fsutil.Stage) error {
			return errors.Join(s.Rename("a", "t"), s.Mkdir("a", 0o755), s.Rename("t", "a/b"))
		}, "rename a .aside\nrename .aside a/b\n"},
		"a file in place of its directory": {[]string{"d/e/a", "a"}, func(s *fsutil.Stage) error {
			return errors.Join(s.Rename("d/e/a", "t"), s.RemoveAll("d"), s.Rename("t", "d"))
		}, "rename d/e/a .aside\ndelete d/e\ndelete d\nrename .aside d\n"},
		"a directory becomes a file": {[]string{"d/a", "a"}, func(s *fsutil.Stage) error {
			return errors.Join(s.RemoveAll("d"), afero.WriteFile(s, "d", nil, 0o644))
		}, "delete d/a\ndelete d/e\ndelete d\ncreate d\n"},
		"nothing": {[]string{"a", "a"}, func(s *fsutil.Stage) error { return nil }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			fsys := crashfs.New()
			for i := 0; i < len(test.files); i += 2 {
				if err := errors.Join(fsys.MkdirAll("d/e", 0o755), afero.WriteFile(fsys, test.files[i], []byte(test.files[i+1]),
					0o644)); err != nil {
					t.Fatal(err)
				}
			}
			edit, err := lsp.From(planned(t, fsys, test.do), lsp.Options{Root: "/r"})
			if err != nil || edit.DocumentChanges == nil {
				t.Fatal(err)
			}
			got := regexp.MustCompile(`\.millrace-rename-[0-9a-f]{16}\b`).ReplaceAllString(urisOf(edit), ".aside")
			if d := cmp.Diff(test.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// Splices are counted in bytes, but an editor counts characters and lines.
func TestEdits(t *testing.T) {
	at := func(line, from, to int, text string) lsp.TextEdit {
		return lsp.TextEdit{
			Range:   lsp.Range{Start: lsp.Position{Line: line, Character: from}, End: lsp.Position{Line: line, Character: to}},
			NewText: text, AnnotationID: "s0",
		}
	}
	over := at(0, 1, 0, "\r|\n")
	over.Range.End.Line = 1
	const mark = "\ufeff"
	for name, test := range map[string]struct {
		text    string
		splices []change.Splice
		want    []lsp.TextEdit
	}{
		"after a pair": {"😀b", []change.Splice{{Off: 4, Len: 1, Text: []byte("c")}},
			[]lsp.TextEdit{at(0, 2, 3, "c")}},
		"the last byte": {"a😀", []change.Splice{{Off: 4, Len: 1, Text: []byte("\x81")}},
			[]lsp.TextEdit{at(0, 1, 3, "😁")}},
		"two that touch": {"ab", []change.Splice{{Off: 0, Len: 1, Text: []byte("1")},
			{Off: 1, Len: 1, Text: []byte("2")}}, []lsp.TextEdit{at(0, 0, 1, "1"), at(0, 1, 2, "2")}},
		"one character of two": {"ab", []change.Splice{{Off: 0, Len: 1, Text: []byte("\xc3")},
			{Off: 1, Len: 1, Text: []byte("\xa9")}}, []lsp.TextEdit{at(0, 0, 2, "é")}},
		"two within one": {"😀", []change.Splice{{Off: 1, Len: 1, Text: []byte("\x9f")},
			{Off: 3, Len: 1, Text: []byte("\x81")}}, []lsp.TextEdit{at(0, 0, 2, "😁")}},
		"within a line end":   {"a\r\nb", []change.Splice{{Off: 2, Text: []byte("|")}}, []lsp.TextEdit{over}},
		"after a lone return": {"a\rbc", []change.Splice{{Off: 3, Text: []byte("|")}}, []lsp.TextEdit{at(1, 1, 1, "|")}},
		"after a mark": {mark + "a", []change.Splice{{Off: 3, Len: 1, Text: []byte("b")}},
			[]lsp.TextEdit{at(0, 0, 1, "b")}},
		"a mark and more": {mark + "a", []change.Splice{{Off: 0, Len: 4, Text: []byte(mark + "b")}},
			[]lsp.TextEdit{at(0, 0, 1, "b")}},
		"one mark of two": {mark + mark + "a", []change.Splice{{Off: 0, Len: 3}}, []lsp.TextEdit{at(0, 0, 1, "")}},
		"a mark that is put on": {mark + "a", []change.Splice{{Off: 0, Text: []byte(mark)}},
			[]lsp.TextEdit{at(0, 0, 0, mark)}},
		"a mark taken and put": {mark + "a", []change.Splice{{Off: 0, Len: 3}, {Off: 3, Text: []byte(mark + "b")}},
			[]lsp.TextEdit{at(0, 0, 0, "b")}},
		"a mark that is kept": {mark + "a", []change.Splice{{Off: 0, Len: 3, Text: []byte(mark)},
			{Off: 4, Text: []byte("b")}}, []lsp.TextEdit{at(0, 1, 1, "b")}},
	} {
		t.Run(name, func(t *testing.T) {
			plan := planned(t, suite.Tree("a", test.text), func(s *fsutil.Stage) error { return s.Edit("a", test.splices) })
			edit, err := lsp.From(plan, lsp.Options{Root: "/r"})
			if err != nil {
				t.Fatal(err)
			}
			var got []lsp.TextEdit
			for _, c := range edit.DocumentChanges {
				got = append(got, c.(*lsp.TextDocumentEdit).Edits...)
			}
			if d := cmp.Diff(test.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// All changes that the protocol cannot express are reported, or left out with the changes that need them.
func TestUnsupported(t *testing.T) {
	fsys := crashfs.New()
	for name, text := range map[string]string{"a.sh": "x", "bin": "\x00x", "latin": "x\xe9", "mark": "\ufeffx",
		"n\xff": "x", "e.txt": "x", "f.txt": "f"} {
		if err := afero.WriteFile(fsys, name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := fsys.SymlinkIfPossible("f.txt", "link"); err != nil {
		t.Fatal(err)
	}
	plan := planned(t, fsys, func(s *fsutil.Stage) error {
		splice := []change.Splice{{Off: 0, Len: 0, Text: []byte("y")}}
		return errors.Join(
			s.Chmod("a.sh", 0o755), s.Edit("a.sh", splice), s.Edit("bin", splice), s.Edit("latin", splice),
			s.Edit("mark", splice),
			s.Edit("n\xff", splice), s.Mkdir("empty", 0o755), s.Rename("link", "link2"), s.Rename("f.txt", "link"),
			s.Edit("e.txt", splice),
			afero.WriteFile(s, "new.sh", []byte("new"), 0o755), afero.WriteFile(s, "f.txt", []byte("new"), 0o644),
		)
	})
	_, err := lsp.From(plan, lsp.Options{Root: "/r"})
	unsupported, ok := errors.AsType[*lsp.UnsupportedError](err)
	if !ok {
		t.Fatal(err)
	}
	want := []lsp.Unsupported{
		{"a.sh", "its mode changes from 0644 to 0755"},
		{"bin", "it is binary"},
		{"empty", "it is a directory without a text in it"},
		{"f.txt", "it needs that link is changed, which is left out"},
		{"latin", "it has bytes that are no UTF-8"},
		{"link", "it takes the place of a symbolic link"},
		{"link2", "it is a symbolic link"},
		{"mark", "its byte order mark comes or goes, which is not part of a text"},
		{"new.sh", "it gets the mode 0755"},
		{"n\xff", "its name has bytes that are no UTF-8"},
	}
	if d := cmp.Diff(want, unsupported.Changes); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if text := err.Error(); !strings.Contains(text, `n\xff: its name`) ||
		!strings.HasPrefix(text, "a workspace edit cannot say all") {
		t.Errorf("error %q", text)
	}
	edit, err := lsp.From(plan, lsp.Options{Root: "/r", Partial: true})
	if d := cmp.Diff(want, edit.LeftOut); err != nil || d != "" {
		t.Errorf("%v: left out (-want +got):\n%s", err, d)
	}
	if d := cmp.Diff("create new.sh\nedit a.sh\nedit e.txt\nedit new.sh\n", urisOf(edit)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestManyUnsupported(t *testing.T) {
	plan := planned(t, suite.Tree("a", "a"), func(s *fsutil.Stage) error {
		var err error
		for _, c := range "abcdefghijklmnop" {
			err = errors.Join(err, s.Mkdir("d"+string(c), 0o755))
		}
		return err
	})
	_, err := lsp.From(plan, lsp.Options{Root: "/r"})
	if err == nil || strings.Count(err.Error(), ";") != 10 || !strings.HasSuffix(err.Error(), " and 6 more") {
		t.Error(err)
	}
}

// Roots have the form of the editor's system.
func TestRoot(t *testing.T) {
	plan := planned(t, suite.Tree("a b", "x"), func(s *fsutil.Stage) error { return s.Rename("a b", "é") })
	for dir, want := range map[string]string{
		"/home/ann":       "file:///home/ann/%C3%A9",
		"/home/ann/":      "file:///home/ann/%C3%A9",
		"/":               "file:///%C3%A9",
		`/a\b:c`:          "file:///a%5Cb%3Ac/%C3%A9",
		`C:\a b\c`:        "file:///C:/a%20b/c/%C3%A9",
		"d:/src/":         "file:///d:/src/%C3%A9",
		`C:\`:             "file:///C:/%C3%A9",
		`\\server\share`:  "file://server/share/%C3%A9",
		"//server/share/": "file://server/share/%C3%A9",
	} {
		edit, err := lsp.From(plan, lsp.Options{Root: dir})
		if err != nil {
			t.Errorf("%s: %v", dir, err)
			continue
		}
		if got := edit.DocumentChanges[0].(*lsp.RenameFile).NewURI; got != want {
			t.Errorf("%s: %s, want %s", dir, got, want)
		}
	}
	for _, dir := range []string{"", ".", "src", "C:", "C:src", "file:///a", "//", `\a`} {
		if edit, err := lsp.From(plan, lsp.Options{Root: dir}); err == nil ||
			!strings.Contains(err.Error(), "absolute directory") {
			t.Errorf("%q: %v, %v", dir, edit, err)
		}
	}
	if _, err := lsp.From(plan, lsp.Options{Root: "/", Encoding: "utf-7"}); err == nil ||
		!strings.Contains(err.Error(), `"utf-16"`) {
		t.Error(err)
	}
}

// From high risk on, the editor asks.
func TestConfirmation(t *testing.T) {
	fsys := suite.Tree("a", "x", "b", "x")
	for level, policy := range map[risk.Level]risk.Policy{
		risk.Medium: {Medium: risk.Threshold{Files: 2}},
		risk.High:   {High: risk.Threshold{Files: 2}},
	} {
		plan, err := millrace.Executor{Risk: policy}.Plan(t.Context(), fsys, suite.Edit("a", "b"))
		if err != nil {
			t.Fatal(err)
		}
		edit, err := lsp.From(plan, lsp.Options{Root: "/r"})
		want := map[string]lsp.ChangeAnnotation{"e": {Label: "e", Description: "edit"}}
		if level == risk.High {
			blocked := "edit, operation blocked due to HIGH risk. Use force=true to proceed"
			want["e"] = lsp.ChangeAnnotation{Label: "e", NeedsConfirmation: true, Description: blocked}
		}
		if d := cmp.Diff(want, edit.ChangeAnnotations); err != nil || d != "" {
			t.Errorf("%v: %v (-want +got):\n%s", level, err, d)
		}
	}
}

// A plan that undoes a commit has no steps.
func TestRestore(t *testing.T) {
	fsys := suite.Tree("a", "x", "b", "x\n")
	res, err := millrace.Executor{}.Run(t.Context(), fsys, suite.Edit("a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := millrace.Executor{}.PlanRestore(t.Context(), fsys, res.BackupID)
	if err != nil {
		t.Fatal(err)
	}
	edit, err := lsp.From(plan, lsp.Options{Root: "/r", Partial: true})
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(edit)
	got := treeOf(t, fsys)
	if err := errors.Join(err, got.apply(data, "/r", "")); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string]string{"a": "x", "b": "x\n"}, got.texts()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if edit.ChangeAnnotations["restore"].Label != "restore "+res.BackupID || len(edit.ChangeAnnotations) != 1 {
		t.Errorf("annotations %v", edit.ChangeAnnotations)
	}
}

// A file that has changed since it was planned is an error, and so is a plan that cannot be committed.
func TestErrors(t *testing.T) {
	fsys := suite.Tree("a", "x")
	plan, err := millrace.Executor{}.Plan(t.Context(), fsys, suite.Edit("a"))
	if err != nil {
		t.Fatal(err)
	}
	if plan, err = (millrace.Executor{}).OpenPlan(t.Context(), fsys, suite.Stored(t, plan)); err != nil {
		t.Fatal(err)
	}
	whole, err := lsp.From(plan, lsp.Options{Root: "/r"})
	if err != nil || !maps.Equal(whole.ChangeAnnotations,
		map[string]lsp.ChangeAnnotation{"e": {Label: "e", Description: "edit"}}) {
		t.Errorf("a plan that was stored: %v, %v", whole, err)
	}
	if err := afero.WriteFile(fsys, "a", []byte("other x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if edit, err := lsp.From(plan, lsp.Options{Root: "/r", Partial: true}); !errors.Is(err, fsutil.ErrDrift) {
		t.Errorf("a file that has changed: %v, %v", edit, err)
	}
	failed, err := millrace.Executor{}.Plan(t.Context(), fsys, suite.Edit("missing"))
	if err == nil {
		t.Fatal("nothing has failed")
	}
	if failed != nil {
		if edit, err := lsp.From(failed, lsp.Options{Root: "/r"}); err == nil {
			t.Errorf("a plan that has failed: %v", edit)
		}
	}
}
