package textdiff_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/fstest"
)

// pair is a text in two versions.
type pair struct{ name, old, new string }

// moveBlocks moves, copies and removes blocks of lines.
func moveBlocks(rng *rand.Rand, text string) string {
	all := slices.Collect(strings.Lines(text))
	size := len(all) / 5
	for range 10 {
		i := rng.IntN(len(all) - size)
		block := slices.Clone(all[i : i+1+rng.IntN(size)])
		if rng.IntN(2) == 0 {
			all = slices.Delete(all, i, i+len(block))
		}
		all = slices.Insert(all, rng.IntN(len(all)-size), block...)
	}
	return strings.Join(all, "")
}

// pairs returns texts from almost equal to entirely different, small and large.
func pairs(t *testing.T) []pair {
	var list []pair
	rng := rand.New(rand.NewPCG(7, 8))
	for _, n := range []int{300, 3000, fstest.Slowed(4000, 12000)} {
		for _, kinds := range []int{3, 20, 300, 1 << 30} {
			for _, share := range []float64{0.05, 0.5} {
				old, new := randomEdit(rng, n, kinds, share)
				list = append(list, pair{fmt.Sprintf("%d-of-%d-%g", n, kinds, share), old, new})
			}
			old, new := randomEdit(rng, n, kinds, 1)
			list = append(list, pair{fmt.Sprintf("%d-of-%d-moved", n, kinds), old, moveBlocks(rng, old)})
			_, unrelated := randomEdit(rng, n, kinds, 1)
			list = append(list, pair{fmt.Sprintf("%d-of-%d-unrelated", n, kinds), new, unrelated})
		}
	}
	old, new := randomEdit(rng, 3000, 50, 0.8)
	list = append(list, pair{"much-of-50", old, new})
	// Large enough to have anchors between anchors.
	old, new = randomEdit(rng, 25000, 5000, 0.4)
	list = append(list, pair{"large", old, moveBlocks(rng, new)})
	// Real text: this package's own files, edited at random and compared with each other.
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var sources []string
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, string(data))
	}
	whole := strings.Join(sources, "")
	slices.Reverse(sources)
	list = append(
		list,
		pair{"real-moved", whole, moveBlocks(rng, whole)},
		pair{"real-reversed", whole, strings.Join(sources, "")},
		pair{"real-unrelated", sources[0], sources[1]},
	)
	return list
}

// TestGitCounts compares the number of changed lines with git's. Both are heuristic beyond some size; in total millrace
// must not be worse, and in no case much worse.
func TestGitCounts(t *testing.T) {
	t.Parallel()
	needTool(t, "git")
	list := pairs(t)
	root := t.TempDir()
	ours := map[string]int{}
	for _, p := range list {
		for dir, text := range map[string]string{"old": p.old, "new": p.new} {
			if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(root, dir, p.name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		hunks := hunksOf([]byte(p.old), []byte(p.new), nil, 3)
		check(t, []byte(p.old), []byte(p.new), hunks, 3)
		ours[p.name] = changed(hunks)
	}
	for _, algorithm := range []string{"default", "histogram"} {
		sumOurs, sumTheirs := 0, 0
		theirs := numstat(t, root, algorithm)
		if len(theirs) != len(list) {
			t.Fatalf("git compared %d of %d files", len(theirs), len(list))
		}
		for name, n := range theirs {
			sumOurs += ours[name]
			sumTheirs += n
			if algorithm == "default" && ours[name] > n+n/10 {
				t.Errorf("%s: %d changed lines, git has %d", name, ours[name], n)
			}
		}
		t.Logf("%d changed lines in all, git --diff-algorithm=%s has %d", sumOurs, algorithm, sumTheirs)
		if sumOurs > sumTheirs {
			t.Errorf("%d changed lines in all, git --diff-algorithm=%s has %d", sumOurs, algorithm, sumTheirs)
		}
	}
}

// numstat returns the number of changed lines in each file according to git.
func numstat(t *testing.T, root, algorithm string) map[string]int {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", "diff", "--no-index", "--no-renames", "--numstat", "-z", "--diff-algorithm="+algorithm, "old", "new")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
	out, err := cmd.Output()
	// exec returns exactly that
	if exit, ok := err.(*exec.ExitError); err != nil && (!ok || exit.ExitCode() != 1) { //nolint:errorlint
		t.Fatal(err)
	}
	counts := map[string]int{}
	// "added TAB removed TAB", then, because the two names differ, NUL old NUL new NUL.
	fields := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	for ; len(fields) >= 3; fields = fields[3:] {
		added, rest, _ := strings.Cut(fields[0], "\t")
		a, err := strconv.Atoi(added)
		if err != nil {
			t.Fatal(err)
		}
		r, err := strconv.Atoi(strings.TrimSuffix(rest, "\t"))
		if err != nil {
			t.Fatal(err)
		}
		counts[filepath.Base(fields[2])] = a + r
	}
	return counts
}

// TestHunksHostile has texts for which a quadratic algorithm takes minutes.
func TestHunksHostile(t *testing.T) {
	t.Parallel()
	n := fstest.ByItself(40_000, 100_000)
	rng := rand.New(rand.NewPCG(9, 10))
	text := func(n int, line func(i int) int) string {
		var b bytes.Buffer
		for i := range n {
			fmt.Fprintln(&b, line(i))
		}
		return b.String()
	}
	half, halfNew := randomEdit(rng, n, 20, 0.5)
	list := []pair{
		{"half of a repetitive text", half, halfNew},
		{"reversed", text(n, func(i int) int { return i }), text(n, func(i int) int { return n - i })},
		{"scattered", text(n, func(i int) int { return i }), text(n, func(i int) int { return i * 7919 % n })},
		{"two periods", text(n, func(i int) int { return i % 3 }), text(n, func(i int) int { return i % 5 })},
		{"one line, twice as often", text(n, func(int) int { return 1 }), text(2*n, func(int) int { return 1 })},
		{"zeros and ones swapped", text(n, func(i int) int { return i / (n / 2) }), text(n, func(i int) int { return 1 - i/(n/2) })},
		{"one long line", strings.Repeat("x", 4<<20), strings.Repeat("x", 4<<20-1) + "y"},
		{"insertions into equal lines", strings.Repeat("a\n", n), strings.Repeat(strings.Repeat("a\n", 50)+"b\n", n/50)},
	}
	for _, p := range list {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			old, new := []byte(p.old), []byte(p.new)
			check(t, old, new, hunksOf(old, new, nil, 3), 3)
		})
	}
}
