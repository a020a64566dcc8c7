package revise_test

import (
	"cmp"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/suite"
)

// randomEdited returns a text of lines that often repeat, and a plan that edits the text in some random way.
func randomEdited(t *testing.T, rng *rand.Rand) (text string, fsys afero.Fs, plan *millrace.Plan) {
	t.Helper()
	words := []string{"", "a", "b", "foo", "foo bar", "}", "x", "if a {", "\tb", "f(a, x)", "f(f(a),", "b)"}
	word := func() string { return words[rng.IntN(len(words))] }
	eol := "\n"
	if rng.IntN(5) == 0 {
		eol = "\r\n"
	}
	n := rng.IntN(60) + 1
	var b strings.Builder
	for range n {
		if rng.IntN(3) == 0 {
			fmt.Fprintf(&b, "line %d", rng.IntN(40))
		} else {
			b.WriteString(word())
		}
		b.WriteString(eol)
	}
	text = b.String()
	if rng.IntN(4) == 0 {
		text = strings.TrimSuffix(text, eol)
	}
	fsys = suite.Tree("a.txt", text)
	builder := millrace.New("random").Options(millrace.Options{Force: true, ContinueOnError: true})
	var last millrace.StepBuilder
	for i := range rng.IntN(3) + 1 {
		var a actions.Action
		switch rng.IntN(6) {
		case 0, 1:
			var edits []actions.LineEdit
			used := 0
			for range rng.IntN(5) + 1 {
				at := rng.IntN(n + 1)
				switch rng.IntN(3) {
				case 0:
					edits = append(edits, actions.InsertAfter(at, word()+"\n"))
				case 1:
					edits = append(edits, actions.ReplaceText(words[1+rng.IntN(len(words)-1)], word()))
				case 2:
					from := used + 1 + rng.IntN(8)
					used = from + rng.IntN(3)
					edits = append(edits, actions.ReplaceLines(from, used, strings.Repeat(word()+"\n", rng.IntN(3))))
				}
			}
			a = actions.EditFiles{OnError: "continue", FileEdits: []actions.FileEdits{{Path: "a.txt", Edits: edits}}}
		case 2:
			a = actions.MultiEdit{Files: []string{"a.txt"}, Edits: []actions.TextEdit{
				{OldText: "a", NewText: word()}, {OldText: "foo", NewText: word() + "\n"}, {OldText: "}\n", NewText: ""},
			}}
		case 3:
			a = actions.Edit{Files: []string{"a.txt"}, OldText: words[1+rng.IntN(len(words)-1)] + "\n", NewText: word() + "\n" + word() + "\n"}
		case 4:
			with := []string{"g(:[x])", "f(\n\t:[x],\n)", ":[x]", "f(:[x], :[x.upper])"}
			a = actions.Edit{Files: []string{"a.txt"}, OldText: "f(:[x...])", NewText: with[rng.IntN(len(with))],
				Mode: "structural", Language: "go"}
		default:
			scripts := []string{"/foo/d", "s/a/b/", "s/foo/x/;/x/p", "/b/s/b/b\\nb/", "/}/d;s/x/}/"}
			a = actions.PatternReplace{FilePattern: "a.txt", SedPattern: []string{scripts[rng.IntN(len(scripts))]}}
		}
		last = builder.Step(fmt.Sprint("s", i), a)
		builder = last.Builder
	}
	p, err := last.Build()
	if err != nil {
		t.Fatal(err)
	}
	plan, err = millrace.Executor{}.Plan(t.Context(), fsys, p)
	if err != nil {
		t.Fatal(err)
	}
	return text, fsys, plan
}

// patched applies hunks to a text. It uses only the lines of the hunks.
func patched(t *testing.T, text string, hunks []millrace.Hunk) string {
	t.Helper()
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	var out strings.Builder
	at := 0
	for _, h := range hunks {
		start := h.OldStart - 1
		if h.OldLines == 0 {
			start++
		}
		for ; at < start; at++ {
			out.WriteString(lines[at])
		}
		shown := strings.SplitAfter(h.Text, "\n")
		for i, l := range shown {
			if l == "" || l[0] == '\\' {
				continue
			}
			body := l[1:]
			if i+1 < len(shown) && strings.HasPrefix(shown[i+1], "\\") {
				body = strings.TrimSuffix(body, "\n")
			}
			if l[0] != '+' {
				if at >= len(lines) || lines[at] != body {
					t.Fatalf("line %d is not %q, as in the hunk:\n%s", at+1, body, h)
				}
				at++
			}
			if l[0] != '-' {
				out.WriteString(body)
			}
		}
	}
	return out.String() + strings.Join(lines[at:], "")
}

// planned returns the text of a.txt after a plan.
func planned(t *testing.T, text string, p *millrace.Plan) string {
	t.Helper()
	changes := p.Changes()
	if len(changes) == 0 {
		return text
	}
	r, err := changes[0].OpenNew()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func hunksOf(t *testing.T, p *millrace.Plan) []millrace.Hunk {
	t.Helper()
	files, err := p.Files()
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		return nil
	}
	return files[0].Hunks
}

// sameHunks compares hunks without their NewStart, which other hunks move.
var sameHunks = gocmp.Options{cmpopts.IgnoreUnexported(millrace.Hunk{}), cmpopts.IgnoreFields(millrace.Hunk{}, "NewStart")}

// TestRejectedHunksTakeNothingElseAway: after any hunks are rejected, the text is the base with the other hunks, and
// the plan shows these hunks. The authors of a hunk are exactly the authors of its splices.
func TestRejectedHunksTakeNothingElseAway(t *testing.T) {
	t.Parallel()
	several, first := 0, fstest.Seed(t)
	runs := uint64(fstest.Slowed(300, fstest.Runs(fstest.ByItself(600, 1500), 10_000, 100_000)))
	for seed := first; seed < first+runs; seed++ {
		rng := rand.New(rand.NewPCG(seed, 17))
		text, fsys, plan := randomEdited(t, rng)
		hunks := hunksOf(t, plan)
		if len(hunks) == 0 {
			continue
		}
		if len(hunks) > 1 {
			several++
		}
		var numbers []int
		var left []millrace.Hunk
		for i := range hunks {
			if rng.IntN(2) == 0 {
				numbers = append(numbers, i)
			} else {
				left = append(left, hunks[i])
			}
		}
		less, err := plan.RejectHunks("a.txt", numbers...)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		want := patched(t, text, left)
		if got := planned(t, text, less); got != want {
			t.Fatalf("seed %d: of %q the hunks %v are left\n got %q\nwant %q", seed, text, left, got, want)
		}
		if d := gocmp.Diff(left, hunksOf(t, less), sameHunks); d != "" {
			t.Fatalf("seed %d: hunks left of %q (-want +got):\n%s", seed, text, d)
		}
		// If no hunk is rejected, splices may undo each other, so that they are in no hunk.
		if got, want := madeBy(less), by(left); len(numbers) > 0 && !slices.Equal(got, want) {
			t.Fatalf("seed %d: the splices are from %v, the hunks from %v", seed, got, want)
		}
		if seed%100 == 0 {
			takenByGit(t, text, less, want)
		}
		if seed%20 == 0 {
			if _, err := less.Commit(t.Context()); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if got := suite.Read(t, fsys, "a.txt"); got != want {
				t.Fatalf("seed %d: committed %q, want %q", seed, got, want)
			}
		}
	}
	if several < int(runs)/5 {
		t.Errorf("only %d of %d cases have several hunks", several, runs)
	}
}

// takenByGit applies the diff of a plan with git, which does not use splices.
func takenByGit(t *testing.T, text string, p *millrace.Plan, want string) {
	t.Helper()
	diff := p.Diff()
	if _, err := exec.LookPath("git"); err != nil || diff == "" {
		return // other tests check that git is installed
	}
	file := filepath.Join(t.TempDir(), "a.txt")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "git", "apply", "--whitespace=nowarn")
	cmd.Dir, cmd.Stdin = filepath.Dir(file), strings.NewReader(diff)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git: %v, %s\n%s", err, out, diff)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != want {
		t.Fatalf("git makes %q, want %q, %v", got, want, err)
	}
}

// madeBy returns the authors of the splices of a plan's only change, in any order.
func madeBy(p *millrace.Plan) []change.Origin {
	var hunks []millrace.Hunk
	for _, c := range p.Changes() {
		for _, s := range c.Splices {
			hunks = append(hunks, millrace.Hunk{By: s.By})
		}
	}
	return by(hunks)
}

// by returns the authors of hunks, each once, sorted.
func by(hunks []millrace.Hunk) []change.Origin {
	var all []change.Origin
	for _, h := range hunks {
		all = append(all, h.By...)
	}
	slices.SortFunc(all, func(a, b change.Origin) int { return cmp.Or(strings.Compare(a.Step, b.Step), a.Edit-b.Edit) })
	return slices.Compact(all)
}

// TestRejectedAllOrNothing: if all hunks are rejected, no change is left. If none is rejected, the plan stays the same.
func TestRejectedAllOrNothing(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		text, _, plan := randomEdited(t, rand.New(rand.NewPCG(seed, 23)))
		hunks := hunksOf(t, plan)
		if len(hunks) == 0 {
			continue
		}
		var all []int
		for i := range hunks {
			all = append(all, i)
		}
		none, err := plan.RejectHunks("a.txt", all...)
		if err != nil || len(none.Changes()) != 0 || none.Result().FilesChanged.Count() != 0 {
			t.Fatalf("seed %d: all rejected: %v, %+v", seed, err, none.Changes())
		}
		same, err := plan.RejectHunks("a.txt")
		if err != nil {
			t.Fatal(err)
		}
		if got, want := planned(t, text, same), planned(t, text, plan); got != want || same.Diff() != plan.Diff() {
			t.Fatalf("seed %d: none rejected: got %q, want %q", seed, got, want)
		}
		if got, want := same.Result().TotalEdits, plan.Result().TotalEdits; got != want {
			t.Fatalf("seed %d: none rejected: %d edits, were %d", seed, got, want)
		}
	}
}
