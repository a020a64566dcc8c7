package limits_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/outcome"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/internal/txtarfs"
)

// limitCases are pipelines that exactly meet a limit: with a limit lower by one they fail. The tree has ten bytes in
// ten.txt and six in six.txt. The last step fails.
var limitCases = []struct {
	name  string
	what  string // of the *actions.LimitError
	at    int64
	built millrace.Pipeline
	json  string // of the steps
}{
	{
		"edit a file", "file bytes", 10,
		suite.One(actions.Edit{Files: []string{"ten.txt"}, OldText: "aa", NewText: "b"}),
		`{"action": "edit", "params": {"files": ["ten.txt"], "old_text": "aa", "new_text": "b"}}`,
	}, {
		"edit several times", "file bytes", 10,
		suite.One(actions.MultiEdit{Files: []string{"ten.txt"}, Edits: []actions.TextEdit{{OldText: "a", NewText: "b"}}}),
		`{"action": "multi_edit", "params": {"files": ["ten.txt"], "edits": [{"old_text": "a", "new_text": "b"}]}}`,
	}, {
		"transform a file", "file bytes", 10,
		suite.One(actions.RegexTransform{Files: []string{"ten.txt"}, Patterns: []actions.PatternEdit{{Pattern: "a+", Replacement: "b"}}}),
		`{"action": "regex_transform", "params": {"files": ["ten.txt"], "patterns": [{"pattern": "a+", "replacement": "b"}]}}`,
	}, {
		"count in a file", "file bytes", 10,
		suite.One(actions.CountOccurrences{Files: []string{"ten.txt"}, Pattern: "a"}),
		`{"action": "count_occurrences", "params": {"files": ["ten.txt"], "pattern": "a"}}`,
	}, {
		"read a file", "file bytes", 10,
		suite.One(actions.ReadRanges{Files: []string{"ten.txt"}}),
		`{"action": "read_ranges", "params": {"files": ["ten.txt"]}}`,
	}, {
		"compare files", "file bytes", 10,
		suite.One(actions.Diff{FileA: "six.txt", FileB: "ten.txt"}),
		`{"action": "diff", "params": {"file_a": "six.txt", "file_b": "ten.txt"}}`,
	}, {
		"search a named file", "file bytes", 10,
		suite.One(actions.Search{Path: "ten.txt", Pattern: "a"}),
		`{"action": "search", "params": {"path": "ten.txt", "pattern": "a"}}`,
	}, {
		"read a file that a step has made larger", "file bytes", 16,
		millrace.New("p").Step("s0", actions.Edit{Files: []string{"six.txt"}, OldText: "b", NewText: "bbb"}).
			Step("s1", actions.CountOccurrences{Files: []string{"six.txt"}, Pattern: "b"}).MustBuild(),
		`{"action": "edit", "params": {"files": ["six.txt"], "old_text": "b", "new_text": "bbb"}},
		 {"action": "count_occurrences", "params": {"files": ["six.txt"], "pattern": "b"}}`,
	}, {
		"matches of an edit", "matches", 5,
		suite.One(actions.Edit{Files: []string{"six.txt"}, OldText: "b", NewText: "c"}),
		`{"action": "edit", "params": {"files": ["six.txt"], "old_text": "b", "new_text": "c"}}`,
	}, {
		"matches of all edits in sequence", "matches", 10,
		suite.One(actions.MultiEdit{Files: []string{"six.txt"}, Edits: []actions.TextEdit{{OldText: "b", NewText: "c"}, {OldText: "c", NewText: "d"}}}),
		`{"action": "multi_edit", "params": {"files": ["six.txt"], "edits": [{"old_text": "b", "new_text": "c"}, {"old_text": "c", "new_text": "d"}]}}`,
	}, {
		"matches of all edits at the same time", "matches", 6,
		suite.One(actions.MultiEdit{Files: []string{"six.txt"}, Mode: "simultaneous", Edits: []actions.TextEdit{{OldText: "b", NewText: "c"}, {OldText: "\n", NewText: ""}}}),
		`{"action": "multi_edit", "params": {"files": ["six.txt"], "mode": "simultaneous", "edits": [{"old_text": "b", "new_text": "c"}, {"old_text": "\n", "new_text": ""}]}}`,
	}, {
		"matches of a transformation", "matches", 5,
		suite.One(actions.RegexTransform{Files: []string{"six.txt"}, Patterns: []actions.PatternEdit{{Pattern: "[b]", Replacement: "c"}}}),
		`{"action": "regex_transform", "params": {"files": ["six.txt"], "patterns": [{"pattern": "[b]", "replacement": "c"}]}}`,
	}, {
		"output of an edit", "bytes", 20,
		suite.One(actions.Edit{Files: []string{"six.txt"}, OldText: "b", NewText: "cccc"}),
		`{"action": "edit", "params": {"files": ["six.txt"], "old_text": "b", "new_text": "cccc"}}`,
	}, {
		"output of all edits in sequence", "bytes", 25,
		suite.One(actions.MultiEdit{Files: []string{"six.txt"}, Edits: []actions.TextEdit{{OldText: "b", NewText: "c"}, {OldText: "c", NewText: "dddd"}}}),
		`{"action": "multi_edit", "params": {"files": ["six.txt"], "edits": [{"old_text": "b", "new_text": "c"}, {"old_text": "c", "new_text": "dddd"}]}}`,
	}, {
		"output of groups", "bytes", 15,
		suite.One(actions.RegexTransform{Files: []string{"six.txt"}, Patterns: []actions.PatternEdit{{Pattern: "(b+)", Replacement: "$1$0$1"}}}),
		`{"action": "regex_transform", "params": {"files": ["six.txt"], "patterns": [{"pattern": "(b+)", "replacement": "$1$0$1"}]}}`,
	}, {
		"pattern of a search", "pattern bytes", 7,
		suite.One(actions.Search{Pattern: "a[a-z]a"}), `{"action": "search", "params": {"pattern": "a[a-z]a"}}`,
	}, {
		"pattern of a count", "pattern bytes", 3,
		suite.One(actions.CountOccurrences{Files: []string{"six.txt"}, Pattern: "bbb"}),
		`{"action": "count_occurrences", "params": {"files": ["six.txt"], "pattern": "bbb"}}`,
	}, {
		"pattern of an edit", "pattern bytes", 4,
		suite.One(actions.Edit{Files: []string{"six.txt"}, OldText: "bbbb", NewText: "a longer text than the limit is all right"}),
		`{"action": "edit", "params": {"files": ["six.txt"], "old_text": "bbbb", "new_text": "a longer text than the limit is all right"}}`,
	}, {
		"pattern of one of several edits", "pattern bytes", 2,
		suite.One(actions.MultiEdit{Files: []string{"six.txt"}, Edits: []actions.TextEdit{{OldText: "b", NewText: "c"}, {OldText: "cc", NewText: "d"}}}),
		`{"action": "multi_edit", "params": {"files": ["six.txt"], "edits": [{"old_text": "b", "new_text": "c"}, {"old_text": "cc", "new_text": "d"}]}}`,
	}, {
		"pattern of a transformation", "pattern bytes", 2,
		suite.One(actions.RegexTransform{Files: []string{"six.txt"}, Patterns: []actions.PatternEdit{{Pattern: "b+", Replacement: "$0$0$0"}}}),
		`{"action": "regex_transform", "params": {"files": ["six.txt"], "patterns": [{"pattern": "b+", "replacement": "$0$0$0"}]}}`,
	},
}

// hostWith returns an executor with that limit.
func hostWith(what string, limit int64) millrace.Executor {
	switch what {
	case "file bytes":
		return millrace.Executor{Limits: actions.Limits{MaxFileBytes: limit}}
	case "matches":
		return millrace.Executor{Limits: actions.Limits{MaxMatches: int(limit)}}
	case "bytes":
		return millrace.Executor{Limits: actions.Limits{MaxOutputBytes: limit}}
	default:
		return millrace.Executor{Limits: actions.Limits{MaxPatternBytes: int(limit)}}
	}
}

// fieldOf maps a limit to the field that a message must name, so that the host can raise the limit.
var fieldOf = map[string]string{
	"file bytes": "MaxFileBytes", "matches": "MaxMatches", "bytes": "MaxOutputBytes", "pattern bytes": "MaxPatternBytes",
}

func TestLimits(t *testing.T) {
	files := []txtarfs.File{{Name: "six.txt", Data: []byte("bbbbb\n")}, {Name: "ten.txt", Data: []byte("aaaaaaaaa\n")}}
	for name, open := range suite.Backends() {
		for _, tt := range limitCases {
			t.Run(name+"/"+tt.name, func(t *testing.T) {
				t.Parallel()
				decoded, err := millrace.Decoder{Lenient: true}.Decode([]byte(`{"name": "p", "steps": [` + withIDs(tt.json) + `]}`))
				if err != nil {
					t.Fatal(err)
				}
				for way, p := range map[string]millrace.Pipeline{"Go": tt.built, "JSON": decoded} {
					for limit, fits := range map[int64]bool{tt.at: true, tt.at - 1: false, -1: true, 0: true} {
						fsys := open(t)
						if err := txtarfs.Write(fsys, files); err != nil {
							t.Fatal(err)
						}
						x := hostWith(tt.what, limit)
						x.State.NoSync = true
						res, err := x.Run(t.Context(), fsys, p)
						if fits {
							if err != nil || !res.Success {
								t.Errorf("%s, limit %d: %v", way, limit, err)
							}
							continue
						}
						checkLimit(t, err, tt.what, limit)
						suite.CheckTree(t, way+", beyond the limit", fsys, files)
						if ok, _ := afero.Exists(fsys, ".millrace"); ok {
							t.Errorf("%s: the state directory is left", way)
						}
					}
				}
			})
		}
	}
}

// withIDs names the steps s0, s1 and so on.
func withIDs(steps string) string {
	for i := 0; strings.Contains(steps, `{"action"`); i++ {
		steps = strings.Replace(steps, `{"action"`, fmt.Sprintf(`{"id": "s%d", "action"`, i), 1)
	}
	return steps
}

// checkLimit checks that a step has failed because of that limit.
func checkLimit(t *testing.T, err error, what string, limit int64) {
	t.Helper()
	step, ok := errors.AsType[*millrace.StepError](err)
	if !ok {
		t.Fatalf("error %v is not a *StepError", err)
	}
	over, ok := errors.AsType[*actions.LimitError](step)
	if !ok || over.What != what || over.Limit != limit {
		t.Fatalf("error %v", err)
	}
	for _, text := range []string{fieldOf[what], fmt.Sprint(limit)} {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("error %q does not name %q", err, text)
		}
	}
}

// TestLimitsLeaveOut: a file over a limit is left out with a warning, if the step has found it and not named it.
func TestLimitsLeaveOut(t *testing.T) {
	for name, open := range suite.Backends() {
		t.Run(name, func(t *testing.T) {
			fsys := open(t)
			big := strings.Repeat("-", 300_000) + "needle"
			if err := txtarfs.Write(fsys, []txtarfs.File{{Name: "a.txt", Data: []byte("needle")}, {Name: "big.txt", Data: []byte(big)}}); err != nil {
				t.Fatal(err)
			}
			for _, tt := range []struct {
				host, parameter int64
				pattern         string
				want            []string
			}{
				{int64(len(big)), 0, "needle", []string{"a.txt", "big.txt"}},
				{int64(len(big)) - 1, 0, "needle", []string{"a.txt"}},
				{int64(len(big)) - 1, 1 << 40, "needle", []string{"a.txt"}}, // a pipeline cannot lift the limit
				{int64(len(big)), int64(len(big)) - 1, "needle", []string{"a.txt"}},
				{0, 0, "needle", []string{"a.txt", "big.txt"}},
				{-1, 0, "needle", []string{"a.txt", "big.txt"}},
				{6, 0, "needle", []string{"a.txt"}},
				{6, 0, "n[e]+dle", []string{"a.txt"}},
				{6, 0, ".e+.", []string{"a.txt"}},
				{5, 0, "needle", nil},
				{0, 5, "needle", nil},
			} {
				p := suite.One(actions.Search{Pattern: tt.pattern, MaxFileBytes: tt.parameter})
				res, err := millrace.Executor{Limits: actions.Limits{MaxFileBytes: tt.host}}.Run(t.Context(), fsys, p)
				if err != nil {
					t.Fatal(err)
				}
				step := res.Results[0]
				if d := cmp.Diff(tt.want, step.FilesMatched); d != "" {
					t.Errorf("limit %d, parameter %d, %s (-want +got):\n%s", tt.host, tt.parameter, tt.pattern, d)
				}
				left := 0
				for _, w := range step.Warnings {
					if strings.Contains(w, "left out, larger than") {
						left++
					}
				}
				if left != 2-len(tt.want) {
					t.Errorf("limit %d, parameter %d: warnings %q", tt.host, tt.parameter, step.Warnings)
				}
			}

			p := millrace.New("p").Step("copy", actions.Copy{Files: []string{"a.txt", "big.txt"}, Destination: "d"}).
				Step("count", actions.CountOccurrences{Pattern: "needle"}).From("copy").MustBuild()
			res, err := millrace.Executor{Limits: actions.Limits{MaxFileBytes: 6}, DryRun: true}.Run(t.Context(), fsys, p)
			if err != nil {
				t.Fatal(err)
			}
			count := res.Results[1]
			if d := cmp.Diff(map[string]int{"d/a.txt": 1}, count.Counts); d != "" || len(count.Warnings) != 1 || !strings.Contains(count.Warnings[0], "d/big.txt: left out") {
				t.Errorf("counts %s, warnings %q", d, count.Warnings)
			}
		})
	}
}

// TestOutputIsNotMade, with groups: a replacement that would exceed the memory is refused before it is computed.
func TestOutputIsNotMade(t *testing.T) {
	const size = 1 << 20
	fsys := suite.Tree("a.txt", strings.Repeat("x", size))
	p := suite.One(actions.RegexTransform{Files: []string{"a.txt"}, Patterns: []actions.PatternEdit{{Pattern: "x+", Replacement: strings.Repeat("$0", 10_000)}}})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := millrace.Run(t.Context(), fsys, p)
	runtime.ReadMemStats(&after)
	checkLimit(t, err, "bytes staged", outcome.DefaultStagedBytes)
	if used := after.TotalAlloc - before.TotalAlloc; used > 64<<20 {
		t.Errorf("%d MiB were allocated to refuse 10 GiB", used>>20)
	}
}

// TestNoFieldLiftsALimit: the limits are not in the JSON form.
func TestNoFieldLiftsALimit(t *testing.T) {
	for _, field := range []string{"max_file_bytes", "max_matches", "max_output_bytes", "max_pattern_bytes", "max_json_depth", "limits"} {
		for at, text := range map[string]string{
			"/" + field:                fmt.Sprintf(`{"name": "p", %q: 1, "steps": [{"id": "a", "action": "edit", "params": {"files": ["a"], "old_text": "a", "new_text": "b"}}]}`, field),
			"/steps/0/" + field:        fmt.Sprintf(`{"name": "p", "steps": [{"id": "a", %q: 1, "action": "edit", "params": {"files": ["a"], "old_text": "a", "new_text": "b"}}]}`, field),
			"/steps/0/params/" + field: fmt.Sprintf(`{"name": "p", "steps": [{"id": "a", "action": "edit", "params": {%q: 1, "files": ["a"], "old_text": "a", "new_text": "b"}}]}`, field),
		} {
			_, err := millrace.Decode([]byte(text))
			invalid, ok := errors.AsType[*millrace.ValidationError](err)
			if !ok || len(invalid.Problems) != 1 || invalid.Problems[0].Pointer != at || invalid.Problems[0].Code != "unknown_field" {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
}
