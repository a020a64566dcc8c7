package steering_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/internal/txtarfs"
)

// refused is a mistake in the steering of a run, in JSON and in Go.
type refused struct {
	name string
	// fields are JSON fields of the pipeline; a, b and c are JSON fields of its three steps, beside id, action and
	// params. in builds the same in Go; nil if Go cannot express the mistake.
	fields, a, b, c string
	in              func(b millrace.Builder) millrace.Builder
	want            millrace.Problem // without its position in the text
}

// three returns a pipeline of three steps.
func three(b millrace.Builder, first, second, third func(millrace.StepBuilder) millrace.StepBuilder) millrace.Builder {
	for i, change := range []func(millrace.StepBuilder) millrace.StepBuilder{first, second, third} {
		s := b.Step(string(rune('a'+i)), actions.Search{Pattern: "x"})
		if change != nil {
			s = change(s)
		}
		b = s.Builder
	}
	return b
}

func (r refused) json() string {
	step := func(id, more string) string {
		if more != "" {
			more = "," + more
		}
		action := `"action":"search","params":{"pattern":"x"}`
		if strings.Contains(more, `"action"`) {
			action, more = more[1:], ""
		}
		return `{"id":"` + id + `",` + action + more + `}`
	}
	fields := ""
	if r.fields != "" {
		fields = r.fields + ","
	}
	return `{"name":"p",` + fields + `"steps":[` + step("a", r.a) + "," + step("b", r.b) + "," + step("c", r.c) + `]}`
}

// on returns a function that changes step b.
func on(change func(millrace.StepBuilder) millrace.StepBuilder) func(millrace.Builder) millrace.Builder {
	return func(b millrace.Builder) millrace.Builder { return three(b, nil, change, nil) }
}

// ways returns a function that adds n ways back.
func ways(n int) func(millrace.StepBuilder) millrace.StepBuilder {
	return func(s millrace.StepBuilder) millrace.StepBuilder {
		for range n {
			s = s.RetryIf("a", "x")
		}
		return s
	}
}

func parallel(change func(millrace.StepBuilder) millrace.StepBuilder) func(millrace.Builder) millrace.Builder {
	return func(b millrace.Builder) millrace.Builder {
		return three(b.Options(millrace.Options{Parallel: true}), nil, change, nil)
	}
}

type step = millrace.StepBuilder

func refusals() []refused {
	problem := func(pointer, code, message, hint string) millrace.Problem {
		return millrace.Problem{Pointer: pointer, Code: code, Message: message, Hint: hint, Step: map[string]string{
			"/steps/0": "a", "/steps/1": "b", "/steps/2": "c"}[pointer[:min(len(pointer), len("/steps/0"))]]}
	}
	const back, apart = "use retry_if to go back", "leave parallel out"
	input := func(s step) step {
		return step{Builder: s.Builder}.FromPrevious()
	}
	edit := actions.Edit{OldText: "x", NewText: "y"}
	return []refused{
		// references
		{"on_fail to no step", "", "", `"on_fail":"cc"`, "", on(func(s step) step { return s.OnFail("cc") }),
			problem("/steps/1/on_fail", "unknown_reference", "step 'b' references non-existent step 'cc'", "")},
		{"next to no step", "", "", `"next":"nowhere"`, "", on(func(s step) step { return s.Next("nowhere") }),
			problem("/steps/1/next", "unknown_reference", "step 'b' references non-existent step 'nowhere'", "")},
		{"retry_if of no step", "", "", `"retry_if":[{"step":"nowhere","keyword":"x"}]`, "", on(func(s step) step { return s.RetryIf("nowhere", "x") }),
			problem("/steps/1/retry_if/0/step", "unknown_reference", "step 'b' references non-existent step 'nowhere'", "")},
		{"retry_if of no step, in an object", "", "", `"retry_if":{"a":"y","nowhere":"x"}`, "", nil,
			problem("/steps/1/retry_if/nowhere", "unknown_reference", "step 'b' references non-existent step 'nowhere'", "")},
		{"when of no step", "", "", `"retry_if":[{"step":"a","when":{"type":"step_failed","step_ref":"nowhere"}}]`, "",
			on(func(s step) step { return s.RetryWhen("a", condition.StepFailed("nowhere")) }),
			problem("/steps/1/retry_if/0/when/step_ref", "unknown_reference", "step 'b' references non-existent step 'nowhere'", "")},
		{"when of a later step", "", "", `"retry_if":[{"step":"a","when":{"type":"step_failed","step_ref":"c"}}]`, "",
			on(func(s step) step { return s.RetryWhen("a", condition.StepFailed("c")) }),
			problem("/steps/1/retry_if/0/when/step_ref", "forward_reference", "step 'b' has forward reference to step 'c'", "")},
		{"a template in when", "", "", `"retry_if":[{"step":"a","when":{"type":"file_exists","path":"{{a.files[0]}}"}}]`, "",
			on(func(s step) step { return s.RetryWhen("a", condition.FileExists("{{a.files[0]}}")) }),
			problem("/steps/1/retry_if/0/when/path", "invalid_template", "step 'b': the path in retry_if cannot be a template", "ask for a fixed path, or for a step")},
		// directions
		{"on_fail back", "", "", `"on_fail":"a"`, "", on(func(s step) step { return s.OnFail("a") }),
			problem("/steps/1/on_fail", "backward_jump", "step 'b': on_fail must name a later step, 'a' is not", back)},
		{"on_fail to itself", "", "", `"on_fail":"b"`, "", on(func(s step) step { return s.OnFail("b") }),
			problem("/steps/1/on_fail", "backward_jump", "step 'b': on_fail must name a later step, 'b' is not", back)},
		{"next back", "", "", `"next":"a"`, "", on(func(s step) step { return s.Next("a") }),
			problem("/steps/1/next", "backward_jump", "step 'b': next must name a later step, 'a' is not", back)},
		{"retry_if ahead", "", "", `"retry_if":[{"step":"c","keyword":"x"}]`, "", on(func(s step) step { return s.RetryIf("c", "x") }),
			problem("/steps/1/retry_if/0/step", "forward_retry", "step 'b': retry_if must name this step or an earlier one, 'c' comes later", "use on_fail or next to go ahead")},
		{"retry_if ahead, in an object", "", "", `"retry_if":{"c":"x"}`, "", nil,
			problem("/steps/1/retry_if/c", "forward_retry", "step 'b': retry_if must name this step or an earlier one, 'c' comes later", "use on_fail or next to go ahead")},
		// with parallel
		{"on_fail in parallel", `"parallel":true`, "", `"on_fail":"c"`, "", parallel(func(s step) step { return s.OnFail("c") }),
			problem("/steps/1/on_fail", "parallel_jump", "step 'b': on_fail cannot be used with parallel", apart)},
		{"next in parallel", `"parallel":true`, "", `"next":"c"`, "", parallel(func(s step) step { return s.Next("c") }),
			problem("/steps/1/next", "parallel_jump", "step 'b': next cannot be used with parallel", apart)},
		{"retry_if in parallel", `"parallel":true`, "", `"retry_if":{"a":"x"}`, "", parallel(func(s step) step { return s.RetryIf("a", "x") }),
			problem("/steps/1/retry_if", "parallel_jump", "step 'b': retry_if cannot be used with parallel", apart)},
		{"prev.error in parallel", `"parallel":true`, "", `"condition":"prev.error"`, "", parallel(func(s step) step { return s.When(condition.PrevError()) }),
			problem("/steps/1/condition", "parallel_jump", "step 'b': condition prev.error cannot be used with parallel", apart)},
		{"input in parallel", `"parallel":true`, "", `"action":"edit","params":{"old_text":"x","new_text":"y"},"input":"previous"`, "",
			func(b millrace.Builder) millrace.Builder {
				b = b.Options(millrace.Options{Parallel: true}).Step("a", actions.Search{Pattern: "x"}).Builder
				return input(b.Step("b", edit)).Step("c", actions.Search{Pattern: "x"}).Builder
			},
			problem("/steps/1/input", "parallel_jump", "step 'b': input cannot be used with parallel", apart)},
		// attempts and visits
		{"too many attempts", "", "", `"max_retries":101`, "", on(func(s step) step { return s.MaxRetries(101) }),
			problem("/steps/1/max_retries", "invalid_retry", "step 'b': max_retries must be 0 to 100, got 101", "")},
		{"less than no attempt", "", "", `"max_retries":-1`, "", on(func(s step) step { return s.MaxRetries(-1) }),
			problem("/steps/1/max_retries", "invalid_retry", "step 'b': max_retries must be 0 to 100, got -1", "")},
		{"neither keyword nor when", "", "", `"retry_if":[{"step":"a"}]`, "", on(func(s step) step { return s.Retry(millrace.Retry{Step: "a"}) }),
			problem("/steps/1/retry_if/0", "invalid_retry", "step 'b': retry_if needs a keyword or when", "")},
		{"both keyword and when", "", "", `"retry_if":[{"step":"a","keyword":"x","when":"prev.error"}]`, "",
			on(func(s step) step {
				return s.Retry(millrace.Retry{Step: "a", Keyword: "x", When: condition.PrevError()})
			}),
			problem("/steps/1/retry_if/0", "invalid_retry", "step 'b': retry_if has both keyword and when", "use one of them")},
		{"an empty keyword", "", "", `"retry_if":[{"step":"a","keyword":""}]`, "", nil,
			problem("/steps/1/retry_if/0/keyword", "invalid_retry", "step 'b': keyword cannot be empty", "")},
		{"an empty keyword, in an object", "", "", `"retry_if":{"a":""}`, "", nil,
			problem("/steps/1/retry_if/a", "invalid_retry", "step 'b': keyword cannot be empty", "")},
		{"a keyword that JSON cannot hold", "", "", "", "", on(func(s step) step { return s.RetryIf("a", "\xff") }),
			problem("/steps/1/retry_if/0/keyword", "invalid_retry", "step 'b': keyword of retry_if is not valid UTF-8", "")},
		{"a way back to nothing", "", "", `"retry_if":[{"keyword":"x"}]`, "", on(func(s step) step { return s.RetryIf("", "x") }),
			problem("/steps/1/retry_if/0/step", "invalid_retry", "step 'b': retry_if needs a step", "name this step or an earlier one")},
		{"too many ways back", "", "", `"retry_if":[` + strings.Repeat(`{"step":"a","keyword":"x"},`, 20) + `{"step":"a","keyword":"x"}]`, "",
			on(ways(21)), problem("/steps/1/retry_if", "invalid_retry", "step 'b': retry_if must have at most 20 entries, got 21", "")},
		{"a target that is never tried again", "", `"max_retries":0`, `"retry_if":[{"step":"a","keyword":"x"}]`, "",
			func(b millrace.Builder) millrace.Builder {
				return three(b, func(s step) step { return s.MaxRetries(0) }, ways(1), nil)
			},
			problem("/steps/1/retry_if/0/step", "invalid_retry", "step 'a' can never be retried: its max_retries is 0", "give it max_visits")},
		{"too many visits", "", `"max_visits":101`, `"retry_if":{"a":"x"}`, "",
			func(b millrace.Builder) millrace.Builder {
				return three(b, func(s step) step { return s.MaxVisits(101) }, ways(1), nil)
			},
			problem("/steps/0/max_visits", "invalid_retry", "step 'a': max_visits must be 2 to 100, got 101", "")},
		{"one visit", "", `"max_visits":1`, `"retry_if":{"a":"x"}`, "",
			func(b millrace.Builder) millrace.Builder {
				return three(b, func(s step) step { return s.MaxVisits(1) }, ways(1), nil)
			},
			problem("/steps/0/max_visits", "invalid_retry", "step 'a': max_visits must be 2 to 100, got 1", "")},
		{"no visits", "", `"max_visits":0`, `"retry_if":{"a":"x"}`, "", nil,
			problem("/steps/0/max_visits", "invalid_retry", "step 'a': max_visits must be 2 to 100, got 0", "")},
		{"visits without a way back", "", `"max_visits":3`, "", "", func(b millrace.Builder) millrace.Builder {
			return three(b, func(s step) step { return s.MaxVisits(3) }, nil, nil)
		}, problem("/steps/0/max_visits", "invalid_retry", "step 'a': max_visits without a retry_if that names it", "leave it out")},
		{"a condition without its fields", "", "", `"retry_if":[{"step":"a","when":{"type":"step_failed"}}]`, "", nil,
			problem("/steps/1/retry_if/0/when/step_ref", "invalid_condition", "condition type 'step_failed' requires step_ref", "")},
		{"a condition without a step", "", "", "", "", on(func(s step) step { return s.RetryWhen("a", condition.StepFailed("")) }),
			problem("/steps/1/retry_if/0/when/step_ref", "invalid_condition", "condition type 'step_failed' requires step_ref", "")},
		// times
		{"no time", "", "", `"timeout":0`, "", nil,
			problem("/steps/1/timeout", "invalid_timeout", "step 'b': timeout must be more than 0 and at most 86400 seconds, got 0", "leave it out for no limit")},
		{"less than no time", "", "", `"timeout":-1.5`, "", on(func(s step) step { return s.Timeout(-1500 * time.Millisecond) }),
			problem("/steps/1/timeout", "invalid_timeout", "step 'b': timeout must be more than 0 and at most 86400 seconds, got -1.5", "")},
		{"more than a day", "", "", `"timeout":86400.001`, "", on(func(s step) step { return s.Timeout(24*time.Hour + time.Millisecond) }),
			problem("/steps/1/timeout", "invalid_timeout", "step 'b': timeout must be more than 0 and at most 86400 seconds, got 86400.001", "")},
		{"beyond all times", "", "", `"timeout":1e300`, "", nil,
			problem("/steps/1/timeout", "invalid_timeout", "step 'b': timeout must be more than 0 and at most 86400 seconds, got 1e+300", "")},
		{"a large number", "", "", `"timeout":100000000`, "", on(func(s step) step { return s.Timeout(1e8 * time.Second) }),
			problem("/steps/1/timeout", "invalid_timeout", "step 'b': timeout must be more than 0 and at most 86400 seconds, got 100000000", "")},
		{"too fine a time", "", "", `"timeout":86399.9995`, "", on(func(s step) step { return s.Timeout(24*time.Hour - 500*time.Microsecond) }),
			problem("/steps/1/timeout", "invalid_timeout", "step 'b': timeout must have at most 3 decimals, got 86399.9995", "")},
		{"less than no wait", "", "", `"backoff":-1`, "", on(func(s step) step { return s.Backoff(-time.Second) }),
			problem("/steps/1/backoff", "invalid_timeout", "step 'b': backoff must be 0 to 3600 seconds, got -1", "")},
		{"more than an hour of wait", "", "", `"backoff":3601`, "", on(func(s step) step { return s.Backoff(3601 * time.Second) }),
			problem("/steps/1/backoff", "invalid_timeout", "step 'b': backoff must be 0 to 3600 seconds, got 3601", "")},
		{"too fine a wait", "", "", `"backoff":0.0005`, "", on(func(s step) step { return s.Backoff(500 * time.Microsecond) }),
			problem("/steps/1/backoff", "invalid_timeout", "step 'b': backoff must have at most 3 decimals, got 0.0005", "")},
		// inputs
		{"input of another word", "", "", `"action":"edit","params":{"old_text":"x","new_text":"y"},"input":"a"`, "",
			func(b millrace.Builder) millrace.Builder {
				b = b.Step("a", actions.Search{Pattern: "x"}).Builder
				return b.Add(millrace.Step{ID: "b", Action: edit, Input: "a"}).Step("c", actions.Search{Pattern: "x"}).Builder
			},
			problem("/steps/1/input", "invalid_input", `step 'b': input must be "previous", got 'a'`, `use "previous", or name a step in input_from`)},
		{"two inputs", "", "", `"action":"edit","params":{"old_text":"x","new_text":"y"},"input":"previous","input_from":"a"`, "",
			func(b millrace.Builder) millrace.Builder {
				b = b.Step("a", actions.Search{Pattern: "x"}).Builder
				return b.Step("b", edit).FromPrevious().From("a").Step("c", actions.Search{Pattern: "x"}).Builder
			},
			problem("/steps/1/input", "two_inputs", "step 'b' has both input and input_from", "use one of them")},
		{"an input and several", "", "", `"action":"edit","params":{"old_text":"x","new_text":"y"},"input":"previous","input_from_all":["a"]`, "",
			func(b millrace.Builder) millrace.Builder {
				b = b.Step("a", actions.Search{Pattern: "x"}).Builder
				return b.Step("b", edit).FromPrevious().FromAll("a").Step("c", actions.Search{Pattern: "x"}).Builder
			},
			problem("/steps/1/input", "two_inputs", "step 'b' has both input and input_from_all", "use one of them")},
		{"an input and files", "", "", `"action":"edit","params":{"files":["f"],"old_text":"x","new_text":"y"},"input":"previous"`, "",
			func(b millrace.Builder) millrace.Builder {
				named := edit
				named.Files = []string{"f"}
				b = b.Step("a", actions.Search{Pattern: "x"}).Builder
				return b.Step("b", named).FromPrevious().Step("c", actions.Search{Pattern: "x"}).Builder
			},
			problem("/steps/1/input", "two_inputs", "step 'b' has both input and files", "use one of them")},
		{"an input that the action does not accept", "", "", `"input":"previous"`, "", on(func(s step) step { return s.FromPrevious() }),
			problem("/steps/1/input", "unused_input", "step 'b': search takes no files from the step before", "leave it out")},
		// the pipeline
		{"no attempts at all", `"max_attempts":0`, "", "", "", nil,
			problem("/max_attempts", "invalid_limit", "max_attempts must be 1 to 200, got 0", "")},
		{"a negative number", `"max_attempts":-1`, "", "", "", func(b millrace.Builder) millrace.Builder { return three(b.MaxAttempts(-1), nil, nil, nil) },
			problem("/max_attempts", "invalid_limit", "max_attempts must be 1 to 200, got -1", "")},
		{"too many", `"max_attempts":201`, "", "", "", func(b millrace.Builder) millrace.Builder { return three(b.MaxAttempts(201), nil, nil, nil) },
			problem("/max_attempts", "invalid_limit", "max_attempts must be 1 to 200, got 201", "")},
	}
}

// Each mistake is the only problem, with its position, from JSON and from Go.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, test := range refusals() {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			one := func(from string, err error) (p millrace.Problem) {
				invalid, ok := errors.AsType[*millrace.ValidationError](err)
				if !ok || len(invalid.Problems) != 1 {
					t.Fatalf("%s: got %v, want %q alone", from, err, test.want.Message)
				}
				return invalid.Problems[0]
			}
			if test.fields+test.a+test.b+test.c != "" {
				_, err := millrace.Decode([]byte(test.json()))
				got := one("JSON", err)
				if got.Line == 0 || got.Column == 0 {
					t.Errorf("it has no position: %+v", got)
				}
				got.Line, got.Column = 0, 0
				if d := cmp.Diff(test.want, got); d != "" {
					t.Errorf("JSON (-want +got):\n%s", d)
				}
			}
			if test.in != nil {
				_, err := test.in(millrace.New("p")).Build()
				if d := cmp.Diff(test.want, one("Go", err)); d != "" {
					t.Errorf("Go (-want +got):\n%s", d)
				}
			}
		})
	}
}

// All mistakes of a pipeline are reported at once, in the order of its steps.
func TestAllRefused(t *testing.T) {
	t.Parallel()
	_, err := millrace.Decode([]byte(`{"name":"p","max_attempts":0,"steps":[
		{"id":"a","action":"search","params":{"pattern":"x"},"next":"a","timeout":0},
		{"id":"b","action":"search","params":{"pattern":"x"},"on_fail":"c","retry_if":{"d":"x","a":""},"max_visits":1,"backoff":-1}]}`))
	var got []string
	if invalid, ok := errors.AsType[*millrace.ValidationError](err); ok {
		for _, p := range invalid.Problems {
			got = append(got, fmt.Sprintf("%s %s %d:%d", p.Pointer, p.Code, p.Line, p.Column))
		}
	}
	want := []string{
		"/max_attempts invalid_limit 1:28",
		"/steps/0/timeout invalid_timeout 2:77",
		"/steps/0/next backward_jump 2:63",
		"/steps/1/retry_if/a invalid_retry 3:94",
		"/steps/1/backoff invalid_timeout 3:123",
		"/steps/1/on_fail unknown_reference 3:66",
		"/steps/1/retry_if/d unknown_reference 3:82",
		"/steps/1/max_visits invalid_retry 3:111",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s\n%v", d, err)
	}
}

// Unreachable steps cause a warning.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	const jumped = "step '%s' can never run: '%s' always jumps over it"
	for _, test := range []struct {
		name string
		in   func(b millrace.Builder) millrace.Builder
		want []string
	}{
		{"jumped over", func(b millrace.Builder) millrace.Builder {
			return three(b, func(s step) step { return s.Next("c") }, nil, nil)
		}, []string{"/steps/1 " + fmt.Sprintf(jumped, "b", "a")}},
		{"jumped over either way", func(b millrace.Builder) millrace.Builder {
			return three(b, func(s step) step { return s.Next("c").OnFail("c") }, nil, nil)
		}, []string{"/steps/1 " + fmt.Sprintf(jumped, "b", "a")}},
		{"where a failure leads", func(b millrace.Builder) millrace.Builder {
			return three(b, func(s step) step { return s.Next("c").OnFail("b") }, nil, nil)
		}, nil},
		{"a step that can be skipped", func(b millrace.Builder) millrace.Builder {
			return three(b, func(s step) step { return s.Next("c").When(condition.FileExists("f")) }, nil, nil)
		}, nil},
		{"a failure that is awaited", func(b millrace.Builder) millrace.Builder {
			return three(b, func(s step) step { return s.Next("c") }, func(s step) step { return s.When(condition.StepFailed("a")) }, nil)
		}, nil},
		{"a failure that does not end the run", func(b millrace.Builder) millrace.Builder {
			return three(b.Options(millrace.Options{ContinueOnError: true}), func(s step) step { return s.Next("c") }, nil, nil)
		}, nil},
		{"next in the list", func(b millrace.Builder) millrace.Builder {
			return three(b, func(s step) step { return s.Next("b") }, nil, nil)
		}, nil},
		{"no step before", func(b millrace.Builder) millrace.Builder {
			return three(b, func(s step) step { return s.When(condition.PrevError()) }, nil, nil)
		}, []string{"/steps/0/condition step 'a' can never run: no step is executed before it"}},
		{"a way back to the first", func(b millrace.Builder) millrace.Builder {
			return three(b, func(s step) step { return s.When(condition.PrevError()) }, func(s step) step { return s.RetryIf("a", "x") }, nil)
		}, nil},
	} {
		p, err := test.in(millrace.New("p")).Build()
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		var got []string
		for _, w := range p.Warnings() {
			got = append(got, w.Pointer+" "+w.Message)
			if w.Code != "unreachable_step" {
				t.Errorf("%s: code %q", test.name, w.Code)
			}
		}
		if d := cmp.Diff(test.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, d)
		}
	}
}

// Options never make a pipeline invalid: a pipeline that jumps runs in sequence, with the same result.
func TestParallelOptionOfJumps(t *testing.T) {
	t.Parallel()
	build := func() millrace.Pipeline {
		l := new(log)
		return millrace.New("p").
			Step("a", scripted{words: []string{"fail"}, log: l, file: "f"}).OnFail("c").
			Step("b", scripted{words: []string{"ok"}, log: l, file: "g"}).
			Step("c", scripted{words: []string{"ok"}, log: l, file: "h"}).MustBuild()
	}
	var stories [2][]string
	for i, parallel := range []bool{false, true} {
		fsys := suite.Tree("x", "x")
		res, err := millrace.Run(t.Context(), fsys, build().WithOptions(millrace.Options{Parallel: parallel}))
		if err != nil {
			t.Fatal(err)
		}
		files, err := txtarfs.Read(fsys, ".millrace")
		if err != nil {
			t.Fatal(err)
		}
		stories[i] = []string{shape(res), history(res), string(txtarfs.Format(files))}
	}
	if d := cmp.Diff(stories[0], stories[1]); d != "" {
		t.Errorf("(-sequence +parallel):\n%s", d)
	}
}
