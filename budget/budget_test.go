package budget_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace/budget"
)

func Example() {
	limit := budget.Limit{USD: 3 * budget.Dollar, Files: 50}
	var spent budget.Cost
	for _, answer := range []budget.Cost{180 * budget.Cent, 122 * budget.Cent, 50 * budget.Cent} {
		if limit.Spent(spent) {
			fmt.Printf("budget of %v is spent (%v)\n", limit.USD, spent)
			break
		}
		spent = spent.Plus(answer)
	}
	report, _ := json.Marshal(limit.Report(budget.Use{USD: spent, Files: 7}))
	fmt.Printf("%s\n", report)
	// Output:
	// budget of $3.00 is spent ($3.02)
	// {"limit":3,"spent":3.02,"exceeded":true,"files":{"limit":50,"spent":7,"exceeded":false}}
}

func ExampleLimit_UnmarshalJSON() {
	for _, text := range []string{`2.50`, `{"usd": 2.5, "files": 10}`, `0`, `{"files": 1.5, "size": 3}`} {
		var limit budget.Limit
		if err := json.Unmarshal([]byte(text), &limit); err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(limit.USD, limit.Files)
	}
	// Output:
	// $2.50 0
	// $2.50 10
	// budget must be more than 0, got 0
	// budget.files must be a whole number, got 1.5
	// budget.size is unknown: use usd, files, edits or bytes
}

func TestLimitJSON(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text string
		want budget.Limit
		back string
	}{
		{`3`, budget.Limit{USD: 3 * budget.Dollar}, `3`},
		{`0.000001`, budget.Limit{USD: 1}, `0.000001`},
		{`25e-1`, budget.Limit{USD: 250 * budget.Cent}, `2.5`},
		{`{"usd":2.50}`, budget.Limit{USD: 250 * budget.Cent}, `2.5`},
		{`{"files":7}`, budget.Limit{Files: 7}, `{"files":7}`},
		{` { "bytes" : 9223372036854775807 , "edits" : 2 } `, budget.Limit{Edits: 2, Bytes: math.MaxInt64}, `{"edits":2,"bytes":9223372036854775807}`},
		{`{"edits":4,"bytes":5,"files":3,"usd":1}`, budget.Limit{budget.Dollar, 3, 4, 5}, `{"usd":1,"files":3,"edits":4,"bytes":5}`},
		{`null`, budget.Limit{}, `null`},
	} {
		var got budget.Limit
		if err := got.UnmarshalJSON([]byte(test.text)); err != nil || got != test.want {
			t.Errorf("%s is read as %+v, %v, want %+v", test.text, got, err, test.want)
		}
		back, err := json.Marshal(got)
		if err != nil || string(back) != test.back {
			t.Errorf("%s is written as %s, %v, want %s", test.text, back, err, test.back)
		}
		if err := got.Check(); err != nil {
			t.Errorf("%+v: %v", got, err)
		}
	}
}

func TestLimitRefuses(t *testing.T) {
	t.Parallel()
	type pair struct{ Field, Message string }
	for text, want := range map[string][]pair{
		`0`:                               {{"", "budget must be more than 0, got 0"}},
		`-0.5`:                            {{"", "budget must be more than 0, got -0.5"}},
		`0.0e5`:                           {{"", "budget must be more than 0, got 0.0e5"}},
		`3.0000001`:                       {{"", "budget can have 6 decimals at most, got 3.0000001"}},
		`1e13`:                            {{"", "budget is too large, got 1e13"}},
		`1e999999999999999999999`:         {{"", "budget is too large, got 1e999999999999999999999"}},
		`"3"`:                             {{"", `budget must be a number of dollars or an object, got "3"`}},
		`[3]`:                             {{"", `budget must be a number of dollars or an object, got [3]`}},
		`true`:                            {{"", `budget must be a number of dollars or an object, got true`}},
		`{}`:                              {{"", "budget is empty: give usd, files, edits or bytes, or leave it out for no limit"}},
		`{"usd":0}`:                       {{"usd", "budget.usd must be more than 0, got 0"}},
		`{"usd":"3"}`:                     {{"usd", `budget.usd must be a number of dollars, got "3"`}},
		`{"usd":1e-7}`:                    {{"usd", "budget.usd can have 6 decimals at most, got 1e-7"}},
		`{"files":0}`:                     {{"files", "budget.files must be more than 0, got 0"}},
		`{"files":null}`:                  {{"files", "budget.files must be a whole number, got null"}},
		`{"edits":-3}`:                    {{"edits", "budget.edits must be more than 0, got -3"}},
		`{"edits":-99999999999999999999}`: {{"edits", "budget.edits must be more than 0, got -99999999999999999999"}},
		`{"bytes":1e3}`:                   {{"bytes", "budget.bytes must be a whole number, got 1e3"}},
		`{"bytes":9223372036854775808}`:   {{"bytes", "budget.bytes is too large, got 9223372036854775808"}},
		`{"USD":3}`:                       {{"USD", "budget.USD is unknown: use usd, files, edits or bytes"}},
		`{"files":1,"files":1}`:           {{"files", "budget.files is given twice"}},
		`{"usd":0,"x":{"y":1},"files":"a"}`: {
			{"usd", "budget.usd must be more than 0, got 0"}, {"x", "budget.x is unknown: use usd, files, edits or bytes"},
			{"files", `budget.files must be a whole number, got "a"`},
		},
		`"` + "ééééééééééééééééééééééééé" + `"`: {{"", `budget must be a number of dollars or an object, got "` + "ééééééééééééééééééé..."}},
		`{"usd":1`: {{"", "budget is not valid JSON"}},
		``:         {{"", "budget is not valid JSON"}},
	} {
		limit := budget.Limit{Files: 99}
		err := limit.UnmarshalJSON([]byte(text))
		if err == nil || limit != (budget.Limit{Files: 99}) {
			t.Errorf("%s is read as %+v, %v", text, limit, err)
			continue
		}
		var got []pair
		for _, err := range err.(interface{ Unwrap() []error }).Unwrap() {
			if e, ok := errors.AsType[placed](err); ok {
				field, _ := e.Place()
				got = append(got, pair{field, e.Error()})
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

// placed is an error of a field.
type placed interface {
	error
	Place() (field, hint string)
}

// Of a million mistakes a few are reported.
func TestManyMistakes(t *testing.T) {
	t.Parallel()
	text := []byte(`{"usd":1`)
	for i := range 100_000 {
		text = fmt.Appendf(text, `,"x%d":1`, i)
	}
	limit := budget.Limit{Files: 1}
	err := limit.UnmarshalJSON(append(text, '}'))
	if told := err.(interface{ Unwrap() []error }).Unwrap(); len(told) != 20 || limit != (budget.Limit{Files: 1}) {
		t.Errorf("%d mistakes are reported, and the limit is %+v", len(told), limit)
	}
}

// A number that is too small, or in quotes, has a hint.
func TestHint(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{`0`: "leave it out for no limit", `{"files":-1}`: "leave it out for no limit", `{}`: "", `"x"`: "", `"3"`: "write it without quotes: 3",
		`{"usd":"2.5"}`: "write it without quotes: 2.5", `{"files":"3"}`: "write it without quotes: 3"} {
		var limit budget.Limit
		e, ok := errors.AsType[placed](limit.UnmarshalJSON([]byte(text)))
		if !ok {
			t.Fatalf("%s: no error", text)
		}
		if _, hint := e.Place(); hint != want {
			t.Errorf("%s: %+v", text, e)
		}
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for want, limit := range map[string]budget.Limit{
		"budget must be more than 0, got -1.5":                                               {USD: -150 * budget.Cent},
		"budget.usd must be more than 0, got -3\nbudget.bytes must be more than 0, got -8":   {USD: -3 * budget.Dollar, Files: 2, Bytes: -8},
		"budget.files must be more than 0, got -1\nbudget.edits must be more than 0, got -2": {Files: -1, Edits: -2},
	} {
		if err := limit.Check(); err == nil || err.Error() != want {
			t.Errorf("%+v: %v, want %s", limit, err, want)
		}
	}
}

func TestWithin(t *testing.T) {
	t.Parallel()
	a, b := budget.Limit{USD: 3, Files: 20, Bytes: 7}, budget.Limit{USD: 2, Files: 30, Edits: 5}
	want := budget.Limit{USD: 2, Files: 20, Edits: 5, Bytes: 7}
	if got, back := a.Within(b), b.Within(a); got != want || back != want {
		t.Errorf("%+v, %+v, want %+v", got, back, want)
	}
	if got := a.Within(budget.Limit{}); got != a {
		t.Errorf("within nothing: %+v", got)
	}
	if !(budget.Limit{}).IsZero() || a.IsZero() {
		t.Error("IsZero")
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	limit := budget.Limit{USD: 300, Files: 3, Edits: 4, Bytes: 5}
	for _, test := range []struct {
		use      budget.Use
		exceeded string
		spent    bool
		report   string
	}{
		{
			budget.Use{}, "", false,
			`{"limit":0.0003,"spent":0,"exceeded":false,"files":{"limit":3,"spent":0,"exceeded":false},` +
				`"edits":{"limit":4,"spent":0,"exceeded":false},"bytes":{"limit":5,"spent":0,"exceeded":false}}`,
		},
		{
			budget.Use{300, 3, 4, 5}, "", true,
			`{"limit":0.0003,"spent":0.0003,"exceeded":false,"files":{"limit":3,"spent":3,"exceeded":false},` +
				`"edits":{"limit":4,"spent":4,"exceeded":false},"bytes":{"limit":5,"spent":5,"exceeded":false}}`,
		},
		{
			budget.Use{301, 4, 5, 6}, "files", true,
			`{"limit":0.0003,"spent":0.000301,"exceeded":true,"files":{"limit":3,"spent":4,"exceeded":true},` +
				`"edits":{"limit":4,"spent":5,"exceeded":true},"bytes":{"limit":5,"spent":6,"exceeded":true}}`,
		},
		{
			budget.Use{299, 1, 5, 6}, "edits", false,
			`{"limit":0.0003,"spent":0.000299,"exceeded":false,"files":{"limit":3,"spent":1,"exceeded":false},` +
				`"edits":{"limit":4,"spent":5,"exceeded":true},"bytes":{"limit":5,"spent":6,"exceeded":true}}`,
		},
		{
			budget.Use{0, 1, 1, 6}, "bytes", false,
			`{"limit":0.0003,"spent":0,"exceeded":false,"files":{"limit":3,"spent":1,"exceeded":false},` +
				`"edits":{"limit":4,"spent":1,"exceeded":false},"bytes":{"limit":5,"spent":6,"exceeded":true}}`,
		},
	} {
		if got := limit.Exceeded(test.use); got != test.exceeded || limit.Spent(test.use.USD) != test.spent {
			t.Errorf("%+v: %q, %t", test.use, got, limit.Spent(test.use.USD))
		}
		report := limit.Report(test.use)
		text, err := json.Marshal(report)
		if err != nil || string(text) != test.report {
			t.Errorf("%+v: %s, %v, want %s", test.use, text, err, test.report)
		}
		var back budget.Report
		if err := json.Unmarshal(text, &back); err != nil || !cmp.Equal(back, report) {
			t.Errorf("%s is read as %+v, %v", text, back, err)
		}
	}

	huge := budget.Use{math.MaxInt64, math.MaxInt, math.MaxInt, math.MaxInt64}
	var none budget.Limit
	text, err := json.Marshal(none.Report(huge))
	if want := `{"limit":null,"spent":9223372036854.775807,"exceeded":false}`; err != nil || string(text) != want {
		t.Errorf("without a limit: %s, %v, want %s", text, err, want)
	}
	if none.Exceeded(huge) != "" || none.Spent(math.MaxInt64) {
		t.Error("no limit is exceeded")
	}
	back := budget.Report{Limit: 5, Files: &budget.Measure{}}
	if err := json.Unmarshal(text, &back); err != nil || !cmp.Equal(back, none.Report(huge)) {
		t.Errorf("%s is read as %+v, %v", text, back, err)
	}
	if err := json.Unmarshal([]byte(`{"limit":true}`), &back); err == nil || !cmp.Equal(back, none.Report(huge)) {
		t.Errorf("a report that is none: %+v, %v", back, err)
	}
}
