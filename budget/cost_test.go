package budget_test

import (
	"encoding/json"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/millrace-go/millrace/budget"
)

func TestCost(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text    string
		want    budget.Cost
		shown   string
		written string
	}{
		{"0", 0, "$0.00", "0"},
		{"-0.00", 0, "$0.00", "0"},
		{"3", 3 * budget.Dollar, "$3.00", "3"},
		{"3.02", 302 * budget.Cent, "$3.02", "3.02"},
		{"3.50", 350 * budget.Cent, "$3.50", "3.5"},
		{"0.0035", 3_500, "$0.0035", "0.0035"},
		{"0.000001", 1, "$0.000001", "0.000001"},
		{"-1.5", -150 * budget.Cent, "-$1.50", "-1.5"},
		{"1.0000000000000000000", budget.Dollar, "$1.00", "1"},
		{"100e-2", budget.Dollar, "$1.00", "1"},
		{"0.0001E+4", budget.Dollar, "$1.00", "1"},
		{"1e2", 100 * budget.Dollar, "$100.00", "100"},
		{"0e99999999999999999999", 0, "$0.00", "0"},
		{"0.0e-99999999999999999999", 0, "$0.00", "0"},
		{"9223372036854.775807", math.MaxInt64, "$9223372036854.775807", "9223372036854.775807"},
		{"-9223372036854.775807", -math.MaxInt64, "-$9223372036854.775807", "-9223372036854.775807"},
	} {
		got, err := budget.Parse(test.text)
		if err != nil || got != test.want || got.String() != test.shown {
			t.Errorf("%s is %v (%d), %v, want %s", test.text, got, got, err, test.shown)
		}
		if text, err := json.Marshal(got); err != nil || string(text) != test.written {
			t.Errorf("%s is written as %s, %v, want %s", test.text, text, err, test.written)
		}
	}
	if got := budget.Cost(math.MinInt64).String(); got != "-$9223372036854.775808" {
		t.Errorf("the least is %s", got)
	}
}

func TestCostRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "it is not a number of dollars", "$3": "it is not a number of dollars", "3,5": "it is not a number of dollars",
		"1.": "it is not a number of dollars", ".5": "it is not a number of dollars", "+1": "it is not a number of dollars",
		"--1": "it is not a number of dollars", "-": "it is not a number of dollars", "1e": "it is not a number of dollars",
		"1e1.5": "it is not a number of dollars", "1e1e1": "it is not a number of dollars", "01": "it is not a number of dollars",
		"1_0": "it is not a number of dollars", "1e1_0": "it is not a number of dollars", " 1": "it is not a number of dollars",
		"NaN": "it is not a number of dollars", "0x1": "it is not a number of dollars", "1.2.3": "it is not a number of dollars",
		"٣":         "it is not a number of dollars",
		"0.0000001": "it has more than 6 decimals", "1e-7": "it has more than 6 decimals", "1.1234567": "it has more than 6 decimals",
		"1e-99999999999999999999": "it has more than 6 decimals",
		"9223372036854.775808":    "it is too large", "1e13": "it is too large", "1e99999999999999999999": "it is too large",
		strings.Repeat("9", 100): "it is too large",
	} {
		cost := budget.Cost(5)
		_, err := budget.Parse(text)
		if err == nil || !strings.HasSuffix(err.Error(), " is not a cost: "+want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
		if err := cost.UnmarshalJSON([]byte(text)); err == nil || cost != 5 {
			t.Errorf("%q is read as %v, %v", text, cost, err)
		}
	}
	cost := budget.Cost(5)
	if err := json.Unmarshal([]byte("null"), &cost); err != nil || cost != 5 {
		t.Errorf("null: %v, %v", cost, err)
	}
}

// The expected value of a number of dollars comes from math/big.
func TestPropertyParse(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`-?(0|[1-9][0-9]{0,14})(\.[0-9]{1,9})?([eE][-+]?[0-9]{1,2})?`).Draw(t, "text")
		exact, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatal("no number")
		}
		exact.Mul(exact, big.NewRat(int64(budget.Dollar), 1))
		fits := exact.IsInt() && new(big.Int).Abs(exact.Num()).IsInt64()
		got, err := budget.Parse(text)
		if (err == nil) != fits {
			t.Fatalf("%s: %v, %v, want %v", text, got, err, exact)
		}
		if !fits {
			return
		}
		if exact.Num().Int64() != int64(got) {
			t.Fatalf("%s is %d, want %v", text, got, exact)
		}
		written, _ := json.Marshal(got)
		shown := strings.Replace(got.String(), "$", "", 1)
		for _, text := range []string{string(written), shown} {
			if back, err := budget.Parse(text); err != nil || back != got {
				t.Fatalf("%d is written %s, which is %d, %v", got, text, back, err)
			}
		}
	})
}

func TestFromFloat(t *testing.T) {
	t.Parallel()
	for dollars, want := range map[float64]budget.Cost{
		0: 0, 0.42: 420_000, 3.02: 3_020_000, 0.0346465: 34_647, 0.0000004: 1, math.SmallestNonzeroFloat64: 1, 1e12: 1e18, 0.1 + 0.2: 300_000,
	} {
		if got, err := budget.FromFloat(dollars); err != nil || got != want {
			t.Errorf("%v is %d, %v, want %d", dollars, got, err, want)
		}
	}
	for dollars, want := range map[float64]string{
		-1:                         "a cost must be 0 or more dollars, got -1",
		math.Inf(-1):               "a cost must be 0 or more dollars, got -Inf",
		math.Inf(1):                "a cost of +Inf dollars: it is too large",
		float64(1<<63) / 1_000_000: "a cost of 9.223372036854775e+12 dollars: it is too large",
	} {
		if got, err := budget.FromFloat(dollars); err == nil || err.Error() != want {
			t.Errorf("%v is %d, %v, want %s", dollars, got, err, want)
		}
	}
	if got, err := budget.FromFloat(math.NaN()); err == nil {
		t.Errorf("NaN is %d", got)
	}
}

// A sum never becomes smaller, for any cost that a service reports.
func TestPlus(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ a, b, want budget.Cost }{
		{1, 2, 3}, {5, -3, 5}, {5, math.MinInt64, 5}, {math.MaxInt64, 1, math.MaxInt64}, {math.MaxInt64 - 1, 1, math.MaxInt64},
		{7, math.MaxInt64, math.MaxInt64}, {0, 0, 0},
	} {
		if got := test.a.Plus(test.b); got != test.want {
			t.Errorf("%d plus %d is %d, want %d", test.a, test.b, got, test.want)
		}
	}
}
