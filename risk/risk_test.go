package risk_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/millrace-go/millrace/risk"
)

var levels = []risk.Level{risk.Unset, risk.Low, risk.Medium, risk.High, risk.Critical}

func TestDocumentedTable(t *testing.T) {
	t.Parallel()
	tests := []struct {
		files, edits int
		want         risk.Level
	}{
		{0, 0, risk.Low},
		{29, 99, risk.Low},
		{30, 0, risk.Medium},
		{0, 100, risk.Medium},
		{49, 499, risk.Medium},
		{50, 0, risk.High},
		{0, 500, risk.High},
		{10, 600, risk.High}, // the row for LOW has "<30 files OR <100 edits"
		{79, 999, risk.High},
		{80, 0, risk.Critical},
		{0, 1000, risk.Critical},
		{12, 45, risk.Low}, // 12 files alone are not medium
		{-1, -1, risk.Low},
		{math.MaxInt, math.MaxInt, risk.Critical},
		{math.MinInt, math.MinInt, risk.Low},
	}
	for _, tt := range tests {
		if got := (risk.Policy{}).Assess(tt.files, tt.edits); got != tt.want {
			t.Errorf("Assess(%d, %d) = %v, want %v", tt.files, tt.edits, got, tt.want)
		}
	}
}

func TestPolicy(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name         string
		policy       risk.Policy
		files, edits int
		want         risk.Level
	}{
		{"a field that is set leaves the others at the table", risk.Policy{High: risk.Threshold{Files: 10}}, 10, 0, risk.High},
		{"the other measure of the same level", risk.Policy{High: risk.Threshold{Files: 10}}, 1, 499, risk.Medium},
		{"a measure turned off", risk.Policy{Critical: risk.Threshold{Files: -1}}, 1_000_000, 0, risk.High},
		{"a level turned off", risk.Policy{Critical: risk.Threshold{Files: -1, Edits: -1}}, 1_000_000, 1_000_000, risk.High},
		{"everything turned off", risk.Policy{
			Medium:   risk.Threshold{Files: -1, Edits: -1},
			High:     risk.Threshold{Files: -1, Edits: -1},
			Critical: risk.Threshold{Files: -1, Edits: -1},
		}, 1_000_000, 1_000_000, risk.Low},
		{"the highest level wins whatever the order", risk.Policy{Critical: risk.Threshold{Files: 5}}, 5, 0, risk.Critical},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := tt.policy.Assess(tt.files, tt.edits); got != tt.want {
				t.Errorf("Assess(%d, %d) = %v, want %v", tt.files, tt.edits, got, tt.want)
			}
		})
	}
}

func TestThreshold(t *testing.T) {
	t.Parallel()
	p := risk.Policy{High: risk.Threshold{Files: 7, Edits: -1}}
	want := map[risk.Level]risk.Threshold{
		risk.Unset:    {},
		risk.Low:      {},
		risk.Medium:   {Files: 30, Edits: 100},
		risk.High:     {Files: 7, Edits: -1},
		risk.Critical: {Files: 80, Edits: 1000},
	}
	got := make(map[risk.Level]risk.Threshold)
	for _, l := range levels {
		got[l] = p.Threshold(l)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("thresholds (-want +got):\n%s", diff)
	}
}

// A change that is larger in either measure is never judged lower, and the level is the highest whose threshold is
// reached.
func TestAssessProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		threshold := rapid.Custom(func(t *rapid.T) risk.Threshold {
			n := rapid.IntRange(-2, 60)
			return risk.Threshold{Files: n.Draw(t, "files"), Edits: n.Draw(t, "edits")}
		})
		p := risk.Policy{Medium: threshold.Draw(t, "medium"), High: threshold.Draw(t, "high"),
			Critical: threshold.Draw(t, "critical")}
		n := rapid.IntRange(-2, 1200)
		files, edits := n.Draw(t, "files"), n.Draw(t, "edits")
		level := p.Assess(files, edits)
		if level < risk.Low || level > risk.Critical {
			t.Fatalf("Assess(%d, %d) = %v", files, edits, level)
		}
		if more := p.Assess(files+n.Draw(t, "more files")+2, edits+n.Draw(t, "more edits")+2); more < level {
			t.Fatalf("Assess(%d, %d) = %v, but a larger change is %v", files, edits, level, more)
		}
		for l := risk.Medium; l <= risk.Critical; l++ {
			th := p.Threshold(l)
			reached := th.Files > 0 && files >= th.Files || th.Edits > 0 && edits >= th.Edits
			if reached && level < l || !reached && level == l {
				t.Fatalf("Assess(%d, %d) = %v, but %v begins at %+v", files, edits, level, l, th)
			}
		}
	})
}

func TestLevelText(t *testing.T) {
	t.Parallel()
	want := []string{"", "LOW", "MEDIUM", "HIGH", "CRITICAL"}
	for i, l := range levels {
		if l.String() != want[i] {
			t.Errorf("Level(%d).String() = %q, want %q", i, l, want[i])
		}
		for _, name := range []string{l.String(), strings.ToLower(l.String())} {
			if got, err := risk.Parse(name); got != l || err != nil {
				t.Errorf("Parse(%q) = %v, %v", name, got, err)
			}
		}
	}
	if got := risk.Level(9).String(); got != "Level(9)" {
		t.Errorf("Level(9).String() = %q", got)
	}
}

func TestLevelJSON(t *testing.T) {
	t.Parallel()
	type doc struct {
		Level risk.Level            `json:"level,omitzero"`
		By    map[risk.Level]string `json:"by,omitempty"`
	}
	for _, text := range []string{`{}`, `{"level":"HIGH"}`, `{"by":{"LOW":"x"}}`} {
		var d doc
		if err := json.Unmarshal([]byte(text), &d); err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(d); err != nil || string(got) != text {
			t.Errorf("%s became %s, %v", text, got, err)
		}
	}
	d := doc{Level: risk.High}
	err := json.Unmarshal([]byte(`{"level":"HUGE"}`), &d)
	const message = `unknown risk level "HUGE": use LOW, MEDIUM, HIGH or CRITICAL`
	if err == nil || err.Error() != message {
		t.Errorf("an unknown level gives %v", err)
	}
	_, err = risk.Parse("HUGE")
	data, _ := json.Marshal(map[string]any{"error": err})
	fields := map[string]string{"code": "unknown_level", "message": message}
	if want, _ := json.Marshal(map[string]any{"error": fields}); string(data) != string(want) {
		t.Errorf("the error of an unknown level becomes %s, want %s", data, want)
	}
	if d.Level != risk.High {
		t.Errorf("a failed decoding left %v", d.Level)
	}
	if _, err := json.Marshal(doc{Level: 9}); err == nil {
		t.Error("a level that does not exist could be written")
	}
}

func ExamplePolicy_Assess() {
	var documented risk.Policy
	fmt.Println(documented.Assess(12, 45), documented.Assess(1, 500))

	strict := risk.Policy{Critical: risk.Threshold{Files: 10}}
	fmt.Println(strict.Assess(12, 45))
	// Output:
	// LOW HIGH
	// CRITICAL
}
