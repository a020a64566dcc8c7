package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/internal/errorform"
	"github.com/millrace-go/millrace/tool"
)

// args has an argument of each kind.
type args struct {
	Text  string         `json:"text" param:"required"`
	Count int            `json:"count,omitempty"`
	Mode  string         `json:"mode,omitempty" enum:"fast,slow"`
	Tags  []string       `json:"tags,omitempty"`
	Deep  *args2         `json:"deep,omitempty"`
	More  map[string]any `json:"more,omitempty"`
	Skip  func()         `json:"-"`
}

type args2 struct {
	Ratio float64 `json:"ratio"`
}

func echo(_ context.Context, in args) (args, error) { return in, nil }

func set(t *testing.T, tools ...tool.Tool) tool.Set {
	t.Helper()
	s, err := tool.New(tools...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

type named string

func (n named) Spec() tool.Spec                                       { return tool.Spec{Name: string(n)} }
func (n named) Call(context.Context, *tool.Call) (tool.Result, error) { return tool.Result{}, nil }

func TestNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"a": "", "messages_send": "", "Fs.read-file_2": "", strings.Repeat("x", 64): "",
		"": "no name", "1a": "letter first", "_a": "letter first", ".a": "letter first", "a b": "letters", "a/b": "letters", "é": "letters", "aé": "letters",
		strings.Repeat("x", 65): "too long (max 64, got 65)",
	} {
		s, err := tool.New(named(name))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
		if _, ok := s.Lookup(name); ok != (want == "") {
			t.Errorf("%q: found %t", name, ok)
		}
	}
}

func TestNew(t *testing.T) {
	t.Parallel()
	many := tool.WithSpec(named("many"), func(s *tool.Spec) { s.Retries = 101 })
	less := tool.WithSpec(named("less"), func(s *tool.Spec) { s.Retries = -1 })
	number := tool.Func("number", "", func(_ context.Context, n int) (int, error) { return n, nil })
	channel := tool.Func("channel", "", func(_ context.Context, in struct{ C chan int }) (int, error) { return 0, nil })
	s, err := tool.New(named("b"), nil, named("a"), named("b"), many, less, number, channel, broken{})
	for _, want := range []string{
		"tool 1 \"\": it is nil", `tool 3 "b": another tool has that name`, "retries must be 0 to 100, got 101", "got -1",
		`"number": its arguments cannot be int`, `"channel": its arguments: `, `tool 8 "": panic: no spec`,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
	if got := strings.Count(fmt.Sprint(err), "\n"); got != 6 {
		t.Errorf("%d lines", got+1)
	}
	if s.Names() != nil {
		t.Errorf("a set with mistakes has %q", s.Names())
	}
	s = set(t, named("b"), named("a"))
	if diff := cmp.Diff([]string{"a", "b"}, s.Names()); diff != "" {
		t.Error(diff)
	}
	var zero tool.Set
	if _, ok := zero.Lookup("a"); ok || zero.Names() != nil {
		t.Error("the zero Set is not empty")
	}
	if got, ok := s.Lookup("a"); !ok || got != named("a") {
		t.Errorf("got %v", got)
	}
	if got, ok := s.Spec("a"); !ok || got.Name != "a" {
		t.Errorf("got %v", got)
	}
}

type broken struct{ named }

func (broken) Spec() tool.Spec { panic("no spec") }

// A mistake in arguments is reported with its place, before the function is called.
func TestArgs(t *testing.T) {
	t.Parallel()
	s := set(t, tool.Func("echo", "", echo))
	template := func(text string) bool { return strings.HasPrefix(text, "{{") }
	for _, test := range []struct {
		name string
		args map[string]any
		want []string
	}{
		{"right", map[string]any{"text": "x", "count": 3, "mode": "fast", "tags": []any{"a"}, "deep": map[string]any{"ratio": 1}, "more": map[string]any{"n": nil}}, nil},
		{"of Go's types", map[string]any{"text": "x", "count": int8(3), "tags": []string{"a"}, "deep": map[string]any{"ratio": float32(0.5)}}, nil},
		{"whole float", map[string]any{"text": "x", "count": 3.0}, nil},
		{"templates", map[string]any{"text": "{{a.b}}", "count": "{{a.n}}", "mode": "{{a.m}}", "deep": "{{a.d}}", "tags": []any{"{{a.t}}"}, "more": "{{a.o}}"}, nil},
		{"none", nil, []string{"/text tool 'echo' requires 'text' argument"}},
		{"near miss", map[string]any{"txt": "x", "text": "y"}, []string{"/txt tool 'echo' has no argument 'txt': did you mean 'text'?"}},
		{"unknown", map[string]any{"text": "y", "deep": map[string]any{"zzzz": 1}}, []string{"/deep/zzzz tool 'echo' has no argument 'deep.zzzz': use 'ratio'"}},
		{"case", map[string]any{"Text": "y"}, []string{"/Text tool 'echo' has no argument 'Text': did you mean 'text'?", "/text tool 'echo' requires 'text' argument"}},
		{"not in JSON", map[string]any{"text": "y", "Skip": 1}, []string{"/Skip tool 'echo' has no argument 'Skip': "}},
		{"null", map[string]any{"text": nil}, []string{"/text 'text' must be a string, got null: "}},
		{"empty", map[string]any{"text": ""}, []string{"/text text cannot be empty"}},
		{"types", map[string]any{"text": 1, "count": "1", "tags": "a", "deep": []any{}}, []string{
			"/count 'count' must be a whole number, got string: write it without quotes: 1", "/deep 'deep' must be an object, got list",
			`/tags 'tags' must be a list of strings, got string: use a list: ["a"]`, `/text 'text' must be a string, got number: write it in quotes: "1"`,
		}},
		{"fraction", map[string]any{"text": "x", "count": 1.5}, []string{"/count 'count' must be a whole number, got 1.5"}},
		{"enum", map[string]any{"text": "x", "mode": "quick"}, []string{"/mode unsupported echo mode 'quick': use 'fast' or 'slow'"}},
		{"no JSON", map[string]any{"text": "x", "more": map[string]any{"f": func() {}}}, []string{" tool 'echo': arguments that JSON cannot hold: "}},
		{"no number", map[string]any{"text": "x", "deep": map[string]any{"ratio": math.NaN()}}, []string{" tool 'echo': arguments that JSON cannot hold: "}},
		{"no text", map[string]any{"text": "\xff"}, []string{" tool 'echo': "}},
	} {
		var got []string
		for _, p := range s.Check("echo", test.args, template) {
			got = append(got, fmt.Sprintf("%s %s: %s", p.Pointer, p.Message, p.Hint))
		}
		ok := len(got) == len(test.want)
		for i := range min(len(got), len(test.want)) {
			ok = ok && strings.HasPrefix(got[i], test.want[i])
		}
		if !ok {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
	if got := s.Check("ech", nil, nil); len(got) != 1 || got[0].Message != "unknown tool 'ech'" {
		t.Errorf("got %v", got)
	}
	open := set(t, tool.Func("open", "", func(_ context.Context, in map[string]any) (any, error) { return in, nil }), named("any"))
	for _, name := range open.Names() {
		if got := open.Check(name, map[string]any{"anything": []any{nil, 1}}, nil); got != nil {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

// The result of a function is encoded as JSON, and no digit is lost.
func TestResults(t *testing.T) {
	t.Parallel()
	type small struct {
		ID  int64 `json:"id"`
		Max uint64
		Nil *int `json:"nil"`
	}
	var loop []any
	loop = append(loop, "x")
	for range 64 {
		loop = []any{loop}
	}
	for _, test := range []struct {
		name       string
		out        any
		want       any
		output     string
		wantsError string
	}{
		{"nothing", nil, nil, "", ""},
		{"text", "hi", "hi", "", ""},
		{"struct", small{ID: 1<<53 + 1, Max: math.MaxInt64}, map[string]any{"id": int64(1<<53 + 1), "Max": int64(math.MaxInt64), "nil": nil}, "", ""},
		{"numbers", []any{1, 1.5, int64(math.MinInt64), 1e300, uint64(math.MaxUint64), true}, []any{int64(1), 1.5, int64(math.MinInt64), 1e300, json.Number("18446744073709551615"), true}, "", ""},
		{"a result", tool.Result{Data: []string{"a"}, Output: "said"}, []any{"a"}, "said", ""},
		{"typed", map[string]int{"b": 2}, map[string]any{"b": int64(2)}, "", ""},
		{"no JSON", func() {}, nil, "", "its result cannot be used: json: unsupported type: func()"},
		{"no number", math.Inf(1), nil, "", "its result cannot be used"},
		{"too deep", loop, nil, "", "nested more than 64 deep"},
		{"its own method panics", panics{}, nil, "", "panic: no JSON"},
	} {
		s := set(t, tool.Func("f", "", func(context.Context, struct{}) (any, error) { return test.out, nil }))
		if _, ok := test.out.(tool.Result); ok {
			s = set(t, tool.Func("f", "", func(context.Context, struct{}) (tool.Result, error) { return test.out.(tool.Result), nil }))
		}
		res, err := s.Call(t.Context(), "f", tool.Call{})
		if test.wantsError == "" && err != nil || test.wantsError != "" && (err == nil || !strings.Contains(err.Error(), test.wantsError)) {
			t.Errorf("%s: error %v", test.name, err)
		}
		if test.name == "text" {
			test.output = "hi"
		}
		if diff := cmp.Diff(tool.Result{Data: test.want, Output: test.output}, res); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

type panics struct{}

func (panics) MarshalJSON() ([]byte, error) { panic("no JSON") }

type coded struct{ code string }

func (e coded) Error() string { return "rate limited" }
func (e coded) Code() string  { return e.code }

func TestErrors(t *testing.T) {
	t.Parallel()
	failing := func(err error) tool.Set {
		return set(t, tool.Func("f", "", func(context.Context, struct{}) (string, error) { return "so far", err }))
	}
	for _, test := range []struct {
		err     error
		message string
		code    string
	}{
		{errors.New("no"), "tool 'f': no", "tool_failed"},
		{coded{"rate_limited"}, "tool 'f': rate limited", "rate_limited"},
		{fmt.Errorf("post: %w", coded{"rate_limited"}), "tool 'f': post: rate limited", "rate_limited"},
		{coded{""}, "tool 'f': rate limited", "tool_failed"},
	} {
		res, err := failing(test.err).Call(t.Context(), "f", tool.Call{})
		failed, ok := errors.AsType[*errorform.OutsideError](err)
		if !ok || err.Error() != test.message || failed.Code() != test.code || failed.Name != "f" ||
			failed.Kind != "tool" || !errors.Is(err, test.err) {
			t.Errorf("got %v, code %q", err, failed.Code())
		}
		if res.Data != "so far" || res.Output != "so far" {
			t.Errorf("what came beside the error is %+v", res)
		}
	}
	s := set(t, tool.Func("p", "", func(context.Context, struct{}) (int, error) { panic("oh") }))
	if res, err := s.Call(t.Context(), "p", tool.Call{}); err == nil || err.Error() != "tool 'p': panic: oh" || res != (tool.Result{}) {
		t.Errorf("got %v", err)
	}
	if _, err := s.Call(t.Context(), "gone", tool.Call{}); err == nil || err.Error() != "tool 'gone': not found" {
		t.Errorf("got %v", err)
	}
	_, err := s.Call(t.Context(), "p", tool.Call{Args: map[string]any{"x": 1}})
	wrong, ok := errors.AsType[interface {
		error
		json.Marshaler
		Retryable() bool
	}](err)
	if !ok || wrong.Retryable() || errorform.Code(wrong) != "invalid_tool_args" {
		t.Fatalf("got %v", err)
	}
	if data, err := wrong.MarshalJSON(); err != nil || !strings.Contains(string(data), `"pointer":"/x"`) {
		t.Errorf("got %s, %v", data, err)
	}
	// The zero value with an error counts as no result.
	s = set(t, tool.Func("z", "", func(context.Context, struct{}) (int, error) { return 0, errors.New("no") }))
	if res, _ := s.Call(t.Context(), "z", tool.Call{}); res.Data != nil {
		t.Errorf("got %v", res.Data)
	}
}

// typed is a tool that is not a Func: its arguments have the type in its Spec.
type typed struct {
	of   reflect.Type
	seen *any
}

func (t typed) Spec() tool.Spec { return tool.Spec{Name: "typed", Args: t.of} }

func (t typed) Call(_ context.Context, c *tool.Call) (tool.Result, error) {
	*t.seen = c.Args
	c.Spend(budget.Cent)
	c.Log.Info("called")
	return tool.Result{}, nil
}

func TestArgsAreOfTheTypeInTheSpec(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		of   reflect.Type
		give any
		want any
	}{
		{reflect.TypeFor[args2](), map[string]any{"ratio": 1}, args2{1}},
		{reflect.TypeFor[*args2](), map[string]any{"ratio": 1}, &args2{1}},
		{reflect.TypeFor[args2](), args2{2}, args2{2}},
		{reflect.TypeFor[args2](), struct {
			Ratio int `json:"ratio"`
		}{3}, args2{3}},
		{reflect.TypeFor[args2](), nil, args2{}},
		{nil, nil, map[string]any{}},
		{nil, map[string]any(nil), map[string]any{}},
		{reflect.TypeFor[map[string]any](), map[string]any{"n": 1, "l": []int{1}}, map[string]any{"n": int64(1), "l": []any{int64(1)}}},
	} {
		var seen any
		if _, err := set(t, typed{test.of, &seen}).Call(t.Context(), "typed", tool.Call{Args: test.give}); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(test.want, seen); diff != "" {
			t.Errorf("%v of %v (-want +got):\n%s", test.of, test.give, diff)
		}
	}
	var seen any
	if _, err := set(t, typed{nil, &seen}).Call(t.Context(), "typed", tool.Call{Args: []int{1}}); err == nil || !strings.Contains(err.Error(), "arguments have names") {
		t.Errorf("got %v", err)
	}
	given := map[string]any{"l": []any{"a"}}
	if _, err := set(t, typed{nil, &seen}).Call(t.Context(), "typed", tool.Call{Args: given}); err != nil {
		t.Fatal(err)
	}
	seen.(map[string]any)["l"].([]any)[0] = "spoiled"
	if given["l"].([]any)[0] != "a" {
		t.Error("a tool can change what its caller has")
	}
}

// A Func can also be called directly, as in a test of it, and finds its call in the context.
func TestCurrent(t *testing.T) {
	t.Parallel()
	var spent budget.Cost
	f := tool.Func("f", "", func(ctx context.Context, in args2) (string, error) {
		c := tool.Current(ctx)
		c.Spend(budget.Cent)
		c.Log.Info("called")
		return c.Key, nil
	})
	for _, give := range []any{args2{}, map[string]any{"ratio": 2}} {
		res, err := f.Call(t.Context(), &tool.Call{Args: give, Key: "k", Spend: func(c budget.Cost) { spent += c }})
		if err != nil || res.Output != "k" {
			t.Errorf("got %v, %v", res, err)
		}
	}
	if spent != 2*budget.Cent {
		t.Errorf("spent %v", spent)
	}
	if _, err := f.Call(t.Context(), &tool.Call{Log: slog.New(slog.DiscardHandler)}); err != nil {
		t.Error(err)
	}
	if _, err := f.Call(t.Context(), &tool.Call{Args: map[string]any{"ration": 2}}); !strings.Contains(fmt.Sprint(err), "did you mean 'ratio'?") {
		t.Errorf("got %v", err)
	}
	if tool.Current(t.Context()) != nil {
		t.Error("there is a call outside of one")
	}
}
