package limits_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/outcome"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/internal/txtarfs"
)

// growing returns pipelines of a few kilobytes that ask for gigabytes, each with the limit that it must meet.
func growing() map[string]struct {
	limit string
	steps []string
} {
	type g = struct {
		limit string
		steps []string
	}
	read := `{"id":"r0","action":"read_ranges","params":{"files":["big.txt"]}},{"id":"r1","action":"read_ranges","params":{"files":["big.txt"]}}`
	doubling := []string{read}
	for i := 2; i < 20; i++ {
		doubling = append(doubling, fmt.Sprintf(`{"id":"r%d","action":"aggregate","input_from_all":["r%d","r%d"]}`, i, i-2, i-1))
	}
	repeat := func(n int, text string) string { return strings.TrimSuffix(strings.Repeat(text+",", n), ",") }
	join := `{"id":"s","action":"read_ranges","params":{"files":["small.txt"]}},{"id":"r","action":"read_ranges","params":{"files":["big.txt"]}},` +
		`{"id":"a","action":"aggregate","input_from_all":["r","s"]}`
	return map[string]g{
		"aggregates of aggregates": {"bytes shown", doubling},
		"ranges of the whole file": {"bytes shown", []string{
			fmt.Sprintf(`{"id":"r","action":"read_ranges","params":{"files":["big.txt"],"ranges":[%s]}}`, repeat(20_000, "{}"))}},
		"contents of a search": {"bytes shown", []string{`{"id":"s","action":"search","params":{"pattern":"x","include_content":true}}`, `{"id":"l","action":"list"}`,
			`{"id":"l2","action":"list"}`}},
		"templates": {"template bytes", []string{join,
			fmt.Sprintf(`{"id":"m","action":"multi_edit","params":{"files":["small.txt"],"edits":[%s]}}`,
				repeat(400, `{"old_text":"never","new_text":"{{a.aggregated_content}}!"}`))}},
		"copies of one text": {"bytes staged", []string{join,
			fmt.Sprintf(`{"id":"c","action":"create","params":{"paths":[%s],"content":"{{a.aggregated_content}}"}}`, numbered(2_000))}},
		"empty files": {"bytes staged", []string{fmt.Sprintf(`{"id":"c","action":"create","params":{"paths":[%s],"content":""}}`, numbered(1_500))}},
		"reports of files that are not there": {"bytes shown", []string{
			fmt.Sprintf(`{"id":"r","action":"read_ranges","params":{"files":[%s],"on_error":"continue"}}`, numbered(10_000))}},
		"replacements in many files": {"bytes staged", []string{
			fmt.Sprintf(`{"id":"e","action":"edit","params":{"files":["big.txt","big2.txt"],"old_text":"x","new_text":"%s"}}`, strings.Repeat("y", 600)),
			`{"id":"l","action":"list"}`}},
	}
}

func numbered(n int) string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf(`"n%d"`, i)
	}
	return strings.Join(names, ",")
}

// TestGrowthIsBounded: data that multiplies from step to step meets a limit, with little memory, and nothing is
// written.
func TestGrowthIsBounded(t *testing.T) {
	for name, test := range growing() {
		t.Run(name, func(t *testing.T) {
			text := []byte(strings.Repeat("xxxxxxxxxxxxxxx\n", 16<<10)) // 256 KiB
			tree := []txtarfs.File{{Name: "big.txt", Data: text}, {Name: "big2.txt", Data: text}, {Name: "small.txt", Data: []byte("small\n")}}
			fsys := suite.Memory(t, tree)
			p, err := millrace.Decode([]byte(`{"name":"grow","steps":[` + strings.Join(test.steps, ",") + `]}`))
			if err != nil {
				t.Fatal(err)
			}
			// A fiftieth of the defaults, so that the test is about the rule and not about this machine.
			x := millrace.Executor{Limits: actions.Limits{
				MaxShownBytes: outcome.DefaultShownBytes / 50, MaxStagedBytes: outcome.DefaultStagedBytes / 50,
			}}
			_, err = x.Run(t.Context(), fsys, p)
			limit, ok := errors.AsType[*actions.LimitError](err)
			if !ok || limit.What != test.limit {
				t.Fatalf("error %v is not a limit on %s", err, test.limit)
			}
			if strings.Contains(err.Error(), "big") {
				t.Errorf("which file met the limit depends on the schedule: %v", err)
			}
			got, err := txtarfs.Read(fsys, ".millrace")
			if err != nil || txtarfs.Format(got) != txtarfs.Format(suite.Sorted(tree)) {
				t.Errorf("the tree has changed (%v)", err)
			}
		})
	}
}

// TestSharesOfSteps: each step has an equal share, and a negative limit means no limit.
func TestSharesOfSteps(t *testing.T) {
	fsys := suite.Memory(t, []txtarfs.File{{Name: "a", Data: []byte(strings.Repeat("x", 1000))}})
	one := millrace.New("one").Step("r0", actions.ReadRanges{Path: "a"})
	two := one.Step("r1", actions.ReadRanges{Path: "a"})
	for _, test := range []struct {
		p     millrace.Pipeline
		shown int64
		ok    bool
	}{
		{one.MustBuild(), 1100, true}, {one.MustBuild(), 999, false},
		{two.MustBuild(), 2200, true}, {two.MustBuild(), 1100, false}, {two.MustBuild(), -1, true},
	} {
		if _, err := (millrace.Executor{Limits: actions.Limits{MaxShownBytes: test.shown}}).Run(t.Context(), fsys, test.p); (err == nil) != test.ok {
			t.Errorf("%d steps with %d bytes: %v", test.p.Len(), test.shown, err)
		}
	}
}

// TestWideSchedule: two steps with very many files are ordered in linear time, and end with the context.
func TestWideSchedule(t *testing.T) {
	files := fstest.Slowed(10_000, fstest.ByItself(15_000, 40_000))
	names := func(dir string) []string {
		list := make([]string, files)
		for i := range list {
			list[i] = fmt.Sprintf("%s/%d", dir, i)
		}
		return list
	}
	fsys := suite.Memory(t, nil)
	build := func(last string) millrace.Pipeline {
		return millrace.New("wide").Options(millrace.Options{Parallel: true}).
			Step("a", actions.Create{Paths: names("a"), Content: "x"}).
			Step("b", actions.Create{Paths: append(names("b"), last), Content: "x", Overwrite: true}).
			Step("c", actions.Delete{Files: []string{last}}).MustBuild()
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // pair by pair it would take hours
	defer cancel()
	plan, err := millrace.Executor{Limits: actions.Limits{MaxStagedBytes: -1}}.Plan(ctx, fsys, build("a/17"))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(plan.Result().FilesChanged.Created); n != 2*files-1 {
		t.Errorf("%d files were made: the delete did not come last", n)
	}
}

// TestManyPartsOfNames: a name made of many parts has a limit, and so has the depth of a created path.
func TestManyPartsOfNames(t *testing.T) {
	fsys := suite.Memory(t, []txtarfs.File{{Name: strings.Repeat("n", 200), Data: []byte("x")}})
	for name, action := range map[string]actions.Action{
		"'to' makes a name of more than": actions.Copy{Files: []string{strings.Repeat("n", 200)}, To: strings.Repeat("{{name}}/", 20_000) + "x"},
		"more than 128 directories":      actions.Create{Path: strings.Repeat("d/", 2000) + "x", Content: "x"},
	} {
		_, err := millrace.Run(t.Context(), fsys, millrace.New("names").Step("s", action).MustBuild())
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v is not about %q", err, name)
		}
	}
}
