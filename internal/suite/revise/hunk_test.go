package revise_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/fstest"
)

// marked returns lines with their numbers and their marks in brackets.
func marked(h millrace.Hunk) string {
	var b strings.Builder
	for _, l := range h.Lines() {
		text := l.Text
		for i := len(l.Marks) - 1; i >= 0; i-- {
			m := l.Marks[i]
			text = text[:m[0]] + "[" + text[m[0]:m[1]] + "]" + text[m[1]:]
		}
		fmt.Fprintf(&b, "%d %d %c%s\n", l.Old, l.New, l.Op, text)
	}
	return b.String()
}

func TestHunkLines(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text  string
		steps []actions.Action
		want  string
	}{
		"words": {
			"a\nfoo and foo\nb\n",
			[]actions.Action{actions.Edit{Files: []string{"a.txt"}, OldText: "foo", NewText: "bar"}},
			"1 1  a\n2 0 -[foo] and [foo]\n0 2 +[bar] and [bar]\n3 3  b\n",
		},
		"only the new part of a replacement": {
			"one two three\n",
			[]actions.Action{actions.Edit{Files: []string{"a.txt"}, OldText: "one two three", NewText: "one 2 three"}},
			"1 0 -one [two] three\n0 1 +one [2] three\n",
		},
		"inserted and removed": {
			"ab\ncd\n",
			[]actions.Action{actions.Edit{Files: []string{"a.txt"}, OldText: "b", NewText: "bb"}, actions.Edit{Files: []string{"a.txt"}, OldText: "d", NewText: ""}},
			"1 0 -ab\n2 0 -c[d]\n0 1 +ab[b]\n0 2 +c\n",
		},
		"whole lines": {
			"a\nb\nc\n",
			[]actions.Action{lineEdits(actions.ReplaceLines(2, 2, "x\n"), actions.InsertAfter(3, "new\n"))},
			"1 1  a\n2 0 -[b]\n0 2 +[x]\n3 3  c\n0 4 +[new]\n",
		},
		"moved by the diff": {
			"x\nx\ny\n",
			[]actions.Action{lineEdits(actions.InsertAfter(0, "x\n"))},
			"1 1  x\n2 2  x\n0 3 +[x]\n3 4  y\n",
		},
		"no line end": {
			"a\nb",
			[]actions.Action{actions.Edit{Files: []string{"a.txt"}, OldText: "b", NewText: "B\n"}},
			"1 1  a\n2 0 -[b]\n0 0 \\ No newline at end of file\n0 2 +[B]\n",
		},
		"only a line end": {
			"a\nb",
			[]actions.Action{actions.Edit{Files: []string{"a.txt"}, OldText: "b", NewText: "b\n"}},
			"1 1  a\n2 0 -b\n0 0 \\ No newline at end of file\n0 2 +b\n",
		},
		"CRLF": {
			"a\r\nb\r\n",
			[]actions.Action{actions.Edit{Files: []string{"a.txt"}, OldText: "b", NewText: "c"}},
			"1 1  a\r\n2 0 -[b]\r\n0 2 +[c]\r\n",
		},
		"whole characters": {
			"größer\n",
			[]actions.Action{actions.Edit{Files: []string{"a.txt"}, OldText: "größer", NewText: "grüßer"}},
			"1 0 -gr[ö]ßer\n0 1 +gr[ü]ßer\n",
		},
		"written as a whole": {
			"a\nb\n",
			[]actions.Action{actions.Delete{Files: []string{"a.txt"}}},
			"1 0 -[a]\n2 0 -[b]\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, plan := planOf(t, test.text, test.steps...)
			var got strings.Builder
			for _, h := range hunksOf(t, plan) {
				got.WriteString(marked(h))
			}
			if d := cmp.Diff(test.want, got.String()); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// TestHunkLinesAreItsText: the lines of a hunk and of its parts are its text, their numbers are consecutive, and marks
// are within changed lines.
func TestHunkLinesAreItsText(t *testing.T) {
	t.Parallel()
	marks := 0
	seeds := fstest.Slowed(100, fstest.Runs(fstest.ByItself(250, 500), 2000, 20_000))
	for seed := range uint64(seeds) {
		_, _, plan := randomEdited(t, rand.New(rand.NewPCG(seed, 41)))
		var all []millrace.Hunk
		for _, h := range hunksOf(t, plan) {
			all = append(append(all, h), h.Split()...)
		}
		for _, h := range all {
			var text strings.Builder
			before, now := 0, 0
			for _, l := range h.Lines() {
				text.WriteString(string(l.Op) + l.Text + "\n")
				if l.Old > 0 {
					before++
				}
				if l.New > 0 {
					now++
				}
				if l.Old > 0 && l.Old != h.OldStart+before-1 || l.New > 0 && l.New != h.NewStart+now-1 {
					t.Fatalf("seed %d: line %+v of\n%s", seed, l, h)
				}
				last := 0
				for _, m := range l.Marks {
					marks++
					if m[0] < last || m[1] <= m[0] || m[1] > len(l.Text) || l.Op != '-' && l.Op != '+' || !utf8.ValidString(l.Text[m[0]:m[1]]) {
						t.Fatalf("seed %d: line %+v of\n%s", seed, l, h)
					}
					last = m[1] + 1
				}
			}
			if text.String() != h.Text || before != h.OldLines || now != h.NewLines {
				t.Fatalf("seed %d: lines %q of\n%s", seed, text.String(), h)
			}
		}
	}
	if marks < seeds {
		t.Errorf("only %d marks", marks)
	}
}

// TestMarksAreWhatDiffers: without the marked bytes both sides are equal, unless lines are marked as a whole.
func TestMarksAreWhatDiffers(t *testing.T) {
	t.Parallel()
	for seed := range uint64(fstest.Runs(200, 1000, 10_000)) {
		rng := rand.New(rand.NewPCG(seed, 43))
		var b strings.Builder
		for range 30 {
			for range rng.IntN(6) {
				b.WriteString([]string{"foo", "bär", " ", "x", "日本"}[rng.IntN(5)])
			}
			b.WriteString("\n")
		}
		_, plan := planOf(t, b.String(), actions.MultiEdit{Files: []string{"a.txt"}, Mode: "simultaneous", Edits: []actions.TextEdit{
			{OldText: "foo", NewText: "fo"}, {OldText: "bär", NewText: "bar"}, {OldText: "日", NewText: "月日"},
		}})
		for _, h := range hunksOf(t, plan) {
			var sides [2]string
			for _, l := range h.Lines() {
				if l.Op == ' ' {
					continue
				}
				if len(l.Marks) == 1 && l.Marks[0] == [2]int{0, len(l.Text)} {
					sides = [2]string{}
					break
				}
				rest := l.Text
				for i := len(l.Marks) - 1; i >= 0; i-- {
					rest = rest[:l.Marks[i][0]] + rest[l.Marks[i][1]:]
				}
				sides[strings.IndexByte("-+", l.Op)] += rest + "\n"
			}
			if sides[0] != sides[1] {
				t.Fatalf("seed %d: without its marks %q and %q differ:\n%s", seed, sides[0], sides[1], marked(h))
			}
		}
	}
}

// TestHunksFromElsewhere: hunks of a caller may have any text. Reading their lines and splitting them does not fail.
func TestHunksFromElsewhere(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "\n", "-", "+a", "\\", "\\ No newline at end of file\n", " a\n\n-b", "?x\n-y\n?z\n+y\n", "-a\n b\n+c\n\\\n\\\n d\n-e", "\x00\xff\n",
	} {
		for _, start := range []int{0, 1, -7, 1 << 30} {
			h := millrace.Hunk{OldStart: start, NewStart: start, Text: text, OldLines: start}
			var again strings.Builder
			for _, l := range h.Lines() {
				again.WriteString(string(rune(l.Op)) + l.Text + "\n")
			}
			if got := len(h.Split()); got < 1 {
				t.Errorf("%q has %d parts", text, got)
			}
		}
	}
	_, plan := threePlaces(t)
	h := hunksOf(t, plan)[1]
	data, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	var back millrace.Hunk
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	for i, part := range back.Split() {
		if d := cmp.Diff(h.Split()[i], part, sameHunks); d != "" {
			t.Errorf("part %d (-made +read):\n%s", i, d)
		}
		if d := cmp.Diff([]change.Origin{{Step: "s0"}}, part.By); d != "" {
			t.Errorf("by (-want +got):\n%s", d)
		}
	}
}
