package searchways_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/rootfs"
)

// TestSearchIsTheSameEverywhere searches random trees, with files of all sizes at which the reading method changes:
// through the fast path, through an afero.Fs that hides it, and in memory. The reference reads each file as a whole and
// uses package regexp. If ripgrep is installed, it is compared as well.
func TestSearchIsTheSameEverywhere(t *testing.T) {
	t.Parallel()
	trees := fstest.Runs(1, 1, 200)
	for seed := range uint64(trees) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			dir := fstest.TempDir(t)
			plantSizes(t, dir, rand.New(rand.NewPCG(seed, 3)))
			memory := afero.NewMemMapFs()
			copyTree(t, dir, memory)
			root, err := rootfs.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer root.Close()
			ways := map[string]afero.Fs{
				"fast":   root,
				"hidden": afero.NewBasePathFs(errorfs.Only(afero.NewOsFs()), dir),
				"memory": memory,
			}
			for _, s := range []struct {
				search actions.Search
				re     string
				rg     []string // the arguments of ripgrep; nil if it defines lines differently
			}{
				{actions.Search{Pattern: "needle", Mode: "literal"}, `needle`, []string{"-F", "needle"}},
				{actions.Search{Pattern: "needle", Mode: "literal", IgnoreCase: true}, `(?i)needle`, []string{"-iF", "needle"}},
				{actions.Search{Pattern: `nee\w+(\d)`, Mode: "regex"}, `nee\w+(\d)`, []string{"--no-unicode", `nee\w+(\d)`}},
				{actions.Search{Pattern: `[a-z]{3}[0-9]{2}[xy]`, Mode: "regex"}, `[a-z]{3}[0-9]{2}[xy]`, []string{"--no-unicode", `[a-z]{3}[0-9]{2}[xy]`}},
				{actions.Search{Pattern: `(?m)^end$`, Mode: "regex"}, `(?m)^end$`, nil},
				{actions.Search{Pattern: `a\s+needle`, Mode: "regex"}, `a\s+needle`, nil},
				{actions.Search{Pattern: `\z`, Mode: "regex"}, `\z`, nil},
			} {
				s.search.NoIgnore = true
				want := countByReading(t, dir, regexp.MustCompile(s.re))
				if len(want) == 0 {
					t.Fatalf("%s is nowhere, so this tests nothing", s.re)
				}
				for name, fsys := range ways {
					if d := cmp.Diff(want, countBySearch(t, fsys, s.search)); d != "" {
						t.Errorf("%s of %s (-want +got):\n%s", s.re, name, d)
					}
				}
				if rg, err := exec.LookPath("rg"); err == nil && s.rg != nil {
					if d := cmp.Diff(want, countByRipgrep(t, rg, dir, s.rg)); d != "" {
						t.Errorf("%s of ripgrep (-want +got):\n%s", s.re, d)
					}
				}
			}
		})
	}
}

// plantSizes writes files of many sizes below a directory. The searched text is at random places in them, also across
// the boundary of two reads.
func plantSizes(t *testing.T, dir string, random *rand.Rand) {
	t.Helper()
	const k = 1 << 10
	sizes := []int{0, 1, 5, 100, 8*k - 3, 8 * k, 64 * k, 128*k - 7, 128*k - 1, 128 * k, 128*k + 1, 129 * k, 256*k + 3, 300 * k, 512*k + 1, 1024*k - 1, 1024 * k, 1024*k + 1, 1500 * k}
	if fstest.Runs(0, 1, 1) > 0 { // the reference is slow on them
		sizes = append(sizes, 8*k*k-1, 8*k*k+5)
	}
	for i := range 60 {
		sizes = append(sizes, 10+random.IntN(20*k)+i)
	}
	for i, size := range sizes {
		text := make([]byte, 0, size+100)
		for len(text) < size {
			text = append(text, "some words of no interest stand here and there\n"[random.IntN(20):]...)
		}
		text = text[:size]
		places := []int{0, 64 * k, 128 * k, 256 * k, 512 * k, 1024 * k, size, random.IntN(size + 1), random.IntN(size + 1)}
		if i%2 == 1 && size > 128*k {
			places = []int{128 * k * (1 + random.IntN(size/(128*k)))} // at no other place
		}
		for _, at := range places {
			what := []string{"needle7", "Needle", "abc42x", "\nend\n", "a\n\nneedle", "NEEDLE"}[random.IntN(6)]
			if from := at - random.IntN(len(what)+1); (len(places) == 1 || random.IntN(3) > 0) && from >= 0 && from+len(what) <= size {
				copy(text[from:], what)
			}
		}
		if i%11 == 10 && size > 0 {
			text[random.IntN(min(size, 8*k))] = 0
		}
		parent := filepath.Join(dir, fmt.Sprintf("d%d", i%7), strings.Repeat("x/", i%3))
		if err := os.MkdirAll(parent, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(parent, fmt.Sprintf("f%d.txt", i)), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("d3\nneedle\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

func eachFile(t *testing.T, dir string, do func(name string, data []byte)) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		rel, rerr := filepath.Rel(dir, name)
		if err == nil && rerr == nil {
			do(filepath.ToSlash(rel), data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func copyTree(t *testing.T, dir string, to afero.Fs) {
	t.Helper()
	eachFile(t, dir, func(name string, data []byte) {
		if err := afero.WriteFile(to, name, data, 0o644); err != nil {
			t.Fatal(err)
		}
	})
}

func countByReading(t *testing.T, dir string, re *regexp.Regexp) map[string]int {
	t.Helper()
	counts := make(map[string]int)
	eachFile(t, dir, func(name string, data []byte) {
		if len(data) == 0 || bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 {
			return
		}
		if n := len(re.FindAllIndex(data, -1)); n > 0 {
			counts[name] = n
		}
	})
	return counts
}

func countBySearch(t *testing.T, fsys afero.Fs, search actions.Search) map[string]int {
	t.Helper()
	p, err := millrace.New("search").Step("find", search).Build()
	if err != nil {
		t.Fatal(err)
	}
	res, err := millrace.Run(t.Context(), fsys, p)
	if err != nil {
		t.Fatal(err)
	}
	found := res.Results[0]
	if len(found.FilesMatched) != len(found.Counts) {
		t.Errorf("%d files, %d counts", len(found.FilesMatched), len(found.Counts))
	}
	return found.Counts
}

// countByRipgrep returns the matches in all files except those that ripgrep, too, counts as binary.
func countByRipgrep(t *testing.T, rg, dir string, how []string) map[string]int {
	t.Helper()
	cmd := exec.Command(rg, append([]string{"-uu", "--hidden", "--count-matches", "--no-messages"}, how...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "RIPGREP_CONFIG_PATH=")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	counts := make(map[string]int)
	for line := range strings.Lines(string(out)) {
		name, n, _ := strings.Cut(strings.TrimSpace(line), ":")
		if counts[name], err = strconv.Atoi(n); err != nil {
			t.Fatal(err)
		}
	}
	return counts
}
