package risk_test

import (
	"encoding/json"
	"testing"

	"github.com/millrace-go/millrace/risk"
)

func TestCounts(t *testing.T) {
	t.Parallel()
	type count struct {
		level risk.Level
		times int
	}
	for _, test := range []struct {
		name    string
		added   []count
		want    string
		highest risk.Level
	}{
		{"nothing", nil, `{"LOW":0,"MEDIUM":0,"HIGH":0,"CRITICAL":0}`, risk.Unset},
		{"each level", []count{{risk.Low, 4}, {risk.Medium, 3}, {risk.High, 2}, {risk.Critical, 1}},
			`{"LOW":4,"MEDIUM":3,"HIGH":2,"CRITICAL":1}`, risk.Critical},
		{"up to high", []count{{risk.High, 1}, {risk.Low, 1}}, `{"LOW":1,"MEDIUM":0,"HIGH":1,"CRITICAL":0}`, risk.High},
		{"up to medium", []count{{risk.Medium, 1}}, `{"LOW":0,"MEDIUM":1,"HIGH":0,"CRITICAL":0}`, risk.Medium},
		{"taken back", []count{{risk.Low, 1}, {risk.High, 2}, {risk.High, -2}},
			`{"LOW":1,"MEDIUM":0,"HIGH":0,"CRITICAL":0}`, risk.Low},
		{"without a level", []count{{risk.Unset, 5}, {risk.Critical + 1, 5}},
			`{"LOW":0,"MEDIUM":0,"HIGH":0,"CRITICAL":0}`, risk.Unset},
	} {
		var c risk.Counts
		for _, a := range test.added {
			c.Add(a.level, a.times)
		}
		text, err := json.Marshal(c)
		if err != nil || string(text) != test.want || c.Highest() != test.highest {
			t.Errorf("%s: %s with %q as the highest, %v; want %s and %q", test.name, text, c.Highest(), err, test.want, test.highest)
		}
	}
}
