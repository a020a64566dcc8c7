package semantics_test

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/suite"
)

var update = flag.Bool("update", false, "rewrite the table in docs/safety.md")

// saveOps are the actions that save files, each with its parameters except the list of files.
var saveOps = []struct{ action, params string }{
	{"edit", `"old_text": "old", "new_text": "newer"`},
	{"multi_edit", `"edits": [{"old_text": "old", "new_text": "mid"}, {"old_text": "mid", "new_text": "newer"}]`},
	{"regex_transform", `"patterns": [{"pattern": "o(l)d", "replacement": "newer"}]`},
	{"rename", `"to": "d/b.txt"`},
	{"copy", `"to": "d/b.txt"`},
	{"delete", ``},
}

const (
	subject = "d/a.txt" // the file to save
	result  = "d/b.txt" // the result of rename and copy
)

// saveRow is a property of a file, and what happens to it.
type saveRow struct {
	name    string
	content string // of the subject; "" means one line
	names   string // the names in the pipeline; "" means the subject
	binary  bool
	missing func(dir string) string    // why it cannot be measured here, "" if it can; nil means everywhere
	prepare func(dir string) error     // sets the property of the subject; nil if the content is enough
	same    func(was, is seen) bool    // whether a file still has the property
	changed func(was, is seen) string  // the word if it has not
	word    func(m measurement) string // instead of same and changed
	measure func(t *testing.T, action, params string) (saved, restored string)
	want    saveWords
}

// saveWords are the promises of a row. They are separate from the document, so that a new document cannot hide a
// defect. Edit holds for all three actions that replace text. The fields that end in Back are the words after the
// restore.
type saveWords struct{ edit, rename, copy, del, editBack, renameBack, copyBack, delBack string }

func (w saveWords) of(action string) (saved, restored string) {
	switch action {
	case "rename":
		return w.rename, w.renameBack
	case "copy":
		return w.copy, w.copyBack
	case "delete":
		return w.del, w.delBack
	}
	return w.edit, w.editBack
}

// seen is all that is visible of a path, except the time of the last read.
type seen struct {
	mode       fs.FileMode
	size       int64
	mtime      time.Time
	id         capability.Identity
	data       string // the bytes of a file, the target of a link
	attributes string
	sparse     bool
}

// measurement is a tree before and after; restored means that the action is undone.
type measurement struct {
	action        string
	restored      bool
	before, after map[string]seen
}

// TestSemantics measures what a save keeps on a real directory, compares the results with the promises, and checks the
// tables in docs/safety.md.
func TestSemantics(t *testing.T) {
	rows := append(saveRows(), systemRows()...)
	saved, restored := newTable(rows), newTable(rows)
	var mu sync.Mutex
	unmeasured := 0
	t.Run("rows", func(t *testing.T) {
		for i, row := range rows {
			t.Run(row.name, func(t *testing.T) {
				t.Parallel()
				if row.missing != nil {
					if why := row.missing(t.TempDir()); why != "" {
						mu.Lock()
						unmeasured++
						mu.Unlock()
						t.Skip(why)
					}
				}
				measure := row.measure
				if measure == nil {
					measure = row.save
				}
				for column, op := range saveOps {
					now, back := measure(t, op.action, op.params)
					if want, wantBack := row.want.of(op.action); now != want || back != wantBack {
						t.Errorf("%s: %q, restored %q; promised are %q and %q", op.action, now, back, want, wantBack)
					}
					mu.Lock()
					saved[i][column], restored[i][column] = now, back
					mu.Unlock()
				}
			})
		}
	})
	if t.Failed() {
		return // so that -update does not write wrong rows
	}
	if unmeasured > 0 {
		t.Logf("docs/safety.md is not compared: %d of %d rows cannot be measured here", unmeasured, len(rows))
		return
	}
	const page, begin, end = "../../../docs/safety.md", "<!-- semantics:begin -->\n", "<!-- semantics:end -->\n"
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok1 := strings.Cut(string(data), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatal("docs/safety.md has no markers")
	}
	text := "\nMeasured by `go test ./internal/suite/semantics` on a directory of Linux, as root.\n\nAfter the commit:\n\n" + markdown(rows, saved) + "\nAfter `Restore` of its backup:\n\n" + markdown(rows, restored) + "\n"
	suite.Golden(t, *update, page, []byte(head+begin+text+end+tail))
}

func newTable(rows []saveRow) [][]string {
	table := make([][]string, len(rows))
	for i := range table {
		table[i] = make([]string, len(saveOps))
	}
	return table
}

func markdown(rows []saveRow, cells [][]string) string {
	var b strings.Builder
	b.WriteString("| of a file |")
	for _, op := range saveOps {
		b.WriteString(" `" + op.action + "` |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(saveOps)) + "\n")
	for i, row := range rows {
		b.WriteString("| " + row.name + " | " + strings.Join(cells[i], " | ") + " |\n")
	}
	return b.String()
}

// save does one action to the subject, in a tree of its own, undoes it, and returns the words for both. It checks the
// promises for all rows: bytes, the source of a copy, and that nothing except the subject is changed.
func (row saveRow) save(t *testing.T, action, params string) (saved, restored string) {
	dir := t.TempDir()
	plantSubject(t, dir, row)
	m := measurement{action: action, before: look(t, dir)}
	root := suite.OpenRoot(t, dir)
	x := millrace.Executor{State: millrace.State{NoSync: true}} // faster; syncs matter only for crashes
	res := runSave(t, x, root, row, action, params)
	m.after = look(t, dir)
	row.checkAll(t, m)
	saved = row.wordFor(m)
	if res.BackupID == "" {
		return saved, "n/a"
	}
	if _, err := x.Restore(t.Context(), root, res.BackupID); err != nil {
		t.Fatalf("%s: %v", action, err)
	}
	m.restored, m.after = true, look(t, dir)
	row.checkAll(t, m)
	return saved, row.wordFor(m)
}

func runSave(t *testing.T, x millrace.Executor, root afero.Fs, row saveRow, action, params string) *millrace.Result {
	t.Helper()
	names := row.names
	if names == "" {
		names = subject
	}
	if row.binary && strings.Contains(params, "newer") {
		params += `, "binary": true`
	}
	if params != "" {
		params = ", " + params
	}
	p, err := millrace.Decode(fmt.Appendf(nil, `{"name": "save", "steps": [{"id": "s", "action": %q, "params": {"files": [%q]%s}}]}`, action, names, params))
	if err != nil {
		t.Fatal(err)
	}
	res, err := x.Run(t.Context(), root, p)
	if err != nil {
		t.Fatalf("%s: %v", action, err)
	}
	return res
}

// plantSubject makes the tree for one action.
func plantSubject(t *testing.T, dir string, row saveRow) {
	t.Helper()
	content := row.content
	if content == "" {
		content = "one old line\n"
	}
	files := map[string]string{subject: content, "d/beside.txt": "nothing to find\n", "e/else.txt": "nothing to find\n"}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		full := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o750), os.WriteFile(full, []byte(files[name]), 0o640)); err != nil {
			t.Fatal(err)
		}
	}
	if row.prepare != nil {
		if err := row.prepare(dir); err != nil {
			t.Fatal(err)
		}
	}
	longAgo := time.Date(2020, 2, 3, 4, 5, 6, 789_000_000, time.UTC)
	for _, name := range []string{subject, "d/beside.txt", "e/else.txt", "d", "e"} {
		if err := os.Chtimes(filepath.Join(dir, name), longAgo, longAgo); err != nil {
			t.Fatal(err)
		}
	}
}

// look returns the state of everything outside of the state directory.
func look(t *testing.T, dir string) map[string]seen {
	t.Helper()
	root := suite.OpenRoot(t, dir)
	all := make(map[string]seen)
	err := filepath.WalkDir(dir, func(full string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.Name() == millrace.DefaultStateDir:
			return fs.SkipDir
		}
		rel, _ := filepath.Rel(dir, full)
		name := filepath.ToSlash(rel)
		info, err := os.Lstat(full)
		if err != nil {
			return err
		}
		s := seen{mode: info.Mode(), size: info.Size(), mtime: info.ModTime(), attributes: attributesOf(full), sparse: isSparse(info)}
		if name != "." {
			if info, _, err = root.LstatIfPossible(name); err != nil {
				return err
			}
			if ident, ok := afero.Fs(root).(capability.Identifier); ok { // not on Windows
				s.id, _ = ident.IdentityOf(info)
			}
		}
		switch {
		case s.mode.IsRegular():
			data, err := os.ReadFile(full)
			if err != nil {
				return err
			}
			s.data = string(data)
		case s.mode&fs.ModeSymlink != 0:
			if s.data, err = os.Readlink(full); err != nil {
				return err
			}
		}
		all[name] = s
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
