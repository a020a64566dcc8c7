package bounded_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/budget"
)

// pipelineWith returns a pipeline in JSON with some fields before its steps.
func pipelineWith(fields string) []byte {
	return []byte(`{"name":"p",` + fields + `"steps":[{"id":"s","action":"search","params":{"pattern":"x"}}]}`)
}

func TestBoundsInJSON(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		fields   string
		deadline time.Duration
		budget   budget.Limit
		class    string
		about    string
		written  string // "" if it is the same text
	}{
		{fields: ``},
		{fields: `"deadline_seconds":90,`, deadline: 90 * time.Second},
		{fields: `"deadline_seconds":0.001,`, deadline: time.Millisecond},
		{fields: `"deadline_seconds":604800,`, deadline: 7 * 24 * time.Hour},
		{fields: `"budget":3,`, budget: budget.Limit{USD: 3 * budget.Dollar}},
		{fields: `"budget":0.000001,`, budget: budget.Limit{USD: 1}},
		{fields: `"budget":2.50,`, budget: budget.Limit{USD: 250 * budget.Cent}, written: `"budget":2.5,`},
		{fields: `"budget":{"usd":2.5},`, budget: budget.Limit{USD: 250 * budget.Cent}, written: `"budget":2.5,`},
		{fields: `"budget":{"usd":1,"files":2,"edits":3,"bytes":4},`, budget: budget.Limit{USD: budget.Dollar, Files: 2, Edits: 3, Bytes: 4}},
		{fields: `"budget":{"bytes":9007199254740993},`, budget: budget.Limit{Bytes: 9007199254740993}},
		{fields: `"classification":"internal",`, class: "internal"},
		{fields: `"classification":"` + strings.Repeat("é", 255) + `",`, class: strings.Repeat("é", 255)},
		{fields: `"description":"Renames a word.",`, about: "Renames a word."},
		{fields: `"description":"` + strings.Repeat("é", 1000) + `",`, about: strings.Repeat("é", 1000)},
		{
			fields: `"deadline_seconds":1.5,"budget":1,"classification":"c",`, deadline: 1500 * time.Millisecond,
			budget: budget.Limit{USD: budget.Dollar}, class: "c",
		},
	} {
		p, err := millrace.Decode(pipelineWith(test.fields))
		if err != nil {
			t.Errorf("%s: %v", test.fields, err)
			continue
		}
		if p.Deadline() != test.deadline || p.Budget() != test.budget || p.Classification() != test.class ||
			p.Description() != test.about {
			t.Errorf("%s is read as %v, %+v, %q, %q", test.fields, p.Deadline(), p.Budget(), p.Classification(),
				p.Description())
		}
		if test.written == "" {
			test.written = test.fields
		}
		if data, err := json.Marshal(p); err != nil || string(data) != string(pipelineWith(test.written)) {
			t.Errorf("%s is written as %s, %v", test.fields, data, err)
		}
		built := millrace.New("p").Deadline(test.deadline).Budget(test.budget).Classification(test.class).
			Description(test.about).Step("s", actions.Search{Pattern: "x"}).MustBuild()
		if !built.Equal(p) || built.Digest() != p.Digest() {
			t.Errorf("%s: a pipeline built in Go is not equal", test.fields)
		}
		if same := p.WithOptions(p.Options()); !same.Equal(p) {
			t.Errorf("%s: lost with options", test.fields)
		}
		if plain, _ := millrace.Decode(pipelineWith(``)); test.fields != `` && (plain.Equal(p) || plain.Digest() == p.Digest()) {
			t.Errorf("%s is equal to a pipeline without these fields", test.fields)
		}
	}
}

// problem has the fields of a reported problem.
type problem struct{ Pointer, Code, Message, Hint string }

func problems(t *testing.T, err error) []problem {
	t.Helper()
	invalid, ok := errors.AsType[*millrace.ValidationError](err)
	if !ok {
		t.Errorf("error = %v", err)
		return nil
	}
	var list []problem
	for _, p := range invalid.Problems {
		list = append(list, problem{p.Pointer, p.Code, p.Message, p.Hint})
	}
	return list
}

func TestBoundsThatAreRefused(t *testing.T) {
	t.Parallel()
	const none = "leave it out for no limit"
	for fields, want := range map[string][]problem{
		`"deadline_seconds":0,`:        {{"/deadline_seconds", "invalid_timeout", "deadline_seconds must be more than 0 and at most 604800 seconds, got 0", none}},
		`"deadline_seconds":-1,`:       {{"/deadline_seconds", "invalid_timeout", "deadline_seconds must be more than 0 and at most 604800 seconds, got -1", ""}},
		`"deadline_seconds":604800.5,`: {{"/deadline_seconds", "invalid_timeout", "deadline_seconds must be more than 0 and at most 604800 seconds, got 604800.5", ""}},
		`"deadline_seconds":1.0005,`:   {{"/deadline_seconds", "invalid_timeout", "deadline_seconds must have at most 3 decimals, got 1.0005", ""}},
		`"deadline_seconds":"9",`: {
			{"/deadline_seconds", "wrong_type", "'deadline_seconds' must be a number, got string", "write it without quotes: 9"},
		},
		`"budget":0,`:    {{"/budget", "invalid_budget", "budget must be more than 0, got 0", none}},
		`"budget":-1.5,`: {{"/budget", "invalid_budget", "budget must be more than 0, got -1.5", none}},
		`"budget":{},`: {
			{"/budget", "invalid_budget", "budget is empty: give usd, files, edits or bytes, or leave it out for no limit", ""},
		},
		`"budget":"3",`:         {{"/budget", "invalid_budget", `budget must be a number of dollars or an object, got "3"`, "write it without quotes: 3"}},
		`"budget":null,`:        {{"/budget", "invalid_budget", "budget must be a number of dollars or an object, got null", none}},
		`"budget":1.0000001,`:   {{"/budget", "invalid_budget", "budget can have 6 decimals at most, got 1.0000001", ""}},
		`"budget":{"file":1},`:  {{"/budget/file", "invalid_budget", "budget.file is unknown: use usd, files, edits or bytes", ""}},
		`"budget":{"a/b~c":1},`: {{"/budget/a~1b~0c", "invalid_budget", "budget.a/b~c is unknown: use usd, files, edits or bytes", ""}},
		`"budget":{"usd":0,"files":-1,"edits":1.5,"bytes":null},`: {
			{"/budget/usd", "invalid_budget", "budget.usd must be more than 0, got 0", none},
			{"/budget/files", "invalid_budget", "budget.files must be more than 0, got -1", none},
			{"/budget/edits", "invalid_budget", "budget.edits must be a whole number, got 1.5", ""},
			{"/budget/bytes", "invalid_budget", "budget.bytes must be a whole number, got null", ""},
		},
		`"classification":"` + strings.Repeat("é", 256) + `",`: {
			{"/classification", "invalid_classification", "classification too long (max 255, got 256)", ""},
		},
		`"description":"` + strings.Repeat("é", 1001) + `",`: {
			{"/description", "invalid_description", "description too long (max 1000, got 1001)", ""},
		},
		`"deadline_seconds":0,"budget":0,`: {
			{"/budget", "invalid_budget", "budget must be more than 0, got 0", none},
			{"/deadline_seconds", "invalid_timeout", "deadline_seconds must be more than 0 and at most 604800 seconds, got 0", none},
		},
	} {
		_, err := millrace.Decode(pipelineWith(fields))
		got := problems(t, err)
		if len(want) > 1 && fields[1] == 'd' { // problems come in the order of the checks
			got[0], got[1] = max2(got[0], got[1])
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", fields, d)
		}
	}
	invalid := millrace.New("p").Deadline(-time.Second).Budget(budget.Limit{Files: -1, USD: -budget.Dollar}).Classification("\xff").
		Description("\xff").Step("s", actions.Search{Pattern: "x"})
	_, err := invalid.Build()
	want := []problem{
		{"/deadline_seconds", "invalid_timeout", "deadline_seconds must be more than 0 and at most 604800 seconds, got -1", ""},
		{"/budget/usd", "invalid_budget", "budget.usd must be more than 0, got -1", none},
		{"/budget/files", "invalid_budget", "budget.files must be more than 0, got -1", none},
		{"/classification", "invalid_classification", "classification is not valid UTF-8", ""},
		{"/description", "invalid_description", "description is not valid UTF-8", ""},
	}
	if d := cmp.Diff(want, problems(t, err)); d != "" {
		t.Errorf("built in Go (-want +got):\n%s", d)
	}
	if _, err := millrace.New("p").Deadline(time.Microsecond).Step("s", actions.Search{Pattern: "x"}).Build(); err == nil {
		t.Error("a deadline of a microsecond was accepted")
	}
}

// max2 returns two problems in the order of their pointers.
func max2(a, b problem) (problem, problem) {
	if a.Pointer > b.Pointer {
		return b, a
	}
	return a, b
}

// Lenient decoding accepts other names, but never a budget that it does not understand.
func TestLenientBounds(t *testing.T) {
	t.Parallel()
	d := millrace.Decoder{Lenient: true}
	p, err := d.Decode(pipelineWith(`"deadline":30,"budget_usd":2,`))
	if err != nil || p.Deadline() != 30*time.Second || p.Budget() != (budget.Limit{USD: 2 * budget.Dollar}) || len(p.Warnings()) != 2 {
		t.Errorf("%v, %v, %+v, %v", err, p.Deadline(), p.Budget(), p.Warnings())
	}
	for _, fields := range []string{`"budget":"three",`, `"budget":[3],`, `"budget":{"dollars":3},`} {
		if p, err := d.Decode(pipelineWith(fields)); err == nil {
			t.Errorf("%s is read as %+v", fields, p.Budget())
		}
	}
}

// A problem in a budget has its position in the text.
func TestPlaceOfABudgetProblem(t *testing.T) {
	t.Parallel()
	_, err := millrace.Decode([]byte("{\"name\":\"p\",\n \"budget\": {\"usd\": 1,\n  \"files\": 0},\n\"steps\":[{\"id\":\"s\",\"action\":\"search\",\"params\":{\"pattern\":\"x\"}}]}"))
	invalid, ok := errors.AsType[*millrace.ValidationError](err)
	if !ok || len(invalid.Problems) != 1 || invalid.Problems[0].Line != 3 || invalid.Problems[0].Column != 12 {
		t.Errorf("%+v", err)
	}
}
