package patch_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/patch"
	"github.com/millrace-go/millrace/internal/patch/placing"
	"github.com/millrace-go/millrace/internal/splice"
)

// FuzzPatch reads untrusted patches, and places them in a text. For any input, reading and placing end without a panic,
// the splices can be made, and the lines that a hunk quotes are unchanged in the result.
func FuzzPatch(f *testing.F) {
	for _, seed := range [][2]string{
		{"a\nb\nc\n", "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"},
		{"a\r\nb", "diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\r\n-b\n\\ No newline at end of file\n+c\n"},
		{"a\nb\na\nb\n", "@@ -2,9 +2,9 @@\n a\n-b\n@@\n+c\n \\ d\n"},
		{"x\n", "diff --git \"a/\\303\\251\" \"b/\\303\\251\"\nrename from \"\\303\\251\"\nrename to g\n"},
		{"\x00", "diff --git a/f b/f\nindex 0000000000000000000000000000000000000000..1111111111111111111111111111111111111111\nGIT binary patch\ndelta 9\nQcmebGogm3rJ5k0M01edwqyPW_\n\nliteral 0\nHcmV?d00001\n\n"},
		{"func a\n  x\nfunc b\n  x\n", "*** Begin Patch\n*** Add File: n\n+x\n*** Update File: f\n*** Move to: g\n@@ func b\n-  x\n+  y\n*** End of File\n*** Delete File: d\n*** End Patch\n"},
		{"  a\n\n  “b”\n", "f\n```\n<<<<<<< SEARCH\na\n\n\"b\"\n=======\na\nc\n\n\"b\"\n>>>>>>> REPLACE\n```\n"},
		{"", "------- SEARCH\n=======\nx\n+++++++ REPLACE\n"},
		{"a\n", "cat <<'EOF'\n--- f\t1970-01-01 00:00:00 +0000\n+++ f\n@@ -0,0 +1 @@\n+a\nEOF\n"},
		{"\ufeffa\n", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n-- \n2.39.5\n"},
	} {
		f.Add(seed[0], seed[1], uint8(0))
		f.Add(seed[0], seed[1], uint8(0xff))
	}
	f.Fuzz(func(t *testing.T, old, text string, how uint8) {
		opt := patch.Options{Format: patch.Format(how & 3), Path: "f", Strip: int(how>>2&3) - 1}
		read, problems, err := patch.Parse(text, opt)
		if err != nil || len(problems) > 0 {
			return
		}
		again, _, _ := patch.Parse(text, opt)
		if len(again.Files) != len(read.Files) || len(read.Files) == 0 {
			t.Fatalf("%d files, and then %d", len(read.Files), len(again.Files))
		}
		for _, p := range []*patch.Patch{read, read.Reverse()} {
			for i := range p.Files {
				place(t, p, &p.Files[i], []byte(old), how)
			}
		}
	})
}

func place(t *testing.T, p *patch.Patch, file *patch.File, old []byte, how uint8) {
	t.Helper()
	if file.Old == "" || file.New == "" {
		t.Fatalf("a file has no name: %+v", file)
	}
	if file.Binary != nil {
		_, _, _ = file.Apply(old, true, 1<<20)
		return
	}
	text, err := placing.NewText(old)
	if err != nil {
		t.Fatal(err)
	}
	s := placing.Settings{Format: p.Format, Tolerance: placing.Level(how >> 4 & 3), Fuzz: int(how >> 6), Nearest: how&1 != 0}
	placed, err := text.Place(t.Context(), file, s, &placing.Steps{})
	if err != nil {
		t.Fatal(err)
	}
	var all []patch.Splice
	for i, one := range placed {
		if one.Err != nil {
			_ = one.Err.Error()
			continue
		}
		if s.Tolerance == placing.None && s.Fuzz == 0 && !one.Done {
			quotes(t, &file.Hunks[i], old, one.At)
		}
		all = append(all, one.Splices...)
	}
	slices.SortStableFunc(all, func(a, b patch.Splice) int {
		if a.Off != b.Off {
			return int(a.Off - b.Off)
		}
		return int(a.Len - b.Len)
	})
	if _, err := splice.Apply(old, all); err != nil {
		t.Fatalf("%v: %+v", err, all)
	}
}

// quotes checks that the quoted and removed lines of a hunk are at a line of the text.
func quotes(t *testing.T, h *patch.Hunk, old []byte, at int) {
	t.Helper()
	lines := strings.SplitAfter(string(old), "\n")
	for l := range h.Lines() {
		if l.Op == '+' {
			continue
		}
		want := strings.TrimSuffix(strings.TrimPrefix(l.Text, "\ufeff"), "\r")
		if at >= len(lines) ||
			strings.TrimPrefix(strings.TrimSuffix(strings.TrimSuffix(lines[at], "\n"), "\r"), "\ufeff") != want {
			t.Fatalf("line %d is not %q: %q", at, want, lines)
		}
		at++
	}
}
