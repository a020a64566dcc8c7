package flow_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace/internal/flow"
)

func loop() []flow.Step {
	return []flow.Step{{MaxRetries: 1, OnFail: 1}, {Retries: []flow.Retry{{To: 0, Restart: true}}}, {Continue: true}}
}

func TestStateJSON(t *testing.T) {
	t.Parallel()
	m := machine(t, loop(), 0)
	for _, test := range []struct{ words, want string }{
		{"", `{"step":0,"visit":1,"attempt":1,"outcomes":""}`},
		{"r", `{"step":0,"visit":1,"attempt":2,"outcomes":"r"}`},
		{"r +1", `{"step":0,"visit":2,"attempt":1,"outcomes":"rr+1"}`},
		{"s -1", `{"step":0,"visit":3,"attempt":1,"outcomes":"rr+1s-1"}`},
		{"s + -", `{"step":3,"outcomes":"rr+1s-1s+-"}`},
	} {
		play(t, m, test.words)
		text, err := json.Marshal(m.State())
		if err != nil || string(text) != test.want {
			t.Errorf("after %q the state is %s, %v, want %s", test.words, text, err, test.want)
		}
		var state flow.State
		if err := json.Unmarshal(text, &state); err != nil || state != m.State() {
			t.Errorf("%s is read as %+v, %v", text, state, err)
		}
	}
	again := machine(t, []flow.Step{{MaxRetries: 1, Retries: []flow.Retry{{}}}}, 0)
	play(t, again, "r1") // a way back that was not examined
	if want := (flow.State{Visit: 1, Attempt: 2, Outcomes: "r"}); again.State() != want {
		t.Errorf("the state is %+v, want %+v", again.State(), want)
	}
	again.Done(flow.Outcome{Status: flow.Succeeded, Retryable: true}) // only a failure can be retryable
	if want := (flow.State{Step: 1, Outcomes: "r+"}); again.State() != want {
		t.Errorf("the state is %+v, want %+v", again.State(), want)
	}
}

// An invented state is refused, and leaves the machine unchanged.
func TestRestoreRefuses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		state flow.State
		want  string
	}{
		{flow.State{}, "state: the outcomes lead to step 0, visit 1, attempt 1, not to 0, 0, 0"},
		{flow.State{Step: 2, Visit: 1, Attempt: 1, Outcomes: "+"}, "state: the outcomes lead to step 1, visit 1, attempt 1, not to 2, 1, 1"},
		{flow.State{Step: 1, Visit: 2, Attempt: 1, Outcomes: "+"}, "state: the outcomes lead to step 1, visit 1, attempt 1, not to 1, 2, 1"},
		{flow.State{Step: 3, Visit: 1, Outcomes: "+++"}, "state: the outcomes lead to step 3, visit 0, attempt 0, not to 3, 1, 0"},
		{flow.State{Step: -1, Visit: -1, Attempt: -1, Outcomes: "+++"}, "state: the outcomes lead to step 3, visit 0, attempt 0, not to -1, -1, -1"},
		{flow.State{Step: 3, Outcomes: "++++"}, "state: outcome 4 comes after the end"},
		{flow.State{Step: 3, Outcomes: "x+"}, "state: outcome 2 comes after the end"},
		{flow.State{Outcomes: "+?"}, "state: outcome 2: '?' is not an outcome"},
		{flow.State{Outcomes: "1"}, "state: outcome 1: '1' is not an outcome"},
		{flow.State{Outcomes: "+1"}, "state: outcome 1: step 0 has no retry number 1"},
		{flow.State{Outcomes: "++2"}, "state: outcome 2: step 1 has no retry number 2"},
		{flow.State{Outcomes: "+" + strings.Repeat("9", 1000)}, "state: outcome 1: step 0 has no retry number 999"},
		{flow.State{Outcomes: "rs"}, "state: outcome 2: step 0 cannot be skipped after an attempt"},
		{flow.State{Visit: 2, Attempt: 1, Outcomes: "++01"}, "state: the outcomes are not spelled as the machine spells them"},
		{flow.State{Step: 2, Visit: 1, Attempt: 1, Outcomes: "+s1"}, "state: the outcomes are not spelled as the machine spells them"},
		{flow.State{Step: 1, Visit: 1, Attempt: 1, Outcomes: "+0"}, "state: the outcomes are not spelled as the machine spells them"},
		{flow.State{Outcomes: "++1++1+"}, "state: outcome 5: step 0 cannot be attempted after 4 attempts"},
		{flow.State{Outcomes: strings.Repeat("s", 1<<20)}, "state: outcome 4 comes after the end"},
	} {
		m := machine(t, loop(), 4)
		play(t, m, "r")
		before := m.State()
		if err := m.Restore(test.state); err == nil || err.Error() != test.want {
			t.Errorf("Restore(%.60v) = %v, want %s", test.state, err, test.want)
		}
		if m.State() != before {
			t.Errorf("Restore(%.60v) has failed and changed the machine", test.state)
		}
	}
}

// Any text is refused, or is the state that the machine then has.
func FuzzRestore(f *testing.F) {
	f.Add(0, 1, 2, "r")
	f.Add(0, 2, 1, "rr+1")
	f.Add(3, 0, 0, "rr+1s-1s+-")
	f.Add(3, 0, 0, "s+x")
	f.Fuzz(func(t *testing.T, step, visit, attempt int, outcomes string) {
		m := machine(t, loop(), 0)
		state := flow.State{Step: step, Visit: visit, Attempt: attempt, Outcomes: outcomes}
		err := m.Restore(state)
		if err == nil && m.State() != state {
			t.Errorf("%+v was restored as %+v", state, m.State())
		}
		if fresh := machine(t, loop(), 0); err != nil && m.State() != fresh.State() {
			t.Errorf("%+v is refused and has changed the machine: %+v", state, m.State())
		}
	})
}

func TestStrings(t *testing.T) {
	t.Parallel()
	var got []string
	for s := flow.NotReached; s <= flow.Interrupted+1; s++ {
		got = append(got, s.String())
	}
	for s := flow.Keep; s <= flow.Discard+1; s++ {
		got = append(got, s.String())
	}
	want := []string{
		"not reached", "skipped", "bypassed", "succeeded", "failed", "handled", "stopped", "interrupted", "Status(8)",
		"keep", "back", "restart", "discard", "Stage(4)",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
