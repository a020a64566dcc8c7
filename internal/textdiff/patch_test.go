package textdiff_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace/internal/textdiff"
)

// fileChange is a file before and after; a zero entry is a missing file.
type fileChange struct {
	what     string
	from, to string // to is "" unless it is a rename
	old, new entry
	noPatch  string // why GNU patch cannot apply it
	noPatchR string // why GNU patch cannot revert it
}

const (
	binary = "GNU patch takes no binary patches"
	twice  = "GNU patch does not turn two patches of one file round"
)

// numbered returns n different lines.
func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

// changes returns the handwritten cases: each can be applied, reverted, and combined with the others.
func changes() []fileChange {
	long := numbered(400)
	edited := strings.Replace(strings.Replace(long, "line 7\n", "line seven\n", 1), "line 300\n", "", 1)
	blob := "\x00\x01" + string(bytes.Repeat([]byte{0xff, 0, 7, 9}, 1000))
	list := []fileChange{
		{what: "edit", from: "edit.txt", old: file(long), new: file(edited)},
		{what: "create", from: "new/deep/create.txt", new: file("a\nb\n")},
		{what: "create executable", from: "run.sh", new: exe("#!/bin/sh\n")},
		{what: "create empty", from: "empty", new: file("")},
		{what: "delete", from: "gone/file", old: file("a\nb\n")},
		{what: "delete executable", from: "gone2/file", old: exe("a\nb")},
		{what: "delete empty", from: "gone3", old: file("")},
		{what: "becomes empty", from: "emptied", old: file("a\nb\n"), new: file("")},
		{what: "was empty", from: "filled", old: file(""), new: file("a\nb")},
		{what: "mode only", from: "mode", old: file("a\n"), new: exe("a\n")},
		{what: "mode only of an empty file", from: "mode of empty", old: exe(""), new: file("")},
		{what: "mode and edit", from: "mode2", old: exe("a\nb\n"), new: file("a\nc\n")},
		{what: "final newline lost", from: "nl1", old: file("a\nb\n"), new: file("a\nb")},
		{what: "final newline gained", from: "nl2", old: file("a\nb"), new: file("a\nb\n")},
		{what: "no final newline on both sides", from: "nl3", old: file("a\nb\nc\nd"), new: file("A\nb\nc\nd")},
		{what: "last line without newline changed", from: "nl4", old: file("a\nb"), new: file("a\nc")},
		{what: "CRLF", from: "crlf", old: file("a\r\nb\r\nc\r\n"), new: file("a\r\nB\r\nc\r\n")},
		{what: "CRLF to LF", from: "crlf2", old: file("a\r\nb\r\n"), new: file("a\nb\n")},
		{what: "lone CR", from: "cr", old: file("a\rb\rc"), new: file("a\rX\rc")},
		{what: "invalid UTF-8", from: "utf", old: file("\xff\xfe\n\x80\n"), new: file("\xff\xfe\n\x81\n")},
		{what: "looks like a header", from: "header", old: file("-- a/x\n++ b/x\n@@ -1 +1 @@\n"), new: file("-- a/y\n++ b/x\n@@ -1 +2 @@\ndiff --git a/q b/q\n")},
		{what: "backslash line", from: "backslash", old: file("\\ No newline at end of file\n"), new: file("\\ No newline\n")},
		{what: "NUL late", from: "late", old: file(long + long + "x\x00y\n"), new: file(long + long + "x\x00z\n"), noPatch: "GNU patch takes a NUL for a binary patch"},
		{what: "binary", from: "bin", old: file(blob), new: file(blob[:100] + "x" + blob[100:]), noPatch: binary},
		{what: "binary create", from: "bin2", new: exe(blob), noPatch: binary},
		{what: "binary delete", from: "bin3", old: file(blob), noPatch: binary},
		{what: "binary to text", from: "bin 4", old: file(blob), new: file("text\n"), noPatch: binary},
		{what: "text to binary, mode", from: "bin5", old: file("text\n"), new: exe("\x00"), noPatch: binary},
		{what: "binary to empty", from: "bin6", old: file("\x00"), new: file(""), noPatch: binary},
		{what: "binary rename with edit", from: "bin7", to: "moved/bin7", old: file(blob), new: file(blob + "\x00"), noPatch: binary},
		{what: "binary rename, same bytes", from: "bin8", to: "moved/bin8", old: file(blob), new: file(blob)},
		{what: "rename", from: "r1", to: "r1new", old: file("a\n"), new: file("a\n")},
		{what: "rename into new directory", from: "r2", to: "r/n/2", old: file(long), new: file(edited)},
		{what: "rename out of a directory", from: "rd/3", to: "r3", old: file(long), new: file(edited)},
		{what: "rename, all new", from: "r4", to: "r4new", old: file("a\nb\n"), new: file("c\n")},
		{what: "rename and mode", from: "r5", to: "r5 new", old: file("a\n"), new: exe("a\n")},
		{what: "rename of an empty file", from: "r 6", to: "r6 \"new\"", old: file(""), new: file("")},
		{what: "rename of a link", from: "r7", to: "r7new", old: link("x"), new: link("x")},
		{what: "link create", from: "l1", new: link("some/where")},
		{what: "link delete", from: "l2", old: link("some/where")},
		{what: "link to elsewhere", from: "l3", old: link("a"), new: link("b")},
		{what: "link with newline", from: "l4", old: link("a\nb"), new: link("a\nc")},
		{what: "file becomes link", from: "t1", old: file("a\nb\n"), new: link("target"), noPatchR: twice},
		{what: "link becomes file", from: "t2", old: link("target"), new: exe("a\n"), noPatchR: twice},
		{what: "empty file becomes link", from: "t3", old: file(""), new: link("target"), noPatchR: twice},
	}
	// Incompressible bytes of all lengths that the last line of a binary patch can have.
	for n := range 60 {
		list = append(list, fileChange{what: "binary length", from: fmt.Sprintf("len/%d", n), new: file("\x00" + string(randomBytes(n))), noPatch: binary})
	}
	for _, name := range []string{
		"with space", " lead", "trail ", "two  spaces", "-dash", "tab\there", "new\nline", "quo\"te", "back\\slash", "bell\a\b\v\f\r", "\x01\x1f\x7f",
		"grün", "日本", "\xff\xfe", "a b/c d", "x b/x", "tail /in dir", "'single'", "$HOME `x`", "a => b", "{b}", "semi;colon", "dev/null",
	} {
		dir := "names/"
		if name[0] == '-' || name[0] == ' ' {
			dir = "" // where a leading character matters most
		}
		list = append(
			list,
			fileChange{what: "edit of " + name, from: dir + name, old: file("a\nb\n"), new: file("a\nc\n")},
			fileChange{what: "create of " + name, from: dir + name + "1", new: file("a\n")},
			fileChange{what: "delete of " + name, from: dir + name + "2", old: file("a\n")},
			fileChange{what: "create empty of " + name, from: dir + "3" + name, new: file("")},
			fileChange{what: "mode of " + name, from: dir + "4" + name, old: file("x"), new: exe("x")},
			fileChange{what: "rename of " + name, from: dir + "5" + name, to: dir + "6" + name, old: file("x"), new: file("x")},
			fileChange{what: "edited rename of " + name, from: dir + "7" + name, to: dir + "8" + name, old: file("x\ny\n"), new: file("x\n")},
			fileChange{what: "binary of " + name, from: dir + "9" + name, old: file("\x00"), new: file("\x00\x01"), noPatch: binary},
		)
	}
	return list
}

func (c fileChange) patch() textdiff.FilePatch {
	p := textdiff.FilePatch{
		OldName: c.from, NewName: c.from, OldMode: c.old.Mode, NewMode: c.new.Mode,
		Old: textdiff.Bytes(c.old.Data), New: textdiff.Bytes(c.new.Data),
	}
	if c.to != "" {
		p.NewName = c.to
	}
	return p
}

// trees returns the trees before and after the changes.
func trees(list []fileChange) (old, new map[string]entry) {
	old, new = map[string]entry{}, map[string]entry{}
	for _, c := range list {
		if c.old.Mode != 0 {
			old[c.from] = c.old
		}
		if c.new.Mode != 0 {
			new[c.patch().NewName] = c.new
		}
	}
	return old, new
}

func writeAll(t *testing.T, list []fileChange) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, c := range list {
		if err := c.patch().Print(&b); err != nil {
			t.Fatalf("%s: %v", c.what, err)
		}
	}
	return b.Bytes()
}

// apply applies the patch of all changes with the tool, and reverts it with the option -R if back is set.
func apply(t *testing.T, list []fileChange, inRepo, back bool, name string, args ...string) {
	t.Helper()
	needTool(t, name)
	old, new := trees(list)
	patch := writeAll(t, list)
	dir := makeTree(t, old)
	if inRepo {
		run(t, dir, nil, "git", "init", "-q")
		run(t, dir, nil, "git", "config", "core.autocrlf", "false")
	}
	run(t, dir, patch, name, args...)
	sameTree(t, "applied", new, readTree(t, dir))
	if back {
		run(t, dir, patch, name, append(args, "-R")...)
		sameTree(t, "taken back", old, readTree(t, dir))
	}
}

func TestGitApply(t *testing.T) {
	t.Parallel()
	t.Run("in a repository", func(t *testing.T) {
		t.Parallel()
		apply(t, changes(), true, true, "git", "apply", "--whitespace=nowarn")
	})
	t.Run("outside of a repository", func(t *testing.T) {
		t.Parallel()
		apply(t, changes(), false, true, "git", "apply", "--whitespace=nowarn")
	})
}

// TestGitApplyOrder checks what the documentation of FilePatch describes for several changes at one path.
func TestGitApplyOrder(t *testing.T) {
	t.Parallel()
	ab, cd, ce := file("a\nb\n"), file("c\nd\n"), file("c\ne\n")
	for _, tt := range []struct {
		name string
		list []fileChange
	}{
		{"swap", []fileChange{{from: "a", to: "b", old: ab, new: ab}, {from: "b", to: "a", old: cd, new: ce}}},
		{"chain", []fileChange{{from: "a", to: "b", old: ab, new: ab}, {from: "b", to: "c", old: cd, new: ce}}},
		{"chain from its end", []fileChange{{from: "b", to: "c", old: cd, new: ce}, {from: "a", to: "b", old: ab, new: ab}}},
		{"rename onto a deleted file", []fileChange{{from: "b", old: cd}, {from: "a", to: "b", old: ab, new: ab}}},
		{"create where a rename came from", []fileChange{{from: "a", to: "b", old: ab, new: ab}, {from: "a", new: ce}}},
		{"file becomes directory", []fileChange{{from: "a", old: ab}, {from: "a/b", new: cd}}},
		{"file moves below itself", []fileChange{{from: "a", to: "a/b", old: ab, new: ab}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			apply(t, tt.list, false, true, "git", "apply")
		})
	}
}

func TestPatch(t *testing.T) {
	t.Parallel()
	args := []string{"-p1", "-s", "--no-backup-if-mismatch"}
	list := slices.DeleteFunc(changes(), func(c fileChange) bool { return c.noPatch != "" })
	t.Run("forth", func(t *testing.T) {
		t.Parallel()
		apply(t, list, false, false, "patch", args...)
	})
	both := slices.DeleteFunc(slices.Clone(list), func(c fileChange) bool { return c.noPatchR != "" })
	t.Run("forth and back", func(t *testing.T) {
		t.Parallel()
		apply(t, both, false, true, "patch", args...)
	})
}

// TestGitAgrees compares whole patches with those of git, where millrace intends to write the same.
func TestGitAgrees(t *testing.T) {
	t.Parallel()
	needTool(t, "git")
	rng := rand.New(rand.NewPCG(1, 2))
	old, new := map[string]entry{}, map[string]entry{}
	var list []fileChange
	var names []string
	for i := range 60 {
		names = append(names, fmt.Sprintf("file %02d", i))
	}
	for c := 1; c < 256; c++ {
		// Git adds a tab after a name that ends in a space, millrace quotes the name, see fileLine.
		if c != '/' && c != ' ' {
			names = append(names, "byte "+string([]byte{byte(c)}))
		}
	}
	slices.Sort(names)
	for _, name := range names {
		a, b := randomEdit(rng, 80, 1<<30, 0.05)
		if a == b {
			continue
		}
		c := fileChange{what: name, from: name, old: file(a), new: file(b)}
		old[name], new[name] = c.old, c.new
		list = append(list, c)
	}
	dir := makeTree(t, old)
	run(t, dir, nil, "git", "init", "-q")
	run(t, dir, nil, "git", "add", "-A")
	for name, e := range new {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(e.Data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "git", "diff", "--no-color", "--no-ext-diff")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var theirs []string
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, "index ") {
			continue // written only if necessary
		}
		if at := strings.Index(line, " @@"); strings.HasPrefix(line, "@@ ") && at > 0 {
			line = line[:at] + " @@\n" // millrace does not name a function there
		}
		theirs = append(theirs, line)
	}
	if diff := cmp.Diff(strings.Join(theirs, ""), string(writeAll(t, list))); diff != "" {
		t.Errorf("(-git +millrace):\n%s", diff)
	}
}

type failing struct{ after int }

var errFull = errors.New("full")

func (f *failing) Write(p []byte) (int, error) {
	if len(p) > f.after {
		n := f.after
		f.after = 0
		return n, errFull
	}
	f.after -= len(p)
	return len(p), nil
}

func TestWriteErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []fileChange{
		{from: "text", new: file(numbered(20000))},
		{from: "binary", new: file("\x00" + string(randomBytes(100000)))},
	} {
		if err := c.patch().Print(&failing{after: 50000}); !errors.Is(err, errFull) {
			t.Errorf("%s: %v, want %v", c.from, err, errFull)
		}
	}
}

func randomBytes(n int) []byte {
	rng := rand.New(rand.NewPCG(5, 6))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

func TestNoChange(t *testing.T) {
	t.Parallel()
	for _, e := range []entry{file("a\n"), file(""), exe("\x00"), link("x")} {
		if got := writeAll(t, []fileChange{{from: "same", old: e, new: e}}); len(got) > 0 {
			t.Errorf("patch of an unchanged file: %q", got)
		}
	}
}

func TestSimilarity(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456\n", 1000)
	for _, tt := range []struct{ name, old, new, want string }{
		{"same", long, long, "100%"},
		{"nearly the same", long, long + "x", "99%"},
		{"half", "aaa\nbbb\n", "aaa\nccc\n", "50%"},
		{"half gone", "aaa\nbbb\n", "aaa\n", "50%"},
		{"nothing", "a", "b", "0%"},
		{"from empty", "", "b", "0%"},
		{"binary", "\x00aaa", "\x00aab", "75%"},
		{"both empty", "", "", "100%"},
	} {
		c := fileChange{from: "a", to: "b", old: file(tt.old), new: file(tt.new)}
		if got := string(writeAll(t, []fileChange{c})); !strings.Contains(got, "\nsimilarity index "+tt.want+"\n") {
			t.Errorf("%s: want %s in\n%.200s", tt.name, tt.want, got)
		}
	}
}
