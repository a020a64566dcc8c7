package hostile_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/names"
)

// Very many nested directories. All paths up to the length fsutil.MaxPath are walked. A longer path is a typed error,
// and files higher up can still be changed. Opening a directory needs a step for each directory above it, so a depth of
// 3,000 takes a minute. Only the long form tries it; the short form reaches the limit with longer names.
func TestHostile_deep_tree(t *testing.T) {
	t.Parallel()
	type tree struct {
		name  string
		depth int
		whole bool
	}
	trees := []tree{{"deep-in", 300, true}, {"deep-in", 600, false}}
	if fstest.Tortured() {
		trees = append(trees, tree{"d", 3_000, false})
	}
	for _, tree := range trees {
		for _, name := range []string{"root", "plain"} { // "os" is raised to root; a tree in memory has no limit
			t.Run(fmt.Sprint(tree.depth, "/", name), func(t *testing.T) {
				b := newBackend(t, name)
				makeDeep(t, b.dir, tree.name, tree.depth)
				res, err := b.runOn(t, host(), act("search", obj{"pattern": "needle"}))
				switch {
				case !tree.whole:
					want := error(names.ErrNameTooLong)
					if name == "plain" {
						want = nil // the system refuses a shorter path, as it adds the name of the temporary directory
					}
					wantStepError(t, err, "search", tree.name+"/"+tree.name, want)
				case err != nil:
					t.Error(err)
				case len(res.Results[0].FilesMatched) != 5:
					t.Errorf("found %.300q", res.Results[0].FilesMatched)
				}
				if _, err := b.runOn(t, host(), editFile("a.txt", "needle", "pin")); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// makeDeep makes nested directories one at a time, and a file in the deepest directory.
func makeDeep(t *testing.T, dir, name string, depth int) {
	t.Helper()
	root, err := os.OpenRoot(dir)
	for range depth {
		if err != nil {
			t.Fatal(err)
		}
		above := root
		if err = above.Mkdir(name, 0o755); err == nil {
			root, err = above.OpenRoot(name)
		}
		above.Close()
	}
	if err == nil {
		err = root.WriteFile("deep.txt", []byte("needle\n"), 0o644)
		root.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Walking very many files of a directory needs memory for their names, but not for their content.
func TestHostile_many_files_in_one_directory(t *testing.T) {
	t.Parallel()
	n := fstest.Runs(20_000, 50_000, 200_000)
	dir := fstest.TempDir(t)
	for i := range n {
		if err := os.WriteFile(filepath.Join(dir, "file"+strconv.Itoa(i)), []byte("hay\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "last.txt"), []byte("needle\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	m := measure(t, job{Dir: dir, DryRun: true, Pipeline: string(pipeline(t,
		act("search", obj{"pattern": "needle"}),
		act("edit", obj{"old_text": "needle", "new_text": "pin"}, obj{"input_from": "search"})))})
	if m.Err != "" || m.Result.TotalEdits != 1 {
		t.Errorf("%s, %v", m.Err, m.Result)
	}
	m.wantPeak(t, uint64(32<<20+n*1024))
	t.Logf("%d files", n)
}

// manyMatches returns a directory with the file large.txt, which has n matches.
func manyMatches(t *testing.T, n int) string {
	t.Helper()
	dir := fstest.TempDir(t)
	if err := os.WriteFile(filepath.Join(dir, "large.txt"), []byte(strings.Repeat("ab", n)), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A million matches in a file are streamed, so the memory does not grow as it would with a list of them.
func TestHostile_a_million_matches(t *testing.T) {
	t.Parallel()
	n := fstest.Slowed(50_000, fstest.ByItself(200_000, 1_000_000))
	dir := manyMatches(t, n)
	for what, steps := range map[string][]obj{
		"count": regexSteps("a")[:2],
		"regex": regexSteps("a")[2:3],
		"edit":  {editFile("large.txt", "a", "xyz")},
	} {
		t.Run(what, func(t *testing.T) {
			m := measure(t, job{Dir: dir, DryRun: true, Pipeline: string(pipeline(t, steps...))})
			if m.Err != "" {
				t.Fatal(m.Err)
			}
			if got := m.Result.TotalEdits; what != "count" && got != n {
				t.Errorf("%d edits", got)
			}
			m.wantPeak(t, 512<<20)
		})
	}
}

// More matches than the host allows are an error, which is reported before the new text is made.
func TestHostile_more_matches_than_allowed(t *testing.T) {
	t.Parallel()
	eachBackend(t, func(t *testing.T, b *backend) {
		b.plant(t, map[string]string{"large.txt": strings.Repeat("ab", 1001)})
		before := b.snapshot(t)
		x := host()
		x.Limits.MaxMatches = 1000
		multi := act("multi_edit", obj{"files": []string{"large.txt"}, "edits": []obj{{"old_text": "a", "new_text": "x"}}, "mode": "simultaneous"})
		for _, s := range append(regexSteps("a")[2:], editFile("large.txt", "a", "x", id("literal")), multi) {
			_, err := b.runOn(t, x, editFile("a.txt", "needle", "pin", id("first")), s)
			wantLimit(t, err, s["id"].(string), "matches", 1000)
		}
		b.unchanged(t, before)
		x.Limits.MaxMatches = 1001
		x.DryRun = true
		if _, err := b.runOn(t, x, editFile("large.txt", "a", "x")); err != nil {
			t.Error(err)
		}
	})
}

// wantLimit fails the test unless err is the *StepError of that step around a *LimitError.
func wantLimit(t *testing.T, err error, step, what string, most int64) {
	t.Helper()
	wantStepError(t, err, step, "large.txt", nil)
	limit, ok := errors.AsType[*actions.LimitError](err)
	if !ok || limit.What != what || limit.Limit != most {
		t.Errorf("want a *LimitError of %d %s, got %T: %.300v", most, what, err, err)
	}
}

// A short text is replaced by a long text, very often.
func TestHostile_replacement_blow_up(t *testing.T) {
	t.Parallel()
	const limit = 1 << 20
	eachBackend(t, func(t *testing.T, b *backend) {
		b.plant(t, map[string]string{"large.txt": strings.Repeat("ab", 5000)})
		before := b.snapshot(t)
		long := strings.Repeat("x", 1000)
		x := host()
		x.Limits.MaxOutputBytes = limit
		files := []string{"large.txt"}
		for _, s := range []obj{
			editFile("large.txt", "a", long),
			act("edit", obj{"files": files, "old_text": "(a)", "new_text": strings.Repeat("$1", 1000), "mode": "regex"}, id("groups")),
			act("multi_edit", obj{"files": files, "edits": []obj{{"old_text": "a", "new_text": long}}}),
			act("multi_edit", obj{"files": files, "edits": []obj{{"old_text": "a", "new_text": long}}, "mode": "simultaneous"}, id("together")),
			act("regex_transform", obj{"files": files, "patterns": []obj{{"pattern": "a", "replacement": long}}}),
			// The edits apply in order, and none alone exceeds the limit.
			act("multi_edit", obj{"files": files, "edits": []obj{{"old_text": "a", "new_text": "cccccccccc"}, {"old_text": "c", "new_text": "dddddddddd"}, {"old_text": "d", "new_text": "eeee"}}}, id("chain")),
		} {
			_, err := b.runOn(t, x, editFile("a.txt", "needle", "pin", id("first")), s)
			wantLimit(t, err, s["id"].(string), "bytes", limit)
		}
		b.unchanged(t, before)
	})
}

// The same with the limit for each file.
func TestHostile_replacement_blow_up_takes_bounded_memory(t *testing.T) {
	t.Parallel()
	dir := manyMatches(t, 5<<20) // a million may be replaced, by at most 64 MiB
	long := strings.Repeat("x", 1000)
	for what, s := range map[string]obj{
		"literal": editFile("large.txt", "a", long),
		"groups":  act("edit", obj{"files": []string{"large.txt"}, "old_text": "(a)", "new_text": strings.Repeat("$1", 1000), "mode": "regex"}),
	} {
		if what == "groups" && !fstest.Tortured() {
			continue // finding a million groups takes many seconds
		}
		t.Run(what, func(t *testing.T) {
			m := measure(t, job{Dir: dir, Pipeline: string(pipeline(t, s))})
			if m.Kind != "step" || !strings.Contains(m.Err, "too much new text") {
				t.Errorf("%s: %.300s", m.Kind, m.Err)
			}
			m.wantPeak(t, 1<<30)
		})
	}
}
