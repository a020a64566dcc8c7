package steering_test

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/agent"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/condition"
)

// note is an action that accepts everything a step can have.
type note struct {
	Text  string `json:"text"`
	Count int    `json:"count,omitempty"`
}

func (note) Spec() actions.Spec {
	return actions.Spec{Name: "note", Summary: "Note something", ReadOnly: true}
}

func (note) Run(context.Context, *actions.Call) (actions.Outcome, error) {
	return actions.Outcome{}, nil
}

// said adds a step between two others, and a step that leads back to it.
func said(b millrace.Builder, s millrace.Step) millrace.Builder {
	return b.Step("a", note{Text: "a"}).Step("a2", note{Text: "a"}).Add(s).Step("c", note{Text: "c"}).RetryIf(s.ID, "x").Builder
}

// stepFields returns functions that each change one field of a step, or of its parts. A new field needs a row here, and
// then the parts that the test below requires: Equal, the JSON form in both directions, the schema.
func stepFields() map[string]func(*millrace.Step) {
	one := 1
	way := func(w millrace.Retry) func(*millrace.Step) {
		return func(s *millrace.Step) { s.RetryIf = []millrace.Retry{w} }
	}
	return map[string]func(*millrace.Step){
		"ID":              func(s *millrace.Step) { s.ID = "b2" },
		"Action":          func(s *millrace.Step) { s.Action = note{Text: "other"} },
		"InputFrom":       func(s *millrace.Step) { s.InputFrom = "a" },
		"InputFromAll":    func(s *millrace.Step) { s.InputFromAll = []string{"a", "a2"} },
		"When":            func(s *millrace.Step) { s.When = condition.PrevError() },
		"Expect.MinFiles": func(s *millrace.Step) { s.Expect.MinFiles = &one },
		"Expect.MaxFiles": func(s *millrace.Step) { s.Expect.MaxFiles = &one },
		"Expect.MinEdits": func(s *millrace.Step) { s.Expect.MinEdits = &one },
		"Expect.MaxEdits": func(s *millrace.Step) { s.Expect.MaxEdits = &one },
		"Manual":          func(s *millrace.Step) { s.Manual = true },
		"Raw":             func(s *millrace.Step) { s.Raw = true },
		"Bind":            func(s *millrace.Step) { s.Bind = map[string]string{"/count": "{{a.count}}"} },
		"OnFail":          func(s *millrace.Step) { s.OnFail = "c" },
		"Next":            func(s *millrace.Step) { s.Next = "c" },
		"RetryIf.Step":    way(millrace.Retry{Step: "a2", Keyword: "x"}),
		"RetryIf.Keyword": way(millrace.Retry{Step: "a", Keyword: "y"}),
		"RetryIf.When":    way(millrace.Retry{Step: "a", When: condition.PrevError()}),
		"RetryIf.Restart": way(millrace.Retry{Step: "a", Keyword: "x", Restart: true}),
		"MaxRetries":      func(s *millrace.Step) { s.MaxRetries = &one },
		"MaxVisits":       func(s *millrace.Step) { s.MaxVisits = 9 },
		"Timeout":         func(s *millrace.Step) { s.Timeout = 2500 * time.Millisecond },
		"Backoff":         func(s *millrace.Step) { s.Backoff = time.Millisecond },
		"Input":           func(s *millrace.Step) { s.Input = "previous" },
	}
}

// pipelineFields returns functions that each set a property of the whole pipeline with a method of the builder. A
// method that returns a Builder, and adds no step, needs a row.
func pipelineFields() map[string]func(millrace.Builder) millrace.Builder {
	return map[string]func(millrace.Builder) millrace.Builder{
		"MaxAttempts": func(b millrace.Builder) millrace.Builder { return b.MaxAttempts(7) },
		"Deadline":    func(b millrace.Builder) millrace.Builder { return b.Deadline(1500 * time.Millisecond) },
		"Budget":      func(b millrace.Builder) millrace.Builder { return b.Budget(budget.Limit{Files: 7}) },
		"Variables": func(b millrace.Builder) millrace.Builder {
			return b.Variables(millrace.Variable{Name: "v", Type: "integer", Default: int64(7), Enum: []any{int64(7), int64(8)}, Description: "d"})
		},
		"Sandbox": func(b millrace.Builder) millrace.Builder {
			return b.Sandbox(agent.Sandbox{Model: "m", Tools: []string{"t"}, SystemPrompt: "p", Timeout: 1500 * time.Millisecond, Memory: "4g", GPU: true,
				Workdir: "/w", Options: map[string]any{"o": int64(1)}})
		},
		"Classification": func(b millrace.Builder) millrace.Builder { return b.Classification("internal") },
		"Description":    func(b millrace.Builder) millrace.Builder { return b.Description("why") },
	}
}

// Every field counts: two pipelines that differ in it are not equal, and the field is written, described and read
// again.
func TestEveryFieldCounts(t *testing.T) {
	t.Parallel()
	plain := millrace.Step{ID: "b", Action: note{Text: "b"}, RetryIf: []millrace.Retry{{Step: "a", Keyword: "x"}}}
	base := said(millrace.New("p"), plain).MustBuild()
	var want []string
	for i := range reflect.TypeFor[millrace.Step]().NumField() {
		f := reflect.TypeFor[millrace.Step]().Field(i)
		inner := f.Type
		if inner.Kind() == reflect.Slice {
			inner = inner.Elem()
		}
		switch {
		case !f.IsExported():
		case inner.Kind() == reflect.Struct && inner != reflect.TypeFor[condition.Condition]():
			for k := range inner.NumField() {
				want = append(want, f.Name+"."+inner.Field(k).Name)
			}
		default:
			want = append(want, f.Name)
		}
	}
	fields := stepFields()
	for _, name := range want {
		set, ok := fields[name]
		if !ok {
			t.Errorf("millrace.Step has a field %s that this test has no row for", name)
			continue
		}
		s := base.Steps()[2]
		set(&s)
		was := reflect.ValueOf(s)
		q, err := said(millrace.New("p"), s).Build()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		counts(t, name, base, q)
		kept := reflect.ValueOf(q.Steps()[2])
		for i := range was.NumField() {
			if f := was.Type().Field(i); f.IsExported() {
				if d := cmp.Diff(was.Field(i).Interface(), kept.Field(i).Interface(), cmp.Comparer(sameCondition)); d != "" {
					t.Errorf("%s: the pipeline does not keep %s (-was +is):\n%s", name, f.Name, d)
				}
			}
		}
	}
}

// The same holds for every property of the whole pipeline.
func TestEveryMethodOfBuilderCounts(t *testing.T) {
	t.Parallel()
	plain := millrace.Step{ID: "b", Action: note{Text: "b"}}
	base := said(millrace.New("p"), plain).MustBuild()
	counts(t, "New", base, said(millrace.New("q"), plain).MustBuild())
	options := reflect.TypeFor[millrace.Options]()
	for i := range options.NumField() {
		var o millrace.Options
		reflect.ValueOf(&o).Elem().Field(i).SetBool(true)
		if options.Field(i).Name == "Parallel" {
			continue // not allowed with a way back
		}
		counts(t, "Options."+options.Field(i).Name, base, said(millrace.New("p").Options(o), plain).MustBuild())
	}
	fields, builder := pipelineFields(), reflect.TypeFor[millrace.Builder]()
	for i := range builder.NumMethod() {
		m := builder.Method(i)
		if m.Name == "Options" || m.Name == "Include" || m.Type.NumOut() != 1 || m.Type.Out(0) != builder {
			continue
		}
		set, ok := fields[m.Name]
		if !ok {
			t.Errorf("millrace.Builder has a method %s that this test has no row for", m.Name)
			continue
		}
		q := said(set(millrace.New("p")), plain).MustBuild()
		counts(t, m.Name, base, q)
		value := func(p millrace.Pipeline) any { return reflect.ValueOf(p).MethodByName(m.Name).Call(nil)[0].Interface() }
		if decoded := again(t, q); cmp.Equal(value(base), value(q)) || !cmp.Equal(value(q), value(decoded)) {
			t.Errorf("%s gives %v, then %v, and %v once it is read again", m.Name, value(base), value(q), value(decoded))
		}
	}
}

// counts checks that two pipelines differ in every way to compare pipelines, and that the second is the same when it is
// read again.
func counts(t *testing.T, name string, p, q millrace.Pipeline) {
	t.Helper()
	if p.Equal(q) || p.Digest() == q.Digest() {
		t.Errorf("%s does not count: the pipelines are equal", name)
	}
	if decoded := again(t, q); !decoded.Equal(q) || !q.Equal(decoded) {
		t.Errorf("%s: the pipeline differs when it is read again", name)
	}
}

func noting() millrace.Decoder { return millrace.Decoder{Actions: actions.Registry{}.With(note{})} }

// again writes a pipeline and reads it again, after it has checked that the schema has every name in it.
func again(t *testing.T, p millrace.Pipeline) millrace.Pipeline {
	t.Helper()
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	q, err := noting().Decode(data)
	if err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	if rest, err := json.Marshal(q); err != nil || string(rest) != string(data) {
		t.Errorf("written again (%v):\n%s\n%s", err, data, rest)
	}
	var written struct {
		Steps []map[string]json.RawMessage `json:"steps"`
	}
	var whole map[string]json.RawMessage
	var schema struct {
		Properties map[string]any `json:"properties"`
		Defs       struct {
			Step struct {
				OneOf []struct {
					Properties map[string]any `json:"properties"`
				} `json:"oneOf"`
			} `json:"step"`
		} `json:"$defs"`
	}
	described, err := noting().Schema()
	for _, err := range []error{err, json.Unmarshal(data, &whole), json.Unmarshal(data, &written), json.Unmarshal(described, &schema)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name := range whole {
		if schema.Properties[name] == nil {
			t.Errorf("the schema has no field %s of pipelines", name)
		}
	}
	for _, s := range written.Steps {
		for name := range s {
			if schema.Defs.Step.OneOf[0].Properties[name] == nil {
				t.Errorf("the schema has no field %s of steps", name)
			}
		}
	}
	return q
}

// Each row of the tests above belongs to an existing field.
func TestRowsAreFields(t *testing.T) {
	t.Parallel()
	step, builder := reflect.TypeFor[millrace.Step](), reflect.TypeFor[millrace.Builder]()
	for name := range stepFields() {
		first, _, _ := strings.Cut(name, ".")
		if _, ok := step.FieldByName(first); !ok {
			t.Errorf("there is a row for the field %s, which does not exist", name)
		}
	}
	for name := range pipelineFields() {
		if _, ok := builder.MethodByName(name); !ok {
			t.Errorf("there is a row for the method %s, which does not exist", name)
		}
	}
}
