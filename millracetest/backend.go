package millracetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/txtarfs"
)

// Row is the result of [Backend] for one file system: a row of the table in docs/filesystems.md.
type Row struct {
	// Name is the value of the file system's method Name.
	Name string
	// Abilities are the operations of runs, in the order of the table.
	Abilities []Ability
	// Restored reports whether a commit could be restored from its backup. It is false if no commit was possible.
	Restored bool
	// Guarantee is the level that all commits reached, "" if no commit was possible.
	Guarantee millrace.Guarantee
}

// Ability is an operation of a run and whether it works.
type Ability struct {
	// Name is the heading of the column, such as "rename".
	Name string
	// Tried is false if the file system could not be prepared for the attempt.
	Tried bool
	// Err is the error of a run that the file system refused. Nil means that the run succeeded.
	Err error
}

// String returns the row in Markdown, with a line end.
func (r Row) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s |", r.Name)
	restored, guarantee := "–", "–"
	for _, a := range r.Abilities {
		switch {
		case !a.Tried:
			b.WriteString(" – |")
		case a.Err != nil:
			b.WriteString(" no |")
		default:
			b.WriteString(" yes |")
		}
	}
	if r.Restored {
		restored = "yes"
	}
	if r.Guarantee != "" {
		guarantee = string(r.Guarantee)
	}
	fmt.Fprintf(&b, " %s | %s |\n", restored, guarantee)
	return b.String()
}

// Header returns the header of a table of rows in Markdown. first is the heading of the first column.
func Header(first string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s |", first)
	for _, a := range attempts() {
		fmt.Fprintf(&b, " %s |", a.name)
	}
	b.WriteString(" restore | safe against |\n|---|" + strings.Repeat("---|", len(attempts())+2) + "\n")
	return b.String()
}

// attempt is one run on the tree of backendTree.
type attempt struct {
	name  string
	first actions.Action // runs before do; nil for none
	do    actions.Action
	want  string // the tree after the run
}

// backendTree is the tree of each attempt.
const backendTree = "-- a.txt --\nold\n-- d/b.txt --\nold\n"

func attempts() []attempt {
	const made = "-- a.txt --\nold\n-- d/b.txt --\nold\n-- d/c.txt --\nmade\n"
	return []attempt{
		{"search", nil, actions.Search{Pattern: "old"}, backendTree},
		{
			"edit", nil, actions.Edit{Files: []string{"d/b.txt"}, OldText: "old", NewText: "new"},
			"-- a.txt --\nold\n-- d/b.txt --\nnew\n",
		},
		{"create", nil, actions.Create{Path: "d/c.txt", Content: "made\n"}, made},
		{
			"copy", nil, actions.Copy{Files: []string{"a.txt"}, To: "d/c.txt"},
			"-- a.txt --\nold\n-- d/b.txt --\nold\n-- d/c.txt --\nold\n",
		},
		{
			"rename", nil, actions.Rename{Files: []string{"a.txt"}, To: "d/c.txt"},
			"-- d/b.txt --\nold\n-- d/c.txt --\nold\n",
		},
		{"delete", nil, actions.Delete{Files: []string{"d/b.txt"}}, "-- a.txt --\nold\n"},
		{
			"rename of what a run has made", actions.Create{Path: "d/c.txt", Content: "made\n"},
			actions.Rename{Files: []string{"d/c.txt"}, To: "e.txt"}, backendTree + "-- e.txt --\nmade\n",
		},
		{
			"delete of what a run has made", actions.Create{Path: "d/c.txt", Content: "made\n"},
			actions.Delete{Files: []string{"d/c.txt"}}, backendTree,
		},
	}
}

// Backend finds out what runs can do on a file system of your own, as fstest.TestFS does for the file systems of io/fs.
// open returns a new file system with the given tree at each call. A file system that writes through to another can
// put the tree there:
//
//	row := millracetest.Backend(t, func(t testing.TB, tree string) afero.Fs {
//		return afero.NewCopyOnWriteFs(millracetest.Tree(t, tree), afero.NewMemMapFs())
//	})
//
// Fill any other file system with [Plant].
//
// A file system must be able to read: names, kinds, sizes and bytes are as in the text, several goroutines can read at
// the same time, and an absent name is fs.ErrNotExist. It need not store modes. It may refuse to write; then the error
// of the run has the code file_system and names the limit, and the tree is unchanged. A run that succeeds must leave
// the wanted tree, and its restore must leave the tree before the run. Everything else fails the test. The row shows
// which runs succeeded. Put it into the documentation of your file system.
func Backend(t testing.TB, open func(t testing.TB, tree string) afero.Fs) Row {
	t.Helper()
	var row Row
	each(t, "reads", func(t testing.TB) {
		t.Helper()
		row.Name = reads(t, open)
	})
	for _, a := range attempts() {
		ability := Ability{Name: a.name}
		each(t, a.name, func(t testing.TB) {
			t.Helper()
			ability.Tried, ability.Err = row.try(t, open(t, backendTree), a)
		})
		row.Abilities = append(row.Abilities, ability)
	}
	return row
}

// try makes one attempt and records its restore and its guarantee in the row.
func (r *Row) try(t testing.TB, fsys afero.Fs, a attempt) (tried bool, refused error) {
	t.Helper()
	run := func(do actions.Action) (*millrace.Result, error) {
		return millrace.Executor{}.Run(t.Context(), fsys, millrace.New("backend").Step("s", do).MustBuild())
	}
	if a.first != nil {
		if _, err := run(a.first); err != nil {
			return false, nil
		}
	}
	before := contents(t, fsys)
	res, err := run(a.do)
	if err != nil {
		if millrace.ErrorCode(err) != "file_system" || millrace.Written(err) {
			t.Errorf("the file system may refuse a %s, but the error is %s: %v", a.name, millrace.ErrorCode(err), err)
		}
		sameContents(t, fsys, before)
		return true, err
	}
	want, err := parseTree(txtarfs.Parse([]byte(a.want)).Files)
	if err != nil {
		t.Fatalf("millracetest: %v", err)
	}
	sameContents(t, fsys, want)
	if res.BackupID == "" {
		return true, nil
	}
	if r.Guarantee != "" && r.Guarantee != res.Guarantee {
		t.Errorf("commits are safe against %s and against %s", r.Guarantee, res.Guarantee)
	}
	r.Guarantee = res.Guarantee
	if _, err := (millrace.Executor{}).Restore(t.Context(), fsys, res.BackupID); err != nil {
		t.Errorf("the restore fails: %v", err)
		return true, nil
	}
	sameContents(t, fsys, before)
	r.Restored = true
	return true, nil
}

// contents returns the names and bytes of all files. Modes and directories are left out, because a file system need not
// store them.
func contents(t testing.TB, fsys afero.Fs) []entry {
	t.Helper()
	all := slices.DeleteFunc(readTree(t, fsys, millrace.DefaultStateDir), func(e entry) bool { return e.dir })
	for i := range all {
		all[i].mode = fileMode
	}
	return all
}

// sameContents fails the test if the names or bytes of the files differ.
func sameContents(t testing.TB, fsys afero.Fs, want []entry) {
	t.Helper()
	if diff := diffEntries(want, contents(t, fsys)); diff != "" {
		t.Errorf("the tree is another (-want +got):\n%s", diff)
	}
}
