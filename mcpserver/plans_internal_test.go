package mcpserver

import (
	"testing"
	"time"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/millracetest"
)

func planOf(t *testing.T) *millrace.Plan {
	t.Helper()
	p, err := millrace.Decode([]byte(`{"name":"x","steps":[{"id":"x","action":"edit","params":{"files":["a.txt"],"old_text":"x","new_text":"y"}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := millrace.Executor{}.Plan(t.Context(), millracetest.Tree(t, "-- a.txt --\nx\n"), p)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func TestPlansAge(t *testing.T) {
	plans, plan := newPlans(), planOf(t)
	digest, err := plan.Digest()
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	plans.list = []*entry{
		{id: "old", digest: digest, plan: plan, made: now.Add(-61 * time.Minute)}, {id: "new", digest: digest, plan: plan, made: now.Add(-59 * time.Minute)},
	}
	if _, err := plans.find("old"); err == nil {
		t.Error("a plan of more than an hour is kept")
	}
	if _, err := plans.find("new"); err != nil {
		t.Error(err)
	}
}

func TestPlansSize(t *testing.T) {
	plans := newPlans()
	for _, id := range []string{"a", "b", "c"} {
		plans.list = append(plans.list, &entry{id: id, plan: planOf(t), made: time.Now(), size: 40 << 20})
	}
	if _, err := plans.find("b"); err == nil {
		t.Error("more than 64 MiB are kept")
	}
	if _, err := plans.find("c"); err != nil {
		t.Error("the newest plan is not kept: ", err)
	}
}

// A run never waits for a client that does not listen, and sends at most five notices in a second.
func TestProgressPace(t *testing.T) {
	millracetest.Clock(t, time.Second, func(t *testing.T) {
		p := &progress{counter: &counter{last: 7}}
		type notice struct {
			number float64
			at     time.Time
		}
		var list []notice
		p.start(func(number float64, _ string) {
			list = append(list, notice{number, time.Now()})
		})
		p.observe(millrace.RunStarted{Steps: 1})
		for i := range 1000 {
			p.observe(millrace.StepProgress{Step: "x", Done: i, Total: 1000})
			time.Sleep(time.Millisecond)
		}
		p.stop()
		p.stop()
		if len(list) < 4 || len(list) > 6 {
			t.Errorf("%d notices in a second", len(list))
		}
		for i, n := range list {
			if want := float64(8 + i); n.number != want {
				t.Errorf("notice %d has the number %v", i, n.number)
			}
			if i > 0 && n.at.Sub(list[i-1].at) < progressPause {
				t.Errorf("notice %d comes after %v", i, n.at.Sub(list[i-1].at))
			}
		}
	})
}
