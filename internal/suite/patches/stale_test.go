package patches_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/textdiff"
)

// verdict is the result of a patch to one file.
type verdict struct {
	ok   bool
	text string
	out  string
}

// others applies a patch to the file with git and with patch.
func others(t *testing.T, dir, old, patch string) (git, gnu verdict) {
	t.Helper()
	git = with(t, dir, old, patch, "git", "apply", "--whitespace=nowarn", "-")
	gnu = with(t, dir, old, patch, "patch", "-p1", "-s", "-f", "-N", "-F0", "--no-backup-if-mismatch", "-r-", "--binary")
	return git, gnu
}

// with applies a patch to the file with one program.
func with(t *testing.T, dir, old, patch, name string, args ...string) (v verdict) {
	t.Helper()
	file := filepath.Join(dir, "f")
	if err := os.WriteFile(file, []byte(old), 0o644); err != nil {
		t.Fatal(err)
	}
	v.ok, v.out = run(t, dir, patch, name, args...)
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	v.text = string(text)
	return v
}

func recounted(r *millrace.Result) bool {
	return slices.ContainsFunc(r.AllWarnings(), func(w string) bool { return strings.Contains(w, "counted anew") })
}

// diff returns a unified diff of one file.
func diff(t *testing.T, old, now string, around int) string {
	t.Helper()
	var b strings.Builder
	_, err := textdiff.Unified(t.Context(), &b, "a/f", "b/f", textdiff.Bytes(old), textdiff.Bytes(now), nil, around)
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// reasons are parts of messages: the reasons for which we may refuse a patch that git accepts.
var reasons = []string{
	"times, at lines", // several places, and git uses the nearest
	"the patch has them at the end of the file", // a line without a line end, which git joins with the next line
	"numbers behind @@",                         // git drops the lines that exceed the numbers
	"the patch ends within a hunk",
	"it has no context",         // likewise
	"for the stated line alone", // the new file's number differs, and git relies on it
}

// compare compares our result of a patch with the results of git and patch. It returns a word for the case.
func compare(t *testing.T, dir, old, patch string) (string, error) {
	t.Helper()
	got, result, err := inText(t, old, actions.Patch{Text: patch})
	git, gnu := others(t, dir, old, patch)
	switch {
	case err == nil && git.ok:
		if got != git.text && recounted(result) {
			git = with(t, dir, old, patch, "git", "apply", "--whitespace=nowarn", "--recount", "-")
		}
		if !git.ok {
			return "only we", nil
		}
		if got != git.text {
			return "", fmt.Errorf("the text differs from git's:\n%q\n%q", got, git.text)
		}
		return "both", nil
	case git.ok:
		for _, reason := range reasons {
			if strings.Contains(err.Error(), reason) {
				return "refused: " + reason, nil
			}
		}
		return "", fmt.Errorf("git accepts it, and we do not: %w\n%q", err, git.text)
	case err != nil:
		return "neither", nil
	}
	// Git refuses. Our result is right if our hunks have stated reasons to be accepted.
	done := false
	for _, w := range result.AllWarnings() {
		done = done || strings.Contains(w, "applied already")
	}
	switch {
	case gnu.ok && gnu.text == got:
		return "we and patch", nil
	case gnu.ok && !done:
		if !recounted(result) { // otherwise patch drops the rest
			return "", fmt.Errorf("the text differs from patch's, and git refuses:\n%q\n%q", got, gnu.text)
		}
		return "only we, counted anew", nil
	case done:
		return "applied already", nil
	}
	return "only we", nil
}

// TestStalePatches: patches of random texts are applied to texts that have changed since then.
func TestStalePatches(t *testing.T) {
	t.Parallel()
	needTools(t, "git", "patch")
	r := rand.New(rand.NewPCG(fstest.Seed(t), 1))
	dir := t.TempDir()
	counts := map[string]int{}
	for i := range fstest.Runs(60, 500, 20_000) {
		lines := randomLines(r, 40)
		patch := diff(t, strings.Join(lines, ""), strings.Join(changed(r, lines, 1+r.IntN(4)), ""), 1+r.IntN(3))
		if patch == "" {
			continue
		}
		old := strings.Join(changed(r, lines, pick(r, 0, 0, 1, 1, 2, 3, 6)), "")
		word, err := compare(t, dir, old, patch)
		if err != nil {
			t.Fatalf("run %d: %v\nof the text %q\nby the patch\n%s", i, err, old, patch)
		}
		counts[word]++
	}
	fstest.Countf(t, "stale patches compared with git apply and patch: %v", counts)
}

// TestDamagedPatches: the patches themselves are damaged: lines are lost, doubled, swapped or altered, and numbers are
// wrong.
func TestDamagedPatches(t *testing.T) {
	t.Parallel()
	needTools(t, "git", "patch")
	r := rand.New(rand.NewPCG(fstest.Seed(t), 2))
	dir := t.TempDir()
	counts := map[string]int{}
	for i := range fstest.Runs(60, 500, 20_000) {
		lines := randomLines(r, 40)
		old := strings.Join(lines, "")
		patch := diff(t, old, strings.Join(changed(r, lines, 1+r.IntN(4)), ""), 1+r.IntN(3))
		if patch == "" {
			continue
		}
		patch = damaged(r, patch)
		word, err := compare(t, dir, old, patch)
		if err != nil {
			t.Fatalf("run %d: %v\nof the text %q\nby the patch\n%s", i, err, old, patch)
		}
		counts[word]++
	}
	fstest.Countf(t, "damaged patches compared with git apply and patch: %v", counts)
}

// damaged returns the patch with random damage.
func damaged(r *rand.Rand, patch string) string {
	lines := strings.SplitAfter(patch, "\n")
	at := 2 + r.IntN(len(lines)-2)
	switch line := lines[at]; r.IntN(8) {
	case 0:
		lines[at] = ""
	case 1:
		lines[at] = line + line
	case 2:
		lines[at-1], lines[at] = line, lines[at-1]
	case 3:
		lines = lines[:at]
	case 4:
		lines[at] = "x" + line
	case 5:
		if len(line) > 1 {
			lines[at] = line[1:]
		}
	default:
		for i := range lines {
			if strings.HasPrefix(lines[i], "@@ ") && chance(r, 2) {
				digit := 4 + r.IntN(len(lines[i])-8)
				if c := lines[i][digit]; c >= '0' && c <= '9' {
					lines[i] = lines[i][:digit] + string(rune('0'+r.IntN(10))) + lines[i][digit+1:]
				}
			}
		}
	}
	return strings.Join(lines, "")
}
