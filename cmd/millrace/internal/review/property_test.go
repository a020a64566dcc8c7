package review

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/millracetest"
)

// For any keys, the commit has the same result as applying the accepted hunks with git.
func TestRandomKeysCommitWhatWasTaken(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git, which applies the hunks, is not installed")
	}
	n := 60
	if testing.Short() {
		n = 15
	}
	for seed := range uint64(n) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 1))
			tree := randomTree(rnd)
			dir, other := written(t, tree), written(t, tree)
			root, err := fsutil.OpenRoot(dir)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = root.Close() })
			plan, err := millrace.Executor{}.Plan(t.Context(), root, changes())
			if err != nil {
				t.Fatal(err)
			}
			r := New(plan)
			r.Edit = editor(rnd)
			var out bytes.Buffer
			trimmed, err := r.Run(t.Context(), &randomKeys{rnd: rnd, left: 2 + rnd.IntN(60)}, &out)
			if err != nil {
				t.Fatalf("%v\n%s", err, out.String())
			}
			var patch bytes.Buffer
			for _, f := range r.files {
				takenOf(t, &patch, plan, f)
			}
			if patch.Len() > 0 {
				apply(t, other, patch.Bytes())
			}
			if _, err := trimmed.WithForce(true).Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
			if want, got := read(t, other), read(t, dir); want != got {
				t.Errorf("the commit has\n%s\nwant\n%s\nby the patch\n%s\nreview:\n%s", got, want, patch.String(), out.String())
			}
		})
	}
}

// After any number of decisions, going back restores the review.
func TestBackUndoesEverything(t *testing.T) {
	for seed := range uint64(30) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		tree := randomTree(rnd)
		root, err := fsutil.OpenRoot(written(t, tree))
		if err != nil {
			t.Fatal(err)
		}
		plan, err := millrace.Executor{}.Plan(t.Context(), root, changes())
		if err != nil {
			t.Fatal(err)
		}
		r := New(plan)
		r.Edit = editor(rnd)
		r.keys, r.out = &randomKeys{rnd: rnd}, io.Discard
		r.load(0)
		states := []string{r.state()}
		for range 40 {
			if r.files[r.at.file].items == nil {
				r.load(r.at.file)
			}
			key := []rune("ynadADtsej")[rnd.IntN(10)]
			if strings.ContainsRune("aAdD", key) && rnd.IntN(3) > 0 {
				continue
			}
			before := len(r.history)
			if _, _, err := r.press(t.Context(), key); err != nil {
				t.Fatal(err)
			}
			switch len(r.history) {
			case before:
			case before + 1:
				states = append(states, r.state())
			default:
				t.Fatalf("seed %d: key %q is %d steps", seed, key, len(r.history)-before)
			}
		}
		for i := len(states) - 2; i >= 0; i-- {
			if !r.back() {
				t.Fatalf("seed %d: there is no step before number %d", seed, i)
			}
			if got := r.state(); got != states[i] {
				t.Fatalf("seed %d: back at step %d:\n%s\nwant\n%s", seed, i, got, states[i])
			}
		}
		if r.back() {
			t.Errorf("seed %d: there is a step before the first", seed)
		}
		_ = root.Close()
	}
}

// state returns everything that keys change. A file that has not been read counts as if all its hunks had its decision.
func (r *Review) state() string {
	var b strings.Builder
	fmt.Fprintln(&b, r.at)
	for n, f := range r.files {
		c := f.copied()
		if c.items == nil {
			shadow := &Review{plan: r.plan, files: []*file{&c}}
			shadow.load(0)
		}
		fmt.Fprint(&b, n, c.change.Path, c.parts)
		for _, i := range c.items {
			text := "-"
			if i.text != nil {
				text = *i.text
			}
			fmt.Fprintf(&b, " %d %q %q", i.is, i.hunk.String(), text)
		}
		fmt.Fprintln(&b)
	}
	return b.String()
}

type randomKeys struct {
	rnd  *rand.Rand
	left int
}

func (k *randomKeys) Key(context.Context) (rune, error) {
	if k.left--; k.left <= 0 {
		return 'q', nil
	}
	keys := []rune("yyyynnnnnadtsssssebbjpi?x")
	if k.rnd.IntN(40) == 0 {
		return []rune("AD")[k.rnd.IntN(2)], nil
	}
	return keys[k.rnd.IntN(len(keys))], nil
}

// editor changes, removes and inserts lines of a hunk.
func editor(rnd *rand.Rand) Editor {
	return func(text string) (string, error) {
		if rnd.IntN(8) == 0 {
			return "", errors.New("the editor did not start")
		}
		var b strings.Builder
		for line := range strings.Lines(text) {
			switch {
			case line[0] == '+' && rnd.IntN(3) == 0:
			case line[0] == '+' && rnd.IntN(2) == 0:
				fmt.Fprintf(&b, "+mine %d\n", rnd.IntN(100))
			case line[0] == '-' && rnd.IntN(4) == 0:
				b.WriteString(" " + line[1:])
			default:
				b.WriteString(line)
			}
		}
		return b.String(), nil
	}
}

func randomTree(rnd *rand.Rand) map[string]string {
	tree := map[string]string{"gone.txt": "gone\n", "dir/old.txt": "moved x\n1\n2\n3\n4\n5\n6\n7\n8\n9\nx\n"}
	for i := range 1 + rnd.IntN(4) {
		var b strings.Builder
		for range 1 + rnd.IntN(40) {
			b.WriteString(strings.Repeat([]string{"x", "z", "line", "other", "more"}[rnd.IntN(5)]+" ", 1+rnd.IntN(2)) + "\n")
		}
		tree[fmt.Sprintf("f%d.txt", i)] = "x\n" + b.String()
	}
	return tree
}

func changes() millrace.Pipeline {
	return millrace.New("random").Options(millrace.Options{Force: true, NoBackup: true}).
		Step("move", actions.Rename{Files: []string{"dir/old.txt"}, To: "dir/sub/new.txt"}).
		Step("one", actions.PatternReplace{FilePattern: "**/*.txt", SedPattern: []string{"s/x/X/g"}}).
		Step("two", actions.PatternReplace{FilePattern: "*.txt", SedPattern: []string{`s/^z.*/Z1\nZ2/`}}).
		Step("make", actions.Create{Paths: []string{"made/a.txt", "made/b.txt"}, Content: "made\n"}).
		Step("delete", actions.Delete{Files: []string{"gone.txt"}, Permanent: true}).
		MustBuild()
}

func written(t *testing.T, tree map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range tree {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func read(t *testing.T, dir string) string {
	t.Helper()
	return millracetest.Text(t, afero.NewBasePathFs(afero.NewOsFs(), dir))
}

// takenOf writes the accepted changes of a file as a patch without context.
func takenOf(t *testing.T, w *bytes.Buffer, plan *millrace.Plan, f *file) {
	t.Helper()
	c := f.change
	if c.New.Kind == change.Dir || c.Old.Kind == change.Dir {
		return
	}
	if all, _ := f.takes(); all && !f.parts {
		if err := plan.WriteDiff(w, c.Path); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !f.parts {
		return
	}
	var hunks strings.Builder
	moved := 0
	hunk := func(start int, old, new []string) {
		if len(old) == 0 {
			start-- // the line before the inserted lines
		}
		at := start + moved
		switch {
		case len(old) == 0 && len(new) > 0:
			at++
		case len(new) == 0 && len(old) > 0:
			at--
		}
		fmt.Fprintf(&hunks, "@@ -%d,%d +%d,%d @@\n", start, len(old), at, len(new))
		for _, l := range old {
			hunks.WriteString("-" + l + "\n")
		}
		for _, l := range new {
			hunks.WriteString("+" + l + "\n")
		}
		moved += len(new) - len(old)
	}
	items := f.items
	for n := 0; n < len(items); n++ {
		i := items[n]
		if i.of != nil { // the hunk, with the text that results from its matches
			end := n + len(i.of.places)
			part, ok := i.of.part(items[n:end])
			i, n = item{is: taken, hunk: i.of.hunk, text: part.Text}, end-1
			if ok && part.Text == nil {
				i.is = left
			}
		}
		if i.is != taken {
			continue
		}
		lines := i.hunk.Lines()
		if i.text != nil {
			var old []string
			for _, l := range lines {
				if l.Op != '+' {
					old = append(old, l.Text)
				}
			}
			new := strings.Split(strings.TrimSuffix(*i.text, "\n"), "\n")
			if *i.text == "" {
				new = nil
			}
			if !equal(old, new) {
				hunk(i.hunk.OldStart, old, new)
			}
			continue
		}
		at := i.hunk.OldStart
		for len(lines) > 0 {
			var old, new []string
			start := at
			for len(lines) > 0 && lines[0].Op != ' ' {
				if lines[0].Op == '-' {
					old, at = append(old, lines[0].Text), at+1
				} else {
					new = append(new, lines[0].Text)
				}
				lines = lines[1:]
			}
			if len(old)+len(new) > 0 {
				hunk(start, old, new)
				continue
			}
			lines, at = lines[1:], at+1
		}
	}
	old := c.OldPath()
	if hunks.Len() == 0 && old == c.Path {
		return
	}
	fmt.Fprintf(w, "diff --git a/%s b/%s\n", old, c.Path)
	if old != c.Path {
		fmt.Fprintf(w, "similarity index 50%%\nrename from %s\nrename to %s\n", old, c.Path)
	}
	if hunks.Len() > 0 {
		fmt.Fprintf(w, "--- a/%s\n+++ b/%s\n%s", old, c.Path, hunks.String())
	}
}

func equal(a, b []string) bool {
	return strings.Join(a, "\n") == strings.Join(b, "\n") && len(a) == len(b)
}

func apply(t *testing.T, dir string, patch []byte) {
	t.Helper()
	cmd := exec.Command("git", "apply", "--unidiff-zero", "-p1")
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(patch)
	cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git apply: %v\n%s\n%s", err, out, patch)
	}
}
