package limits_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/strictjson"
	"github.com/millrace-go/millrace/internal/suite"
)

// nested returns a JSON text of lists within lists, with that total depth.
func nested(depth int) string {
	return `{"x":` + strings.Repeat("[", depth-1) + strings.Repeat("]", depth-1) + "}"
}

func TestDecodeDepth(t *testing.T) {
	for _, tt := range []struct {
		limit, depth int
		code         string // of the problem
	}{
		{0, 100, "unknown_field"},
		{0, 101, "json_too_deep"},
		{0, 10_000, "json_too_deep"},
		{5, 5, "unknown_field"},
		{5, 6, "json_too_deep"},
		{-1, 10_000, "unknown_field"},
		{-1, 10_001, "json_too_deep"},
		{math.MaxInt, 10_001, "json_too_deep"},
	} {
		_, err := millrace.Decoder{MaxDepth: tt.limit}.Decode([]byte(nested(tt.depth)))
		invalid, ok := errors.AsType[*millrace.ValidationError](err)
		if !ok || invalid.Problems[0].Code != tt.code && !hasCode(invalid, tt.code) {
			t.Errorf("limit %d, depth %d: %v", tt.limit, tt.depth, err)
		}
	}
	// A pipeline at its deepest place passes a limit that is just enough.
	p := []byte(`{"name": "p", "steps": [{"id": "a", "action": "multi_edit", "params": {"files": ["a"], "edits": [{"old_text": "a", "new_text": "b"}]}}]}`)
	if _, err := (millrace.Decoder{MaxDepth: 6}).Decode(p); err != nil {
		t.Error(err)
	}
	if _, err := (millrace.Decoder{MaxDepth: 5}).Decode(p); err == nil {
		t.Error("decoded above the limit")
	}
}

func hasCode(e *millrace.ValidationError, code string) bool {
	for _, p := range e.Problems {
		if p.Code == code {
			return true
		}
	}
	return false
}

// TestDecodeBoundedMemory: oversized texts are refused with less memory than the texts themselves.
func TestDecodeBoundedMemory(t *testing.T) {
	huge := make([]byte, 100<<20)
	for i := range huge {
		huge[i] = '['
	}
	for name, tt := range map[string]struct {
		text []byte
		code string
	}{
		"100 MiB":           {huge, "json_too_large"},
		"never closed":      {huge[:millrace.MaxPipelineBytes], "json_too_deep"},
		"nothing but lists": {[]byte("[" + strings.Repeat("[],", 5<<20) + "[]]"), "json_too_large"},
	} {
		var err error
		used := allocated(func() { _, err = millrace.Decode(tt.text) })
		invalid, ok := errors.AsType[*millrace.ValidationError](err)
		if !ok || len(invalid.Problems) != 1 || invalid.Problems[0].Code != tt.code {
			t.Errorf("%s: %v", name, err)
		}
		if used > 100<<20 {
			t.Errorf("%s: %d MiB were allocated", name, used>>20)
		}
	}
	if _, err := (millrace.Decoder{MaxBytes: 10}).Decode([]byte(`{"name":1}`)); err == nil || strings.Contains(err.Error(), "too large") {
		t.Errorf("at the limit: %v", err)
	}
	_, err := millrace.Decoder{MaxBytes: 9}.Decode([]byte(`{"name":1}`))
	if invalid, ok := errors.AsType[*millrace.ValidationError](err); !ok || invalid.Problems[0].Code != "json_too_large" {
		t.Errorf("above the limit: %v", err)
	}
}

// storedPlan returns a plan as JSON, with its depth.
func storedPlan(t *testing.T) (data []byte, depth int) {
	t.Helper()
	plan, err := millrace.Executor{}.Plan(t.Context(), suite.Tree("a.txt", "x\n"), suite.Edit("a.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if data, err = json.Marshal(plan); err != nil {
		t.Fatal(err)
	}
	for depth = 1; ; depth++ {
		if _, err := strictjson.Parse(data, strictjson.Limits{MaxDepth: depth}); !errors.Is(err, strictjson.ErrTooDeep) {
			return data, depth
		}
	}
}

func TestOpenPlanLimits(t *testing.T) {
	data, depth := storedPlan(t)
	spaces := append(data[:len(data):len(data)], "   "...)
	for _, tt := range []struct {
		name string
		x    millrace.Executor
		data []byte
		want string // in the error, "" for none
	}{
		{"the defaults", millrace.Executor{}, data, ""},
		{"at the depth", millrace.Executor{MaxJSONDepth: depth}, data, ""},
		{"beyond the depth", millrace.Executor{MaxJSONDepth: depth - 1}, data, fmt.Sprintf("nested more than %d deep", depth-1)},
		{"at the default depth", millrace.Executor{}, []byte(nested(100)), "unknown field"},
		{"beyond the default depth", millrace.Executor{}, []byte(nested(101)), "nested more than 100 deep"},
		{"10,000 deep", millrace.Executor{}, []byte(nested(10_000)), "nested more than 100 deep"},
		{"as deep as can be", millrace.Executor{MaxJSONDepth: -1}, []byte(nested(10_000)), "unknown field"},
		{"deeper than can be", millrace.Executor{MaxJSONDepth: -1}, []byte(nested(10_001)), "nested more than 10000 deep"},
		{"brackets in a text", millrace.Executor{MaxJSONDepth: 1}, []byte(`{"x":"[[[\"[[[\\"}`), "unknown field"},
		{"at the size", millrace.Executor{MaxPlanBytes: len(data)}, data, ""},
		{"beyond the size", millrace.Executor{MaxPlanBytes: len(data)}, spaces, "raise MaxPlanBytes"},
		{"any size", millrace.Executor{MaxPlanBytes: -1}, spaces, ""},
	} {
		fsys := suite.Tree("a.txt", "x\n")
		plan, err := tt.x.OpenPlan(t.Context(), fsys, tt.data)
		if tt.want == "" {
			if err != nil || plan.Diff() == "" {
				t.Errorf("%s: %v", tt.name, err)
			}
			continue
		}
		if _, ok := errors.AsType[*millrace.PlanError](err); !ok || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	_, err := millrace.Executor{Limits: actions.Limits{MaxFileBytes: 1}}.OpenPlan(t.Context(), suite.Tree("a.txt", "x\n"), data)
	if over, ok := errors.AsType[*actions.LimitError](err); !ok || over.What != "file bytes" {
		t.Errorf("a plan that edits a file that must not be read: %v", err)
	}
}

// TestOpenPlanBoundedMemory: a stored plan is untrusted input. A plan that is short as text and large in memory is
// refused early.
func TestOpenPlanBoundedMemory(t *testing.T) {
	fstest.OneGoroutine(t)
	list := func(n int) string { return "[" + strings.Repeat("{},", n) + "{}]" }
	huge := make([]byte, 100<<20)
	for i := range huge {
		huge[i] = '{'
	}
	for name, tt := range map[string]struct {
		text []byte
		want string
	}{
		"100 MiB":        {huge, "too large"},
		"never closed":   {huge[:1<<20], "nested more than"},
		"empty changes":  {[]byte(`{"version":1,"result":{"name":"p"},"changes":` + list(1<<20) + `}`), "changes are not in path order"},
		"empty results":  {[]byte(`{"version":1,"result":{"results":` + list(1<<20) + `}}`), "results of more than 20 steps"},
		"too many of it": {[]byte(`{"version":1,"result":{"results":[{"files":` + list(5<<20) + `}]}}`), "too many objects"},
	} {
		var err error
		used := allocated(func() { _, err = millrace.Executor{}.OpenPlan(t.Context(), suite.Tree("a.txt", "x\n"), tt.text) })
		if _, ok := errors.AsType[*millrace.PlanError](err); !ok || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
		if used > 32<<20 {
			t.Errorf("%s: %d MiB were allocated for a text of %d MiB", name, used>>20, len(tt.text)>>20)
		}
	}
}

// TestHostilePatterns: regular expressions that cost too much are mistakes in the pipeline.
func TestHostilePatterns(t *testing.T) {
	for name, pattern := range map[string]string{
		"repeated too often":     "a{1001}",
		"repeated repeatedly":    "(a{100}){100}",
		"nested too deeply":      strings.Repeat("(", 1001) + "a" + strings.Repeat(")", 1001),
		"large when written":     strings.Repeat("a{1000}", 9000),
		"100 KiB":                strings.Repeat("a", 100<<10),
		"one character too many": strings.Repeat("a", 64<<10+1),
	} {
		for at, a := range map[string]actions.Action{
			"/pattern":            actions.CountOccurrences{Files: []string{"a"}, Pattern: pattern, Mode: "regex"},
			"/old_text":           actions.Edit{Files: []string{"a"}, OldText: pattern, NewText: "b", Mode: "regex"},
			"/patterns/0/pattern": actions.RegexTransform{Files: []string{"a"}, Patterns: []actions.PatternEdit{{Pattern: pattern, Replacement: "b"}}},
		} {
			_, built := millrace.New("p").Step("s0", a).Build()
			params, err := json.Marshal(a)
			if err != nil {
				t.Fatal(err)
			}
			_, decoded := millrace.Decode(fmt.Appendf(nil, `{"name": "p", "steps": [{"id": "s0", "action": %q, "params": %s}]}`, a.Spec().Name, params))
			for way, err := range map[string]error{"Go": built, "JSON": decoded} {
				invalid, ok := errors.AsType[*millrace.ValidationError](err)
				if !ok || len(invalid.Problems) != 1 || invalid.Problems[0].Code != "bad_pattern" || invalid.Problems[0].Pointer != "/steps/0/params"+at {
					t.Errorf("%s, %s, %s: %.200v", name, at, way, err)
				}
				if len(err.Error()) > 300 {
					t.Errorf("%s: the message has %d bytes", name, len(err.Error()))
				}
			}
		}
	}
	for _, pattern := range []string{strings.Repeat("a", 64<<10), "a{1000}", strings.Repeat("(", 900) + "a" + strings.Repeat(")", 900)} {
		p := suite.One(actions.CountOccurrences{Files: []string{"a.txt"}, Pattern: pattern, Mode: "regex"})
		if _, err := millrace.Run(t.Context(), suite.Tree("a.txt", "aaa"), p); err != nil {
			t.Errorf("%.20s: %v", pattern, err)
		}
	}
	_, err := millrace.New("p").Step("s0", actions.Search{Pattern: strings.Repeat("a", 64<<10+1), IgnoreCase: true}).Build()
	if _, ok := errors.AsType[*millrace.ValidationError](err); !ok {
		t.Errorf("a text to find in any case: %v", err)
	}
}

// TestPatternDefault: a text to search for may be as long as 1 MiB, even if a template has made it.
func TestPatternDefault(t *testing.T) {
	long := strings.Repeat("a", 1<<20)
	fsys := suite.Tree("a.txt", long, "b.txt", long+"\n")
	count := func(pattern string) millrace.Pipeline {
		return suite.One(actions.CountOccurrences{Files: []string{"a.txt"}, Pattern: pattern})
	}
	if res, err := millrace.Run(t.Context(), fsys, count(long)); err != nil || res.Results[0].Counts["a.txt"] != 1 {
		t.Errorf("at the limit: %v", err)
	}
	_, err := millrace.Run(t.Context(), fsys, count(long+"a"))
	checkLimit(t, err, "pattern bytes", 1<<20)

	p := millrace.New("p").
		Step("r0", actions.ReadRanges{Files: []string{"b.txt"}}).Step("r1", actions.ReadRanges{Files: []string{"a.txt"}}).
		Step("all", actions.Aggregate{}).FromAll("r0", "r1").
		Step("count", actions.CountOccurrences{Files: []string{"a.txt"}, Pattern: "{{all.aggregated_content}}"}).MustBuild()
	_, err = millrace.Run(t.Context(), fsys, p)
	checkLimit(t, err, "pattern bytes", 1<<20)
}

// TestManyEdits: a million edits in one step are refused before anything runs.
func TestManyEdits(t *testing.T) {
	fstest.OneGoroutine(t)
	step := func(n int) string {
		return `{"name": "p", "steps": [{"id": "s0", "action": "multi_edit", "params": {"files": ["a"], "edits": [` +
			strings.TrimSuffix(strings.Repeat(`{"old_text":"a","new_text":"b"},`, n), ",") + `]}}]}`
	}
	if _, err := millrace.Decode([]byte(step(10_000))); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	for n, code := range map[int]string{10_000 + 1: "too_many", 1_000_000: "json_too_large"} {
		_, err := millrace.Decode([]byte(step(n)))
		if invalid, ok := errors.AsType[*millrace.ValidationError](err); !ok || len(invalid.Problems) != 1 || invalid.Problems[0].Code != code {
			t.Errorf("%d edits as JSON: %.200v", n, err)
		}
	}
	edits := make([]actions.TextEdit, 1_000_000)
	for i := range edits {
		edits[i] = actions.TextEdit{OldText: "a", NewText: "b"}
	}
	for _, n := range []int{10_000 + 1, len(edits)} {
		_, err := millrace.New("p").Step("s0", actions.MultiEdit{Files: []string{"a"}, Edits: edits[:n]}).Build()
		if invalid, ok := errors.AsType[*millrace.ValidationError](err); !ok || invalid.Problems[0].Code != "too_many" {
			t.Errorf("%d edits in Go: %.200v", n, err)
		}
	}
}
